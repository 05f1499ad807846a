"""A process that a pipeline runs in: an interpreter lock of its own, and what it remembers."""

import random
from collections import Counter
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from lessonkit.engine.machine import current

T = TypeVar("T")


class Store:
    """What outlives an iteration, by the identity of a description: what a cache holds, a shuffle's passes.

    Weakly held: it goes when the description goes. Each benchmark has a store of
    its own; all loops over a data set share one.
    """

    def __init__(self, *, fixed_seed: bool, base: int = 0) -> None:
        self.fixed_seed = fixed_seed  # a shuffle without a seed is the same on every run
        self.base = base  # what it draws from: each worker of a loader has its own
        self._states: MutableMapping[Any, Any] = WeakKeyDictionary()

    def state(self, node: Any, new: Callable[[], T]) -> T:
        """Return the state of *node*; a *new* one if it has none yet."""
        # A dict's setdefault is one step, for loops on several threads; a lock might be
        # held in a fork.
        return self._states.setdefault(node, new())  # type: ignore[no-any-return]

    def seed(self, given: int | None) -> int:
        """Return what something random begins with: what is *given*, or a number of this store or run."""
        if given is not None:
            return given
        return self.base if self.fixed_seed else random.getrandbits(64)


shared = Store(fixed_seed=False)


class WorkerInfo(NamedTuple):
    """Which worker of a `DataLoader` runs a function: its number, and how many there are."""

    id: int
    num_workers: int


@dataclass(eq=False)
class Process:
    """What tasks of one process share, and tasks of another process do not.

    *info* says which worker of a loader it is; None is the main process. *passes* counts
    how often it has opened each source, and *first* is the number of the first pass: a
    worker that is started anew goes on with that of its loader.
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
