"""The training loop: it asks for elements, copies each to the accelerator and trains on it."""

import math
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, overload

from lessonkit.engine.operators.stream import Scope, Stream

from . import check
from .check import AtLeast, InstanceOf, OneOf, checked
from .element import END, Element, like
from .machine import FOUR_CORES, Cost, Machine
from .node import Description, Node, NodeStates, cardinality, sites
from .options import RunOptions
from .ranks import Ranks, train_together
from .resume import State, fingerprint
from .run import Gate, Run, Stopped, Task, price
from .threads import Threads
from .trace import COPY, LAUNCH, LOAD, LOOP, NS, TRAIN, Epoch, Recorder, Trace
from .virtual import Virtual

Progress = Callable[[int, float], object]

# On the virtual clock, from a source whose end is not known: of all ranks together
MOST_ELEMENTS = 1_000_000
# Of the lists and tuples in one element, in a trace; one with more is only named
MOST_PARTS = 1000
USUAL = 0.010  # s; what a step takes if nothing is said


class LoopStep:
    """A part of the training loop: `take` spends on an element its cost, or calls a *function*."""

    def __init__(
        self,
        run: Run,
        name: str,
        role: str,
        cost: Cost,
        function: Callable[[Any], Any] | None = None,
    ) -> None:
        self.run = run
        self.stage = run.name(name, LOOP, role)
        self.take: Callable[[Element], Awaitable[Any]]
        if function:
            self.take = partial(self.call, function)
        else:
            spent = price(cost, name.lower(), "; a function to call is step=")
            self.take = partial(run.spend, spent, self.stage)

    def call(self, function: Callable[[Any], Any], element: Element) -> Awaitable[Any]:
        """Call *function* with *element* as one argument, where `apply` takes a tuple apart."""
        return self.run.apply(lambda *parts: function(element.value), element, self.stage)


class Background:
    """A queue of elements for which a *step* of the loop is done beside it, one after another."""

    task: Task | None = None  # the last one that worked through the queue

    def __init__(self, step: LoopStep, name: str, reason: str) -> None:
        self.run = step.run
        self.step = step
        self.reason = reason
        self.gate = Gate(self.run, name)
        self.queue = deque[Element]()  # with the one that is at work

    def begin(self, element: Element) -> None:
        """Put *element* into the queue, and start to work if nothing was in it."""
        self.queue.append(element)
        if len(self.queue) == 1:
            self.task = self.run.start(self.work(), self.step.stage)

    async def work(self) -> None:
        """Do the step for all elements in the queue."""
        while self.queue:
            await self.step.take(self.queue[0])
            self.queue.popleft()
            self.gate.changed()

    def until(self, left: int) -> Awaitable[None]:
        """Wait until at most *left* elements are in the queue."""
        return self.run.until(self.gate, lambda: len(self.queue) <= left, self.reason)

    def close(self) -> None:
        """End the work on the queue, done or not."""
        if self.task is not None:
            self.run.cancel(self.task)


class CopiedAhead(Background):
    """A stream that copies the next element during training, as PyTorch's `DataPrefetcher` does.

    The loop asks for the next element before it trains on this one, so it waits for both.
    """

    element: Element | None = None

    def __init__(self, stream: Stream, load: LoopStep) -> None:
        super().__init__(load, load.stage, "buffer empty")
        self.stream = stream

    async def next(self) -> Element:
        """Return the next element, whose copy has ended, or END."""
        element = self.element or await self.begin_copy()
        if element is not END:
            await self.until(left=0)
            await self.begin_copy()
        return element

    async def begin_copy(self) -> Element:
        """Return the next element of the stream; its copy has begun."""
        self.element = await self.stream.next()
        if self.element is not END:
            self.begin(self.element)
        return self.element

    def close(self) -> None:
        super().close()
        self.stream.close()


