"""Better pipelines, by rule and by search: `rewrite` changes operators, `autotune` numbers."""

from lessonkit.improve.autotune import autotune
from lessonkit.improve.rewrite import RULES, rewrite

__all__ = ["RULES", "autotune", "rewrite"]
