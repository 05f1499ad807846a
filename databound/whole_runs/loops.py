"""The training loops of a script: which of its loops train, and what each waits, epoch by epoch.

Whoever iterates over a loader with gradients on gets an iterator that looks at the clock twice a
batch, and that is all that watching costs. A loop trains if `backward()` follows its batches;
others, as a validation that forgot to turn gradients off, are not told.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from threading import get_ident
from time import perf_counter
from typing import Any, Protocol
from weakref import WeakSet, ref

from ..script.patching import Line, backward_noted, made_at, patched
from ..thresholds import STRETCHES
from .epochs import Epoch, Mark, Stretch, Waits, covered

# `Any` in this module is PyTorch, a loader of it or a batch.


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
