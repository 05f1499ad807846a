"""What a learner sees and turns: `explore`, `predict`, `challenge`, and what they are given."""

from IPython.core.getipython import get_ipython

from lessonkit.widgets import goals, too_early
from lessonkit.widgets.base import classroom
from lessonkit.widgets.challenges import challenge
from lessonkit.widgets.controls import cards, seconds, slider
from lessonkit.widgets.explorer import explore, show
from lessonkit.widgets.knob_map import heat_map
from lessonkit.widgets.mystery_loaders import mystery
from lessonkit.widgets.questions import predict

too_early.explain_missing_names(get_ipython())

__all__ = ["cards", "challenge", "classroom", "explore", "goals", "heat_map", "mystery"]
__all__ += ["predict", "seconds", "show", "slider"]


def __dir__() -> list[str]:
    return __all__
