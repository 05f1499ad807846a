"""Costs as they were measured, and functions that say them."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from statistics import fmean, median, pstdev
from typing import Any

from lessonkit.engine.element import Element, as_int
from lessonkit.engine.machine import Cost, Priced, number_in_hand, work

# Medians; one call that takes longer, and none other, is a hiccup of the machine
OUTLIER = 3
EVEN = 0.06  # a deviation below this is none
# Its multiples, without their whole part, lie evenly between 0 and 1
GOLDEN = 0.618033988749895


@dataclass(frozen=True)
class fitted(Priced):  # noqa: N801 - used like a function, and its repr is the call
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
        usual = self.times[int(as_int(number) * GOLDEN % 1 * len(self.times))]
        return self.seen.get(number, usual)

    def price(self, element: Element) -> int:
        return round(self(element.number) * 1e9)


@dataclass(frozen=True)
class costing:  # noqa: N801
    """A function that says its measured cost; a generator also says that of *open*."""

    fn: Callable[..., Any]
    cost: Cost
    kind: str
    open: float | None = None

    def __call__(self, *args: Any) -> Any:
        if self.open is not None:
            return self.read(self.open, *args)
        self.say_cost()
        return self.fn(*args)

    def read(self, opening: float, *args: Any) -> Iterator[Any]:
        """Yield each element after its cost; the first element costs *opening* too."""
        for value in self.fn(*args):
            self.say_cost(opening)
            yield value
            opening = 0

    def say_cost(self, more: float = 0) -> None:
        """Say the cost of the element that this is called with, and *more* seconds."""
        cost = self.cost(number_in_hand()) if callable(self.cost) else self.cost
        work(cost + more, kind=self.kind)


def fit(calls: list[tuple[Any, float]]) -> Cost:
    """Fit a cost to *calls*: the number of the element of each, and the seconds that it took.

    >>> fit([(element, 0.010) for element in range(8)])
    0.01
    >>> fit([(element, 0.050 if element % 4 == 3 else 0.010) for element in range(8)])
    fitted(times=(0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.05, 0.05))
    """
    most = OUTLIER * median(seconds for _, seconds in calls)
    usual = [call for call in calls if call[1] <= most]
    if len(usual) + 1 == len(calls):
        calls = usual
    times = sorted(round(seconds, 6) for _, seconds in calls)
    mean = fmean(times)
    if pstdev(times) <= EVEN * mean:
        return round(mean, 6)
    seen = defaultdict(list)
    for number, seconds in calls:
        seen[number].append(seconds)
    return fitted(tuple(times), seen={number: fmean(each) for number, each in seen.items()})
