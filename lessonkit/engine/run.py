"""What operators are written with, on either clock.

Operators are coroutines. They wait for a condition (`Run.until`), spend time
(`Run.spend`), call a learner's function (`Run.apply`) and start helpers
(`Run.start`). What comes out of a coroutine tells the clock what it waits for:
a number, sleep until that time; None, sleep until somebody wakes you. Between
two waits, operator code runs alone.
"""

import threading
import types
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from typing import Any

from lessonkit.engine.costs import Price, charge
from lessonkit.engine.element import Bytes, Element, measure
from lessonkit.engine.machine import Idle, Machine, current
from lessonkit.engine.recorder import Name, Place, Recorder, Site
from lessonkit.engine.store import Store

Waits = Generator[int | None, None, None]  # what the awaitables are, for the clock
Piece = tuple[int, str | None, str]  # work that a function says it does: time, stage, kind


class Stopped(BaseException):
    """Ends a task whose run is over."""


class Task:
    """One line of work: a coroutine, and how far it has come."""

    def __init__(self, run: "Run", coro: Any, stage: Name, lane: int = 0) -> None:
        self.run = run
        self.coro = coro
        self.stage = stage  # in whose name it waits
        self.lane = lane  # which of several parallel calls it is
        self.last = -1  # the last span that decided when it could go on
        self.waits_for = ""  # the gate it was last stopped at
        self.done = False


class Gate:
    """Where tasks wait for a condition on what they share.

    Whoever changes the shared state says so with `changed()`. That lets the first
    one go on whose condition holds now: one change makes room for one.
    """

    def __init__(self, run: "Run", name: str) -> None:
        self.run = run
        self.name = name
        self.waiting: list[tuple[Task, Callable[[], Any]]] = []

    def changed(self) -> None:
        for waiter in self.waiting:
            task, condition = waiter
            if not task.done and condition():
                self.waiting.remove(waiter)
                self.run.wake(task)
                return


class Resource(Gate):
    """Something that only so many tasks can hold at once: first come, first served."""

    def __init__(self, run: "Run", name: str, amount: int, reason: str) -> None:
        super().__init__(run, name)
        self.free = amount
        self.reason = reason  # why one waits
        self.queue: deque[object] = deque()

    @types.coroutine
    def acquire(self) -> Waits:
        ticket = object()
        self.queue.append(ticket)
        try:
            yield from self.run.until(self, lambda: self.free and self.queue[0] is ticket, self.reason)
            self.free -= 1
        finally:
            self.queue.remove(ticket)
            self.changed()  # the next in line may be served too

    def release(self) -> None:
        self.free += 1
        self.changed()

    __aenter__ = acquire

    async def __aexit__(self, *error: object) -> None:
        self.release()


