"""What a learner sees and turns: `explore`, `predict`, `challenge`, and what they are given."""

from IPython.core.getipython import get_ipython

from lessonkit.widgets import goals, too_early
from lessonkit.widgets.challenges.challenge import challenge
from lessonkit.widgets.challenges.knob_map import heat_map
from lessonkit.widgets.controls import cards, seconds, slider
from lessonkit.widgets.explorer import explore, show
from lessonkit.widgets.questions.predict import predict

too_early.explain_missing_names(get_ipython())

__all__ = ["cards", "challenge", "explore", "goals", "heat_map"]
__all__ += ["predict", "seconds", "show", "slider"]


def __dir__() -> list[str]:
    return __all__
