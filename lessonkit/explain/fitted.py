"""Measured costs, and functions that say them: what stands in a pipeline for what was timed."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import wraps
from statistics import fmean, median, pstdev
from typing import Any

from lessonkit.engine.element import Element, as_int
from lessonkit.engine.machine import Cost, Function, number_in_hand, work

# The golden ratio without its whole part: multiples of it, without theirs, lie evenly between 0 and 1
GOLDEN = 0.618033988749895
# Times the median; one call that takes longer, and none other, is a hiccup of the machine
HICCUP = 3
# Of the mean; times that spread by no more than this are as good as even
EVEN = 0.06
DIGITS = 6  # behind the point of a second: microseconds, as precise as a call is timed


@dataclass(frozen=True)
class fitted:  # noqa: N801 - used like a function, and its repr is the call
    """A measured cost: the time of an element that was *seen*, one of *times* for any other.

    Elements go by their numbers, so every run chooses the same one.

    >>> costs = [fitted((0.010, 0.010, 0.010, 0.040))(element) for element in range(100)]
    >>> costs.count(0.010), costs.count(0.040)
    (76, 24)
    """

    times: tuple[float, ...]
    seen: dict[Any, float] = field(
        default_factory=dict, kw_only=True, repr=False, compare=False
    )

    def __call__(self, number: Any) -> float:
        """Return the seconds of the element with this *number*."""
        known = self.seen.get(number)
        if known is not None:
            return known
        place = GOLDEN * as_int(number) % 1
        return self.times[int(place * len(self.times))]

    def price_of(self, element: Element) -> int:
        """Return what *element* costs in nanoseconds: a run asks a cost that knows more for this."""
        return round(self(element.number) * 1e9)


def fit(calls: list[tuple[Any, float]]) -> Cost:
    """Fit a cost to *calls*: the number of the element of each, and the seconds that it took.

    >>> fit([(element, 0.010) for element in range(8)])
    0.01
    >>> fit([(element, 0.050 if element % 4 == 3 else 0.010) for element in range(8)])
    fitted(times=(0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.05, 0.05))
    """
    most = HICCUP * median(seconds for _, seconds in calls)
    usual = [(number, seconds) for number, seconds in calls if seconds <= most]
    if len(usual) == len(calls) - 1:
        calls = usual
    times = sorted(round(seconds, DIGITS) for _, seconds in calls)
    mean = fmean(times)
    if pstdev(times) <= EVEN * mean:
        return round(mean, DIGITS)
    seen = defaultdict(list)
    for number, seconds in calls:
        seen[number].append(seconds)
    return fitted(tuple(times), seen={number: fmean(each) for number, each in seen.items()})


def costing(
    function: Function, cost: Cost, kind: str, opening: float | None = None
) -> Function:
    """Return *function* as one that says its measured *cost*; a generator says its *opening*, too."""

    def say(more: float = 0) -> None:
        seconds = cost(number_in_hand()) if callable(cost) else cost
        work(seconds + more, kind=kind)

    @wraps(function)
    def call(*args: Any) -> Any:
        say()
        return function(*args)

    @wraps(function)
    def read(*args: Any) -> Iterator[Any]:
        more = opening or 0
        for value in function(*args):
            say(more)
            yield value
            more = 0

    return call if opening is None else read