@dataclass(frozen=True)
class LoopSettings:
    """What the loops of all ranks have in common."""

    options: RunOptions
    clock: str
    machine: Machine
    keep: bool  # a trace holds on to the elements themselves
    cancel: threading.Event | None
    ranks: int  # machines, which share MOST_ELEMENTS

    def new_run(self, *, is_recorded: bool) -> Run:
        """Return a new run on the clock, with empty caches."""
        states = NodeStates(fixed_seed=True)
        recorder = Recorder() if is_recorded else None
        if self.clock == "virtual":
            return Virtual(self.machine, states, recorder)
        return Threads(self.machine, states, recorder, self.cancel)


class Loop:
    """The training loop over one pipeline, in a run of its own.

    It counts the elements that came, in all epochs, and skips those before the state to resume.
    Raises TypeError if *pipeline* is none, and ValueError if it never ends or if the state does not
    fit it.
    """

    # Waits for other ranks: after a step whose element was there at this time, or after an epoch
    meet: Callable[[int | None], Awaitable[None]] | None = None

    def __init__(
        self,
        pipeline: Description,
        settings: LoopSettings,
        *,
        is_recorded: bool,
        progress: Progress | None,
    ) -> None:
        if not isinstance(pipeline, Description):
            raise TypeError(f"dataset={pipeline!r}: must be a Dataset")
        node = pipeline.node
        options = settings.options
        self.pipeline = pipeline
        self.settings = settings
        self.options = options
        self.progress = progress
        self.most, self.may_be_endless = most_elements(node, settings)
        self.skip = skipped(node, settings)
        self.epochs: list[Epoch] = []
        self.run = settings.new_run(is_recorded=is_recorded)
        self.run.sites = sites(node)
        # A queue trains on what the loop only launches; a second stream copies pinned batches
        queue = options.queue
        ahead = options.ahead and node.arguments.get("pin_memory", True)
        step = None if queue else options.step
        self.train = LoopStep(self.run, "Train", TRAIN, options.train or 0, step)
        self.launch = self.train
        if queue:
            self.launch = LoopStep(self.run, "Launch", LAUNCH, 0, options.step)
        # A copy that takes no time leaves its name to others
        self.load: LoopStep | None = None
        if price(options.load, "load") != 0:
            role = COPY if ahead or queue else LOAD
            self.load = LoopStep(self.run, "Load", role, options.load)
        self.copies_ahead = ahead
        self.accelerator: Background | None = None
        if queue:
            self.accelerator = Background(
                self.train, "the accelerator's queue", "buffer full"
            )

    def complete(self) -> Trace:
        """Train until the end or until cancelled, and return the trace."""
        try:
            self.run.complete(self.run_epochs(), self.launch.stage)
        except Stopped:
            if self.run.crash:
                raise self.run.crash from None
            return self.trace(cancelled=True)
        return self.trace()

    def trace(self, *, cancelled: bool = False) -> Trace:
        """Return the trace of the run up to now."""
        return Trace(
            self.run.recorder,
            self.epochs,
            self.run.time / NS,
            self.settings.clock,
            cancelled,
            self.pipeline,
            self.settings.machine,
            self.options,
        )

    # It goes on with every element of every run, so it calls nothing that it can do itself.
    async def run_epochs(self) -> None:  # noqa: C901, PLR0912, PLR0915
        """Train for all epochs, or until there were enough elements; ValueError if too many.

        All of it is one coroutine: each time that it goes on, all that wait for one another do.
        """
        run = self.run
        load = None if self.copies_ahead else self.load
        launch = self.launch
        accelerator = self.accelerator
        meet = self.meet
        cancel = self.settings.cancel
        progress = self.progress
        most = self.most
        skip = self.skip
        count = 0
        for _ in range(self.options.num_epochs):
            stream, epoch = self.begin_epoch()
            before = count
            samples = 0
            try:
                while count < most and (element := await stream.next()) is not END:
                    got = run.time if meet else 0
                    count += 1
                    if count <= skip:
                        continue
                    samples += element.samples
                    if run.recorder is not None:
                        self.take_down(epoch, element)
                    if progress is not None:
                        run.ask(progress, count, run.time / NS)
                    if cancel and cancel.is_set():
                        raise Stopped
                    if load:
                        await load.take(element)
                    await launch.take(element)
                    if accelerator:
                        await accelerator.until(left=self.options.queue - 1)
                        accelerator.begin(element)
                    if meet:
                        await meet(got)
                if accelerator:
                    await accelerator.until(left=0)
                if meet:
                    await meet(None)
            finally:
                epoch.count = max(0, count - max(before, skip))
                epoch.samples = samples
                self.end_epoch(stream, epoch)
            if before < count <= skip:  # all of it was before the state
                self.epochs.pop()
            if count == most:
                if self.may_be_endless:
                    raise ValueError(
                        f"the pipeline gave {most - 1} elements and did not end: "
                        "set max_elements"
                    )
                return

    def begin_epoch(self) -> tuple[Stream | CopiedAhead, Epoch]:
        """Open the pipeline, and return what gives the elements of an epoch, and its record."""
        epoch = Epoch(start=self.run.time / NS)
        self.epochs.append(epoch)
        stream = Scope(self.run).open(self.pipeline.node)
        if self.load and self.copies_ahead:
            return CopiedAhead(stream, self.load), epoch
        return stream, epoch

    def end_epoch(self, stream: Stream | CopiedAhead, epoch: Epoch) -> None:
        """Note how long the *epoch* took, and close what it had open."""
        epoch.duration = self.run.time / NS - epoch.start
        stream.close()
        if self.accelerator:
            self.accelerator.close()

    def take_down(self, epoch: Epoch, element: Element) -> None:
        """Note in *epoch* that *element* has arrived."""
        value = element.value
        is_kept = self.settings.keep or type(value) is int  # many are numbers
        epoch.keys.append(element.key)
        epoch.arrivals.append(self.run.time / NS - epoch.start)
        epoch.elements.append(value if is_kept else described(value))


