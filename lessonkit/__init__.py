"""Interactive lessons on input pipelines: describe one, run it, see why it waits."""

from lessonkit.engine.check import AUTOTUNE
from lessonkit.engine.iteration import Iterator
from lessonkit.engine.machine import (
    Handling,
    Machine,
    get_worker_info,
    per_sample,
    straggler,
    work,
)
from lessonkit.engine.run import StuckError
from lessonkit.engine.storage import Storage
from lessonkit.engine.trace import Trace
from lessonkit.engine.training import benchmark

from .dataset import ArtificialDataset, Dataset
from .loader import DataLoader

__all__ = [
    "AUTOTUNE",
    "ArtificialDataset",
    "DataLoader",
    "Dataset",
    "Handling",
    "Iterator",
    "Machine",
    "Storage",
    "StuckError",
    "Trace",
    "benchmark",
    "get_worker_info",
    "per_sample",
    "straggler",
    "work",
]


def __dir__() -> list[str]:
    return __all__
