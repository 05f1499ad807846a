"""State that outlives one iteration: what a cache holds, how often a shuffle ran."""

import random
from collections.abc import Callable, MutableMapping
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


class Store:
    """State by the identity of the operator's description.

    Weakly held: it goes when the description goes. Each benchmark has a store of
    its own; all loops over a data set share one.
    """

    def __init__(self, *, fixed_seed: bool, base: int = 0) -> None:
        self.fixed_seed = fixed_seed  # a shuffle without a seed is the same on every run
        self.base = base  # what it draws from: each worker of a loader has its own
        self._states: MutableMapping[Any, Any] = WeakKeyDictionary()

    def state(self, node: Any, new: Callable[[], T]) -> T:
        """Return the state of *node*; a *new* one if it has none yet."""
        # A dict's setdefault is one step, for loops on several threads; a lock might be held in a fork.
        return self._states.setdefault(node, new())  # type: ignore[no-any-return]

    def seed(self, given: int | None) -> int:
        """Return what something random begins with: what is *given*, or a number of this store or run."""
        if given is not None:
            return given
        return self.base if self.fixed_seed else random.getrandbits(64)


shared = Store(fixed_seed=False)