def most_elements(node: Node, settings: LoopSettings) -> tuple[float, bool]:
    """Return after how many elements a loop ends, and whether one more would never be the last.

    Raises ValueError if the pipeline that ends in *node* never ends.
    """
    most = settings.options.max_elements
    if most is not None:
        return most, False
    count = cardinality(node)
    if count == math.inf:
        raise ValueError(
            "the pipeline never ends: set max_elements, or give repeat() a count"
        )
    if count is None and settings.clock == "virtual":
        return MOST_ELEMENTS // settings.ranks + 1, True
    return math.inf, False


def skipped(node: Node, settings: LoopSettings) -> int:
    """Return how many elements are made again and let go, because they were trained on before.

    Raises ValueError if the state to resume is of another pipeline.
    """
    state = settings.options.resume
    if state is None:
        return 0
    if state.pipeline != fingerprint(node, settings.machine.cores):
        raise ValueError(
            "resume: this state is of another pipeline, or of one that was changed since, "
            "or of a machine with more or fewer cores"
        )
    return state.after


def described(value: Any, room: int = MOST_PARTS) -> Any:
    """Return *value* if it is small and plain, else a description: a trace keeps no data.

    Lists and tuples in it share the *room* for parts.
    """
    if isinstance(value, (int, float)) or value is None:
        return value
    if isinstance(value, str) and len(value) < 100:
        return value
    if isinstance(value, (list, tuple)) and len(value) <= room:
        parts = [described(part, room // len(value)) for part in value]
        return like(value, parts) if isinstance(value, tuple) else parts
    shape = f"({len(value)},)" if isinstance(value, list) else getattr(value, "shape", None)
    return f"<{type(value).__name__}{f' {shape}' if shape is not None else ''}>"


@overload
def benchmark(
    dataset: Description, *given: Any, ranks: None = None, **options: Any
) -> Trace: ...
@overload
def benchmark(
    dataset: Callable[[int], Description], *given: Any, ranks: int, **options: Any
) -> Ranks: ...
@checked  # type: ignore[misc]  # the two above leave to this one what else it takes
def benchmark(
    dataset: Any,
    num_epochs: Annotated[int, AtLeast(0)] = 2,
    train: Annotated[Cost | None, check.as_given(check.cost)] = None,
    load: Annotated[Cost, check.as_given(check.cost)] = 0,
    clock: Annotated[str, OneOf(("virtual", "real"))] = "virtual",
    machine: Annotated[Machine, InstanceOf(Machine)] = FOUR_CORES,
    max_elements: Annotated[int | None, AtLeast(0)] = None,
    *,
    step: Annotated[Callable[[Any], Any] | None, check.function] = None,
    ahead: Annotated[bool, check.flag] = False,
    queue: Annotated[int, AtLeast(0)] = 0,
    record: bool | int = True,
    keep: Annotated[bool, check.flag] = False,
    progress: Annotated[Progress | None, check.function] = None,
    cancel: Annotated[threading.Event | None, check.event] = None,
    resume: Annotated[State | None, InstanceOf(State)] = None,
    ranks: Annotated[int | None, AtLeast(1)] = None,
) -> Any:
    """Run the training loop over *dataset*, from empty caches, and return what happened.

    *train* and *load* are costs: seconds, or a function of the element that returns seconds.

    dataset: the pipeline; with *ranks* a function that makes the pipeline of a rank, by its number.
    num_epochs: how often the loop goes through the pipeline.
    train: the cost of a step; 10 ms if it is not given and no *step* takes its place.
    load: the cost of copying an element to the accelerator before the step.
    clock: "virtual", on which a run takes no time and is the same each time, or "real".
    machine: the machine on which the pipeline runs.
    max_elements: the run ends after this number of elements in all.
    step: a function to call with each element, in place of *train*: its own time counts, and the
        work that it says by `work`; its return value does not.
    ahead: copy the next element while this one trains, on a second stream. Batches of a
        `DataLoader` have to be in pinned memory for that: else copies take turns with training.
    queue: the loop only launches steps, and goes on while at most this number of them wait or are
        at work on the accelerator. Launching takes what *step* does, the work *train*. An epoch
        ends when all steps are done.
    record: False for a trace without spans; with *ranks* it may be the only rank that has some.
    keep: the trace holds on to the elements themselves.
    progress: a function to call after each element with the number of elements so far and the
        seconds that they took; with *ranks* it is told of rank 0.
    cancel: an event; the run ends early when it is set.
    resume: a state that `trace.state(after=...)` returned. The elements before it are made again
        and let go, so all that follows is what would have followed.
    ranks: the number of machines that train together, each with a clock of its own. A step ends
        for all when the slowest has trained; an all-reduce is part of *train*. This is a model,
        on the virtual clock alone, without *queue* and *resume*; the result is `Ranks`.

    Raises TypeError or ValueError for an argument that is not allowed, ValueError if the pipeline
    never ends or *resume* is a state of another one, and StuckError if nothing can go on.

    >>> from lessonkit import ArtificialDataset
    >>> benchmark(ArtificialDataset())
    <Trace: 2 epochs, 6 elements, 210 ms>
    >>> f"{benchmark(ArtificialDataset().prefetch(1)).busy('Train'):.1%}"
    '35.3%'
    """
    if None not in (train, step) and not queue:
        raise TypeError(
            f"train={train!r}, step={step!r}: must be a cost or a function to call, not both"
        )
    if ranks is None or type(record) is not int:
        check.flag("record", record)
    if resume is not None:
        check.integer("resume: after", resume.after, least=0)
    if train is None and (queue or step is None):
        train = USUAL
    settings = LoopSettings(
        RunOptions(
            num_epochs=num_epochs,
            max_elements=max_elements,
            step=step,
            ahead=ahead,
            queue=queue,
            train=train,
            load=load,
            resume=resume,
        ),
        clock=clock,
        machine=machine,
        keep=keep,
        cancel=cancel,
        ranks=ranks or 1,
    )
    if ranks is None:
        loop = Loop(dataset, settings, is_recorded=bool(record), progress=progress)
        return loop.complete()
    check.function("dataset", dataset)
    if clock == "real" or queue or resume:
        raise ValueError(
            "ranks: must not be given with clock='real', queue or resume: "
            "they are a model of other machines"
        )

    def loop_of(rank: int, is_recorded: bool, progress: Progress | None) -> Loop:
        return Loop(dataset(rank), settings, is_recorded=is_recorded, progress=progress)

    return train_together(ranks, record, progress, loop_of)
