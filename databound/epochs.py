"""What a training loop waits for its batches, epoch by epoch, while its script runs as it is.

Whoever iterates over a loader with gradients on gets an iterator that looks at the clock twice a
batch, and that is all that watching costs. A loop trains if `backward()` follows its batches;
others, as a validation that forgot to turn gradients off, are not told.

An epoch is counted from batch to batch: the time from one batch to the next is the step with the
former and the wait for the latter. So nothing depends on whether a loop asks for a batch after the
last one. The first batch of an epoch stands apart: it starts workers.
"""

from __future__ import annotations

import atexit
import json
import math
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from threading import get_ident
from time import perf_counter
from types import TracebackType
from typing import Any, NamedTuple, Protocol
from weakref import WeakSet, ref

from lessonkit.words import counted, milliseconds, number

from .patching import Line, backward_noted, is_patched, made_at, patched
from .thresholds import STRETCHES

# `Any` in this module is PyTorch, a loader of it or a batch.


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


def named(made: Line | None, loop: Line | None) -> str:
    """Name a loader by the line that has *made* it, else by the *loop* that it feeds."""
    return str(made) if made else f"the loop at {loop or 'a library'}"


class Timed:
    """The iterator that a loop gets over a *loader*: PyTorch's own, with two looks at a clock a batch.

    It is one epoch, from `iter` to the end of the loader, or until nobody holds it any more.
    *trains* says whether `backward()` came after one of its batches.
    """

    def __init__(
        self,
        loops: TrainingLoops,
        loader: Any,
        begin: Callable[[], Iterator[Any]],
        line: Line | None,
    ) -> None:
        self.loops = loops
        self.clock = loops.clock
        self.loader = loader
        self.line = line
        self.most = loops.batches_left()
        self.loop: Loop | None = None  # when it trains
        self.number = 0
        self.is_over = False
        self.thread = 0  # the one that got the first batch
        self.batches = 0
        self.waited = 0.0
        self.marks: list[Mark] = []  # after the first batch, and then after *every* ones
        self.every = 1
        self.next_mark = 1
        began = self.clock()
        self.inner = begin()
        self.last = self.clock()
        self.first = self.last - began

    def __iter__(self) -> Timed:
        return self

    def __len__(self) -> int:
        return len(self.inner)  # type: ignore[arg-type]

    def __getattr__(self, name: str) -> Any:
        if name == "inner":  # PyTorch's iterator could not be made
            raise AttributeError(name)
        return getattr(self.inner, name)

    def __next__(self) -> Any:
        if self.batches >= self.most:
            self.loops.had_enough(self)
        asked = self.clock()
        try:
            batch = next(self.inner)
        except StopIteration:
            self.end()
            raise
        self.last = self.clock()
        if self.batches:
            self.waited += self.last - asked
        else:
            self.thread = get_ident()
            self.first += self.last - asked
        self.batches += 1
        if self.batches == self.next_mark:
            self.mark()
        return batch

    def mark(self) -> None:
        """End a stretch; if there are many, each from now on is of twice as many batches."""
        self.marks.append(Mark(self.batches, self.last, self.waited))
        if len(self.marks) > 2 * STRETCHES:
            self.marks = self.marks[::2]
            self.every *= 2
        self.next_mark = self.batches + self.every

    def epoch(self) -> Epoch:
        """Return what this epoch took until now."""
        marks = [*self.marks]
        if marks and marks[-1].batches < self.batches:
            marks.append(Mark(self.batches, self.last, self.waited))
        return Epoch(
            self.number,
            named(made_at(self.loader), self.line),
            str(self.line or "a library"),
            self.batches,
            marks[0].time if marks else self.last,
            self.first,
            tuple(
                Stretch(
                    after.batches - before.batches,
                    after.time - before.time,
                    after.waited - before.waited,
                )
                for before, after in pairwise(marks)
            ),
        )

    def end(self) -> None:
        """Tell what it took, once."""
        if not self.is_over:
            self.is_over = True
            self.loops.end(self)

    def __del__(self) -> None:
        if "inner" in vars(self):
            self.end()


@dataclass
class Loop:
    """The epochs of training over loaders that one line makes, one after the other.

    *now* is the one that goes on. *options* are those of the loader that has trained first.
    """

    loader: Line | None
    options: dict[str, Any]
    epochs: list[Epoch] = field(default_factory=list)
    begun: int = 0
    now: Callable[[], Timed | None] = lambda: None

    def is_running(self) -> bool:
        """Whether an epoch of it goes on."""
        timed = self.now()
        return timed is not None and not timed.is_over

    def begin(self, timed: Timed) -> None:
        """Count *timed* as the next epoch."""
        self.begun += 1
        self.now = ref(timed)
        timed.loop = self
        timed.number = self.begun


