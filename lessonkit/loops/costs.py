"""Costs as they were measured, and functions that say them."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from numbers import Integral
from statistics import fmean, median, pstdev
from typing import Any

from lessonkit.engine.costs import Cost
from lessonkit.engine.machine import work

OUTLIER = 3  # medians; a call that takes longer is a straggler, but one alone a hiccup of the machine
EVEN = 0.1  # a spread below this is none
GOLDEN = 0.618033988749895  # its multiples, without their whole part, lie evenly between 0 and 1


@dataclass(frozen=True)
class fitted:  # noqa: N801 - used like a function, and its repr is the call
    """A cost of *mean*, more or less *spread*; *slow* for one element of *every*.

    An element that was *seen* costs what it did then. The cost of any other is drawn from it,
    and is the same on every run.

    >>> costs = [fitted(0.010, spread=0.2, every=5, slow=0.040)(element) for element in range(100)]
    >>> 0.008 <= min(costs), max(costs), costs.count(0.040)
    (True, 0.04, 21)
    """

    mean: float
    spread: float = field(default=0, kw_only=True)
    every: int = field(default=0, kw_only=True)
    slow: float = field(default=0, kw_only=True)
    seen: dict[int, float] = field(default_factory=dict, kw_only=True, repr=False, compare=False)

    def __call__(self, value: Any) -> float:
        number = identity(value)
        if number in self.seen:
            return self.seen[number]
        draw = number * GOLDEN % 1
        often = 1 / self.every if self.every else 0
        if draw < often:
            return self.slow
        place = (draw - often) / (1 - often)  # of the others, again between 0 and 1
        return self.mean * (1 + self.spread * (2 * place - 1))


@dataclass(frozen=True)
class costing:  # noqa: N801
    """A function that says what it was measured to cost; a generator, also what to *open* it costs."""

    fn: Callable[..., Any]
    cost: Cost
    kind: str
    open: float | None = None

    def __call__(self, *args: Any) -> Any:
        if self.open is not None:
            return self.read(self.open, *args)
        self.spend(whole(args))
        return self.fn(*args)

    def read(self, opening: float, *args: Any) -> Iterator[Any]:
        """What the generator yields; its first element opens it."""
        for value in self.fn(*args):
            self.spend(value, opening)
            yield value
            opening = 0

    def spend(self, value: Any, more: float = 0) -> None:
        """Say what *value* costs."""
        work((self.cost(value) if callable(self.cost) else self.cost) + more, kind=self.kind)


def whole(args: tuple[Any, ...]) -> Any:
    """The value that was taken apart into a function's arguments."""
    return args[0] if len(args) == 1 else args


def identity(value: Any) -> int:
    """A number that tells one value from another, the same in every process."""
    if isinstance(value, Integral):
        return int(value)
    if hasattr(value, "tobytes"):  # of an array all that is in it
        return zlib.crc32(value.tobytes())
    if isinstance(value, (dict, tuple, list)):
        value = [identity(part) for part in (value.values() if isinstance(value, dict) else value)]
    return zlib.crc32(repr(value).encode())


def fit(calls: list[tuple[int, float]]) -> Cost:
    """The cost that fits calls: on which element each was, and the seconds that it took.

    >>> fit([(element, 0.010) for element in range(8)])
    0.01
    >>> fit([(element, 0.050 if element % 4 == 3 else 0.010) for element in range(8)])
    fitted(mean=0.01, spread=0.0, every=4, slow=0.05)
    """
    most = OUTLIER * median(seconds for _, seconds in calls)
    slow = [seconds for _, seconds in calls if seconds > most]
    if len(slow) == 1:
        calls, slow = [call for call in calls if call[1] <= most], []
    usual = [seconds for _, seconds in calls if seconds <= most]
    mean = fmean(usual)
    spread = min(1.0, 3**0.5 * pstdev(usual) / mean) if mean else 0  # of a draw that is uniform
    if not slow and spread < EVEN:
        return round(mean, 6)
    seen = defaultdict(list)
    for number, seconds in calls:
        seen[number].append(seconds)
    return fitted(
        round(mean, 6),
        spread=round(spread, 3),
        every=round(len(calls) / len(slow)) if slow else 0,
        slow=round(fmean(slow), 6) if slow else 0,
        seen={number: fmean(times) for number, times in seen.items()},
    )
