"""A process that a pipeline runs in: it has an interpreter lock and a memory of its own."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lessonkit.engine.machine import current
from lessonkit.engine.store import Store


class WorkerInfo(NamedTuple):
    """Which worker of a `DataLoader` runs a function: its number, and how many there are."""

    id: int
    num_workers: int


@dataclass(eq=False)
class Process:
    """What tasks of one process share, and tasks of another process do not.

    *info* says which worker of a loader it is; None is the main process. *passes* counts how often it
    has opened each source, and *first* is the number of the first pass: a worker that is started anew
    goes on with that of its loader.
    """

    interpreter: Any
    store: Store
    info: WorkerInfo | None = None
    first: int = 0
    passes: Counter[int] = field(default_factory=Counter)

    def opens(self, instance: int) -> int:
        """Count one more pass over a source; return its number."""
        self.passes[instance] += 1
        return self.first + self.passes[instance] - 1


def get_worker_info() -> WorkerInfo | None:
    """Tell a function of a pipeline in which worker of a `DataLoader` it runs; None in the main process.

    >>> from lessonkit import Dataset, DataLoader
    >>> def mine(number):
    ...     info = get_worker_info()
    ...     return info is None or number % info.num_workers == info.id
    >>> list(DataLoader(Dataset.range(4).filter(mine), num_workers=2))
    [[0], [1], [2], [3]]
    """
    process = getattr(current.worker, "process", None)
    return process.info if process is not None else None