class Changes(Protocol):
    """Arguments that loaders get instead of their own."""

    def apply(self, loader: Any) -> None:
        """Change *loader*, which is about to be iterated, if it is meant."""
        ...

    def take_back(self, loader: Any) -> None:
        """Give *loader*, which does not train, its own arguments again."""
        ...


class TrainingLoops:
    """All training loops of a script: hooks for `patching.patched`.

    *tell* is called with each epoch that is over. When the first loop asks for a batch after *most*
    of them, *enough* is called. *changes* are made to loaders before they are iterated.

    Loops are told apart by the line that makes their loader, so a loader that is made anew for
    each epoch is the same loop. Two that go on at the same time, in a `zip` or one inside the
    other, are two, wherever their loaders were made.
    """

    def __init__(
        self,
        tell: Callable[[Epoch], None],
        *,
        clock: Callable[[], float] = perf_counter,
        most: int | None = None,
        enough: Callable[[], None] = lambda: None,
        changes: Changes | None = None,
    ) -> None:
        self.tell = tell
        self.clock = clock
        self.most = math.inf if most is None else most
        self.enough = enough
        self.changes = changes
        self.loops: list[Loop] = []
        self.going_on = WeakSet[Timed]()
        self.undecided = WeakSet[Timed]()  # of those, whether they train
        self.trained = WeakSet[Any]()  # loaders
        self.process = os.getpid()

    @contextmanager
    def watched(self, torch: Any) -> Iterator[None]:
        """Watch all loops of the block over loaders of *torch*.

        At its end those that go on are told as they are then.
        """
        with ExitStack() as then:
            then.callback(self.close)
            then.enter_context(patched(torch, self))
            then.enter_context(backward_noted(torch, self.note_backward))
            yield

    def close(self) -> None:
        """End the epochs that go on: their loops may never ask again."""
        for timed in sorted(self.going_on, key=lambda timed: timed.last):
            timed.end()

    # ---- the hooks ----

    def iterate(
        self, loader: Any, begin: Callable[[], Iterator[Any]], line: Line | None
    ) -> Iterator[Any]:
        """Return PyTorch's own iterator, timed."""
        if self.changes is not None:
            self.changes.apply(loader)
        timed = Timed(self, loader, begin, line)
        self.going_on.add(timed)
        self.undecided.add(timed)
        return timed

    def length(self, loader: Any, known: int) -> int:
        """Tell the script what is known."""
        return known

    # ---- which loop trains ----

    def note_backward(self) -> None:
        """Take those for training that have given a batch in this thread.

        A loop in another thread only hands batches over: what it waits, the training does not.
        """
        if not self.undecided:
            return
        thread = get_ident()
        for timed in [*self.undecided]:
            if timed.thread == thread:
                self.undecided.discard(timed)
                self.trained.add(timed.loader)
                self.loop_of(timed).begin(timed)

    def loop_of(self, timed: Timed) -> Loop:
        """Return the loop that *timed* is an epoch of: a new one if nothing else fits."""
        line = made_at(timed.loader)
        for loop in self.loops:
            if loop.loader == line and not loop.is_running():
                return loop
        self.loops.append(Loop(line, options_of(timed.loader)))
        return self.loops[-1]

    def end(self, timed: Timed) -> None:
        """Tell an epoch that is over, if it trained."""
        self.going_on.discard(timed)
        self.undecided.discard(timed)
        if os.getpid() != self.process:  # a copy, in a process that was forked
            return
        if timed.loop is not None:
            epoch = timed.epoch()
            timed.loop.epochs.append(epoch)
            self.tell(epoch)
        elif self.changes is not None and timed.loader not in self.trained:
            self.changes.take_back(timed.loader)

    # ---- where it ends ----

    def batches_left(self) -> float:
        """Return how many batches are left to the first loop, or to one that may become it."""
        if not self.loops:
            return self.most
        first = self.loops[0]
        over = sum(epoch.batches for epoch in first.epochs)
        # Of a loop that never asks past its last batch, the epoch before may still be there
        going_on = sum(timed.batches for timed in self.going_on if timed.loop is first)
        return self.most - over - going_on

    def had_enough(self, timed: Timed) -> None:
        """End the script if *timed*, which asks for one batch more, is of its first loop."""
        if (
            timed.loop is not None
            and timed.loop is self.loops[0]
            and self.batches_left() <= 0
        ):
            self.enough()


