"""Ranks: machines that train together, each with its own loader, and wait for the slowest."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from lessonkit.words import counted, milliseconds

from .element import Element
from .run import Stopped, Task
from .trace import LOOP, MEET, NS, Trace
from .virtual import Ended, Virtual, other_ranks

if TYPE_CHECKING:
    from .training import Loop, Progress

UNEVEN = (
    "Rank {first} ran out of batches after step {step}, and rank {later} did not. "
    "A real job does not stop there. "
    "With one epoch, rank {later} waits until a timeout: "
    "by default 10 minutes with NCCL, and 30 minutes with gloo. "
    "With several epochs, gradients of different epochs are averaged without an error, "
    "until rank {later} waits at the end of the last epoch."
)


class StepTimes(NamedTuple):
    """When a rank began to wait for an element, *got* it, and had *trained* on it, in nanoseconds.

    It waits from the end of the step before, also while it finds that an epoch has ended.
    """

    asked: int
    got: int
    trained: int


class JointStep(NamedTuple):
    """A step of all ranks: when it ended in nanoseconds, and which rank was waited for."""

    end_ns: int
    slowest: int


@dataclass(eq=False, repr=False)
class Ranks:
    """The *steps* that several ranks took together, and an ordinary trace of each.

    *times* has the times of each step, by ranks. *uneven* is a sentence if they ran out at
    different steps; the run stops there.
    """

    traces: list[Trace]
    steps: list[JointStep]
    times: list[list[StepTimes]]
    uneven: str

    @property
    def duration(self) -> float:
        """Seconds from the start to the end of the last step."""
        return self.steps[-1].end_ns / NS if self.steps else 0.0

    def waits(self, rank: int) -> tuple[float, dict[int, float]]:
        """Return the seconds that *rank* waited for its data, and for each other rank by number.

        With its steps they add up to the duration, to the nanosecond.
        """
        own = 0
        for_others = dict[int, int]()
        for times, step in zip(self.times[rank], self.steps, strict=False):
            own += times.got - times.asked
            if waited := step.end_ns - times.trained:
                for_others[step.slowest] = for_others.get(step.slowest, 0) + waited
        return own / NS, {other: time / NS for other, time in for_others.items()}

    def __repr__(self) -> str:
        what = f"{counted(len(self.traces), 'ranks')}, {counted(len(self.steps), 'steps')}"
        text = f"<Ranks: {what}, {milliseconds(self.duration)}>"
        return f"{text}\n{self.uneven}".rstrip()


class Rank:
    """One machine of several: a run with a clock of its own, in which *loop* trains.

    It stands still at the end of each step and epoch, from *waits_since* on, until it is released.
    """

    has_step = False  # it waits after a step; else after an epoch, or it has ended
    has_ended = False
    waits_since: int | None = None  # for the others
    asked = 0  # when it began to wait for its next element

    def __init__(self, number: int, loop: Loop) -> None:
        assert isinstance(loop.run, Virtual)  # ranks are a model
        self.number = number
        self.run = loop.run
        self.run.in_step = False
        self.times: list[StepTimes] = []
        loop.meet = self.meet
        self.others = self.run.name("Others", LOOP, MEET)
        self.main = Task(self.run, self.run.process, loop.run_epochs(), loop.train.stage)
        self.run.ready.append(self.main)

    async def meet(self, got: int | None) -> None:
        """Wait for the others: after a step whose element was there at *got*, or after an epoch."""
        self.has_step = got is not None
        if got is not None:
            self.times.append(StepTimes(self.asked, got, self.run.time))
        await other_ranks()
        if got is not None:
            self.asked = self.run.time

    def next_time(self) -> float:
        """Return the time at which something can happen next in its run."""
        if self.run.ready:
            return self.run.time
        return self.run.sleeping[0][0] if self.run.sleeping else math.inf

    def go(self, until: float) -> None:
        """Run until it waits for the others or has ended, or up to the time *until*."""
        stopped = self.run.go(self.main, until)
        if stopped is not None:
            self.has_ended = isinstance(stopped, Ended)
            self.waits_since = self.run.time

    def release(self, at: int) -> None:
        """Let it go on *at* this time; until then it waits for the others."""
        since = self.waits_since or 0
        self.waits_since = None
        self.run.current = self.main
        if at > since:
            self.run.record_span(self.others, "wait", since, at, Element(None))
        self.run.wake_at(at, self.main)

    def end(self) -> None:
        """End its run, which is not at its end after an error in any rank, or an uneven end."""
        self.run.current = self.main
        self.run.finish(self.main.coro)


def train_together(
    count: int,
    record: bool | int,
    progress: Progress | None,
    loop_of: Callable[[int, bool, Progress | None], Loop],
) -> Ranks:
    """Train on *count* ranks, and return what each did.

    *loop_of* makes the training loop of a rank: of its number, whether it is recorded, and whom
    it tells of its progress. *record* may be the only rank to be recorded, and *progress* is told
    of the first. Raises ValueError for a rank to record that is none.
    """
    numbers = range(count)
    is_one = type(record) is int
    if is_one and record not in numbers:
        raise ValueError(
            f"record={record!r}: must be True, False or one of the {count} ranks"
        )
    with without_collector():
        loops = []
        for number in numbers:
            is_recorded = number == record if is_one else bool(record)
            loops.append(loop_of(number, is_recorded, None if number else progress))
        ranks = [Rank(number, loop) for number, loop in enumerate(loops)]
        for rank in ranks:
            rank.run.storages = ranks[0].run.storages  # one storage for all
        steps: list[JointStep] = []
        uneven = ""
        cancelled = False
        try:
            uneven = take_steps(ranks, steps)
        except Stopped:
            cancelled = True
        finally:
            for rank in ranks:
                rank.end()
    traces = [loop.trace(cancelled=cancelled) for loop in loops]
    found = Ranks(traces, steps, [rank.times for rank in ranks], uneven)
    for trace in traces:
        trace.ranks = found
    return found


@contextmanager
def without_collector() -> Iterator[None]:
    """Let Python collect no garbage in the block: ranks make much that stays, and no circles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.freeze()
            gc.unfreeze()  # all is old now: it need not be gone through now
            gc.enable()


def take_steps(ranks: list[Rank], steps: list[JointStep]) -> str:
    """Let *ranks* train to their end, and add to *steps*; return a sentence on an uneven end.

    A step ends for all when the slowest has trained.
    """
    while True:
        run_until_all_wait(ranks)
        over = [rank for rank in ranks if not rank.has_step]
        if all(rank.has_ended for rank in ranks):
            return ""
        if not over:
            slowest = max(ranks, key=lambda rank: rank.waits_since or 0)
            steps.append(JointStep(slowest.run.time, slowest.number))
        elif len(over) < len(ranks):
            later = next(rank.number for rank in ranks if rank not in over)
            return UNEVEN.format(first=over[0].number, later=later, step=len(steps))
        for rank in ranks:  # an epoch ends for each by itself
            rank.release(rank.run.time if over else steps[-1].end_ns)


def run_until_all_wait(ranks: list[Rank]) -> None:
    """Let *ranks* go on until all wait: those that share a storage in the order of time."""
    for rank in ranks:
        if not rank.run.in_step:
            rank.go(math.inf)
    in_step = [rank for rank in ranks if rank.run.in_step]
    while any(rank.waits_since is None for rank in in_step):
        first = min(in_step, key=Rank.next_time)
        first.go(first.next_time())
