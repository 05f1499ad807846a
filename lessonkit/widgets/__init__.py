"""What a learner sees and turns: `explore`, `predict`, `challenge`, and what they are given."""

from lessonkit.widgets import goals
from lessonkit.widgets.challenge import challenge
from lessonkit.widgets.controls import cards, seconds, slider
from lessonkit.widgets.explore import explore, show
from lessonkit.widgets.page import classroom
from lessonkit.widgets.predict import predict

__all__ = ["cards", "challenge", "classroom", "explore", "goals", "predict", "seconds", "show", "slider"]
