"""Why it took that long, what would help, and by how much."""

from lessonkit.analysis.advise import advise
from lessonkit.analysis.compare import compare
from lessonkit.analysis.critical_path import critical_path
from lessonkit.analysis.limits import limits
from lessonkit.analysis.measure import measure
from lessonkit.analysis.memory import memory
from lessonkit.analysis.probe import probe
from lessonkit.analysis.seen import seen
from lessonkit.analysis.waits import waits
from lessonkit.analysis.what_if import curve, knobs, turned, what_if

__all__ = [
    "advise",
    "compare",
    "critical_path",
    "curve",
    "knobs",
    "limits",
    "measure",
    "memory",
    "probe",
    "seen",
    "turned",
    "waits",
    "what_if",
]
