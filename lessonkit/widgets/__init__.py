"""What a learner sees and turns: `explore`, `predict`, `challenge`, and what they are given."""

from IPython.core.getipython import get_ipython

from . import goals
from .challenges import challenge
from .controls import cards, seconds, slider
from .explorer import explore, show
from .questions import predict
from .sandbox import explain_missing_names

explain_missing_names(get_ipython())

__all__ = ["cards", "challenge", "explore", "goals", "predict"]
__all__ += ["seconds", "show", "slider"]


def __dir__() -> list[str]:
    return __all__
