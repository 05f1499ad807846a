"""State that outlives one iteration: what a cache holds, how often a shuffle ran."""

import threading
from collections.abc import Callable, MutableMapping
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


class Store:
    """State by the identity of the operator's description.

    Weakly held: it goes when the description goes. Each benchmark has a store of
    its own; all loops over a data set share one.
    """

    def __init__(self, *, fixed_seed: bool) -> None:
        self.fixed_seed = fixed_seed  # a shuffle without a seed is the same on every run
        self._states: MutableMapping[Any, Any] = WeakKeyDictionary()
        self._lock = threading.Lock()  # loops on several threads may share a store

    def state(self, node: Any, new: Callable[[], T]) -> T:
        """The state of *node*; a new one if it has none yet."""
        with self._lock:
            return self._states.setdefault(node, new())  # type: ignore[no-any-return]


shared = Store(fixed_seed=False)
