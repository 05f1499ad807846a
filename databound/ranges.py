"""How far off a number may be that runs gave which differ from each other: Student's t, and what it needs."""

import math
from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

from .thresholds import LEFT_OUT_AT_EACH_END, RANGE_HOLDS, WITHIN_RANGE

# Variance of `middle`, as a multiple of that of the mean: by how many numbers there are, from order
# statistics of the normal distribution, and of five and more, of which it is 1.09 to 1.18 in 60,000 draws
MIDDLES = {1: 1.0, 2: 1.0, 3: 1.346, 4: 1.193}
MIDDLE_OF_MORE = 1.18


class Scatter(NamedTuple):
    """How much one and the same run differs: the sum of *squares* of what logarithms differ by.

    *freedom* is how many of these could differ freely; none if nothing was repeated.
    """

    squares: float = 0.0
    freedom: int = 0

    @property
    def of_one(self) -> float:
        """The standard deviation of a run, as a share of what it takes; 0 if nobody knows."""
        return math.sqrt(self.squares / self.freedom) if self.freedom else 0.0

    def with_another(self, other: "Scatter") -> "Scatter":
        """Return what this and an *other* one say together."""
        return Scatter(self.squares + other.squares, self.freedom + other.freedom)

    def range(self, runs: float) -> float:
        """Return how far a mean may be off of which *runs* is the number; RANGE_HOLDS of all times.

        For the quotient of two means that number is the harmonic one, 1 / (1 / one + 1 / other).
        """
        if not self.freedom:
            return 0.0
        return student(self.freedom, RANGE_HOLDS) * self.of_one / math.sqrt(runs)


def middle(values: Sequence[float]) -> float:
    """Return the mean of *values* without a quarter of them at each end, and without one at least.

    One busy moment changes nothing, as in a median. Where a machine has other work for half of the time,
    the median is what there is in one of the halves, by chance; this is between them.

    >>> middle([1.0, 2.0]), middle([1.0, 2.0, 9.0]), middle([0.0, 1.0, 3.0, 5.0, 99.0])
    (1.5, 2.0, 3.0)
    """
    left_out = max(1, int(LEFT_OUT_AT_EACH_END * len(values))) if len(values) > 2 else 0
    return fmean(sorted(values)[left_out : len(values) - left_out])


def variance_of_middle(count: int) -> float:
    """Return how many times as large the variance of `middle` of so many is as that of their mean.

    Of numbers that are normally distributed.
    """
    return MIDDLES.get(count, MIDDLE_OF_MORE)


def scatter_of(values: Sequence[float]) -> Scatter:
    """Return how much runs of one kind differ that took these *values*."""
    if len(values) < 2 or min(values) <= 0:
        return Scatter()
    logarithms = [math.log(value) for value in values]
    mean = fmean(logarithms)
    squares = sum((each - mean) ** 2 for each in logarithms)
    return Scatter(squares, len(values) - 1)


def student(freedom: int, how_often: float = WITHIN_RANGE) -> float:
    """Return within how many standard errors the truth lies, *how_often* of all times.

    *freedom* is how many numbers say what the standard error is, beyond those that it is about.
    """
    low = 0.0
    high = 1.0
    while inside(high, freedom) < how_often:
        high *= 2
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        if inside(middle, freedom) < how_often:
            low = middle
        else:
            high = middle
    return high


def inside(times: float, freedom: int) -> float:
    """Return how often Student's t with as much *freedom* is within that many *times* of zero.

    The finite sums for whole numbers: Abramowitz and Stegun, 26.7.3 and 26.7.4.
    """
    angle = math.atan(times / math.sqrt(freedom))
    is_even = freedom % 2 == 0
    term = 1.0 if is_even else math.cos(angle)
    total = 0.0
    for power in range(2 if is_even else 3, freedom + 1, 2):
        total += term
        term *= math.cos(angle) ** 2 * (power - 1) / power
    total *= math.sin(angle)
    return total if is_even else 2 / math.pi * (angle + total)
