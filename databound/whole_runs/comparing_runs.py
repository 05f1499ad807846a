"""Two ways to run one script, compared: what a batch takes, what the loop waits, and how sure that is.

The range of a change is that of Student's t. Of several runs with each way it comes from how much runs
of the same way differ; of one run each from how much stretches of it do, which is less: another
run may find its threads and its files in another order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

from lessonkit.words import counted, milliseconds, number

from ..ranges import student
from ..script.trying import as_text
from ..thresholds import STRETCHES
from .epochs import Stretch, percent
from .stored_runs import RanLoop, StoredRun


class NotComparableError(ValueError):
    """Two runs tell nothing about each other; the message says why."""


class Side(NamedTuple):
    """What runs with one way come to.

    *each* is the seconds of a batch, or of a sample, and *error* its standard error as a share
    of that, by as many degrees of *freedom*. *share* is what the loop waited, and *first* the seconds until
    the first batch of an epoch.
    """

    each: float
    error: float
    freedom: int
    share: float
    first: float


# ---- one run ----


def main_loop(run: StoredRun) -> RanLoop:
    """Return the loop of *run* that took the longest.

    Raises NotComparableError if none had two batches.
    """
    loops = [loop for loop in run.loops if loop.stretches()]
    if not loops:
        why = "no loop had two batches that backward() followed"
        raise NotComparableError(f"`{run.command}`: {why}")
    return max(loops, key=lambda loop: sum(stretch.seconds for stretch in loop.stretches()))


def grouped(stretches: Sequence[Stretch]) -> list[Stretch]:
    """Join neighbours until at most STRETCHES are left, each of about as many batches."""
    whole = sum(stretch.batches for stretch in stretches)
    found: list[Stretch] = []
    part = Stretch(0, 0.0, 0.0)
    done = 0
    for stretch in stretches:
        part = joined(part, stretch)
        done += stretch.batches
        if done * STRETCHES >= whole * (len(found) + 1):
            found.append(part)
            part = Stretch(0, 0.0, 0.0)
    return found


def joined(one: Stretch, other: Stretch) -> Stretch:
    """Return two stretches as one."""
    return Stretch(
        one.batches + other.batches,
        one.seconds + other.seconds,
        one.waited + other.waited,
    )


def of_run(loop: RanLoop) -> Side:
    """Return what one run of a *loop* comes to.

    Its first stretch is left out where there are others: the first steps warm up.
    """
    groups = grouped(loop.stretches())
    groups = groups[1:] or groups
    batches = sum(group.batches for group in groups)
    seconds = sum(group.seconds for group in groups)
    each = seconds / batches
    residuals = [group.seconds - each * group.batches for group in groups]
    freedom = len(groups) - 1
    error = math.inf
    if freedom:
        squares = sum(residual**2 for residual in residuals)
        error = math.sqrt(squares * len(groups) / freedom) / seconds
    firsts = [epoch.first for epoch in loop.epochs]
    return Side(
        each,
        error,
        freedom,
        sum(group.waited for group in groups) / seconds,
        fmean(firsts[1:] or firsts),
    )


# ---- several runs ----


def of_runs(sides: Sequence[Side], spread: float) -> Side:
    """Return the mean of several runs, single ones of which differ by a share of *spread*."""
    count = len(sides)
    within = math.sqrt(sum(side.error**2 for side in sides)) / count
    return Side(
        fmean(side.each for side in sides),
        max(within, spread / math.sqrt(count)),
        sum(side.freedom for side in sides),
        fmean(side.share for side in sides),
        fmean(side.first for side in sides),
    )


def spread_of(ways: Sequence[Sequence[Side]]) -> float:
    """Return the standard deviation of runs around the mean of their own way, as a share of it."""
    freedom = sum(len(sides) - 1 for sides in ways)
    squares = 0.0
    for sides in ways:
        mean = fmean(side.each for side in sides)
        squares += sum((side.each / mean - 1) ** 2 for side in sides)
    return math.sqrt(squares / freedom) if freedom else 0.0


@dataclass(frozen=True)
class Comparison:
    """What changed from runs *before* to runs *after*, by a share of *change* and give or take *range*.

    *unit* is what takes its time: a batch, or a sample if batches have other sizes.
    """

    where: str
    unit: str
    before: Side
    after: Side
    range: float
    ways: tuple[str, str]
    doubts: tuple[str, ...]

    @property
    def change(self) -> float:
        """How much longer it takes after, as a share; below 0 if it is faster."""
        return self.after.each / self.before.each - 1

    @property
    def is_clear(self) -> bool:
        """Whether chance alone would hardly do that."""
        return abs(self.change) > self.range

    def __str__(self) -> str:
        times = f"{milliseconds(self.before.each)} -> {milliseconds(self.after.each)}"
        width = f"± {number(100 * self.range, 0)}" if self.range < math.inf else "± unknown"
        firsts = f"{milliseconds(self.before.first)} -> {milliseconds(self.after.first)}"
        waits = f"{percent(self.before.share)} -> {percent(self.after.share)}"
        sign = "+" if self.change > 0 else ""
        lines = [
            f"{self.where}: {times} a {self.unit}, {sign}{number(100 * self.change, 0)} {width} %",
            f"    waiting {waits}; the first batch of an epoch came after {firsts}",
            f"    before: {self.ways[0]}",
            f"    after:  {self.ways[1]}",
        ]
        if not self.is_clear:
            lines.append(
                "Cannot tell which is faster: by chance alone they may differ as much. More rounds, "
                "or longer runs, make the range smaller."
            )
        return "\n".join([*lines, *self.doubts])


def compare(before: Sequence[StoredRun], after: Sequence[StoredRun]) -> Comparison:
    """Say what changed from runs *before* to runs *after*, of one script on one machine.

    Raises NotComparableError for runs of different scripts or machines, and for one without
    training.
    """
    runs = [*before, *after]
    for name in ("script", "machine"):
        refuse_others(name, runs)
    loops = [[main_loop(run) for run in way] for way in (before, after)]
    sizes = {loop.options.get("batch_size") for way in loops for loop in way}
    per_sample = len(sizes) > 1
    if per_sample and not all(isinstance(size, int) for size in sizes):
        raise NotComparableError(
            f"batches are of {' and '.join(sorted(map(str, sizes)))} samples: "
            "nothing says how many samples the one that is None has"
        )
    ways = [
        [in_samples(loop) if per_sample else of_run(loop) for loop in way] for way in loops
    ]
    spread = spread_of(ways)
    sides = [of_runs(way, spread) for way in ways]
    freedom = len(runs) - 2 or sum(side.freedom for side in sides)
    error = math.hypot(*(side.error for side in sides))
    width = error and student(max(1, freedom)) * error * sides[1].each / sides[0].each
    return Comparison(
        loops[1][0].loader,
        "sample" if per_sample else "batch",
        sides[0],
        sides[1],
        width,
        (told(before, loops[0]), told(after, loops[1])),
        tuple(doubts(before, after, per_sample)),
    )


def in_samples(loop: RanLoop) -> Side:
    """Return what a run comes to, for each sample of its batches."""
    side = of_run(loop)
    return side._replace(each=side.each / loop.options["batch_size"])


def refuse_others(name: str, runs: Sequence[StoredRun]) -> None:
    """Raise NotComparableError if not all *runs* have the same *name*: a script, or a machine."""
    values = list(dict.fromkeys(getattr(run, name) for run in runs))
    if len(values) > 1:
        names = "\n    ".join(values)
        raise NotComparableError(f"these are runs of more than one {name}:\n    {names}")


def told(runs: Sequence[StoredRun], loops: Sequence[RanLoop]) -> str:
    """Say of *runs* of one way how they were run, and how many batches they had."""
    batches = sum(epoch.batches for loop in loops for epoch in loop.epochs)
    arguments = f"{runs[0].arguments}, " if runs[0].arguments else ""
    how = as_text(runs[0].settings) or "as it is"
    seen = f"{counted(batches, 'batches')} in {counted(len(runs), 'runs')}"
    return f"{arguments}{how} ({seen})"


def doubts(
    before: Sequence[StoredRun], after: Sequence[StoredRun], per_sample: bool
) -> list[str]:
    """Return what a reader has to know beside the numbers, in sentences."""
    found = []
    runs = [*before, *after]
    if len(runs) == 2:
        found.append(
            "The range comes from stretches within one run of each; two runs may differ by "
            "more. Several of each tell: databound compare --set ... --rounds 3"
        )
    if per_sample:
        found.append("Batches are of different sizes, so times are those of a sample.")
    versions = list(dict.fromkeys(run.versions for run in runs))
    if len(versions) > 1:
        found.append(f"Versions differ: {'; '.join(versions)}.")
    ways = (
        {as_text(run.settings) for run in before},
        {as_text(run.settings) for run in after},
    )
    if any(len(way) > 1 for way in ways):
        found.append("Runs on the same side were not all run with the same settings.")
    return found


# ---- how sure ----
