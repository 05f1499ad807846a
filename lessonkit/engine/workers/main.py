"""`DataLoader`: worker processes make whole batches ahead of need, as PyTorch's do."""

import random
import warnings
from collections import deque
from collections.abc import Iterator
from itertools import cycle, islice, repeat
from typing import Any

from lessonkit.engine.costs import charge, price_of_bytes
from lessonkit.engine.element import END, Element, Failure, settle
from lessonkit.engine.node import Node, base_of, cardinality
from lessonkit.engine.operators.base import Scope, Stream, operator
from lessonkit.engine.operators.cache import Cache, Kept
from lessonkit.engine.process import shared
from lessonkit.engine.recorder import AHEAD, CALL, FILL, PIN, QUEUE, READY, START, TAKE
from lessonkit.engine.run import Gate
from lessonkit.engine.trace import EMPTY
from lessonkit.engine.workers.fetch import Fetch, Indices, first_above
from lessonkit.engine.workers.forked import FORKS, Forked
from lessonkit.engine.workers.handling import Handling
from lessonkit.engine.workers.worker import Ticket, Worker

UNSAFE = "This system cannot fork safely: the workers are threads, which take turns with Python code."


class Crew:
    """What outlives an epoch: how many there were, and the workers, if they are to stay."""

    def __init__(self) -> None:
        self.epochs = 0
        self.workers: list[Worker] = []  # within one run
        # Of processes, for all loops: a worker would keep the loader, and so itself.
        self.handles: list[Any] = []
        self.is_at_work = False  # for a loop that has not ended


@operator("DataLoader")
def open_loader(scope: Scope, node: Node) -> Stream:
    """Open *node* with or without workers: without, nothing is made ahead or comes out of order."""
    return (LoaderWithWorkers if node.arguments["num_workers"] else Loader)(scope, node)


class Loader(Stream):
    """Makes each batch in the loop's own process, when it is asked for."""

    begun = False

    def prepare(self) -> None:
        self.base = base_of(self.node.inputs[0])
        self.kept: Kept | None = None  # what a cache before the workers holds
        self.crew: Crew = self.run.store.state(self.node, Crew)
        self.epoch = self.crew.epochs
        self.crew.epochs += 1
        self.run.sized |= any(map(callable, (self.transfer, self.collate, self.pin)))
        is_real = self.run.is_real  # what is real takes its time
        self.handling = (Handling() if is_real else self.node.arguments["handling"]).ns()

    async def fill_cache(self) -> None:
        """Fill a cache before the workers, in this process."""
        if self.base is not None and self.base.method == "cache":
            self.kept = self.run.store.state(self.base, Kept)
            if self.kept.elements is None:
                cache = first_above(self.open_input(), Cache)
                while await cache.next() is not END:
                    pass

    def indices(self) -> Iterator[Indices]:
        """Give the samples of each batch of this epoch; for an iterable None, for ever."""
        if self.base is None:
            return repeat(None)
        if self.batch_sampler is not None:
            return iter(self.batch_sampler)
        order: Any = self.sampler
        if order is None:
            order = range(
                len(self.kept.elements or ()) if self.kept else cardinality(self.base)
            )
        if self.shuffle:
            seed = self.run.store.seed(self.generator)
            order = random.Random(f"{seed}:{self.epoch}").sample(order, len(order))
        return groups(iter(order), self.batch_size, self.drop_last)

    async def next(self) -> Element:
        if not self.begun:
            self.begun = True
            await self.begin()
        if (indices := next(self.batches, END)) is END:
            return END
        try:
            element = await self.fetch.batch(indices)
        except RuntimeError as error:
            if isinstance(error.__cause__, StopIteration):  # as if the data ended here
                return END
            raise
        await self.run.pause(self.handling.ask)
        return element

    async def begin(self) -> None:
        """Open the data set."""
        if self.timeout:
            raise AssertionError("timeout: without workers there is nobody to wait for")
        await self.run.pause(self.handling.begin)
        await self.fill_cache()
        self.fetch = Fetch(self)
        self.opened.append(self.fetch.stream)
        self.batches: Iterator[Any] = self.indices()


def groups(samples: Iterator[int], size: int | None, drop_last: bool) -> Iterator[Indices]:
    """Cut *samples* into batches of *size*; without a size give them one by one."""
    if size is None:
        yield from samples
        return
    while group := list(islice(samples, size)):
        if not drop_last or len(group) == size:
            yield group


