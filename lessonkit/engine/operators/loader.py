"""`DataLoader`: worker processes make whole batches ahead of need, as PyTorch's do."""

import random
import warnings
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, islice, repeat
from types import SimpleNamespace
from typing import Any

from lessonkit import check
from lessonkit.engine.costs import charge, price_of_bytes
from lessonkit.engine.element import END, Element, Failure, settle
from lessonkit.engine.node import Node, base_of, cardinality
from lessonkit.engine.operators.base import Buffer, Scope, Stream, operator
from lessonkit.engine.operators.cache import Cache, Kept
from lessonkit.engine.operators.fetch import Fetch, Indices
from lessonkit.engine.operators.forked import FORKS, Forked
from lessonkit.engine.operators.worker import Ticket, Worker
from lessonkit.engine.recorder import AHEAD, CALL, FILL, PIN, QUEUE, READY, START
from lessonkit.engine.run import Gate
from lessonkit.engine.store import shared
from lessonkit.engine.threads import Threads


@dataclass(frozen=True)
class Handling:
    """What it takes to handle processes, in seconds; nothing, unless one says so.

    *begin* is spent in `iter`, *send* for each task, *ask* in each `next`; *hop* is how long a message
    is on its way, *first* what the first result of a worker takes in addition. *resume* is spent when
    persistent workers begin again, *stop* and *stop_each* when workers are ended, the latter for each.
    """

    begin: float = 0
    send: float = 0
    ask: float = 0
    hop: float = 0
    first: float = 0
    resume: float = 0
    stop: float = 0
    stop_each: float = 0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            check.seconds(name, value)

    def ns(self) -> SimpleNamespace:
        """The same in whole nanoseconds."""
        return SimpleNamespace(**{name: round(value * 1e9) for name, value in vars(self).items()})


class Crew:
    """What outlives an epoch: how many there were, and the workers, if they are to stay."""

    def __init__(self) -> None:
        self.epochs = 0
        self.workers: list[Worker] = []
        self.handles: list[Any] = []  # a worker would keep the loader, and so itself


@operator("DataLoader")
def open_loader(scope: Scope, node: Node) -> Stream:
    """Without workers nothing is made ahead, and nothing can come out of order."""
    return (Loader if node.arguments["num_workers"] else Alone)(scope, node)


class Sampled(Stream):
    """What a loader has with and without workers: the order of samples, and its own passes."""

    begun = finished = False
    batch_size: int | None
    batch_sampler: Any
    collate: Any
    drop_last: bool
    generator: int | None
    handling: Any
    persistent_workers: bool
    pin: Any
    sampler: Any
    shuffle: bool
    start: Any
    timeout: float
    transfer: Any
    worker_init_fn: Any

    def __init__(self, scope: Scope, node: Node) -> None:
        super().__init__(scope, node)
        self.base = base_of(node.inputs[0])
        self.kept: Kept | None = None
        self.crew: Crew = self.run.store.state(node, Crew)
        self.epoch = self.crew.epochs
        self.crew.epochs += 1
        self.run.sized |= any(map(callable, (self.transfer, self.collate, self.pin)))

    async def fill_cache(self) -> None:
        """Fill a cache before the workers, in this process."""
        if self.base is not None and self.base.method == "cache":
            self.kept = self.run.store.state(self.base, Kept)
            if self.kept.elements is None:
                stream: Any = self.open_input()
                while not isinstance(stream, Cache):
                    stream = stream.opened[0]
                while await stream.next() is not END:
                    pass

    def indices(self) -> Iterator[Indices]:
        """The samples of each batch of this epoch; for an iterable None, for ever."""
        if self.base is None:
            return repeat(None)
        if self.batch_sampler is not None:
            return iter(self.batch_sampler)
        order: Any = self.sampler
        if order is None:
            elements = self.kept.elements if self.kept else None
            order = range(cardinality(self.base) if elements is None else len(elements))
        if self.shuffle:
            store, seed = self.run.store, self.generator
            if seed is None:
                seed = store.base if store.fixed_seed else random.getrandbits(64)
            order = random.Random(f"{seed}:{self.epoch}").sample(order, len(order))
        return (
            iter(order) if self.batch_size is None else groups(iter(order), self.batch_size, self.drop_last)
        )


def groups(samples: Iterator[int], size: int, drop_last: bool) -> Iterator[list[int]]:
    """The samples of each batch."""
    while group := list(islice(samples, size)):
        if not drop_last or len(group) == size:
            yield group


