"""How one process makes batches for a loader, and a worker as a model of such a process."""

from __future__ import annotations

import traceback
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

from lessonkit.engine import check
from lessonkit.engine.element import END, Batch, Element, Failure, stack
from lessonkit.engine.machine import WorkerInfo
from lessonkit.engine.node import Node, NodeStates, base_of, cardinality, one_call, rebuilt
from lessonkit.engine.operators.cache import Kept
from lessonkit.engine.operators.combine import After
from lessonkit.engine.operators.source import Listed
from lessonkit.engine.operators.stream import Stream, joined, operator
from lessonkit.engine.run import Gate, Process, Run, Task, price
from lessonkit.engine.trace import CALL, BufferEvent

if TYPE_CHECKING:
    from .forked import ChildProcess
    from .main_process import Loader, LoaderWithWorkers

# Of a batch; of one sample without batches; None for an iterable's next
Indices = list[int] | int | None


@operator("asked")
class Asked(Listed):
    """Gives the sample that its *maker* asks for; or, for one call, a batch as one element."""

    maker: BatchMaker
    kept: Kept | None  # the cache that it reads, if it reads one
    one_call: bool

    def take(self) -> Element:
        asked = self.maker.asked
        if not self.one_call:
            return self.sample(asked)
        parts = [self.sample(index) for index in asked]
        element = joined(self.run, parts)
        element.value = stack(element.value)
        return element

    def sample(self, index: int) -> Element:
        """Make sample number *index*; as in PyTorch, a negative one counts from the end."""
        if self.kept is not None:
            assert self.kept.elements is not None  # it is filled before the workers start
            return self.kept.elements[index].copy()
        self.given = index if index >= 0 else index + len(self.values)
        element = self.make(self.values[index])
        if self.run.sized:
            self.run.measure(element, self.nbytes)
        return element


@operator("numbered")
class Numbered(Stream):
    """Gives tuples of a number and the sample that its *maker* asks for, or two batches of them."""

    start: int
    maker: BatchMaker

    async def next(self) -> Element:
        element = await self.input.next()
        asked = self.maker.asked
        number = (
            Batch(map(self.number, asked)) if self.maker.one_call else self.number(asked)
        )
        element.value = (number, element.value)
        return element

    def number(self, index: int) -> int:
        return self.start + self.maker.from_the_start(index)


@operator("asked_of_both")
class AskedOfBoth(Stream):
    """Gives the sample that its *maker* asks for out of one of two inputs, one after the other."""

    maker: BatchMaker
    first: int  # the number of samples in the first input

    async def next(self) -> Element:
        maker = self.maker
        asked = maker.asked
        index = maker.from_the_start(asked)
        if index < 0:
            raise IndexError(f"sample {asked}: there are fewer samples")
        is_first = index < self.first
        try:
            # The number that the sample has in its part, for the streams above
            maker.asked = index if is_first else index - self.first
            element = await self.opened[0 if is_first else 1].next()
        finally:
            maker.asked = asked
        if not is_first:
            element.number = After(self.first, element.number)
        return element


class Message(str):
    """The text of a KeyError that spans several lines: shown as it is, and not quoted."""

    __repr__ = str.__str__


def caught(error: BaseException, worker: int) -> Failure:
    """Return *error* as it leaves a *worker*: of the same type, if that can be made of a text."""
    if isinstance(error.__cause__, StopIteration):  # a coroutine makes a RuntimeError of it
        error = error.__cause__
    text = Message(
        f"Caught {type(error).__name__} in DataLoader worker process {worker}.\n"
        f"Original {''.join(traceback.format_exception(error))}"
    )
    try:
        return Failure(type(error)(text))
    except Exception:
        return Failure(RuntimeError(text))


