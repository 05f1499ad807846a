"""A `DataLoader` in the main process: which worker makes which batch, and their order."""

import math
import random
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import cycle, islice, repeat
from typing import Any

from lessonkit.engine.check import nanoseconds
from lessonkit.engine.element import END, Element, Failure, settle
from lessonkit.engine.machine import Cost, Handling, StartTime
from lessonkit.engine.node import (
    Cardinality,
    Node,
    base_of,
    batches,
    cardinality,
    shared,
)
from lessonkit.engine.operators.cache import Cache, Kept
from lessonkit.engine.operators.stream import Stream, operator
from lessonkit.engine.run import Gate
from lessonkit.engine.trace import AHEAD, CALL, EMPTY, FILL, QUEUE, START, TAKE, Name
from lessonkit.words import counted

from .forked import CAN_FORK, ChildProcess, ForkedWorker
from .worker import BatchMaker, Indices, Made, NewEpoch, Request, Worker, is_batch


@dataclass
class HandlingTimes:
    """The times of a `Handling` as the clocks count them, in nanoseconds."""

    begin: int
    send: int
    ask: int
    hop: int
    first: int
    resume: int
    stop: int
    stop_each: int
    take: int


@dataclass(eq=False)
class LoaderState:
    """Keeps the number of epochs and the workers that stay, from one epoch to the next."""

    epochs: int = 0
    workers: list[Worker] = field(default_factory=list)  # within one run
    # For all loops only their processes: a worker would keep the loader, and so itself
    children: list[ChildProcess] = field(default_factory=list)
    is_at_work: bool = False  # for a loop that has not ended


def count_batches_of_loader(node: Node, samples: Cardinality) -> Cardinality:
    """Count the batches of a loader's *node*; None for an iterable, unless that has no end."""
    options = node.arguments
    if options["batch_sampler"] is not None:
        return length(options["batch_sampler"])
    if options["sampler"] is not None:
        samples = length(options["sampler"])
    if samples is None or samples in (0, math.inf):
        return samples
    if base_of(node.inputs[0]) is None:
        return None
    return batches(samples, options["batch_size"], options["drop_last"])


def length(sampler: Any) -> int | None:
    """Return the length of a *sampler*; None if it has none, for it has only to be an iterable."""
    return len(sampler) if hasattr(sampler, "__len__") else None


@operator("DataLoader", count=count_batches_of_loader)
class Loader(Stream):
    """Makes each batch in the loop's own process, when it is asked for: nothing is made ahead."""

    batch_size: int | None
    shuffle: bool | None
    num_workers: int
    collate_fn: Callable[[Any], Any] | None
    drop_last: bool
    worker_init_fn: Callable[[int], object] | None
    generator: int | None
    start: tuple[StartTime, StartTime]
    collate: Cost
    transfer: Cost
    handling: Handling
    start_stage: Name  # of a loader with workers
    opens_inputs = False  # but in each process
    batches: Iterator[Indices] | None = None  # the samples of each, once this has begun
    made = 0  # batches in this epoch

    def prepare(self) -> None:
        self.base = base_of(self.node.inputs[0])
        # What a cache before the workers holds
        self.kept: Kept | None = None
        if self.base is not None and self.base.method == "cache":
            self.kept = self.run.states.of(self.base, Kept)
        self.state: LoaderState = self.run.states.of(self.node, LoaderState)
        self.epoch = self.state.epochs
        self.state.epochs += 1
        self.run.sized |= any(map(callable, (self.transfer, self.collate)))
        # Real processes take their own time
        handling = Handling() if self.run.is_real else self.handling
        self.times = HandlingTimes(
            **{name: nanoseconds(name, seconds) for name, seconds in vars(handling).items()}
        )

    async def next(self) -> Element:
        if self.batches is None:
            await self.begin()
        assert self.batches is not None
        try:
            indices = next(self.batches)
        except StopIteration:
            return END
        try:
            element = await self.maker.batch(indices)
        except RuntimeError as error:
            if isinstance(error.__cause__, StopIteration):  # as if the data ended here
                return END
            raise
        if self.recorder is not None:
            self.recorder.numbers[element.key] = self.made
            self.made += 1
        await self.run.spend(self.times.ask)
        return element

    async def begin(self) -> None:
        """Open the dataset."""
        self.batches = iter(())  # for good, if anything raises
        await self.run.spend(self.times.begin)
        if self.kept and self.kept.elements is None:
            await self.fill_cache()
        self.maker = BatchMaker(self)
        self.opened.append(self.maker.open())
        self.batches = self.indices()

    async def fill_cache(self) -> None:
        """Fill the cache before the workers, in this process."""
        self.open_input()
        cache = self.input
        while not isinstance(cache, Cache):  # under maps
            cache = cache.opened[0]
        while await cache.next() is not END:
            pass

    def indices(self) -> Iterator[Indices]:
        """Yield the sample numbers of each batch of this epoch; for an iterable None, for ever."""
        if self.base is None:
            return repeat(None)
        known = len(self.kept.elements or ()) if self.kept else cardinality(self.base)
        seed = self.run.states.seed(self.generator) if self.shuffle else 0
        return indices_of(self.node, known, f"{seed}:{self.epoch}")


