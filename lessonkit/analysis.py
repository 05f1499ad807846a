"""Why a run took that long, what would help, and by how much."""

from lessonkit.explain.compare import compare
from lessonkit.explain.critical_path import critical_path
from lessonkit.explain.data_quality import data_quality
from lessonkit.explain.limits import limits
from lessonkit.explain.measure import measure
from lessonkit.explain.plumbing import memory
from lessonkit.explain.roofs import Roofs
from lessonkit.improve.advise import advise
from lessonkit.improve.knobs import curve, knobs, with_knob

__all__ = [
    "Roofs",
    "advise",
    "compare",
    "critical_path",
    "curve",
    "data_quality",
    "knobs",
    "limits",
    "measure",
    "memory",
    "with_knob",
]
