"""What an element costs: seconds, or a function of the element that gives seconds."""

import random
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from reprlib import repr as short
from typing import Any

from lessonkit import check
from lessonkit.engine.element import Element

Cost = float | Callable[[Any], float]
Price = int | Callable[[Element], int]


def price(cost: Cost, name: str, hint: str = "") -> Price:
    """What an element costs, in nanoseconds: a number, or a function of the element."""
    if isinstance(cost, per_sample):
        return cost.price
    if not callable(cost):
        return check.nanoseconds(name, cost)

    def told(element: Element) -> int:
        seconds = cost(element.value)
        if type(seconds) is float and 0 <= seconds < inf:  # most are: the name of a wrong one takes long
            return round(seconds * 1e9)
        return check.nanoseconds(check.Of(name, element.value, hint), seconds)

    return told


def price_of_bytes(cost: Cost, name: str) -> Price:
    """What an element costs, in nanoseconds: a number, or a function of its bytes."""
    if not callable(cost):
        return check.nanoseconds(name, cost)
    return lambda element: check.nanoseconds(check.Of(name, element.value), cost(element.nbytes))


def charge(price: Price, element: Element) -> int:
    """The nanoseconds that *element* costs."""
    return price(element) if callable(price) else price


@dataclass(frozen=True)
class per_sample:  # noqa: N801 - used like a function, and its repr is the call
    """A cost that grows with a batch: *per_call*, and *seconds* for each sample.

    >>> per_sample(0.001)([7, 8, 9])
    0.003
    """

    seconds: float
    per_call: float = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        check.seconds("seconds", self.seconds)
        check.seconds("per_call", self.per_call)

    def __call__(self, batch: Any) -> float:
        return self.per_call + self.seconds * (len(batch) if _has_length(batch) else 1)

    def price(self, element: Element) -> int:
        # The element knows how many samples it holds; an image's length is not that.
        return round((self.per_call + self.seconds * element.samples) * 1e9)


@dataclass(frozen=True)
class jitter:  # noqa: N801
    """A cost between `mean * (1 - spread)` and `mean * (1 + spread)`, drawn from the element.

    The same element costs the same on every run and on both clocks.

    >>> costs = [jitter(0.015, spread=0.5, seed=1)(sample) for sample in range(100)]
    >>> 0.0075 <= min(costs) < max(costs) <= 0.0225
    True
    """

    mean: float
    spread: float = field(default=0.5, kw_only=True)
    seed: int = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        check.seconds("mean", self.mean)
        check.integer("seed", self.seed)
        if check.seconds("spread", self.spread) > 1:
            raise ValueError(f"spread={self.spread!r}: must be between 0 and 1")

    def __call__(self, value: Any) -> float:
        draw = random.Random(f"{self.seed}:{_number(value)}").uniform(-1, 1)
        return self.mean * (1 + self.spread * draw)


@dataclass(frozen=True)
class straggler:  # noqa: N801
    """A cost of *usual*, and of *slow* for the last of every *every* elements.

    >>> [straggler(0.005, every=3, slow=0.040)(sample) for sample in range(6)]
    [0.005, 0.005, 0.04, 0.005, 0.005, 0.04]
    """

    usual: float
    every: int = field(kw_only=True)
    slow: float = field(kw_only=True)

    def __post_init__(self) -> None:
        check.seconds("usual", self.usual)
        check.integer("every", self.every, least=1)
        check.seconds("slow", self.slow)

    def __call__(self, value: Any) -> float:
        return self.slow if _number(value) % self.every == self.every - 1 else self.usual


def _has_length(value: Any) -> bool:
    return hasattr(value, "__len__") and getattr(value, "shape", None) != ()  # an array of a single value


def _number(value: Any) -> int:
    """A number that tells one value from another, the same in every process."""
    if isinstance(value, (str, bytes)):
        return zlib.crc32(value.encode() if isinstance(value, str) else value)
    if isinstance(value, dict):
        value = list(value.values())
    if _has_length(value) and hasattr(value, "__getitem__"):
        return _number(value[0]) if len(value) else 0  # a batch costs what its first sample says
    try:
        return int(value)
    except (ValueError, OverflowError):  # not a number, or without end
        return 0
    except TypeError:
        raise TypeError(
            f"a cost cannot tell {short(value)} from others: give a function of your own"
        ) from None