class LoaderWithWorkers(Loader):
    """Sends tasks to its workers, and hands over what they make.

    At the start each worker gets *prefetch_factor* tasks; then one task is sent for each
    batch that is handed over. The workers take turns, even if another is idle: so in order,
    worker i mod n makes batch i.
    """

    finished = overdue = False

    def prepare(self) -> None:
        super().prepare()
        scope, count = self.scope, self.num_workers
        self.most = count * (2 if self.prefetch_factor is None else self.prefetch_factor)
        self.stage, self.start_stage = (
            scope.name("Worker", FILL),
            scope.name("Start", START),
        )
        self.transfer_stage, self.pin_stage = (
            scope.name("Transfer", CALL),
            scope.name("Pin", PIN),
        )
        self.queue_stage, self.ready_stage = (
            scope.name("Queue", QUEUE),
            scope.name("Ready", READY),
        )
        self.take_stage = scope.name("Take", TAKE)
        name = scope.name(f"DataLoader: {count} workers", AHEAD)
        self.news = Gate(self.run, name)
        self.buffer = self.holds(name, self.most)
        if self.run.recorder is not None:
            self.run.recorder.workers[scope.place.site] = count
        self.workers: list[Worker] = []
        self.tickets: dict[int, Ticket] = {}  # not handed over yet
        self.unpinned: deque[Ticket] = deque()
        self.arrived: deque[Ticket] = deque()
        # Tasks sent; the next batch in order, and since when it is
        self.sent = self.turn = self.turned = 0
        self.active = [True] * count
        self.load = [0] * count  # tasks of each worker that were not handed over
        self.cycle = cycle(range(count))
        self.resumed = 0

    # ---- begin and end ----

    async def begin(self) -> None:
        """Start the workers one after another, or wake those that stayed; send the first tasks."""
        if not self.most:
            raise AssertionError(
                "prefetch_factor=0: a worker without tasks would make nothing"
            )
        await self.fill_cache()
        # Two loops at once: this one has workers of its own
        if self.crew.workers and self.crew.is_at_work:
            self.crew = Crew()
        crew, new = self.crew, Forked if self.run.is_real and FORKS else Worker
        crew.is_at_work = True
        if self.run.is_real and not FORKS:
            warnings.warn(UNSAFE, stacklevel=2)
        self.workers = crew.workers or [
            new(self, number) for number in range(self.num_workers)
        ]
        if crew.workers or crew.handles:
            await self.resume()
        else:
            await self.run.pause(self.handling.begin)
            # Of what workers draw
            self.seed = f"{self.run.store.seed(self.generator)}:{self.epoch}"
            for worker in self.workers:
                await worker.begin()
            if self.persistent_workers:
                self.keep()
        if self.pin_memory:
            self.hire(self.pin_all(), self.pin_stage)
        self.batches = self.indices()
        for _ in range(self.most):
            await self.run.pause(self.send())

    def keep(self) -> None:
        """Let the workers stay: to the end of a benchmark; in loops as long as the loader."""
        if self.run.store is shared:
            self.crew.handles = [worker.handle for worker in self.workers if worker.handle]
        else:
            self.crew.workers = self.workers
            self.run.leftovers += [worker.end for worker in self.workers]

    async def resume(self) -> None:
        """Wait until all workers have done what they had been told before."""
        # Of another run
        for worker, handle in zip(self.workers, self.crew.handles, strict=False):
            worker.handle = handle
            worker.set_out()
        await self.run.pause(self.handling.resume)
        for worker in self.workers:
            worker.give(Ticket(-1, self, worker.number, self.run.time))
        await self.run.until(self.news, lambda: self.resumed == len(self.workers), EMPTY)

    async def leave(self) -> None:
        """End the workers, each after the batch in its hands; persistent ones stay."""
        if not self.persistent_workers:
            for worker in self.workers:
                worker.stop()
            await self.run.until(
                self.news, lambda: all(worker.gone for worker in self.workers), EMPTY
            )
            await self.run.pause(
                self.handling.stop + len(self.workers) * self.handling.stop_each
            )

    def close(self) -> None:
        came = [ticket for ticket in self.tickets.values() if ticket.ready >= 0]
        self.buffer.leave(*(ticket.result for ticket in came if ticket.has_batch()))
        self.tickets.clear()
        if self.workers:
            self.crew.is_at_work = False
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
        if self.handling.ask and not self.finished:
            await self.run.pause(self.handling.ask)
        run, tickets = self.run, self.tickets
        while self.turn < self.sent:
            ticket = tickets.get(self.turn)
            if ticket is None or not (ticket.received or self.active[ticket.worker]):
                # Of a worker that has ended, or handed over before its turn
                tickets.pop(self.turn, None)
                self.turn += 1
                continue
            if not ticket.received:
                if not self.arrived:
                    await (
                        self.wait()
                        if self.timeout
                        else run.until(self.news, self.has_news, EMPTY)
                    )
                came = self.arrived.popleft()
                if came.is_last:
                    self.active[came.worker] = False
                    if came.result is END:
                        await run.pause(self.send())
                        continue
                came.received = True
                if came is not ticket and self.in_order:
                    continue
                ticket = came
            if run.recorder is not None:
                self.take_down(ticket)
            del tickets[ticket.number]
            self.turn += ticket.number == self.turn
            self.load[ticket.worker] -= 1
            if self.handling.take or self.handling.take_busy:
                await self.take(ticket)
            if took := self.send():
                await run.pause(took)
            element = ticket.result
            if type(element) is Failure:
                return END if isinstance(element.value, StopIteration) else settle(element)
            return element  # type: ignore[no-any-return]
        if not self.finished:
            self.finished = True
            await self.leave()
        return END

    async def take(self, ticket: Ticket) -> None:
        """Spend the loop's own time on a batch, which is longer while its worker computes."""
        handling, is_idle = self.handling, self.workers[ticket.worker].gate.waiting
        time = handling.take if is_idle else handling.take_busy
        await self.run.spend(
            max(0, time - handling.take_core), self.take_stage, ticket.result
        )
        await self.run.work(
            min(time, handling.take_core), self.take_stage, ticket.result, "native"
        )

    async def wait(self) -> None:
        """Wait for a result of any worker, but not longer than *timeout*."""
        self.overdue = False
        alarm = self.run.start(self.ring(), self.stage)
        await self.run.until(self.news, self.has_news, EMPTY)
        self.run.cancel(alarm)
        if not self.arrived:
            raise RuntimeError(f"DataLoader timed out after {self.timeout:g} seconds")

    async def ring(self) -> None:
        """Tell who waits that it was for too long."""
        await self.run.pause(round(self.timeout * 1e9))
        self.overdue = True
        self.news.changed()

    def has_news(self) -> Any:
        return self.arrived or self.overdue

    def take_down(self, ticket: Ticket) -> None:
        """Take down that the batch of *ticket* leaves, and that it waited if others had to come before."""
        element = ticket.result
        if ticket.has_batch():
            if self.in_order and self.turned > ticket.ready:
                stage, times = self.ready_stage, (ticket.ready, self.turned)
                self.run.waited(
                    stage, "out of turn", *times, ticket.worker, element, self.news.name
                )
            self.buffer.leave(element)
        self.turned = self.run.time

    def send(self) -> int:
        """Send the next task, if there is one, to the next worker that has not ended; return its time."""
        try:
            indices = next(self.batches)
        except StopIteration:
            return 0
        for _ in self.active:
            number = next(self.cycle)
            if self.active[number] and (
                self.in_order or self.load[number] < self.most // sum(self.active)
            ):
                break
        else:
            return 0
        took: int = self.handling.send
        ticket = self.tickets[self.sent] = Ticket(
            self.sent, indices, number, self.run.time + took
        )
        self.sent += 1
        self.load[number] += 1
        self.workers[number].give(ticket)
        return took

    # ---- what workers tell ----

    def arrive(self, ticket: Ticket) -> None:
        """Take a result from a worker, or its word that it is ready for another epoch."""
        if ticket.number < 0:
            self.resumed += 1
        else:
            if self.run.recorder is not None:
                ticket.ready = self.run.time
                # And not of a loop that was left
                if ticket.has_batch() and ticket.number in self.tickets:
                    self.buffer.enter(ticket.result)
            (self.unpinned if self.pin_memory else self.arrived).append(ticket)
        if self.news.waiting:
            self.news.changed()

    async def pin_all(self) -> None:
        """Pin results as they come, in a thread of the main process."""
        price = price_of_bytes(self.pin, "pin")
        while True:
            await self.run.until(self.news, lambda: self.unpinned, EMPTY)
            ticket = self.unpinned.popleft()
            if ticket.has_batch():
                cost = charge(price, ticket.result)
                await self.run.work(cost, self.pin_stage, ticket.result, "native")
            self.arrived.append(ticket)
            self.news.changed()