def options_of(loader: Any) -> dict[str, Any]:
    """Return the arguments of *loader* that a reader asks for."""
    names = ("num_workers", "prefetch_factor", "persistent_workers")
    batches = getattr(loader, "batch_sampler", None)
    size = getattr(batches, "batch_size", None) or getattr(loader, "batch_size", None)
    return {"batch_size": size} | {name: getattr(loader, name, None) for name in names}


# ---- what all of it comes to ----


class Waits(NamedTuple):
    """The *seconds* that training loops took from batch to batch, and those that they *waited*."""

    seconds: float
    waited: float

    @property
    def share(self) -> float:
        """The part that was waited; 0 where nothing was seen."""
        return self.waited / self.seconds if self.seconds else 0.0


def waits_of(loops: list[Loop]) -> Waits:
    """Return what all *loops* waited, of the time in which any of them went on.

    The first batch of a loop's first epoch is left out, because the whole script starts with it; those
    of later epochs count, because each epoch waits for its own.
    """
    waited = 0.0
    spans: list[tuple[float, float]] = []
    for loop in loops:
        for place, epoch in enumerate(loop.epochs):
            opening = epoch.first if place else 0.0
            waited += opening + epoch.waited
            spans.append((epoch.came - opening, epoch.came + epoch.seconds))
    return Waits(covered(spans), waited)


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


# ---- telling it ----


def rank() -> int | None:
    """Return the number of this process among several that train together, as `torchrun` says it."""
    said = os.environ.get("RANK", "")
    several = os.environ.get("WORLD_SIZE", "1") != "1"
    return int(said) if several and said.isdigit() else None


def say(sentence: str) -> None:
    """Print a *sentence* to stderr, as ours; a bar of tqdm steps aside for it."""
    number_of_this = rank()
    who = "" if number_of_this is None else f"rank {number_of_this}, "
    bars = getattr(sys.modules.get("tqdm"), "tqdm", None)
    if bars is None:
        print(f"databound: {who}{sentence}", file=sys.stderr, flush=True)
    else:
        bars.write(f"databound: {who}{sentence}", file=sys.stderr)


class Teller:
    """Prints a line an epoch to stderr, and adds one to a *log* of JSON lines."""

    def __init__(self, log: str | Path | None) -> None:
        self.log = log

    def __call__(self, epoch: Epoch) -> None:
        say(str(epoch))
        if self.log:
            number_of_this = rank()
            told = epoch.numbers()
            if number_of_this is not None:
                told["rank"] = number_of_this
            with Path(self.log).open("a", encoding="utf-8") as file:
                file.write(json.dumps(told) + "\n")


class EpochWatch:
    """Watches the training loops of this process until it is stopped, or until a `with` block ends."""

    def __init__(self, torch: Any, log: str | Path | None) -> None:
        self.loops = TrainingLoops(Teller(log))
        self.then = ExitStack()
        if not is_patched(torch):  # else others of ours watch, or measure
            self.then.enter_context(self.loops.watched(torch))
            atexit.register(self.stop)

    @property
    def epochs(self) -> list[Epoch]:
        """The epochs of training that are over, in the order in which they began to train."""
        return [epoch for loop in self.loops.loops for epoch in loop.epochs]

    def latest(self) -> Epoch | None:
        """Return the epoch that goes on in the first loop that trains, else its last one."""
        if not self.loops.loops:
            return None
        first = self.loops.loops[0]
        timed = first.now()
        if timed is not None and not timed.is_over:
            return timed.epoch()
        return first.epochs[-1]

    def stop(self) -> None:
        """Tell the epoch that goes on, and leave PyTorch's loader as it was."""
        atexit.unregister(self.stop)
        self.then.close()

    def __enter__(self) -> EpochWatch:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def watch(log: str | Path | None = None) -> EpochWatch:
    """Print to stderr, for each epoch of training from now on, how long it waited for its batches.

    Works in a `with` block as well, and then until its end. *log* is a file to which a line of
    JSON is added for each epoch; without it, DATABOUND_LOG may name one. In a script that
    databound runs itself, nothing is added to what it does.
    """
    import torch

    return EpochWatch(torch, log or os.environ.get("DATABOUND_LOG"))
