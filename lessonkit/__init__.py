"""Interactive lessons on input pipelines: describe one, run it on either clock, see why it waits."""

from lessonkit.benchmark import benchmark
from lessonkit.check import AUTOTUNE
from lessonkit.dataset import ArtificialDataset, Dataset
from lessonkit.iteration import Iterator
from lessonkit.operators import EndlessError
from lessonkit.runtime.virtual import StuckError
from lessonkit.trace import Trace
from lessonkit.work import Machine, jitter, per_sample, straggler, work

__all__ = [
    "AUTOTUNE",
    "ArtificialDataset",
    "Dataset",
    "EndlessError",
    "Iterator",
    "Machine",
    "StuckError",
    "Trace",
    "benchmark",
    "jitter",
    "per_sample",
    "straggler",
    "work",
]
