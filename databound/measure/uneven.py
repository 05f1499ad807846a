"""Jobs whose batches are not alike: stragglers, sorted samples, a step that works at every k-th call."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean, median, pstdev, variance
from typing import NamedTuple

from lessonkit.explain.fitted import GOLDEN

from ..ranges import student
from ..thresholds import EVEN, HICCUP, LONG_STEP, NEIGHBOURS, RANGE_HOLDS


def spread(count: int) -> list[int]:
    """Return the numbers from 0 to *count* in an order of which each beginning is all over them.

    So a run that sees a tenth of an epoch sees its beginning, its middle and its end. The first
    number is 0.

    >>> spread(8)
    [0, 5, 2, 7, 4, 1, 6, 3]
    """
    return sorted(range(count), key=lambda number: number * GOLDEN % 1)


class Timed(NamedTuple):
    """The *seconds* that something took, for as many *samples*."""

    seconds: float
    samples: int

    @property
    def each(self) -> float:
        """The seconds for one sample."""
        return self.seconds / max(1, self.samples)


class Usual(NamedTuple):
    """What a sample *usually* takes, the median, and its *mean*; what is late is above both."""

    usually: float
    mean: float

    def late(self, time: Timed) -> bool:
        """Whether a *time* is more than a few times the usual one, so much that the mean shows it."""
        return time.each > max(HICCUP * self.usually, self.mean)


def usual_of(times: Sequence[Timed]) -> Usual:
    """Return what is usual among *times*."""
    each = [time.each for time in times]
    return Usual(median(each), fmean(each))


def late_places(times: Sequence[Timed]) -> list[int]:
    """Return at which places of *times* there is one that is late."""
    if not times:
        return []
    usual = usual_of(times)
    return [place for place, time in enumerate(times) if usual.late(time)]


def without_hiccups(
    times: Sequence[Timed], again: Sequence[Sequence[Timed]] = ()
) -> list[float]:
    """Return the seconds of *times*, in which what is late counts only if it comes again.

    A time of more than HICCUP medians, for its samples, is late. It is part of the job if the
    same place of another run, one of *again*, is late as well. Where no other run came so far,
    it is if several of *times* are late: a straggler here and there, or every fourth step. A
    single late one is a hiccup of the machine, and counts as HICCUP medians.
    """
    usual = usual_of(times)
    late = late_places(times)
    kept = [time.seconds for time in times]
    for place in late:
        others = [run for run in again if len(run) > place]
        comes_again = len(late) > 1
        if others:
            comes_again = any(usual_of(run).late(run[place]) for run in others)
        if not comes_again:
            kept[place] = HICCUP * usual.usually * max(1, times[place].samples)
    return kept


def turn_of(seconds: Sequence[float]) -> int:
    """Return k if each k-th of *seconds* is late, as with gradients that are added up; else 1."""
    mean = fmean(seconds)
    late = [place for place, each in enumerate(seconds) if each > LONG_STEP * mean]
    gaps = {after - before for before, after in pairwise(late)}
    return gaps.pop() if len(gaps) == 1 else 1


def phase_of(seconds: Sequence[float], pattern: Sequence[float]) -> int:
    """Return at which place of a *pattern* of factors the first of *seconds* is.

    A step that works at each fourth call counts its calls itself, through all runs.
    """
    mean = fmean(seconds) if seconds else 0.0

    def off(first: int) -> float:
        return sum(
            abs(each - mean * pattern[(first + place) % len(pattern)])
            for place, each in enumerate(seconds)
        )

    return min(range(len(pattern)), key=off, default=0)


def mean_turn(seconds: Sequence[float], turn: int) -> list[float]:
    """Return the mean of *seconds* at each place of their turns, of which the first begins them."""
    return [fmean(seconds[place::turn]) for place in range(turn)]


def ending_with_the_longest(turn: list[float]) -> list[float]:
    """Return the steps of a *turn* from its first one on: a loop adds up, works, and begins anew.

    A run may have begun anywhere in a turn; an epoch begins with one.

    >>> ending_with_the_longest([0.1, 2.8, 0.1])
    [0.1, 0.1, 2.8]
    """
    first = turn.index(max(turn)) + 1 if turn else 0
    return turn[first:] + turn[:first]


def whole_turns(seconds: Sequence[float]) -> Sequence[float]:
    """Return *seconds* as far as they are whole turns, if each k-th of them is late; else all.

    Of 13 steps of which each fourth works, three or four worked; of 12 of them always three.
    """
    return seconds[: len(seconds) - len(seconds) % turn_of(seconds)]


def factors(seconds: Sequence[float]) -> list[float]:
    """Return *seconds* as factors of their mean; none if they are alike."""
    mean = fmean(seconds)
    if mean <= 0 or pstdev(seconds) <= EVEN * mean:
        return []
    return [time / mean for time in seconds]


@dataclass
class Uneven:
    """By which factors of their means the batches and the steps of an epoch differ.

    *makes* has one for each batch that was seen, in the order of the runs, and *places* where in
    the epoch that batch is, from 0 to 1; *steps* has one for each step, in their order. Each
    *turn*-th step may be long; then *steps* has one turn. What is empty is alike, or there were only a
    *few* batches, too few to say which is like which.
    """

    places: list[float] = field(default_factory=list)
    makes: list[float] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)
    turn: int = 1
    few: list[float] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.makes or self.steps)

    def sampling_error(self, count: int) -> float:
        """Return the share by which the mean of an epoch of *count* batches may be another, at most.

        That holds RANGE_HOLDS of all times. It comes from the standard error of the batches that were
        seen, by how unlike those are that are next to each other: of samples that are sorted, a
        few all over the epoch tell enough. If all batches of the epoch were seen, there is none.
        """
        seen = len(self.makes or self.few)
        if seen < 2 or seen >= count:
            return 0.0
        if self.few:
            square = variance(self.few)
        else:
            in_order = sorted(zip(self.places, self.makes, strict=True))
            factors = [factor for _, factor in in_order]
            square = fmean((after - before) ** 2 for before, after in pairwise(factors)) / 2
        times = student(
            seen - 1, RANGE_HOLDS
        )  # few of them say little of how much they differ
        return times * math.sqrt(square / seen * (1 - seen / count))

    def of_step(self, number: int) -> float:
        """Return the factor of a step, by its *number*."""
        return self.steps[number % len(self.steps)] if self.steps else 1.0

    def of_batch_in_run(self, number: int) -> float:
        """Return the factor of a batch, by its *number* in a run that was watched."""
        return self.makes[number % len(self.makes)] if self.makes else 1.0

    def of_epoch(self, count: int) -> list[float]:
        """Return the factors of the batches of an epoch of so many, whose mean is 1.

        A batch that was not seen is like one of those that were seen nearest to it: which one of
        them changes from batch to batch, so that a straggler is not many in a row.
        """
        if not self.makes:
            return [1.0] * count
        order = sorted(zip(self.places, self.makes, strict=True))
        places = [place for place, _ in order]
        stands_for = count / len(order)  # batches, each that was seen
        width = min(NEIGHBOURS, len(order), max(1, round(stands_for)))
        chosen = []
        for number in range(count):
            nearest = bisect_left(places, (number - stands_for / 2) / count)
            first = min(max(0, nearest - width // 2), len(order) - width)
            _, factor = order[first + int(GOLDEN * number % 1 * width)]
            chosen.append(factor)
        mean = fmean(chosen)
        return [factor / mean for factor in chosen]
