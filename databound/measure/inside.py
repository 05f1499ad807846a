"""Where the time of a loader goes: a thread looks at what it is doing, and names lines and calls.

A profiler that is told of each call (`cProfile`) makes dear what calls much, and slows down only
plain Python. Looks from another thread leave the code alone, and so the shares.
"""

import sys
import threading
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from time import perf_counter, process_time
from types import CodeType, FrameType
from typing import Any, Literal, NamedTuple

from lessonkit.words import counted, milliseconds, number

from ..code import call_at, is_ours, is_own, named_function, place_of
from ..thresholds import (
    LOOK_EVERY,
    MOST_PARTS,
    MOSTLY,
    SEVERAL_CORES,
    SMALLEST_PART,
    SWITCH,
    USUAL,
)
from .runs import LoaderAndStep, restored
from .storage import Pass, Storage, read_so_far, whole_percent
from .watching import IN_HAND, BatchInHand, Collated, Watched, not_waiting

Stage = Literal["fetch", "collate", "loader", "watch"]
"""What a loader does when it is looked at: fetch samples, collate them, or work of its own.

What is put around it to *watch* it is none of it.
"""

OF_LOADER = "the loader's own work, and its sampler's"
OF_DATASET = "the dataset itself"


class At(NamedTuple):
    """A function that is being run, and the number of its instruction."""

    code: CodeType
    instruction: int


Stack = tuple[At, ...]
"""Functions that called one another, from the outermost to the innermost."""


# ---- looking ----


def stack_of(frame: FrameType | None) -> Stack:
    """Return what is being run in *frame* and in those that called it."""
    found = []
    while frame is not None:
        found.append(At(frame.f_code, frame.f_lasti))
        frame = frame.f_back
    return tuple(reversed(found))


def has_own(stack: Stack) -> bool:
    """Whether code of the user's own is in a *stack*."""
    return any(is_own(at.code.co_filename) for at in stack)


class Looks:
    """What was seen of a loader at work: for how many *seconds* each stack was run.

    A look stands for the time since the one before. So a long call that holds the interpreter's
    lock, during which nobody can look, counts in full: the first look after it finds it.
    """

    def __init__(self, began: float) -> None:
        self.last = began
        self.number = 0
        self.seconds: dict[Stack, float] = defaultdict(float)

    def look(self, stacks: Sequence[Stack], now: float) -> None:
        """Note that *stacks* are being run *now*: those of several threads share the time."""
        since = now - self.last
        self.last = now
        self.number += 1
        for stack in stacks:
            self.seconds[stack] += since / len(stacks)


@contextmanager
def looked_at(elsewhere: Collection[int | None] = ()) -> Iterator[Looks]:
    """Look at this thread in the block, from a thread of its own.

    Threads that are not *elsewhere*, by their numbers, help it: they count while they run code of
    the user's own, and this thread does not then, because it waits for them. In the block, threads
    hand the interpreter's lock over at once. Otherwise a look would have to wait for the next call
    that gives the lock away, and find that call far too often.
    """
    looks = Looks(perf_counter())
    over = threading.Event()
    main = threading.get_ident()
    others = {*elsewhere} - {main}

    def watch() -> None:
        others.add(threading.get_ident())
        while not over.wait(LOOK_EVERY):
            stacks = {
                ident: stack_of(frame)
                for ident, frame in sys._current_frames().items()
                if ident not in others
            }
            mine = stacks.pop(main)
            helpers = [stack for stack in stacks.values() if has_own(stack)]
            looks.look(helpers or [mine], perf_counter())

    interval = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH)
    thread = threading.Thread(target=watch, name="databound", daemon=True)
    thread.start()
    try:
        yield looks
    finally:
        over.set()
        thread.join()
        sys.setswitchinterval(interval)


# ---- what was seen, in words ----


class Doing(NamedTuple):
    """What a loader is doing: a *call*, on the user's own line *where* if there is one."""

    stage: Stage
    where: str
    call: str


