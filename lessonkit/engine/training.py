"""The training loop: asks for elements, copies each to the accelerator, trains on it."""

import math
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from lessonkit import check
from lessonkit.engine.costs import Cost, price
from lessonkit.engine.element import END, Element, like
from lessonkit.engine.machine import TELLER, Machine
from lessonkit.engine.node import Description, Node, cardinality, sites
from lessonkit.engine.operators import Scope, Stream, open_whole
from lessonkit.engine.recorder import COPY, LOAD, LOOP, TRAIN, Recorder
from lessonkit.engine.run import Gate, Run, Stopped, Task
from lessonkit.engine.store import Store
from lessonkit.engine.threads import Threads
from lessonkit.engine.trace import Epoch, Trace
from lessonkit.engine.virtual import Virtual

MOST_ELEMENTS = 1_000_000  # elements of a source whose end nobody knows, on the virtual clock
USUAL = 0.010  # s; what a step takes if nothing is said

Progress = Callable[[int, float], object]


class LoopStep:
    """A part of the training loop: what it costs for an element, or a *function* to call with it."""

    def __init__(
        self, run: Run, role: str, cost: Cost, function: Callable[[Any], Any] | None = None, name: str = ""
    ) -> None:
        self.run = run
        self.function = function
        self.price = price(cost, name.lower() or role, "; a function to call is step=")
        self.free = self.price == 0 and not function
        if not self.free or role == TRAIN:  # what takes no time leaves its name to others
            self.stage = self.loop_stage = run.name(name or role.title(), LOOP, role)

    def take(self, element: Element) -> Awaitable[Any]:
        """Take the time that this takes for *element*."""
        if (function := self.function) is None:
            return self.run.spend(self.run.charge(self.price, element), self.stage, element)
        # The element as one argument, where `apply` would take a tuple apart.
        return self.run.apply(lambda *parts: function(element.value), element, self.stage)

    async def finish(self) -> None:
        """Wait until all that was begun is done, at the end of an epoch."""

    def close(self) -> None:
        """End what is under way."""


class QueuedStep(LoopStep):
    """A step that the loop only launches: the accelerator takes one after the other from its queue."""

    task: Task | None = None  # the accelerator's, when it has something to do

    def __init__(self, run: Run, train: Cost, launch: Callable[[Any], Any] | None, depth: int) -> None:
        super().__init__(run, TRAIN, train)
        self.launch = LoopStep(run, COPY, 0, launch, name="Launch")
        self.loop_stage = run.name("Launch", LOOP, COPY)  # it is the loop that waits, not the accelerator
        self.depth, self.queue = depth, deque[Element]()  # with the step that is at work
        self.gate = Gate(run, "the accelerator's queue")

    async def take(self, element: Element) -> None:
        """Launch the step for *element*, and wait until there is room for it in the queue."""
        if not self.launch.free:
            await self.launch.take(element)
        await self.run.until(self.gate, lambda: len(self.queue) < self.depth, "buffer full")
        self.queue.append(element)
        if len(self.queue) == 1:
            self.task = self.run.start(self.work(), self.stage)

    async def work(self) -> None:
        """Do what is in the queue."""
        while self.queue:
            await super().take(self.queue[0])
            self.queue.popleft()
            self.gate.changed()

    async def finish(self) -> None:
        await self.run.until(self.gate, lambda: not self.queue, "buffer full")

    def close(self) -> None:
        if self.task is not None:
            self.run.cancel(self.task)


class CopiedAhead:
    """Copies the next element to the accelerator while it trains on this one, as PyTorch's `DataPrefetcher`.

    The loop asks for the next element before it trains on this one: so it waits for both.
    """

    copy: Task | None = None
    element: Element | None = None

    def __init__(self, run: Run, stream: Stream, load: LoopStep) -> None:
        self.run, self.stream, self.load = run, stream, load
        self.copied = Gate(run, load.stage)

    async def next(self) -> Element:
        if self.element is None:
            await self.begin_copy()
        element = self.element
        assert element is not None
        if element is not END:
            await self.run.until(self.copied, lambda: self.copy is None, "buffer empty")
            await self.begin_copy()
        return element

    async def begin_copy(self) -> None:
        """Ask for an element, and copy it in the background."""
        self.element = await self.stream.next()
        if self.element is not END:
            self.copy = self.run.start(self.take(self.element), self.load.stage)

    async def take(self, element: Element) -> None:
        await self.load.take(element)
        self.copy = None
        self.copied.changed()

    def close(self) -> None:
        """End the copy that is under way, or was to begin."""
        if self.copy is not None:
            self.run.cancel(self.copy)
        self.stream.close()


@dataclass
class Loop:
    """Runs the epochs, on either clock, and takes down what arrives."""

    run: Run
    node: Node
    load: LoopStep
    train: LoopStep
    keep: bool
    progress: Progress | None
    cancel: threading.Event | None
    ahead: bool
    epochs: list[Epoch] = field(default_factory=list)

    async def run_epochs(self, num_epochs: int, most: float) -> None:
        """Train for *num_epochs*, on at most *most* elements in all."""
        run, load, train, cancel = self.run, self.load, self.train, self.cancel
        watched = run.recorder is not None or self.progress is not None
        count = 0
        for _ in range(num_epochs):
            epoch = Epoch(start=run.time / 1e9)
            self.epochs.append(epoch)
            if run.recorder is not None:
                run.recorder.arrived.append([])
            before, samples = count, 0
            stream = open_whole(Scope(run), self.node)
            ahead = self.ahead and not load.free
            give = CopiedAhead(run, stream, load) if ahead else stream
            try:
                while count < most and (element := await give.next()) is not END:
                    count += 1
                    samples += element.samples
                    if watched:
                        self.take_down(epoch, count, element)
                    if cancel and cancel.is_set():
                        raise Stopped
                    if not (load.free or ahead):
                        await load.take(element)
                    await train.take(element)
                await train.finish()
            finally:
                epoch.count, epoch.samples = count - before, samples
                epoch.duration = run.time / 1e9 - epoch.start
                give.close()
                train.close()
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


