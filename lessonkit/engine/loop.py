"""The training loop: asks for elements, copies each to the accelerator, trains on it."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lessonkit.engine.costs import Cost, price
from lessonkit.engine.element import END, Element, like
from lessonkit.engine.machine import TELLER
from lessonkit.engine.node import Node
from lessonkit.engine.operators import Scope, Stream, open_whole
from lessonkit.engine.recorder import LOOP
from lessonkit.engine.run import Gate, Run, Stopped, Task
from lessonkit.engine.trace import Epoch

Progress = Callable[[int, float], object]

# Of the lists and tuples in one element, in a trace; one with more is only named
MOST_PARTS = 1000


class LoopStep:
    """A part of the training loop: what it costs for an element, or a *function* to call with it."""

    def __init__(
        self,
        run: Run,
        name: str,
        role: str,
        cost: Cost,
        function: Callable[[Any], Any] | None = None,
    ) -> None:
        self.run = run
        self.function = function
        self.price = price(cost, name.lower(), "; a function to call is step=")
        self.free = self.price == 0 and not function
        # A copy that takes no time leaves its name to others
        if not self.free or name != "Load":
            self.stage = run.name(name, LOOP, role)

    def take(self, element: Element) -> Awaitable[Any]:
        """Take the time that this takes for *element*."""
        if (function := self.function) is None:
            return self.run.spend(self.run.charge(self.price, element), self.stage, element)
        # The element as one argument, where `apply` would take a tuple apart.
        return self.run.apply(lambda *parts: function(element.value), element, self.stage)


class Background:
    """Does a *step* of the loop beside it: for one element after the other, as they came."""

    task: Task | None = None  # when there was something to do

    def __init__(self, step: LoopStep, name: str, reason: str) -> None:
        self.run, self.step, self.reason = step.run, step, reason
        self.gate = Gate(self.run, name)
        self.queue = deque[Element]()  # with the one that is at work

    def begin(self, element: Element) -> None:
        """Put *element* into the queue."""
        self.queue.append(element)
        if len(self.queue) == 1:
            self.task = self.run.start(self.work(), self.step.stage)

    async def work(self) -> None:
        """Do what is in the queue."""
        while self.queue:
            await self.step.take(self.queue[0])
            self.queue.popleft()
            self.gate.changed()

    def until(self, left: int) -> Awaitable[None]:
        """Wait until at most so many are *left*."""
        return self.run.until(self.gate, lambda: len(self.queue) <= left, self.reason)

    def close(self) -> None:
        """End what is under way, or was to begin."""
        if self.task is not None:
            self.run.cancel(self.task)


class CopiedAhead(Background):
    """Copies the next element to the accelerator while it trains on this one, as PyTorch's `DataPrefetcher`.

    The loop asks for the next element before it trains on this one: so it waits for both.
    """

    element: Element | None = None

    def __init__(self, stream: Stream, load: LoopStep) -> None:
        super().__init__(load, load.stage, "buffer empty")
        self.stream = stream

    async def next(self) -> Element:
        element = self.element or await self.begin_copy()
        if element is not END:
            await self.until(left=0)
            await self.begin_copy()
        return element

    async def begin_copy(self) -> Element:
        """Ask for an element, and copy it in the background."""
        self.element = await self.stream.next()
        if self.element is not END:
            self.begin(self.element)
        return self.element

    def close(self) -> None:
        super().close()
        self.stream.close()


class Turn(NamedTuple):
    """When the loop *asked* for an element, *got* it, and had *trained* on it, in nanoseconds."""

    asked: int
    got: int
    trained: int


@dataclass
class Loop:
    """Runs the epochs, on either clock, and takes down what arrives."""

    run: Run
    node: Node
    load: LoopStep
    train: LoopStep
    launch: LoopStep  # of a step, if the accelerator has a queue; else the step itself
    queue: int  # how many steps the accelerator has in it at most
    keep: bool
    progress: Progress | None
    cancel: threading.Event | None
    ahead: bool
    # Elements that a run before this one was trained on: they are made again, and let go
    skip: int = 0
    # Other ranks: after a step, or an epoch
    meet: Callable[[Turn | None], Awaitable[None]] | None = None
    epochs: list[Epoch] = field(default_factory=list)

    async def run_epochs(self, num_epochs: int, most: float) -> None:
        """Train for *num_epochs*, on at most *most* elements in all."""
        run, load, launch, cancel = self.run, self.load, self.launch, self.cancel
        watched = run.recorder is not None or self.progress is not None
        skip, queue, meet, count = self.skip, self.queue, self.meet, 0
        ahead = self.ahead and not load.free
        copies = not (load.free or ahead)
        accelerator = Background(self.train, "the accelerator's queue", "buffer full")
        for _ in range(num_epochs):
            epoch = Epoch(start=run.time / 1e9)
            self.epochs.append(epoch)
            if run.recorder is not None:
                run.recorder.arrived.append([])
            before, samples = count, 0
            stream = open_whole(Scope(run), self.node)
            give = CopiedAhead(stream, load) if ahead else stream
            try:
                while count < most:
                    asked = run.time if meet else 0
                    if (element := await give.next()) is END:
                        break
                    got = run.time if meet else 0
                    count += 1
                    if count <= skip:
                        continue
                    samples += element.samples
                    if watched:
                        self.take_down(epoch, count, element)
                    if cancel and cancel.is_set():
                        raise Stopped
                    if copies:
                        await load.take(element)
                    await launch.take(element)
                    if queue:
                        await accelerator.until(left=queue - 1)
                        accelerator.begin(element)
                    if meet:
                        await meet(Turn(asked, got, run.time))
                await accelerator.until(left=0)
                if meet:
                    await meet(None)
            finally:
                epoch.count, epoch.samples = max(0, count - max(before, skip)), samples
                epoch.duration = run.time / 1e9 - epoch.start
                give.close()
                accelerator.close()
            if before < count <= skip:  # all of it was before
                self.epochs.pop()
                if run.recorder is not None:
                    run.recorder.arrived.pop()
            if count == most:
                return

    def take_down(self, epoch: Epoch, count: int, element: Element) -> None:
        now = self.run.time / 1e9
        if self.run.recorder is not None:
            self.run.recorder.arrived[-1].append(element.key)
            epoch.arrivals.append(now - epoch.start)
            epoch.elements.append(element.value if self.keep else _described(element.value))
        if self.progress is not None:
            self.run.outside(TELLER, self.progress, count, now)


def _described(value: Any, room: int = MOST_PARTS) -> Any:
    """Return *value* if it is small and plain; else say what it is, so that a trace keeps no data.

    Lists and tuples in it share the *room* for parts.
    """
    if isinstance(value, (int, float, bool, type(None))) or (
        isinstance(value, str) and len(value) < 100
    ):
        return value
    if isinstance(value, (list, tuple)) and len(value) <= room:
        parts = [_described(part, room // len(value)) for part in value]
        return like(value, parts) if isinstance(value, tuple) else parts
    shape = f"({len(value)},)" if isinstance(value, list) else getattr(value, "shape", None)
    return f"<{type(value).__name__}{f' {shape}' if shape is not None else ''}>"