class Part(NamedTuple):
    """A *share* of a loader's time, and what it does in that: a *call* on the user's line *where*.

    It is mostly *under* it, in a call of a library. Both *where* and *under* may be empty.
    """

    share: float
    stage: Stage
    where: str
    call: str
    under: str

    @property
    def name(self) -> str:
        """The call and its line, for a sentence."""
        return f"{self.call} in {self.where}" if self.where else self.call

    def __str__(self) -> str:
        words = f"{whole_percent(self.share)}  {self.name}"
        return f"{words}: {self.under}" if self.under else words


def doing(stack: Stack, stages: Mapping[CodeType, Stage]) -> tuple[Doing, str]:
    """Return what a *stack* does, and the call of a library that it does it with.

    *stages* says which function begins which stage. Where no line is the user's own, the
    innermost function is named, and a collate function of a library is just called so.
    """
    stage: Stage = "fetch"
    inner = stack
    for place, at in enumerate(stack):
        if at.code in stages:
            stage = stages[at.code]
            inner = stack[place + 1 :]
    own = [place for place, at in enumerate(inner) if is_own(at.code.co_filename)]
    if own:
        mine = inner[own[-1]]
        call = call_at(*mine) or mine.code.co_name
        what = Doing(stage, place_of(*mine), call)
        return what, in_library(inner[own[-1] + 1 :])
    if stage == "collate":
        return Doing(stage, "", "collate"), in_library(inner)
    if stage != "fetch" or (inner and is_ours(inner[-1].code.co_filename)):
        return Doing(stage, "", OF_LOADER), ""
    if not inner:
        return Doing(stage, "", OF_DATASET), ""
    return Doing(stage, "", named_function(inner[-1].code)), call_at(*inner[-1])


def in_library(stack: Stack) -> str:
    """Return the innermost call of a *stack* of a library, and the function that it is in."""
    if not stack:
        return ""
    innermost = stack[-1]
    call = call_at(*innermost)
    name = named_function(innermost.code)
    return f"{call} in {name}" if call else name


def parts_of(looks: Looks, stages: Mapping[CodeType, Stage]) -> list[Part]:
    """Return what the looks found, the largest part first: as shares of all that was seen."""
    found = defaultdict[Doing, dict[str, float]](lambda: defaultdict(float))
    for stack, seconds in looks.seconds.items():
        what, how = doing(stack, stages)
        if what.stage != "watch":
            found[what][how] += seconds
    whole = sum(sum(ways.values()) for ways in found.values())
    parts = []
    for what, ways in found.items():
        seconds = sum(ways.values())
        way = max(ways, key=ways.__getitem__)
        mostly = way if ways[way] > MOSTLY * seconds else ""
        parts.append(Part(seconds / whole, *what, mostly))
    return sorted(parts, key=lambda part: -part.share)


@dataclass
class Inside:
    """Where the time of a loader goes, by looks at one process that makes batches as a worker does.

    A batch takes *seconds*; it *waits* for that share of them, for storage or a network, and
    holds as many *cores* otherwise. *storage* is a second pass over the same *batches*.
    """

    parts: list[Part]
    seconds: float
    batches: int
    looks: int
    waits: float
    cores: float
    storage: Storage

    @property
    def head(self) -> str:
        """The slowest part, in a sentence."""
        slowest = self.parts[0]
        return (
            f"The slowest part of the loader is {slowest.name}: {whole_percent(slowest.share)} of "
            f"the {milliseconds(self.seconds)} that a batch takes to make."
        )

    def lines(self) -> list[str]:
        """Return a line for each part, the rest in one, and what storage has of it."""
        shown = [part for part in self.parts[:MOST_PARTS] if part.share >= SMALLEST_PART]
        lines = [str(part) for part in shown]
        rest = 1 - sum(part.share for part in shown)
        if rest >= SMALLEST_PART:
            lines.append(f"{whole_percent(rest)}  all else")
        if self.waits >= SMALLEST_PART:
            lines.append(
                f"For {whole_percent(self.waits)} of the time it waits: no core is busy."
            )
        if self.cores >= SEVERAL_CORES:
            lines.append(
                f"To make a batch holds {number(self.cores, 1)} cores: a library computes with "
                "threads, which those of other workers get in the way of. OMP_NUM_THREADS=1 before "
                "Python starts, or one thread set in worker_init_fn, ends that."
            )
        if said := self.storage.sentence:
            lines.append(said)
        lines.append(
            f"Seen in {counted(self.looks, 'looks')} at {counted(self.batches, 'batches')}."
        )
        return lines

    def numbers(self) -> dict[str, Any]:
        """Return all of it for programs."""
        return asdict(self) | {
            "parts": [part._asdict() for part in self.parts],
            "storage": self.storage.numbers(),
        }


