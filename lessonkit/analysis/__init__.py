"""Why a run took that long: what decided it, who waited, what the limit is, what was kept in memory."""

from lessonkit.analysis.critical_path import critical_path
from lessonkit.analysis.limits import limits
from lessonkit.analysis.memory import memory
from lessonkit.analysis.waits import waits

__all__ = ["critical_path", "limits", "memory", "waits"]
