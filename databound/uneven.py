"""Jobs whose batches are not alike: stragglers, sorted samples, a step that works at every k-th call."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean, median, pstdev
from typing import NamedTuple

from .thresholds import EVEN, HICCUP, NEIGHBOURS

# Multiples of the golden ratio, less whole numbers, lie evenly between 0 and 1
GOLDEN = 0.618033988749895


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


def without_hiccups(
    times: Sequence[Timed], again: Sequence[Sequence[Timed]] = ()
) -> list[float]:
    """Return the seconds of *times*, in which what is late counts only if it comes again.

    A time of more than HICCUP medians, for its samples, is late. It is part of the job if the
    same place of another run, one of *again*, is late as well. Where no other run came so far,
    it is if several of *times* are late: a straggler here and there, or every fourth step. A
    single late one is a hiccup of the machine, and counts as HICCUP medians.
    """
    usual = median(time.each for time in times)
    late = [place for place, time in enumerate(times) if is_late(time, usual)]
    kept = [time.seconds for time in times]
    for place in late:
        others = [run for run in again if len(run) > place]
        comes_again = len(late) > 1
        if others:
            comes_again = any(
                is_late(run[place], median(time.each for time in run)) for run in others
            )
        if not comes_again:
            kept[place] = HICCUP * usual * max(1, times[place].samples)
    return kept


def is_late(time: Timed, usual: float) -> bool:
    """Whether a *time* is more than a few times the *usual* one for a sample."""
    return time.each > HICCUP * usual


def whole_turns(seconds: Sequence[float]) -> int:
    """Return how many of *seconds* are whole turns, if each k-th of them is late; else all.

    Of 13 steps of which each fourth works, three or four worked; of 12 of them always three.
    """
    usual = median(seconds)
    late = [place for place, time in enumerate(seconds) if time > HICCUP * usual]
    gaps = {after - before for before, after in pairwise(late)}
    if len(gaps) != 1:
        return len(seconds)
    turn = gaps.pop()
    return len(seconds) - len(seconds) % turn


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
    the epoch that batch is, from 0 to 1; *steps* has one for each step, in their order. What
    is empty is alike.
    """

    places: list[float] = field(default_factory=list)
    makes: list[float] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.makes or self.steps)

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