# ---- a loader that is looked at ----


class Passed(NamedTuple):
    """A pass over a loader: the *seconds* of each batch, and for how long of it no core was busy."""

    batches: int
    seconds: float
    waits: float
    cores: float
    read: Pass
    looks: Looks


def one_pass(subject: LoaderAndStep, first: int, seconds: float, least: int) -> Passed:
    """Make batches in this process as a worker does, from number *first* of the runs on, and look.

    The first one opens what the loader needs, and does not count. It ends after *seconds* and
    when *least* others have come, or with the loader.
    """
    options = subject.options(0, factor=2, size=1, passes=1)
    for name in ("sampler", "batch_sampler"):
        if name in options:
            options[name] = options[name][first:]
    with restored():
        subject.use_threads(1)
        IN_HAND.forget()
        elsewhere = [thread.ident for thread in threading.enumerate()]
        source = iter(subject.made(options))
        try:
            next(source)
            before = read_so_far()
            on_core = process_time()
            began = perf_counter()
            waits = 0.0
            batches = 0
            with looked_at(elsewhere) as looks:
                for _, made in source:
                    batches += 1
                    waits += made.wait
                    if perf_counter() - began >= seconds and batches >= least:
                        break
            took = perf_counter() - began
        finally:
            for name in ("_shutdown_workers", "close"):
                getattr(source, name, int)()
    cores = (process_time() - on_core) / max(1e-9, took - waits)
    read = Pass.since(before, took / max(1, batches), batches)
    return Passed(batches, took, waits, cores, read, looks)


STAGES: Mapping[CodeType, Stage] = {
    one_pass.__code__: "loader",
    looked_at.__wrapped__.__code__: "watch",  # type: ignore[attr-defined]
    Watched.__getitem__.__code__: "fetch",
    Watched.__getitems__.__code__: "fetch",
    Watched.__iter__.__code__: "fetch",
    Collated.__call__.__code__: "collate",
    BatchInHand.add.__code__: "watch",
    BatchInHand.finish.__code__: "watch",
    not_waiting.__code__: "watch",
}


def look_inside(subject: LoaderAndStep, seconds: float = USUAL.inside) -> Inside | None:
    """Return where the time of a loader goes; None for one of which no second batch came.

    Two passes are made over the same samples, of *seconds* each. These are samples that no run
    has had, if there are any, so that their files are in memory only if they were before. Raises
    whatever the loader raises.
    """
    first = subject.not_yet_read()
    made = one_pass(subject, first, seconds, 1)
    parts = parts_of(made.looks, STAGES)
    if not parts:
        return None
    again = one_pass(subject, first, 0.0, made.batches)
    return Inside(
        parts=parts,
        seconds=made.seconds / made.batches,
        batches=made.batches,
        looks=made.looks.number,
        waits=min(1.0, made.waits / made.seconds),
        cores=made.cores,
        storage=Storage(made.read, again.read),
    )
