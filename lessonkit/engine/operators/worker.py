"""A worker of a `DataLoader`, as a model: a task with an interpreter and a memory of its own."""

import traceback
from collections import deque
from typing import Any

from lessonkit.engine.costs import charge, price_of_bytes
from lessonkit.engine.element import END, Element, Failure
from lessonkit.engine.operators.fetch import Fetch, Indices
from lessonkit.engine.process import WorkerInfo
from lessonkit.engine.run import Gate
from lessonkit.engine.store import Store


class Ticket:
    """A task: the *number* of a batch and the *indices* that it is made of; then what came of it."""

    result: Any = None  # an `Element`, when it has been made
    received = False  # the main process has seen the result
    is_last = False  # its worker has died
    ready = 0  # when it came

    def __init__(self, loader: Any, number: int, indices: Indices, worker: int) -> None:
        self.loader = loader
        self.number = number
        self.indices = indices
        self.worker = worker
        self.sent = loader.run.time


class Message(str):
    """The text of a KeyError that spans several lines: shown as it is, and not quoted."""

    __repr__ = str.__str__


def caught(error: BaseException, worker: int) -> Failure:
    """Tell where an error came from; of the same type, if that can be made of a text."""
    text = Message(
        f"Caught {type(error).__name__} in DataLoader worker process {worker}.\n"
        f"Original {''.join(traceback.format_exception(error))}"
    )
    try:
        told: BaseException = type(error)(text)
    except Exception:
        told = RuntimeError(text)
    return Failure(told)


class Worker:
    """Takes its tasks first in, first out, and makes one batch after another.

    What it was told before an epoch ended it still does: the next epoch waits for that.
    """

    def __init__(self, loader: Any, number: int) -> None:
        self.loader = loader
        self.number = number
        self.run = loader.run
        self.scope = loader.scope
        self.node = loader.node
        self.task: Any = None
        self.queue: deque[Ticket] = deque()
        self.gate = Gate(self.run, f"the queue of worker {number}")
        self.stopped = self.gone = self.ended = False
        self.fetch: Any = None  # a `Fetch`, once it is open
        self.is_plain = False  # all that a batch costs can be told at once
        self.failed: Exception | None = None  # what its start raised
        self.delivered = 0  # when its last result reached the main process
        self.is_first = True
        store = self.run.store
        base = store.base + 1 + loader.epoch * loader.count + number
        info = WorkerInfo(number, loader.count)
        self.transfer = price_of_bytes(loader.transfer, "transfer")
        self.process = self.run.new_process(Store(fixed_seed=store.fixed_seed, base=base), info, loader.epoch)

    # ---- what the main process does with it ----

    async def begin(self) -> None:
        """Start it: the main process is held up for the first part of its start only."""
        spent = [round(self.said(part) * 1e9) for part in (0, 1)]
        main = self.run.current
        main.lane = self.number  # in the pictures this is the worker's
        await self.run.spend(spent[0], self.loader.start_stage, Element(None))
        main.lane = 0
        self.task = self.run.start(self.live(spent[1]), self.loader.stage, self.number)
        self.task.process = self.process

    def said(self, part: int) -> float:
        """The seconds of one part of its start."""
        cost = self.loader.start[part]
        return float(cost(self.loader.epoch, self.number) if callable(cost) else cost)

    def give(self, ticket: Ticket) -> None:
        """Put a task into its queue."""
        self.queue.append(ticket)
        self.gate.changed()

    def take_on(self, loader: Any) -> None:
        """Ask it to begin anew for the next epoch, when it has done what it was told before."""
        self.give(Ticket(loader, -1, None, self.number))

    def stop(self) -> None:
        """Let it end when it has made the batch in its hands."""
        self.stopped = True
        self.gate.changed()

    def end(self) -> None:
        """End it now, if it has begun."""
        if self.task:
            self.run.cancel(self.task)
            self.depart()

    def depart(self) -> None:
        """Close what it has open."""
        if self.fetch:
            self.fetch.close()

    # ---- its own life ----

    async def live(self, spent: int) -> None:
        run, queue = self.run, self.queue
        await run.spend(spent, self.loader.start_stage, Element(None))
        await self.prepare()
        while True:
            if not queue:  # most have a task waiting
                await run.until(self.gate, lambda: queue or self.stopped, "buffer empty")
            if self.stopped:
                break
            ticket = queue.popleft()
            if self.loader.handling.hop:
                await run.pause(max(0, ticket.sent + self.loader.handling.hop - run.time))
            if ticket.number < 0:
                self.loader = ticket.loader
                self.open()
                self.deliver(ticket)
            elif self.is_plain:
                try:
                    ticket.result, cost = self.fetch.at_once(ticket.indices)
                except Exception as error:
                    ticket.result, cost = caught(error, self.number), 0
                if cost:
                    await run.spend(cost, self.loader.stage, ticket.result)
                self.deliver(ticket)
            elif not self.ended:
                await self.make(ticket)
        self.depart()
        self.gone = True
        self.loader.news.changed()

    async def prepare(self) -> None:
        """Run what its start asks for; an error comes in the place of its first batch."""
        try:
            if function := self.loader.worker_init_fn:
                await self.run.apply(function, Element(self.number), self.loader.start_stage)
            self.open()
        except Exception as error:
            self.failed = error

    def open(self) -> None:
        """Open the data set for an epoch; close that of the epoch before."""
        self.depart()
        self.ended = False
        self.fetch = Fetch(self.scope, self.node, self.loader.kept)
        self.is_plain = self.fetch.is_plain

    async def make(self, ticket: Ticket) -> None:
        """Make the batch that a task asks for, and send it."""
        run, began = self.run, self.run.time
        ticket.result = await self.result(ticket)
        self.ended = ticket.result is END or ticket.is_last
        element = ticket.result
        if type(element) is Element and element is not END:
            if run.recorder is not None and began > ticket.sent:
                stage, times = self.loader.queue_stage, (ticket.sent, began)
                run.waited(stage, "in the queue", *times, self.number, element, self.gate.name)
            await run.spend(charge(self.transfer, element), self.loader.transfer_stage, element)
        self.deliver(ticket)

    async def result(self, ticket: Ticket) -> Element:
        """The batch, END, or the error that takes its place."""
        error: BaseException
        try:
            if self.failed:
                first, self.failed = self.failed, UnboundLocalError("the data set was never opened")
                raise first
            element: Element = await self.fetch.batch(ticket.indices)
            return element
        except SystemExit:
            ticket.is_last = True
            return Failure(RuntimeError(f"DataLoader worker {self.number} exited unexpectedly"))
        except Exception as raised:
            error = raised
            if isinstance(raised.__cause__, StopIteration):  # a coroutine makes a RuntimeError of it
                error = raised.__cause__
            return caught(error, self.number)

    def deliver(self, ticket: Ticket) -> None:
        """Let a result reach the main process, at once or after its time on the way."""
        handling, now = self.loader.handling, self.run.time
        if not handling.hop:
            ticket.loader.arrive(ticket)
            return
        self.delivered = max(self.delivered, now + handling.hop + self.is_first * handling.first)
        self.is_first = False
        self.run.start(self.carry(ticket, self.delivered - now), self.loader.stage, self.number)

    async def carry(self, ticket: Ticket, way: int) -> None:
        await self.run.pause(way)
        ticket.loader.arrive(ticket)