class Run(ABC):
    """One iteration of a pipeline on one clock: what its operators share."""

    now: int  # the time the current task has reached, by which it is due
    time: int  # the time as a trace has it: on the real clock what the computer's clock says
    current: Task
    task_type: type[Any] = Task
    takes_turns = False  # some helpers have no thread of their own

    def __init__(
        self, machine: Machine, store: Store, recorder: Recorder | None, stop: threading.Event | None = None
    ) -> None:
        self.machine = machine
        self.store = store
        self.recorder = recorder
        self.stop = stop or threading.Event()  # set from anywhere, it ends the run
        self.crash: BaseException | None = None  # what ended a helper that no error may end
        self.tasks: set[Any] = set()  # the helpers that have not ended
        self.sites: dict[Site, int] = {}  # of the description that a recorder is to know
        self.names: dict[tuple[Site, str, str], Name] = {}  # of the parts of the pipeline
        self.taken: set[str] = set()
        self.cores = Resource(self, "cores", machine.cores, "no core")
        self.interpreter = Resource(self, "interpreter", 1, "interpreter lock held")

    # ---- for operators ----

    @types.coroutine
    def until(self, gate: Gate, condition: Callable[[], Any], reason: str) -> Waits:
        """Wait until *condition* holds, if it does not hold yet."""
        if condition():
            return
        task, began = self.current, self.time
        task.waits_for = gate.name
        while True:
            gate.waiting.append((task, condition))
            yield None
            if condition():
                break
        if self.recorder is not None and self.time > began:
            recorder, ended = self.recorder, self.time
            recorder.spans += (task.stage, reason, began, ended, task.lane, 0, task.last, gate.name)

    @types.coroutine
    def spend(self, duration: int, stage: Name, element: Element, kind: str = "wait") -> Waits:
        """Spend *duration* nanoseconds on *element*."""
        if not duration:
            return
        began = self.time
        due = self.now + duration
        if not self.skip_to(due):
            yield due
        if self.recorder is not None:
            recorder, task = self.recorder, self.current
            recorder.spans += (stage, kind, began, self.time, task.lane, element.key, task.last, "")
            task.last = len(recorder.spans) // 8 - 1

    async def work(self, duration: int, stage: Name, element: Element, kind: str) -> None:
        """Spend *duration* nanoseconds on *element*, holding what this kind of work needs."""
        if kind == "wait" or not duration:
            await self.spend(duration, stage, element)
        elif kind == "native":
            async with self.cores:
                await self.spend(duration, stage, element, kind)
        else:  # the lock first: nobody waits for it with a core in hand
            async with self.interpreter, self.cores:
                await self.spend(duration, stage, element, kind)

    async def apply(
        self, function: Callable[..., Any], element: Element, stage: Name, cost: int = 0, kind: str = "wait"
    ) -> Any:
        """Call a learner's function; its value, or its error, shows when its time has passed."""
        pieces: list[Piece] = []
        if self.takes_turns:
            await self.stand_back()
        try:
            return self.call(function, stage, element, pieces)
        finally:
            if cost:
                pieces.append((cost, stage, kind))
            for duration, own_stage, own_kind in pieces:
                await self.work(duration, self.within(stage, own_stage), element, own_kind)

    def charge(self, price: Price, element: Element) -> int:
        """The nanoseconds that *element* costs."""
        return self.ask(charge, price, element) if callable(price) else price

    def measure(self, value: Any, said: Bytes, before: int) -> int:
        """The bytes of *value*: what *said* says, else its own, else what it had *before*."""
        return self.ask(measure, value, said, before) if callable(said) else measure(value, said, before)

    def name(self, wanted: str, place: Place, role: str) -> Name:
        """The name of what is at *place* in this *role*: *wanted*, or with a number if that is taken."""
        key = (place.site, wanted, role)
        if key not in self.names:
            text, number = wanted, 1
            while text in self.taken:
                number += 1
                text = f"{wanted} {number}"
            self.taken.add(text)
            self.names[key] = name = Name(text)
            name.place, name.role, name.wanted = place, role, wanted
            if self.recorder is not None:
                self.recorder.names.append(name)
        return self.names[key]

    def within(self, stage: Name, said: str | None) -> Name:
        """The stage that a function *said* it works as, in an operator's *stage*."""
        return self.name(said, stage.place, stage.role) if said else stage

    def start(self, coro: Coroutine[Any, None, Any], stage: Name, lane: int = 0) -> Task:
        """Start a helper: a task of its own, beside the one that asks for it."""
        task: Task = self.task_type(self, coro, stage, lane)
        self.tasks.add(task)
        self.wake(task)
        return task

    def end(self, task: Task) -> None:
        """A helper has ended."""
        task.done = True
        self.tasks.discard(task)

    # ---- what the two clocks do differently ----

    def ask(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call what may be a learner's, and only tells something: it spends no time, and must not `work`."""
        return self.outside(Idle(), function, *arguments)

    def outside(self, worker: Any, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call what is no operator code; *worker* hears of its `work`."""
        before, current.worker = current.worker, worker
        try:
            return function(*arguments)
        finally:
            current.worker = before

    def cancel(self, task: Any) -> None:
        """End a helper where it stands."""
        if not task.done:
            self.end(task)
            if not task.coro.cr_running:  # in a learner's function: it ends when that comes back
                task.coro.close()

    def skip_to(self, due: int) -> bool:
        """Go straight on to *due* if nothing else can happen before; say whether."""
        return False

    @types.coroutine
    def stand_back(self) -> Waits:
        """Before a function that may compute for long: let others go first."""
        yield from ()

    @abstractmethod
    def complete(self, coro: Coroutine[Any, None, Any], stage: Name) -> Any:
        """Run *coro* and all that it starts, until it ends; return its value."""

    @abstractmethod
    def wake(self, task: Any) -> None:
        """Let a waiting task go on: the current one has made that possible."""

    @abstractmethod
    def call(self, function: Callable[..., Any], stage: Name, element: Element, pieces: list[Piece]) -> Any:
        """Call a learner's function on *element*; put into *pieces* the work it says it does."""
