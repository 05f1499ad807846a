"""What a learner sees and turns: `explore`, `predict`, `challenge`, and what they are given."""

from IPython.core.getipython import get_ipython

from lessonkit.widgets import goals
from lessonkit.widgets.challenges import challenge
from lessonkit.widgets.controls import cards, seconds, slider
from lessonkit.widgets.explorer import explore, show
from lessonkit.widgets.questions import predict
from lessonkit.widgets.sandbox import explain_missing_names

explain_missing_names(get_ipython())

__all__ = ["cards", "challenge", "explore", "goals", "predict"]
__all__ += ["seconds", "show", "slider"]


def __dir__() -> list[str]:
    return __all__
