"""Ranks: machines that train together. Each has its own loader, and waits for the slowest after a step."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from dis import get_instructions
from heapq import heapify, heappop, heappush
from inspect import ismethod
from typing import Any, NamedTuple

from lessonkit.engine.loop import Turn
from lessonkit.engine.machine import Machine
from lessonkit.engine.node import Description, walk
from lessonkit.engine.recorder import LOOP, MEET, TRAIN, Name
from lessonkit.engine.run import Task
from lessonkit.engine.store import Store
from lessonkit.engine.trace import NS, Trace
from lessonkit.engine.virtual import ALL_RANKS, Virtual, others

REAL_JOB = (
    "A real job does not stop there. With one epoch rank {later} waits until a timeout, often half an hour; "
    "with more, its gradients are added to those of rank {first}'s next epoch, and nobody notices."
)


ALL_ALIKE = "The function ignores its rank: all ranks read the same samples."


class Rank:
    """One machine of several: a run of its own, and the clock in it. It trains by *loop*."""

    def __init__(self, number: int, loop: Any, num_epochs: int, most: float) -> None:
        run: Virtual = loop.run
        self.number, self.run = number, run
        self.turns: list[Turn] = []  # of its steps
        self.waits_since: int | None = None  # for the others
        self.has_step = self.is_over = False  # what it waits after: a step, or an epoch
        loop.meet = self.meet
        self.others = run.name("Others", LOOP, MEET)
        self.main = Task(run, loop.run_epochs(num_epochs, most), run.name("Train", LOOP, TRAIN))
        run.ready.append(self.main)

    async def meet(self, turn: Turn | None) -> None:
        """Wait for the others, after a step or an epoch."""
        self.has_step = turn is not None
        if turn is not None:
            self.turns.append(turn)
        await others()

    def go(self, until: float = math.inf) -> None:
        """Go on until it waits for the others, or as far as it may alone."""
        if self.run.in_step and until == math.inf:
            return
        end = self.run.go(self.main, until)
        if end is ALL_RANKS:
            self.waits_since = self.run.time
        elif end is not None:
            self.is_over, self.waits_since = True, self.run.time

    def release(self, at: int) -> None:
        """Let it go on *at* this time, which is common."""
        since, self.waits_since = self.waits_since or 0, None
        last, run = self.main.last, self.run
        if at > since and run.recorder is not None:
            run.recorder.spans += (self.others, "wait", since, at, 0, 0, last, "")
            last = run.recorder.count - 1
        run.wake_at(at, self.main)
        self.main.last = last


class Together(NamedTuple):
    """A step of all ranks: when it ended in nanoseconds, and which rank was waited for."""

    end_ns: int
    slowest: int

    @property
    def end(self) -> float:
        return self.end_ns / NS


@dataclass(eq=False, repr=False)
class Ranks:
    """What several ranks did: *steps* that they took together, and an ordinary trace of each.

    *uneven* says what happened if they ran out at different steps; the run stops there. *alike* says if all
    read the same samples.
    """

    traces: list[Trace]
    steps: list[Together]
    turns: list[list[Turn]] = field(repr=False)  # by ranks
    allreduce: float
    uneven: str = ""
    alike: str = ""

    @property
    def duration(self) -> float:
        """Seconds from the start to the end of the last step."""
        return self.steps[-1].end if self.steps else 0.0

    def waits(self, rank: int) -> tuple[float, dict[int, float]]:
        """Split the seconds that *rank* waited: for its own data, and for each other rank, by its number.

        With its steps and the all-reduces they add up to the whole, to the nanosecond.
        """
        own, for_others = 0, dict[int, int]()
        reduce = round(self.allreduce * NS)
        for turn, step in zip(self.turns[rank], self.steps, strict=False):
            own += turn.got - turn.asked
            if waited := step.end_ns - reduce - turn.trained:
                for_others[step.slowest] = for_others.get(step.slowest, 0) + waited
        return own / NS, {who: time / NS for who, time in for_others.items()}

    @property
    def waited_for(self) -> list[int]:
        """The rank that was waited for, step by step."""
        return [step.slowest for step in self.steps]

    def __repr__(self) -> str:
        return f"<Ranks: {len(self.traces)} ranks, {len(self.steps)} steps, {self.duration * 1e3:.3f} ms>"

    def __str__(self) -> str:
        lines = [repr(self), *filter(None, (self.alike, self.uneven))]
        for rank, turns in enumerate(self.turns):
            own, theirs = self.waits(rank)
            steps = sum(turn.trained - turn.got for turn in turns) / NS
            times = (("trains", steps), ("waits for data", own), ("for others", sum(theirs.values())))
            lines.append(f"rank {rank:<5}" + "".join(f"  {what} {time * 1e3:.3f} ms" for what, time in times))
        return "\n".join(lines)


def refuse_what_is_shared(pipelines: list[Any]) -> None:
    """Raise ValueError if two ranks have a step in common: a cache would be shared, which no machines do."""
    owners: dict[Any, int] = {}
    for rank, pipeline in enumerate(pipelines):
        for node in walk(pipeline.node) if isinstance(pipeline, Description) else ():
            if owners.setdefault(node, rank) != rank:
                both = f"ranks {owners[node]} and {rank} share {node.method}"
                raise ValueError(f"{both}: make all of the pipeline within the function of the rank")


def ignores_rank(function: Callable[[int], Any]) -> bool:
    """Whether *function* does nothing with the number that it is given, as far as its code tells."""
    code = getattr(function, "__code__", None)
    if code is None or code.co_argcount <= ismethod(function):
        return False
    name = code.co_varnames[ismethod(function)]
    used = [step.argval for step in get_instructions(code)]
    return name not in code.co_cellvars and not any(
        name in (given if isinstance(given, tuple) else (given,)) for given in used
    )


@contextmanager
def without_collector() -> Iterator[None]:
    """Let Python look for no garbage meanwhile: many ranks make much that stays, and no circles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def together(ranks: list[Rank], allreduce: float) -> tuple[list[Together], str]:
    """Run all *ranks*: each step ends for all when the slowest has trained, and *allreduce* later.

    Return the steps, and a sentence if one rank ran out where another did not.
    """
    steps = list[Together]()
    reduce = round(allreduce * NS)
    outside = Virtual(Machine(), Store(fixed_seed=True), None)  # what no rank owns: a storage
    outside.outside_run, outside.current = outside, Task(outside, None, Name("storage"))
    for rank in ranks:
        rank.run.outside_run, rank.run.lines = outside, outside.lines
        rank.go()
    while True:
        if outside.lines:
            in_step(ranks, outside)
        over = [rank for rank in ranks if not rank.has_step or rank.is_over]
        if len(over) == len(ranks):
            if all(rank.is_over for rank in ranks):
                return steps, ""
            for rank in ranks:  # an epoch ends for each by itself
                rank.release(rank.run.time)
                rank.go()
            continue
        if over:
            later = next(rank.number for rank in ranks if rank not in over)
            first = over[0].number
            text = f"Rank {first} ran out of batches after step {len(steps)}, and rank {later} did not. "
            return steps, text + REAL_JOB.format(first=first, later=later)
        slowest = max(ranks, key=lambda rank: rank.waits_since or 0)
        steps.append(Together(slowest.run.time + reduce, slowest.number))
        for rank in ranks:
            rank.release(steps[-1].end_ns)
            rank.go()


def in_step(ranks: list[Rank], outside: Virtual) -> None:
    """Let ranks that share something go on in the order of their times, until all wait for each other."""
    everybody = {rank.run: (rank.number, rank) for rank in ranks if rank.run.in_step}
    line = [(next_time(run), number, run) for run, (number, _) in everybody.items()]
    line.append((next_time(outside), len(ranks), outside))
    heapify(line)
    while any(rank.waits_since is None for _, rank in everybody.values()):
        time, _, run = heappop(line)
        if next_time(run) == time:  # or it has been told something else meanwhile
            if run is outside:
                run.go(None, time)
            else:
                everybody[run][1].go(time)
        touched = {run, *outside.touched}
        outside.touched.clear()
        for other in touched:
            if (time := next_time(other)) < math.inf:
                heappush(line, (time, everybody[other][0] if other in everybody else len(ranks), other))


def next_time(run: Virtual) -> float:
    """Return when something can happen next in *run*."""
    if run.ready:
        return run.time
    return run.sleeping[0][0] if run.sleeping else math.inf
