"""A worker of a `DataLoader`, as a model: a task with an interpreter and a memory of its own."""

import traceback
from collections import deque
from dataclasses import dataclass
from typing import Any

from lessonkit.engine.costs import charge, price_of_bytes
from lessonkit.engine.element import END, Element, Failure
from lessonkit.engine.process import Store, WorkerInfo
from lessonkit.engine.run import Gate
from lessonkit.engine.workers.fetch import Fetch, Indices


@dataclass(slots=True, eq=False)
class Ticket:
    """A task: the *number* of a batch and the *indices* that it is made of; then what came of it."""

    number: int  # of the next loader -1: it is there instead of the indices
    indices: Any
    worker: int
    sent: int  # when
    result: Any = None  # an `Element`, when it has been made
    ready: int = -1  # when it came, if that is recorded
    received: bool = False  # the main process has seen the result
    is_last: bool = False  # its worker has ended, or died

    def has_batch(self) -> bool:
        """Whether what came of it is a batch: neither an end, nor an error, nor nothing yet."""
        return type(self.result) is Element and self.result is not END


class Message(str):
    """The text of a KeyError that spans several lines: shown as it is, and not quoted."""

    __repr__ = str.__str__


def caught(error: BaseException, worker: int) -> Failure:
    """Tell where an *error* came from; of the same type, if that can be made of a text."""
    if isinstance(error.__cause__, StopIteration):  # a coroutine makes a RuntimeError of it
        error = error.__cause__
    text = Message(
        f"Caught {type(error).__name__} in DataLoader worker process {worker}.\n"
        f"Original {''.join(traceback.format_exception(error))}"
    )
    try:
        told: BaseException = type(error)(text)
    except Exception:
        told = RuntimeError(text)
    return Failure(told)


class Maker:
    """Makes batches in one process, and says of an error in which."""

    fetch: Any = None  # a `Fetch`, once the data set is open
    failed: Exception | None = None  # what its start raised

    def __init__(self, loader: Any, number: int) -> None:
        self.loader = loader
        self.number = number
        self.run: Any = loader.scope.run

    async def prepare(self) -> None:
        """Run what its start asks for; an error comes in the place of its first batch.

        No batch comes after it, until the next epoch opens the data set.
        """
        try:
            if init := self.loader.worker_init_fn:
                await self.run.apply(init, Element(self.number), self.loader.start_stage)
            self.open()
        except Exception as error:
            self.failed = error

    def open(self) -> None:
        """Open the data set for an epoch; close that of the epoch before."""
        self.depart()
        self.fetch = Fetch(self.loader)

    def depart(self) -> None:
        """Close what it has open."""
        if self.fetch:
            self.fetch.stream.close()

    async def make(self, indices: Indices) -> Element | None:
        """Make a batch, or END, or the error that takes its place; None if the process has died."""
        try:
            if self.failed:
                error, self.failed = self.failed, None
                raise error
            if not self.fetch:
                raise UnboundLocalError("the data set was never opened")
            element: Element = await self.fetch.batch(indices)
            return element
        except SystemExit:
            return None
        except Exception as error:
            return caught(error, self.number)