def indices_of(node: Node, samples: Any, seed: str) -> Iterator[Indices]:
    """Yield the sample numbers of each batch of a loader's *node*, over this number of *samples*.

    If it shuffles, *seed* decides the order.
    """
    given = node.arguments
    if given["batch_sampler"] is not None:
        yield from given["batch_sampler"]
        return
    order = range(samples) if given["sampler"] is None else given["sampler"]
    if given["shuffle"]:
        order = random.Random(seed).sample(order, len(order))
    size = given["batch_size"]
    if size is None:  # one by one
        yield from order
        return
    rest = iter(order)
    while group := list(islice(rest, size)):
        if len(group) == size or not given["drop_last"]:
            yield group


def end_workers_that_stay(node: Node) -> None:
    """End the processes of the loader with this *node* now, and not when nobody knows it any more."""
    for child in shared.of(node, LoaderState).children:
        child.close()


@operator("DataLoader", parallel=True)
class LoaderWithWorkers(Loader):
    """Sends requests to its workers, and hands over the batches that they make.

    `send` decides which worker makes a batch: the next one in the cycle, even if another is
    idle. At the start each gets *prefetch_factor* requests; then one request is sent per batch
    that is handed over. `next_made` decides the order in which batches are handed over: that of
    the requests, or that in which results arrive.
    """

    prefetch_factor: int | None
    persistent_workers: bool
    in_order: bool
    finished = False
    ready = 0  # workers that stayed, and have opened the pipeline again
    gone = 0  # workers that will make nothing any more

    def prepare(self) -> None:
        super().prepare()
        count = self.num_workers
        each = 2 if self.prefetch_factor is None else self.prefetch_factor
        self.most: int = count * each  # requests at the same time
        self.stage = self.name("Worker", FILL)
        self.start_stage = self.name("Start", START)
        self.transfer_stage = self.name("Transfer", CALL)
        self.queue = self.name("Queue", QUEUE)
        self.take_stage = self.name("Take", TAKE)
        buffer = self.name(f"DataLoader: {counted(count, 'workers')}", AHEAD)
        self.news = Gate(self.run, buffer)
        self.open_buffer(buffer, self.most)
        if self.recorder is not None:
            self.recorder.workers[self.scope.position.site] = count
        self.workers: list[Worker] = []
        self.active = [True] * count  # workers that have not ended
        self.cycle = cycle(range(count))
        self.sent = 0  # requests
        self.requests: dict[int, Request] = {}  # whose batches were not handed over yet
        self.arrived: deque[Request] = deque()
        self.next_number = 0  # of the batch that is next in order

    # ---- begin and end ----

    async def begin(self) -> None:
        """Start one worker after another, or wake those that stayed; send the first requests."""
        self.batches = iter(())  # for good, if anything raises
        if not self.most:
            raise AssertionError(
                "prefetch_factor=0: a worker that is sent no index list makes nothing"
            )
        if self.kept and self.kept.elements is None:
            await self.fill_cache()
        # Two loops at the same time: this one has workers of its own
        if self.state.is_at_work:
            self.state = LoaderState()
        state = self.state
        new = Worker
        state.is_at_work = True
        if self.run.is_real and CAN_FORK:
            new = ForkedWorker
        elif self.run.is_real:
            unsafe = "This system cannot fork safely: the workers are threads, "
            warnings.warn(unsafe + "which take turns with Python code.", stacklevel=2)
        self.workers = state.workers or [
            new(self, number) for number in range(self.num_workers)
        ]
        await (self.resume() if state.workers or state.children else self.start_workers())
        self.batches = self.indices()
        for _ in range(self.most):
            await self.run.spend(self.send())

    async def start_workers(self) -> None:
        """Start the workers. They stay to the end of a benchmark, or as long as the loader."""
        run = self.run
        workers = self.workers
        await run.spend(self.times.begin)
        # Of what workers draw
        self.seed = f"{run.states.seed(self.generator)}:{self.epoch}"
        for worker in workers:
            run.current.lane = worker.number  # in the pictures this time is the worker's
            worker.start(await worker.launch())
        run.current.lane = 0
        if self.persistent_workers and run.states is shared:
            self.state.children = [worker.child for worker in workers if worker.child]
        elif self.persistent_workers:
            self.state.workers = workers
            run.leftovers += [worker.end for worker in workers]

    async def resume(self) -> None:
        """Wait until all workers have done what had been requested before."""
        run = self.run
        # Of another run
        for worker, child in zip(self.workers, self.state.children, strict=False):
            worker.child = child
            worker.start(delay=0)
        await run.spend(self.times.resume)
        for worker in self.workers:
            worker.give(NewEpoch(self, run.time))
        await run.until(self.news, lambda: self.ready == len(self.workers), EMPTY)

    async def end_workers(self) -> None:
        """End the workers, each after the batch that it has begun; persistent ones stay."""
        run = self.run
        workers = self.workers
        times = self.times
        if not self.persistent_workers:
            for worker in workers:
                worker.give(None)
            await run.until(self.news, lambda: self.gone == len(workers), EMPTY)
            await run.spend(times.stop + len(workers) * times.stop_each)

    def close(self) -> None:
        for request in self.requests.values():
            if is_batch(request.result):
                self.leave(request.result)
        self.requests.clear()
        if self.workers:
            self.state.is_at_work = False
        for worker in self.workers:
            if not self.persistent_workers:
                worker.end()
            elif not self.state.workers and worker.task:  # their processes stay
                self.run.cancel(worker.task)
        self.workers = []  # which know this loader: nothing of it waits for a collection
        super().close()

    # ---- one batch ----

    async def next(self) -> Element:
        if self.batches is None:
            await self.begin()
        if self.finished:
            return END
        run = self.run
        if self.times.ask:
            await run.spend(self.times.ask)
        request = await self.next_made()
        if request is None:
            self.finished = True
            await self.end_workers()
            return END
        del self.requests[request.number]
        if request.number == self.next_number:
            self.next_number += 1
        if self.recorder is not None and is_batch(request.result):
            self.leave(request.result)
        element = request.result
        assert element is not None  # it was received
        if self.times.take:
            await self.take(element)
        await run.spend(self.send())
        if type(element) is Failure:
            return END if isinstance(element.value, StopIteration) else settle(element)
        return element

    async def next_made(self) -> Request | None:
        """Wait for the batch that is handed over next; return its request, or None at the end."""
        while self.next_number < self.sent:
            request = self.requests.get(self.next_number)
            if request is None or not (request.received or self.active[request.worker]):
                # Handed over already, out of order; or of a worker that has ended
                self.requests.pop(self.next_number, None)
                self.next_number += 1
                continue
            if request.received:
                return request
            if not self.arrived:
                await self.run.until(self.news, self.arrived.__len__, EMPTY)
            came = self.arrived.popleft()
            if came.is_last:
                self.active[came.worker] = False
                if came.result is END:
                    await self.run.spend(self.send())
                    continue
            came.received = True
            if not self.in_order:
                return came
        return None

    def send(self) -> int:
        """Send the next request, if there is one, to the next worker that has not ended.

        Returns how long that takes.
        """
        assert self.batches is not None  # `begin` has made them
        try:
            indices = next(self.batches)
        except StopIteration:
            return 0
        for number in islice(self.cycle, self.num_workers):
            if self.active[number] and (self.in_order or self.has_room(number)):
                duration = self.times.send
                request = Request(self.sent, indices, number, self.run.time + duration)
                self.requests[self.sent] = request
                self.sent += 1
                self.workers[number].give(request)
                return duration
        return 0

    def has_room(self, number: int) -> bool:
        """Whether worker *number* has fewer requests than its share of those at the same time."""
        load = [request.worker for request in self.requests.values()].count(number)
        return load < self.most // sum(self.active)

    async def take(self, batch: Element) -> None:
        """Spend the loop's own time on a *batch*."""
        await self.run.spend(self.times.take, self.take_stage, batch, "native")

    def arrive(self, message: Made | None) -> None:
        """Take a *message* of a worker; None says that it is ready for another epoch."""
        if message is None:
            self.ready += 1
        else:
            request, result = message
            request.result = result
            # Not of a loop that was left
            if is_batch(result) and request.number in self.requests:
                self.enter(result)
            self.arrived.append(request)
        if self.news.waiting:
            self.news.changed()