class Alone(Sampled):
    """Makes each batch in the loop's own process, when it is asked for."""

    async def next(self) -> Element:
        handling = self.handling.ns()
        if not self.begun:
            self.begun = True
            if self.timeout:
                raise AssertionError("timeout: without workers there is nobody to wait for")
            await self.run.pause(handling.begin)
            await self.fill_cache()
            self.fetch = Fetch(self.scope, self.node, self.kept)
            self.opened.append(self.fetch.stream)
            self.batches = self.indices()
        if self.finished:
            return END
        try:
            indices = next(self.batches)
        except StopIteration:
            self.finished = True
            return END
        try:
            element = await self.fetch.batch(indices)
        except RuntimeError as error:
            if isinstance(error.__cause__, StopIteration):  # as if the data ended here
                return END
            raise
        self.finished = element is END
        await self.run.pause(handling.ask)
        return element


class Loader(Sampled):
    """Sends tasks to its workers, and hands over what they make.

    At the start each worker gets *prefetch_factor* tasks; then one task is sent for each batch that is handed
    over. The workers take turns, even if another is idle: so in order, worker i mod n makes batch i.
    """

    in_order: bool
    num_workers: int
    pin_memory: bool
    prefetch_factor: int | None

    def __init__(self, scope: Scope, node: Node) -> None:
        super().__init__(scope, node)
        self.count = self.num_workers
        self.most = self.count * (2 if self.prefetch_factor is None else self.prefetch_factor)
        is_real = isinstance(self.run, Threads)
        self.handling = (Handling() if is_real else self.handling).ns()  # what is real takes its time
        self.stage = scope.name("Worker", FILL)
        self.start_stage = scope.name("Start", START)
        self.transfer_stage = scope.name("Transfer", CALL)
        self.pin_stage = scope.name("Pin", PIN)
        self.queue_stage = scope.name("Queue", QUEUE)
        self.ready_stage = scope.name("Ready", READY)
        name = scope.name(f"DataLoader: {self.count} workers", AHEAD)
        self.news = Gate(self.run, name)
        self.buffer = Buffer(self.run, name, self.most)
        self.workers: list[Worker] = []
        self.tickets: dict[int, Ticket] = {}  # not handed over yet
        self.unpinned: deque[Ticket] = deque()
        self.arrived: deque[Ticket] = deque()
        self.sent = self.turn = self.turned = 0  # tasks sent; the next batch in order, and since when it is
        self.active = [True] * self.count
        self.load = [0] * self.count  # tasks of each worker that were not handed over
        self.cycle = cycle(range(self.count))
        self.resumed = 0
        self.overdue = False

    # ---- begin and end ----

    async def begin(self) -> None:
        """Start the workers one after another, or wake those that stayed; send the first tasks."""
        if not self.most:
            raise AssertionError("prefetch_factor=0: a worker without tasks would make nothing")
        await self.fill_cache()
        self.workers = self.stayed()
        if self.workers:
            await self.resume()
        else:
            await self.run.pause(self.handling.begin)
            new = Forked if self.forks() else Worker
            self.workers = [new(self, number) for number in range(self.count)]
            for worker in self.workers:
                await worker.begin()
            if self.persistent_workers:
                self.keep()
        if self.pin_memory:
            self.hire(self.pin_all(), self.pin_stage)
        self.batches = self.indices()
        for _ in range(self.most):
            await self.send()

    def forks(self) -> bool:
        """Whether workers are processes: they are if waiting is real, and this system can fork."""
        if isinstance(self.run, Threads) and not FORKS:
            warnings.warn(
                "This system cannot fork safely: the workers are threads, which take turns with Python code.",
                stacklevel=2,
            )
        return isinstance(self.run, Threads) and FORKS

    def stayed(self) -> list[Worker]:
        """The workers that stayed from the last epoch; in another run, their processes."""
        if self.crew.workers or not self.crew.handles:
            return list(self.crew.workers)
        workers = [Forked(self, number) for number in range(self.count)]
        for worker, handle in zip(workers, self.crew.handles, strict=True):
            worker.handle = handle
            worker.set_out()
        return list(workers)

    def keep(self) -> None:
        """Let the workers stay: to the end of a benchmark; in loops as long as the loader."""
        if self.run.store is shared:
            self.crew.handles = [worker.handle for worker in self.workers if isinstance(worker, Forked)]
        else:
            self.crew.workers = self.workers
            self.run.leftovers += [worker.end for worker in self.workers]

    async def resume(self) -> None:
        """Wait until all workers have done what they had been told before."""
        await self.run.pause(self.handling.resume)
        for worker in self.workers:
            worker.take_on(self)
        await self.run.until(self.news, lambda: self.resumed == self.count, "buffer empty")

    async def leave(self) -> None:
        """End the workers, each after the batch in its hands; persistent ones stay."""
        if not self.persistent_workers and self.begun:
            for worker in self.workers:
                worker.stop()
            await self.run.until(
                self.news, lambda: all(worker.gone for worker in self.workers), "buffer empty"
            )
            await self.run.pause(self.handling.stop + self.count * self.handling.stop_each)

    def close(self) -> None:
        held = [ticket.result for ticket in self.tickets.values() if ticket.received and ticket.result]
        self.buffer.leave(*(element for element in held if type(element) is Element))
        self.tickets.clear()
        for worker in self.workers:
            if not self.persistent_workers:
                worker.end()
            elif not self.crew.workers and worker.task:  # of them, their processes stay
                self.run.cancel(worker.task)
        super().close()

    # ---- the main process ----

    async def next(self) -> Element:
        if not self.begun:
            self.begun = True
            await self.begin()
        if self.finished:
            return END
        if self.handling.ask:
            await self.run.pause(self.handling.ask)
        run, tickets = self.run, self.tickets
        while self.turn < self.sent:
            ticket = tickets.get(self.turn)
            if ticket is None or not (ticket.received or self.active[ticket.worker]):
                tickets.pop(self.turn, None)  # of a worker that has ended, or handed over before its turn
                self.turn += 1
                continue
            if not ticket.received:
                if not self.arrived:
                    await (
                        self.wait() if self.timeout else run.until(self.news, self.has_news, "buffer empty")
                    )
                arrived = self.arrived.popleft()
                if arrived.result is END:
                    self.active[arrived.worker] = False
                    await self.send()
                    continue
                arrived.received = True
                if arrived.is_last:
                    self.active[arrived.worker] = False
                if self.in_order and arrived is not ticket:
                    continue
                ticket = arrived
            if run.recorder is not None:
                self.take_down(ticket)
            del tickets[ticket.number]
            self.turn += ticket.number == self.turn
            self.load[ticket.worker] -= 1
            if self.handling.send:
                await self.send()
            else:
                self.send_at_once()
            element = ticket.result
            if type(element) is Failure:
                return END if isinstance(element.value, StopIteration) else settle(element)
            return element  # type: ignore[no-any-return]
        self.finished = True
        await self.leave()
        return END

    async def wait(self) -> None:
        """Wait for a result of any worker, but not longer than *timeout*."""
        self.overdue = False
        alarm = self.run.start(self.ring(), self.stage)
        await self.run.until(self.news, self.has_news, "buffer empty")
        self.run.cancel(alarm)
        if not self.arrived:
            raise RuntimeError(f"DataLoader timed out after {self.timeout:g} seconds")

    def has_news(self) -> Any:
        return self.arrived or self.overdue

    async def ring(self) -> None:
        await self.run.pause(round(self.timeout * 1e9))
        self.overdue = True
        self.news.changed()

    def take_down(self, ticket: Ticket) -> None:
        """A batch leaves for the loop; if others had to come before, it waited for its turn."""
        element = ticket.result
        if type(element) is Element:
            if self.in_order and self.turned > ticket.ready:
                times = ticket.ready, self.turned
                self.run.waited(
                    self.ready_stage, "out of turn", *times, ticket.worker, element, self.news.name
                )
            self.buffer.leave(element)
        self.turned = self.run.time

    async def send(self) -> None:
        """Send the next task, if there is one."""
        if ticket := self.new_task():
            await self.run.pause(self.handling.send)
            ticket.sent = self.run.time
            self.workers[ticket.worker].give(ticket)

    def send_at_once(self) -> None:
        """Send the next task, where that takes no time."""
        if ticket := self.new_task():
            self.workers[ticket.worker].give(ticket)

    def new_task(self) -> Ticket | None:
        """The next task, for the next worker that is still active."""
        try:
            indices = next(self.batches)
        except StopIteration:
            return None
        for _ in self.active:
            number = next(self.cycle)
            if self.active[number] and (self.in_order or self.load[number] < self.most // sum(self.active)):
                break
        else:
            return None
        ticket = self.tickets[self.sent] = Ticket(self, self.sent, indices, number)
        self.sent += 1
        self.load[number] += 1
        return ticket

    # ---- what workers tell ----

    def arrive(self, ticket: Ticket) -> None:
        """A result has come from a worker, or the word that it is ready for another epoch."""
        if ticket.number < 0:
            self.resumed += 1
        else:
            if self.run.recorder is not None:
                ticket.ready = self.run.time
                if type(ticket.result) is Element and ticket.result is not END:
                    self.buffer.enter(ticket.result)
            (self.unpinned if self.pin_memory else self.arrived).append(ticket)
        self.news.changed()

    async def pin_all(self) -> None:
        """Pin results as they come, in a thread of the main process."""
        price = price_of_bytes(self.pin, "pin")
        while True:
            await self.run.until(self.news, lambda: self.unpinned, "buffer empty")
            ticket = self.unpinned.popleft()
            element = ticket.result
            if type(element) is Element and element is not END:
                await self.run.work(charge(price, element), self.pin_stage, element, "native")
            self.arrived.append(ticket)
            self.news.changed()