def benchmark(
    dataset: Description,
    num_epochs: int = 2,
    train: Cost | None = None,
    load: Cost = 0,
    clock: str = "virtual",
    machine: Machine | None = None,
    max_elements: int | None = None,
    *,
    step: Callable[[Any], Any] | None = None,
    ahead: bool = False,
    queue: int = 0,
    record: bool = True,
    keep: bool = False,
    progress: Progress | None = None,
    cancel: threading.Event | None = None,
) -> Trace:
    """Run the training loop over *dataset*, from empty caches, and say what happened.

    *train* and *load* are seconds, or a function of the element that gives seconds; *train*
    is 10 ms if it is not given. In place of it *step* may be a function to call with each
    element: its own time counts, and the work that it says by `work`; what it returns does not.
    With *ahead*, the next element is copied while this one trains, on a second stream. What comes from
    a `DataLoader` has to be in pinned memory for that: without, copies take turns with training.
    With *queue* the loop only launches a step, and goes on while at most so many of them wait or are at
    work on the accelerator; *train* is what that takes, *step* what launching does. An epoch ends when all
    are done.
    *max_elements* ends the run after so many elements in all. *progress* is called after each
    element with how many there were and how long it took; the run ends early when *cancel* is
    set. With *keep* the trace holds on to the elements themselves.

    >>> from lessonkit import ArtificialDataset
    >>> benchmark(ArtificialDataset())
    <Trace: 2 epochs, 6 elements, 210.000 ms>
    >>> f"{benchmark(ArtificialDataset().prefetch(1)).busy('Train'):.1%}"
    '35.3%'
    """
    if not isinstance(dataset, Description):
        raise TypeError(f"dataset={dataset!r}: must be a Dataset")
    num_epochs = check.integer("num_epochs", num_epochs, least=0)
    check.one_of("clock", clock, ("virtual", "real"))
    most = math.inf if max_elements is None else check.integer("max_elements", max_elements, least=0)
    if most == cardinality(dataset.node) == math.inf:
        raise ValueError("the pipeline never ends: say max_elements, or repeat it a number of times")
    machine = check.instance("machine", machine or Machine(), Machine)
    queue = check.integer("queue", queue, least=0)
    if None not in (train, step) and not queue:
        raise TypeError(f"train={train!r}, step={step!r}: must be a cost or a function to call, not both")
    for name, given in (("step", step), ("progress", progress)):
        if given is not None:
            check.function(name, given)
    if cancel is not None and not hasattr(cancel, "is_set"):
        raise TypeError(f"cancel={cancel!r}: must be a threading.Event")
    recorder = Recorder() if check.flag("record", record) else None
    shared = (machine, Store(fixed_seed=True), recorder)
    run: Run = Threads(*shared, cancel) if clock == "real" else Virtual(*shared)
    run.sites = {site: operator for operator, site in enumerate(sites(dataset.node))}
    if train is None and (queue or step is None):
        train = USUAL
    ahead = check.flag("ahead", ahead) and dataset.node.arguments.get("pin_memory", True)
    training = QueuedStep(run, train or 0, step, queue) if queue else LoopStep(run, TRAIN, train or 0, step)
    loading = LoopStep(run, COPY if ahead or queue else LOAD, load, name="Load")
    loop = Loop(run, dataset.node, loading, training, check.flag("keep", keep), progress, cancel, ahead)
    unknown = most == math.inf and cardinality(dataset.node) is None and clock == "virtual"
    cancelled = False
    try:
        run.complete(loop.run_epochs(num_epochs, MOST_ELEMENTS + 1 if unknown else most), training.loop_stage)
    except Stopped:
        if run.crash:
            raise run.crash from None
        cancelled = True
    if unknown and sum(epoch.count for epoch in loop.epochs) > MOST_ELEMENTS:
        raise ValueError(f"the pipeline gave {MOST_ELEMENTS} elements and did not end: say max_elements")
    options = {"num_epochs": num_epochs, "step": step, "train": train, "load": load}
    options |= {"max_elements": max_elements, "ahead": ahead, "queue": queue}
    return Trace(run.recorder, loop.epochs, run.time / 1e9, clock, cancelled, dataset, run.machine, options)


def _described(value: Any) -> Any:
    """Return *value* if it is small and plain; else say what it is, so that a trace keeps no data."""
    if isinstance(value, (int, float, bool, type(None))) or (isinstance(value, str) and len(value) < 100):
        return value
    if isinstance(value, (list, tuple)):
        parts = [_described(part) for part in value]
        return like(value, parts) if isinstance(value, tuple) else parts
    shape = getattr(value, "shape", None)
    return f"<{type(value).__name__}{f' {shape}' if shape is not None else ''}>"
