"""What a learner sees and turns: `explore`, and the abbreviations of its controls."""

from lessonkit.widgets.controls import cards, seconds, slider
from lessonkit.widgets.explore import explore

__all__ = ["cards", "explore", "seconds", "slider"]
