"""What an element costs: seconds, or a function of the element that gives seconds."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from numbers import Integral
from typing import Any, NamedTuple

from lessonkit import check
from lessonkit.engine.element import Element, as_int


class StorageRead(NamedTuple):
    """The price of *nbytes* from a *storage*, which all who read from it decide."""

    storage: Any
    nbytes: float


Cost = float | Callable[[Any], float]
# Whole nanoseconds, a read, or a function of the element that gives one of them
Price = int | StorageRead | Callable[[Element], int | StorageRead]


class Priced:
    """A cost of this package, which knows more of an element than its value."""

    def price(self, element: Element) -> int | StorageRead:
        """Return what *element* costs."""
        raise NotImplementedError


def price(cost: Cost, name: str, hint: str = "") -> Price:
    """Return *cost* in nanoseconds: a number, or a function of the element, refused as *name*."""
    if isinstance(cost, Priced):
        return cost.price
    if not callable(cost):
        return check.nanoseconds(name, cost)

    def checked(element: Element) -> int:
        seconds = cost(element.value)
        # Most are: the name of a wrong one takes long
        if type(seconds) is float and 0 <= seconds < inf:
            return round(seconds * 1e9)
        return check.nanoseconds(check.ArgumentOf(name, element.value, hint), seconds)

    return checked


def price_of_bytes(cost: Cost, name: str) -> Price:
    """Return *cost* in nanoseconds: a number, or a function of an element, for its bytes."""
    if not callable(cost):
        return check.nanoseconds(name, cost)
    return lambda element: check.nanoseconds(
        check.ArgumentOf(name, element.value), cost(element.nbytes)
    )


@dataclass(frozen=True)
class per_sample(Priced):  # noqa: N801 - used like a function, and its repr is the call
    """A cost that grows with a batch: *per_call*, and *seconds* for each sample.

    >>> per_sample(0.001)([7, 8, 9])
    0.003
    """

    seconds: float
    per_call: float = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        check.duration("seconds", self.seconds)
        check.duration("per_call", self.per_call)

    def __call__(self, batch: Any) -> float:
        return self.per_call + self.seconds * _length(batch)

    def price(self, element: Element) -> int:
        # The element knows how many samples it holds; an image's length is not that.
        return round((self.per_call + self.seconds * element.samples) * 1e9)


@dataclass(frozen=True)
class straggler(Priced):  # noqa: N801
    """A cost of *usual*, and of *slow* for the last of every *every* elements.

    An integer counts by its value, any other element by the number of its sample.

    >>> [straggler(0.005, every=3, slow=0.040)(sample) for sample in range(6)]
    [0.005, 0.005, 0.04, 0.005, 0.005, 0.04]
    """

    usual: float
    every: int = field(kw_only=True)
    slow: float = field(kw_only=True)

    def __post_init__(self) -> None:
        check.duration("usual", self.usual)
        check.integer("every", self.every, least=1)
        check.duration("slow", self.slow)

    def __call__(self, value: Any) -> float:
        return self.slow if as_int(value) % self.every == self.every - 1 else self.usual

    def price(self, element: Element) -> int:
        value = element.value
        return round(
            self(int(value) if isinstance(value, Integral) else element.number) * 1e9
        )


def _length(batch: Any) -> int:
    return (
        len(batch)
        if hasattr(batch, "__len__") and getattr(batch, "shape", None) != ()
        else 1
    )


@dataclass(frozen=True)
class Handling:
    """What it takes to handle processes, in seconds: nothing, unless one says so.

    *begin* is spent in `iter`, *send* per request, *ask* in each `next`. A message is on its
    way for *hop*; the first result of a worker comes later by *first*. *resume* is spent when
    persistent workers begin again, *stop* and *stop_each* when workers are ended, the latter
    per worker.

    As jobs are measured, a batch is *way* on its way to the loop, which needs *take* for it;
    *take_core* of that is work. *way_busy* and *take_busy* hold where its worker is at work on
    the next batch.
    """

    begin: float = 0
    send: float = 0
    ask: float = 0
    hop: float = 0
    first: float = 0
    resume: float = 0
    stop: float = 0
    stop_each: float = 0
    take: float = 0
    take_busy: float = 0
    take_core: float = 0
    way: float = 0
    way_busy: float = 0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            check.duration(name, value)
