"""Ranks: machines that train together. Each has its own loader, and waits for the slowest after a step."""

from __future__ import annotations

import gc
import math
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import getclosurevars, isfunction
from typing import Any, NamedTuple

from lessonkit.engine.element import Element
from lessonkit.engine.loop import Loop, Turn
from lessonkit.engine.node import walk
from lessonkit.engine.recorder import LOOP, MEET
from lessonkit.engine.resume import fingerprint
from lessonkit.engine.run import Task
from lessonkit.engine.trace import NS, Trace
from lessonkit.engine.virtual import ALL_RANKS, others

UNEVEN = (
    "Rank {first} ran out of batches after step {step}, and rank {later} did not. "
    "A real job does not stop there. "
    "With one epoch, rank {later} waits until a timeout: "
    "by default 10 minutes with NCCL, 30 with gloo. "
    "With several, gradients of different epochs are averaged without an error, "
    "until rank {later} waits at the end of the last epoch."
)

ALL_ALIKE = (
    "All ranks read the same samples: the function gives the same pipeline to each rank."
)
ONE_LIST = "Several ranks write to {}: machines share no memory, so in a real job each would have its own."


class Rank:
    """One machine of several: a run of its own, and the clock in it. It trains by *loop*."""

    has_step = False  # what it waits after: a step, or an epoch
    is_over = False
    waits_since: int | None = None  # for the others

    def __init__(self, number: int, loop: Loop, num_epochs: int, most: float) -> None:
        self.number = number
        run: Any = loop.run  # on the virtual clock
        self.run, run.in_step = run, False
        self.turns: list[Turn] = []  # of its steps
        loop.meet = self.meet
        self.others = run.name("Others", LOOP, MEET)
        self.main = Task(run, loop.run_epochs(num_epochs, most), loop.train.stage)
        run.ready.append(self.main)

    async def meet(self, turn: Turn | None) -> None:
        """Wait for the others, after a step or an epoch."""
        self.has_step = turn is not None
        if turn is not None:
            self.turns.append(turn)
        await others()

    def next_time(self) -> float:
        """Return when something can happen next in its run."""
        if self.run.ready:
            return self.run.time  # type: ignore[no-any-return]
        return self.run.sleeping[0][0] if self.run.sleeping else math.inf

    def go(self, until: float) -> None:
        """Go on until it waits for the others, or as far as it may alone."""
        if end := self.run.go(self.main, until):
            self.is_over, self.waits_since = end != ALL_RANKS, self.run.time

    def release(self, at: int) -> None:
        """Let it go on *at* this time, which is common."""
        since, self.waits_since = self.waits_since or 0, None
        self.run.current = self.main
        if at > since:
            self.run.took(self.others, "wait", since, at, Element(None))
        self.run.wake_at(at, self.main)


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

    *uneven* says what happened if they ran out at different steps; the run stops there.
    *alike* says if all read the same samples, or write to one list.
    """

    traces: list[Trace]
    steps: list[Together]
    turns: list[list[Turn]]  # by ranks
    uneven: str
    allreduce: float
    alike: str

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
            times = (
                ("trains", steps),
                ("waits for data", own),
                ("for others", sum(theirs.values())),
            )
            lines.append(
                f"rank {rank:<5}"
                + "".join(f"  {what} {time * 1e3:.3f} ms" for what, time in times)
            )
        return "\n".join(lines)


def refuse_what_is_shared(pipelines: list[Any]) -> None:
    """Raise ValueError if two ranks have a step in common: a cache would be shared, which no machines do."""
    owners: dict[Any, int] = {}
    for rank, pipeline in enumerate(pipelines):
        # The last step that is shared comes first
        for node in reversed([*walk(pipeline.node)]):
            if owners.setdefault(node, rank) != rank:
                both = f"ranks {owners[node]} and {rank} share {node.method}"
                raise ValueError(
                    f"{both}: make all of the pipeline within the function of the rank"
                )


def are_alike(pipelines: list[Any]) -> bool:
    """Whether several *pipelines* have the same steps, arguments and functions, and so give the same."""
    first, *others = (fingerprint(pipeline.node) for pipeline in pipelines[:2])
    if others != [first]:  # most are told apart by two of them
        return False
    return all(fingerprint(pipeline.node) == first for pipeline in pipelines[2:])


def lengths_of_shared(pipelines: list[Any]) -> dict[str, tuple[Any, int]]:
    """Return by name what functions of several *pipelines* hold that may grow, and how long it is."""
    owners: dict[int, set[int]] = defaultdict(set)
    lengths = {}
    for rank, pipeline in enumerate(pipelines):
        functions = [
            value for node in walk(pipeline.node) for value in node.arguments.values()
        ]
        for function in filter(isfunction, functions):
            taken = getclosurevars(function)
            for name, value in {**taken.globals, **taken.nonlocals}.items():
                owners[id(value)].add(rank)
                if isinstance(value, (list, dict, set)) and len(owners[id(value)]) > 1:
                    lengths[name] = value, len(value)
    return lengths


@contextmanager
def without_collector() -> Iterator[None]:
    """Let Python look for no garbage meanwhile: many ranks make much that stays, and no circles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.freeze()
            gc.unfreeze()  # all is old now: it need not be gone through at once
            gc.enable()


def together(
    loops: list[Loop], num_epochs: int, most: float, allreduce: float
) -> tuple[list[Together], list[list[Turn]], str]:
    """Run all *loops*: each step ends for all when the slowest has trained, and *allreduce* later.

    Return the steps, the turns of each rank, and a sentence if one rank ran out where
    another did not.
    """
    ranks = [Rank(number, loop, num_epochs, most) for number, loop in enumerate(loops)]
    steps: list[Together] = []
    for rank in ranks:
        rank.run.lines = ranks[0].run.lines  # one storage for all
    try:
        uneven = take_steps(ranks, steps, round(allreduce * NS))
    finally:
        for rank in ranks:  # after an error in one of them, or where they ended apart
            rank.run.current = rank.main
            rank.run.finish(rank.main.coro)
    return steps, [rank.turns for rank in ranks], uneven


def take_steps(ranks: list[Rank], steps: list[Together], allreduce: int) -> str:
    """Let *ranks* train until they have ended, and take down their *steps*; return what was uneven."""
    while True:
        meet(ranks)
        over = [rank for rank in ranks if not rank.has_step or rank.is_over]
        if all(rank.is_over for rank in ranks):
            return ""
        if not over:
            slowest = max(ranks, key=lambda rank: rank.waits_since or 0)
            steps.append(Together(slowest.run.time + allreduce, slowest.number))
        elif len(over) < len(ranks):
            first, later = (
                over[0].number,
                next(rank.number for rank in ranks if rank not in over),
            )
            return UNEVEN.format(first=first, later=later, step=len(steps))
        for rank in ranks:  # an epoch ends for each by itself
            rank.release(rank.run.time if over else steps[-1].end_ns)


def meet(ranks: list[Rank]) -> None:
    """Let *ranks* go on until all wait for each other: those that share something, in the order of time."""
    for rank in ranks:
        if not rank.run.in_step:
            rank.go(math.inf)
    in_step = [rank for rank in ranks if rank.run.in_step]
    while any(rank.waits_since is None for rank in in_step):
        first = min(in_step, key=Rank.next_time)
        first.go(first.next_time())