class BatchMaker:
    """Makes the batches of a *loader* in one process: sample by sample, or with one call for each.

    It has a pipeline of its own, which it opens anew for each epoch.
    """

    stream: Stream | None = None  # the pipeline, once it is open
    # If samples can be asked for: the number of the next, or for one call those of a batch, as a
    # sampler of the learner gives them
    asked: Any = None
    exhausted = False  # an iterable has no more samples
    failed: Exception | None = None  # what `prepare` raised, until the next batch

    def __init__(self, loader: Loader, number: int = 0) -> None:
        self.loader = loader
        self.number = number
        self.run: Run = loader.scope.run

    async def prepare(self) -> None:
        """Do what a worker does before its first batch; an error comes in the place of that batch.

        No batch comes after an error, until the next epoch opens the pipeline.
        """
        try:
            if init := self.loader.worker_init_fn:
                await self.run.apply(init, Element(self.number), self.loader.start_stage)
            self.open()
        except Exception as error:
            self.failed = error

    def open(self) -> Stream:
        """Open the pipeline for an epoch, and close that of the epoch before."""
        self.close()
        loader = self.loader
        scope = self.loader.scope
        self.exhausted = False
        self.collating = self.run.name("Collate", scope.position, CALL)
        self.price = price(loader.collate, "collate", of_bytes=True)
        self.one_call = one_call(loader.node)
        pipeline = loader.node.inputs[0]
        base = loader.base
        if base is None:
            self.stream = scope.open(pipeline)
            return self.stream
        self.stream = scope.open(self.by_number(pipeline, base))
        return self.stream

    def by_number(self, pipeline: Node, base: Node) -> Node:
        """Return a *pipeline* over *base* that gives the samples that this asks for."""

        def change(_: Node, node: Node) -> Node:
            if node.method != "enumerate":
                return node
            return Node("numbered", node.inputs, node.arguments | {"maker": self})

        return rebuilt(pipeline, {base: self.asked_of(base)}, change)

    def asked_of(self, base: Node) -> Node:
        """Return a node that gives those of the samples of *base* that this asks for."""
        if base.method == "concatenate":
            parts = [self.by_number(part, base_of(part) or part) for part in base.inputs]
            first = cardinality(base.inputs[0])
            return Node("asked_of_both", (*parts,), {"first": first, "maker": self})
        is_share = base.method == "shard"
        given = (base.inputs[0] if is_share else base).arguments
        values = given.get("values", ())
        if is_share:
            values = values[base.arguments["index"] :: base.arguments["num_shards"]]
        arguments = {
            "values": values,
            "nbytes": given.get("nbytes"),
            "kept": self.loader.kept,
            "one_call": self.one_call,
            "maker": self,
        }
        return Node("asked", (), arguments)

    def from_the_start(self, index: int) -> int:
        """Return the number of sample *index*, which counts from the end if it is negative."""
        if index >= 0:
            return int(index)
        kept = self.loader.kept
        if kept is not None:
            return len(kept.elements or ()) + int(index)
        # A loader that asks by number gives one sample for each of its pipeline
        samples: Any = cardinality(self.loader.node.inputs[0])
        return int(samples) + int(index)

    def close(self) -> None:
        """Close the pipeline, if it is open."""
        if self.stream:
            self.stream.close()

    async def make(self, indices: Indices) -> Element | None:
        """Make a batch, or END, or the error that takes its place; None if the process has died."""
        try:
            if self.failed:
                error = self.failed
                self.failed = None
                raise error
            if not self.stream:
                raise UnboundLocalError("the dataset was never opened")
            return await self.batch(indices)
        except SystemExit:
            return None
        except Exception as error:
            return caught(error, self.number)

    async def batch(self, indices: Any) -> Element:
        """Make the batch of *indices*; return END where an iterable has no more."""
        loader = self.loader
        stream = self.stream
        assert stream is not None
        parts: list[Element] = []
        if loader.base is None:
            while not self.exhausted and len(parts) < (loader.batch_size or 1):
                element = await stream.next()
                if element is END:
                    self.exhausted = True
                else:
                    parts.append(element)
            if not parts or (self.exhausted and loader.drop_last):
                return END
        else:
            is_one = self.one_call or loader.batch_size is None
            for asked in [indices] if is_one else indices:
                self.asked = asked  # for the stream
                parts.append(await stream.next())
        return await self.collated(parts)

    async def collated(self, parts: list[Element]) -> Element:
        """Make one element of the *parts* of a batch; without batches there is only one part."""
        run = self.run
        element = parts[0]
        collate_fn = self.loader.collate_fn
        if self.loader.batch_size is not None and not self.one_call:
            element = joined(run, parts)
            if not collate_fn:
                run.stack(element, lambda: self.collating)
        if collate_fn:
            value = element.value  # one argument, where `apply` takes a tuple apart
            element.value = await run.apply(
                lambda *_: collate_fn(value), element, self.collating, self.price
            )
        else:
            await run.spend(self.price, self.collating, element)
        return element


@dataclass(slots=True, eq=False)
class NewEpoch:
    """Asks a persistent worker to begin another epoch, that of *loader*."""

    loader: LoaderWithWorkers
    sent: int  # when


@dataclass(slots=True, eq=False)
class Request:
    """Asks a worker for batch *number*, made of the samples *indices*; later it has the result."""

    number: int
    indices: Indices
    worker: int
    sent: int  # when
    result: Element | None = None  # when it has reached the main process
    received: bool = False  # the main process has seen the result
    is_last: bool = False  # its worker has ended, or died


class Made(NamedTuple):
    """A message of a worker: what it has made for a *request*."""

    request: Request
    result: Element


