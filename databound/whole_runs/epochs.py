"""One epoch of a training loop: what it took, and what of that the loop waited for its batches.

An epoch is counted from batch to batch: the time from one batch to the next is the step with the
former and the wait for the latter. So nothing depends on whether a loop asks for a batch after the
last one. The first batch of an epoch stands apart: it starts workers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from lessonkit.words import counted, milliseconds, number


class Stretch(NamedTuple):
    """So many *batches* in a row: the *seconds* until the last of them came, and those *waited*."""

    batches: int
    seconds: float
    waited: float


class Mark(NamedTuple):
    """Where an epoch stood at a *time*: so many *batches* had come, after so many seconds *waited*."""

    batches: int
    time: float
    waited: float


@dataclass(frozen=True)
class Epoch:
    """What one epoch of a training loop took.

    The first of its *batches* came at the time *came* of a clock, and the loop had waited *first*
    seconds for it, the start of workers included. *stretches* are the batches after that one.
    *loader* and *loop* are the lines at which the loader is made and iterated. Nobody knows the
    former of a loader that was made before watching began.
    """

    number: int
    loader: str
    loop: str
    batches: int
    came: float
    first: float
    stretches: tuple[Stretch, ...]

    @property
    def seconds(self) -> float:
        """The time from the first batch to the last one."""
        return sum(stretch.seconds for stretch in self.stretches)

    @property
    def waited(self) -> float:
        """The part of that time in which the loop waited for batches."""
        return sum(stretch.waited for stretch in self.stretches)

    @property
    def share(self) -> float:
        """The same as a share; 0 where there was one batch alone."""
        return self.waited / self.seconds if self.seconds else 0.0

    @property
    def each(self) -> float:
        """The seconds from one batch to the next; 0 where there was one batch alone."""
        return self.seconds / (self.batches - 1) if self.batches > 1 else 0.0

    def __str__(self) -> str:
        told = [f"epoch {self.number}: {counted(self.batches, 'batches')}"]
        if self.batches > 1:
            told += [f"{milliseconds(self.each)} each", f"waited {percent(self.share)}"]
        where = f"({self.loader})"
        return f"{', '.join(told)} {where}; the first came after {milliseconds(self.first)}"

    def numbers(self) -> dict[str, Any]:
        """Return what a line of a log holds: names with their units, and plain values."""
        return {
            "epoch": self.number,
            "loader": self.loader,
            "loop": self.loop,
            "batches": self.batches,
            "first_batch_seconds": self.first,
            "seconds_per_batch": self.each,
            "waited_share": self.share,
        }


def percent(share: float) -> str:
    """Write a share in whole per cent: single epochs differ by more than its digits would say.

    >>> percent(0.3849)
    '38 %'
    """
    return f"{number(100 * share, 0)} %"


class Waits(NamedTuple):
    """The *seconds* that training loops took from batch to batch, and those that they *waited*."""

    seconds: float
    waited: float

    @property
    def share(self) -> float:
        """The part that was waited; 0 where nothing was seen."""
        return self.waited / self.seconds if self.seconds else 0.0


def covered(spans: list[tuple[float, float]]) -> float:
    """Return the length of all *spans* together, counting once where some overlap.

    >>> covered([(5, 6), (0, 2), (1, 3)])
    4.0
    """
    length = 0.0
    until = -math.inf
    for begin, end in sorted(spans):
        length += max(0.0, end - max(begin, until))
        until = max(until, end)
    return length
