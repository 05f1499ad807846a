"""Better pipelines, found by rule and by search: `rewrite` changes operators, `autotune` numbers."""

from lessonkit.optimize.autotune import autotune
from lessonkit.optimize.rewrite import rewrite
from lessonkit.optimize.rules import RULES

__all__ = ["RULES", "autotune", "rewrite"]