def is_batch(result: Element | None) -> TypeGuard[Element]:
    """Whether a worker's *result* is a batch: neither an end, nor an error, nor nothing yet."""
    return type(result) is Element and result is not END


class Worker(BatchMaker):
    """Makes one batch after another, in the order of its requests.

    Its process is a model: a task with an interpreter lock and states of its own. Batches that
    were requested before an epoch was left are still made; the next epoch waits for them.
    """

    loader: LoaderWithWorkers
    task: Task | None = None  # once it has begun
    child: ChildProcess | None = None  # its process, if that is a real one
    ended = False  # it makes no more batches in this epoch

    def __init__(self, loader: LoaderWithWorkers, number: int) -> None:
        super().__init__(loader, number)
        self.requests: deque[Request | NewEpoch | None] = deque()  # None tells it to end
        self.gate = Gate(self.run, f"the queue of worker {number}")
        # Each to its loader; None says that it is ready for another epoch
        self.on_the_way: deque[tuple[LoaderWithWorkers, Made | None]] = deque()
        self.last_arrival = 0  # when the last of these reaches the main process
        self.first_delay = loader.times.first
        self.transfer = price(loader.transfer, "transfer", of_bytes=True)
        states = self.run.states
        base = states.base + 1 + loader.epoch * loader.num_workers + number
        own = NodeStates(fixed_seed=states.fixed_seed, base=base)
        info = WorkerInfo(number, loader.num_workers)
        self.process = Process(self.run, own, info, loader.epoch)

    # ---- for the main process ----

    async def launch(self) -> int:
        """Spend the part of its start that holds up the loop; return how long the rest takes."""
        loader = self.loader
        times = []
        for cost in loader.start:
            seconds = cost(loader.epoch, self.number) if callable(cost) else cost
            times.append(check.nanoseconds("start", seconds))
        await self.run.spend(times[0], loader.start_stage)
        return times[1]

    def start(self, delay: int) -> None:
        """Start its task, which is ready for requests after *delay*."""
        self.task = self.run.start(
            self.work(delay), self.loader.stage, self.number, self.process
        )

    def give(self, request: Request | NewEpoch | None) -> None:
        """Put a request into its queue; after None it ends."""
        self.requests.append(request)
        if self.gate.waiting:
            self.gate.changed()

    def end(self) -> None:
        """End it now, if it has begun."""
        if self.task:
            self.run.cancel(self.task)
            self.close()

    # ---- its own work ----

    def reopen(self) -> None:
        """Open the pipeline for another epoch."""
        self.open()

    async def work(self, start: int) -> None:
        """Fulfil requests, until one tells it to end."""
        run = self.run
        requests = self.requests
        await run.spend(start, self.loader.start_stage)
        await self.prepare()
        while True:
            if not requests:
                await run.until(self.gate, requests.__len__, "buffer empty")
            if (request := requests.popleft()) is None:
                break
            times = self.loader.times
            message: Made | None
            if (due := request.sent + times.hop) > run.time:
                await run.spend(due - run.time)
            if isinstance(request, NewEpoch):
                self.loader = request.loader
                self.ended = False
                self.reopen()
                message = None
            elif self.ended:
                continue
            else:
                message = Made(request, await self.fulfil(request))
            way = self.first_delay + times.hop
            if way or self.on_the_way:
                self.first_delay = 0
                self.last_arrival = max(self.last_arrival, run.time + way)
                self.on_the_way.append((self.loader, message))
                carrying = self.carry(self.last_arrival - run.time)
                run.start(carrying, self.loader.stage, self.number)
            else:
                self.loader.arrive(message)
        self.close()
        self.loader.gone += 1
        self.loader.news.changed()

    async def fulfil(self, request: Request) -> Element:
        """Make the batch of a request, and spend what its transfer costs."""
        run = self.run
        began = self.run.time
        made = await self.make(request.indices)
        self.ended = made is None or made is END
        request.is_last = self.ended
        if made is None:
            died = f"DataLoader worker {self.number} exited unexpectedly"
            return Failure(RuntimeError(died))
        if is_batch(made):
            if (recorder := run.recorder) is not None:
                recorder.numbers[made.key] = request.number
                if began > request.sent:
                    queue = self.loader.queue
                    came = BufferEvent(queue, request.sent, +1, made.key, nbytes=0)
                    left = BufferEvent(queue, began, -1, made.key, nbytes=0)
                    recorder.queued += [came, left]
            await run.spend(self.transfer, self.loader.transfer_stage, made)
        return made

    async def carry(self, way: int) -> None:
        """Let the next result arrive in *way* nanoseconds; results keep their order."""
        await self.run.spend(way)
        loader, message = self.on_the_way.popleft()
        loader.arrive(message)
