"""Six verdicts on what an epoch takes, and the one function that chooses among them.

`probe` and `recommend` both ask it. What the one does not know and the other does is None.
"""

from dataclasses import dataclass
from typing import NamedTuple

from lessonkit.words import milliseconds

from ..thresholds import (
    CHANGED,
    FULL,
    HIDDEN,
    MOSTLY,
    NOT_HIDDEN,
    SLOWED,
    SMALL,
    STEP_COUNTS,
    WORTH,
)

RUN_AGAIN = "run this again when nothing else runs on this machine"
RUNS_DIFFER = "the runs differ too much from each other"

# What each means, and what to do.
VERDICTS = {
    "step-bound": "the loader keeps up with the step. Stop here: a faster loader saves next to "
    "nothing",
    "data-bound": "the step waits for the loader. Make its slowest part cheaper, or load with "
    "more workers",
    "they take turns": "the step waits while the loader loads, and the loader waits while the "
    "step runs. Load in the background; if threads already load in the background, try processes",
    "the loop's own time": "the loop spends time on each batch that it takes from a worker, even "
    "if the batch is ready. Hand over fewer, larger batches, or load without workers",
    "both want the same cores": "step and loader slow each other down. Give the step fewer "
    "threads, or the loader fewer workers; they may also share a disk or a lock",
    "cannot tell": "the runs overlap only in part, or differ too much from each other. Deepen "
    f"the buffer, and {RUN_AGAIN}",
}

# The same where more is known of the job than that
LOADER_FILLS_THE_CORES = (
    "the step waits for the loader, which already uses all cores: only a loader with less to "
    "compute helps"
)


@dataclass(frozen=True)
class Facts:
    """What is known of a loop, in seconds per batch; None for what nobody measured.

    The *step* alone, and *both* as the loop has them. The *loader* alone. *taking* is the loop's
    own time to take a batch that is ready. *in_background* says whether batches are made beside
    the step. *error* is the share by which one and the same run differed from itself. *computed*
    is all work on cores, of the step and of the loader, by which the *cores* are shared, and
    *step_computed* the part of the step. Other programs used *others* cores meanwhile.
    """

    step: float
    both: float
    loader: float | None = None
    taking: float | None = None
    in_background: bool | None = None
    error: float | None = None
    cores: int | None = None
    computed: float | None = None
    step_computed: float | None = None
    others: float = 0.0

    @property
    def most(self) -> float:
        """The share of the loop that a loader would save that takes no time."""
        return max(0.0, 1 - self.step / self.both) if self.both else 0.0

    @property
    def waited(self) -> float:
        """The seconds per batch in which the step does not run."""
        return max(0.0, self.both - self.step)

    @property
    def hidden(self) -> float | None:
        """The share of the shorter run, loader or step, that the longer one hides.

        Whether a run as short as SMALL of the other is hidden does not matter.
        """
        if self.in_background is not None:
            return 1.0 if self.in_background else 0.0
        if self.loader is None:
            return None
        shorter, longer = sorted((self.loader, self.step))
        if shorter <= SMALL * longer:
            return 1.0
        return (shorter + longer - self.both) / shorter

    @property
    def full(self) -> float | None:
        """The share of the loop in which all cores are full; more than 1 if they are too few."""
        if self.computed is None or not self.cores:
            return None
        return self.computed / (FULL * self.cores) / self.both

    @property
    def step_counts(self) -> bool:
        """Whether the step has so much of the computed work that it competes with the loader."""
        if not self.computed or self.step_computed is None:
            return False
        return self.step_computed >= STEP_COUNTS * self.computed


class Verdict(NamedTuple):
    """What decides how long a loop takes: one of the keys of VERDICTS, and the *advice*."""

    kind: str
    advice: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.advice}"


def verdict(kind: str) -> Verdict:
    """Return the verdict of a *kind* with the advice that VERDICTS has for it."""
    return Verdict(kind, VERDICTS[kind])


def decide(facts: Facts) -> Verdict:
    """Return what decides how long a loop takes.

    What is known for certain is asked first: whether there is anything to save; whether the runs
    can tell; whether a ready batch costs the loop time of its own. Then whether the cores, or
    something else that loader and step share, are what is missing; and last, which of the two
    waits for the other.
    """
    worth = SMALL if facts.error is None else WORTH
    if facts.most < worth:
        return verdict("step-bound")
    if facts.error is not None and facts.most < facts.error:
        return cannot_tell(facts)
    if facts.taking is not None and facts.taking > MOSTLY * facts.waited:
        return verdict("the loop's own time")
    if want_the_same(facts):
        return verdict("both want the same cores")
    hidden = facts.hidden
    if hidden is not None and hidden < NOT_HIDDEN:
        return verdict("they take turns")
    if hidden is not None and hidden < HIDDEN:
        return cannot_tell(facts)
    if facts.loader is not None and facts.loader <= facts.step:
        return verdict("step-bound")
    if facts.full is not None and facts.full > MOSTLY and not facts.step_counts:
        if facts.full * FULL >= 1 - SMALL:
            return Verdict("data-bound", LOADER_FILLS_THE_CORES)
    return verdict("data-bound")


def want_the_same(facts: Facts) -> bool:
    """Whether loader and step slow each other down.

    Where the work is known, that is if most of the loop is as much work as the cores can do, the
    step has a part in it, and loader and step compete: without workers they take turns. Where
    it is not, the loop takes longer than loader and step one after the other.
    """
    if facts.full is not None:
        in_background = facts.in_background is not False
        return in_background and facts.full > MOSTLY and facts.step_counts
    if facts.loader is None:
        return False
    return facts.both > SLOWED * (facts.loader + facts.step)


def differ(measured: float, tried: float) -> bool:
    """Whether an epoch as it is took so much longer at one time than at another that it is another job."""
    return max(measured, tried) > CHANGED * min(measured, tried)


def changed_meanwhile(measured: float, tried: float) -> Verdict:
    """Return the verdict of a job that was *measured* to take so long, and took otherwise when *tried*."""
    return Verdict(
        "cannot tell",
        f"an epoch takes {milliseconds(measured)} by what was measured, and took "
        f"{milliseconds(tried)} when it was tried as it is, so the machine or the job changed "
        f"meanwhile. {RUN_AGAIN.capitalize()}",
    )


def cannot_tell(facts: Facts) -> Verdict:
    """Return the verdict of runs that differ too much, with advice for this job.

    Where nobody repeated a run, it may also be that loader and step overlap in part.
    """
    if facts.error is None:
        return verdict("cannot tell")
    if facts.others:
        advice = (
            f"{RUNS_DIFFER}, and other programs used {facts.others:.1f} of the cores. "
            f"{RUN_AGAIN.capitalize()}"
        )
    else:
        advice = (
            f"{RUNS_DIFFER}, and no other program used the cores: this job is uneven by itself. "
            "Run this again with more batches"
        )
    return Verdict("cannot tell", advice)