class Worker(Maker):
    """Takes its tasks first in, first out, and makes one batch after another.

    What it was told before an epoch ended it still does: the next epoch waits for that.
    """

    task: Any = None  # once it has begun
    handle: Any = None  # of its process, if that is a real one
    stopped = gone = ended = False
    delivered = 0  # when its last result reached the main process

    def __init__(self, loader: Any, number: int) -> None:
        super().__init__(loader, number)
        self.called = str(number)
        self.queue: deque[Ticket] = deque()
        self.gate = Gate(self.run, f"the queue of worker {number}")
        # Results, in order, each to its loader
        self.on_the_way: deque[tuple[Any, Ticket]] = deque()
        self.late = loader.handling.first  # its first result is
        self.transfer = price_of_bytes(loader.transfer, "transfer")
        store = self.run.store
        base = store.base + 1 + loader.epoch * loader.num_workers + number
        own, info = (
            Store(fixed_seed=store.fixed_seed, base=base),
            WorkerInfo(number, loader.num_workers),
        )
        self.process = self.run.new_process(own, info, loader.epoch)

    # ---- what the main process does with it ----

    async def begin(self) -> None:
        """Start it: the main process is held up for the first part of its start only."""
        main = self.run.current
        main.lane = self.number  # in the pictures this is the worker's
        self.set_out(await self.launch())
        main.lane = 0

    async def launch(self) -> int:
        """Spend the first part of its start, and return how long the second takes."""
        who = self.loader.epoch, self.number
        first, second = (
            float(cost(*who) if callable(cost) else cost) for cost in self.loader.start
        )
        await self.run.spend(round(first * 1e9), self.loader.start_stage, Element(None))
        return round(second * 1e9)

    def set_out(self, spent: int = 0) -> None:
        """Begin to work on what comes into the queue, when it has *spent* the rest of its start."""
        self.task = self.run.start(self.live(spent), self.loader.stage, self.number)
        self.task.process = self.process

    def give(self, ticket: Ticket) -> None:
        """Put a task into its queue."""
        self.queue.append(ticket)
        if self.gate.waiting:
            self.gate.changed()

    def stop(self) -> None:
        """Let it end when it has made the batch in its hands."""
        self.stopped = True
        self.gate.changed()

    def end(self) -> None:
        """End it now, if it has begun."""
        if self.task:
            self.run.cancel(self.task)
            self.depart()

    # ---- its own life ----

    async def live(self, spent: int) -> None:
        """Make what it is told to make, until it is stopped."""
        run, queue = self.run, self.queue
        handling = self.loader.handling
        await run.spend(spent, self.loader.start_stage, Element(None))
        await self.prepare()
        while True:
            if not queue:  # most have a task waiting
                await run.until(self.gate, lambda: queue or self.stopped, "buffer empty")
            if self.stopped:
                break
            ticket = queue.popleft()
            await run.pause(max(0, ticket.sent + handling.hop - run.time))
            if ticket.number < 0:
                self.loader = ticket.indices
                self.ended = False
                self.open()
            elif self.ended:
                continue
            else:
                ticket.result, cost = await self.work_on(ticket)
                await run.spend(cost, self.loader.transfer_stage, ticket.result)
            way = handling.hop + (handling.way_busy if queue else handling.way)
            if way or self.late or self.on_the_way:
                self.deliver(ticket, run.time + way)
            else:
                self.loader.arrive(ticket)
        self.depart()
        self.gone = True
        self.loader.news.changed()

    async def work_on(self, ticket: Ticket) -> tuple[Element, int]:
        """Make the batch that a *ticket* asks for; return what came of it, and what its transfer takes."""
        run, began = self.run, self.run.time
        made = await self.make(ticket.indices)
        self.ended = ticket.is_last = made is None or made is END
        if made is None:
            made = Failure(
                RuntimeError(f"DataLoader worker {self.called} exited unexpectedly")
            )
        if self.ended or type(made) is Failure:
            return made, 0
        if run.recorder is not None and began > ticket.sent:
            stage, times = self.loader.queue_stage, (ticket.sent, began)
            run.waited(stage, "in the queue", *times, self.number, made, self.gate.name)
        cost: int = charge(self.transfer, made)
        return made, cost

    def deliver(self, ticket: Ticket, due: int) -> None:
        """Let *ticket* reach the main process when it is *due*, and never before the one before it."""
        self.delivered = max(self.delivered, due + self.late)
        self.late = 0
        self.on_the_way.append((self.loader, ticket))
        self.run.start(
            self.carry(self.delivered - self.run.time), self.loader.stage, self.number
        )

    async def carry(self, way: int) -> None:
        """Let the next result arrive in *way* nanoseconds: none overtakes another that is due then."""
        await self.run.pause(way)
        loader, ticket = self.on_the_way.popleft()
        loader.arrive(ticket)
