"""The words that operators are written with, on either clock.

`Run` has two parts: what any operator may use, and what the two clocks do differently.

Operators are coroutines. They wait for a condition (`Run.until`), spend time
(`Run.spend`), call a learner's function (`Run.apply`) and start helpers
(`Run.start`). A coroutine tells the clock by a value how long it waits:
a number, until that time; None, until another task wakes it. Between
two waits operator code runs alone. When its run is over, a coroutine is closed where
it waits, or a function that it called raises `Stopped`.
"""

import types
from abc import ABC, abstractmethod
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from . import check
from .element import NOTHING, Bytes, Element, size_of, stack
from .machine import NO_WORK, Cost, Machine, WorkerInfo, WorkLog
from .node import NodeStates
from .trace import Name, Position, Recorder, Site

if TYPE_CHECKING:
    from .storage import SharedCores, Storage, StorageStreams

Waits = Generator[int | None, None, None]  # what the awaitables are, for the clock


class StorageRead(NamedTuple):
    """The price of reading *nbytes* from a *storage*: the time depends on all other reads."""

    storage: "Storage"
    nbytes: float


# Whole nanoseconds, a read, or a function of the element that gives one of them
Price = int | StorageRead | Callable[[Element], int | StorageRead]


def price(cost: Cost, name: str, hint: str = "", *, of_bytes: bool = False) -> Price:
    """Return *cost* in nanoseconds: a number, or a function of the element, refused as *name*.

    With *of_bytes* it is a function of the bytes of an element, and not of its value.
    """
    if hasattr(cost, "price_of"):  # a cost of elements, which knows more than their values
        return cost.price_of  # type: ignore[no-any-return]
    if not callable(cost):  # it was checked where it was given
        return round(cost * 1e9)

    def checked(element: Element) -> int:
        seconds = cost(element.nbytes if of_bytes else element.value)
        # Most are: the name of a wrong one takes long
        if type(seconds) is float and 0 <= seconds < inf:
            return round(seconds * 1e9)
        return check.nanoseconds(check.ArgumentOf(name, element.value, hint), seconds)

    return checked


class StuckError(RuntimeError):
    """Raised where a run would never end.

    All tasks wait for each other, or an operator asks for more and more elements in vain, where
    tf.data would hang.
    """

    after = 200_000  # elements in vain


class Stopped(BaseException):
    """Ends a task whose run is over."""


@dataclass(eq=False, slots=True)
class Task:
    """One sequence of work: a coroutine, and how far it has come."""

    has_thread = True  # on the real clock a helper may have none

    run: "Run"
    process: "Process"
    coro: Coroutine[Any, None, Any]
    stage: Name  # in whose name it waits
    lane: int = 0  # which of several parallel calls it is
    last: int = -1  # the last span that decided when it could go on
    waits_for: str = ""  # the gate it was last stopped at
    done: bool = False


@dataclass(eq=False, slots=True)
class Gate:
    """Lets tasks wait for a condition on something that they share.

    Code that changes what conditions here speak of calls `changed()`, once for each
    task that may go on: one change makes room for one. A trace calls it *name*.
    """

    run: "Run"
    name: str
    waiting: list[tuple[Task, Callable[[], Any]]] = field(init=False, default_factory=list)

    def changed(self, by: "Run | None" = None) -> None:
        """Wake the first waiter whose condition is now true, if there is one.

        Where several runs share it, *by* is the one that changed something.
        """
        for waiter in self.waiting:
            task, condition = waiter
            if not task.done and condition():
                self.waiting.remove(waiter)
                if by is None:
                    self.run.wake(task)
                else:
                    task.run.wake_at(by.time, task)
                return


@dataclass(eq=False, slots=True)
class Resource(Gate):
    """Something that as many tasks as are *free* can hold: first come, first served.

    `async with` holds one of it for the block, and gives it back after an error too. A task
    that takes it twice waits for itself. In a trace a wait for it has the kind *reason*. Where
    several runs share it, *by* is the one whose task it is.
    """

    free: float
    reason: str
    queue: deque[object] = field(init=False, default_factory=deque)

    @types.coroutine
    def acquire(self, by: "Run | None" = None) -> Waits:
        ticket = object()
        self.queue.append(ticket)
        try:
            run = by or self.run
            yield from run.until(
                self, lambda: self.free and self.queue[0] is ticket, self.reason
            )
            self.free -= 1
        finally:
            self.queue.remove(ticket)
            if self.queue:
                self.changed(by)  # the next in the queue may be served too

    def release(self, by: "Run | None" = None) -> None:
        self.free += 1
        self.changed(by)

    __aenter__ = acquire

    async def __aexit__(self, *error: object) -> None:
        self.release()


class Process:
    """Holds an interpreter lock and the *states* of nodes, which all tasks of one process share.

    *info* says which worker of a loader it is; None is the main process. *passes* gives the
    numbers of the passes over each source, which begin with *first*: a worker that is started
    anew goes on with the number of its loader.
    """

    def __init__(
        self, run: "Run", states: NodeStates, info: WorkerInfo | None = None, first: int = 0
    ) -> None:
        self.interpreter = Resource(run, "interpreter", 1, "interpreter lock held")
        self.states = states
        self.info = info
        self.passes: dict[int, Iterator[int]] = defaultdict(partial(count, first))


class Run(ABC):
    """Holds what the operators of one iteration share, on one clock."""

    # The time as a trace has it: on the real clock what the computer's clock says
    time: int
    current: Task
    task_type: type[Task] = Task
    lacks_threads = False  # some helpers have no thread of their own
    shared_cores: "SharedCores | None" = None  # if the cores are shared in slices
    is_real = False

    def __init__(
        self, machine: Machine, states: NodeStates, recorder: Recorder | None
    ) -> None:
        self.machine = machine
        self.recorder = recorder
        self.sized = recorder is not None  # whether elements are to know their bytes
        self.crash: BaseException | None = None  # what ended a helper that no error may end
        self.tasks: set[Task] = set()  # the helpers that have not ended
        self.leftovers: list[Callable[[], object]] = []  # ends what would outlive the run
        self.sites: dict[Site, int] = {}  # of the description that a recorder is to know
        self.names: dict[tuple[Site, str, str], Name] = {}  # of the parts of the pipeline
        self.taken: set[str] = set()
        self.storages: dict[Storage, StorageStreams] = {}
        self.shares_storages = True  # a real worker process does not
        self.cores = Resource(self, "cores", machine.cores, "no core")
        self.process = Process(self, states)  # the main one

    # ---- for operators ----

    @property
    def states(self) -> NodeStates:
        """The states of nodes in the current process, from one iteration to the next."""
        return self.current.process.states

    @types.coroutine
    def until(self, gate: Gate, condition: Callable[[], Any], reason: str) -> Waits:
        """Wait until `condition()` is true; go on immediately if it is.

        It is asked again at each `gate.changed()`, and holds when this returns, until the next
        wait. It must neither wait nor raise. If the wait took any time, a trace shows it as one
        of kind *reason* at *gate*.
        """
        if condition():
            return
        task = self.current
        began = self.time
        task.waits_for = gate.name
        while True:
            gate.waiting.append((task, condition))
            yield None
            if condition():
                break
        recorder = self.recorder
        ended = self.time
        if recorder is not None and ended > began:
            recorder.add_span(
                task.stage, reason, began, ended, task.lane, 0, task.last, gate.name
            )

    @abstractmethod
    def spend(
        self,
        cost: Price,
        stage: Name | None = None,
        element: Element = NOTHING,
        kind: str = "wait",
    ) -> Awaitable[None]:
        """Spend *cost* on *element*, after a wait for what this *kind* of work holds.

        A cost is a number of nanoseconds, a function of the element that gives one, or a read
        of a storage; 0 is no wait at all. `"wait"` holds nothing, `"native"` a core, `"python"`
        the interpreter lock and a core. In a trace it is work of *stage*; None leaves no span.
        Raises ValueError for a time that is negative or endless.
        """

    async def spend_held(
        self, cost: Price, stage: Name | None, element: Element, kind: str
    ) -> None:
        """Spend *cost* as `spend` does, once it holds what it needs."""
        price = self.ask(cost, element) if callable(cost) else cost
        if isinstance(price, StorageRead):
            streams = price.storage.streams_in(self)
            await streams.read(self, price.nbytes, stage, element)
            return
        check.amount(stage or "a pause", price / 1e9)
        if kind == "wait" or not price:
            await self.spend(round(price), stage, element)
            return
        # The lock first, so that nothing waits for it with a core in hand
        lock = nullcontext() if kind == "native" else self.current.process.interpreter
        async with lock:
            if self.shared_cores is not None:
                await self.shared_cores.compute(price, stage, element, kind)
            else:
                async with self.cores:
                    began = self.time
                    await self.spend(price)
                    self.record_span(stage, kind, began, self.time, element)

    async def apply(
        self,
        function: Callable[..., Any],
        element: Element,
        stage: Name,
        cost: Price = 0,
        kind: str = "wait",
    ) -> Any:
        """Call a learner's *function* with the value of *element*; a tuple's parts are arguments.

        Returns its value, or raises its error, when its time has passed. On both clocks that is
        the work that it says, and then *cost* of *kind*; on the real clock its own time is added.
        Work without a stage belongs to *stage*. A StopIteration comes out as RuntimeError.
        """
        log = WorkLog(self.current.process, element)
        if callable(cost):  # before the function, which may change the element
            cost = self.ask(cost, element)
        if not self.current.has_thread:  # other tasks go first: it may compute for long
            await self.stand_back()
        try:
            return self.call(function, stage, element, log)
        finally:
            if cost:
                log.work(cost, stage, kind)
            for work in log:
                await self.spend(
                    work.price, self.within(stage, work.stage), element, work.kind
                )

    @types.coroutine
    def stand_back(self) -> Waits:
        """Let the tasks go on that are due before."""
        yield self.now

    def ask(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a *function* that only tells something: it spends no time, and may raise."""
        return self.call_without_lock(NO_WORK, function, *arguments)

    def measure(self, element: Element, nbytes: Bytes) -> None:
        """Note how many bytes *element* has: by *nbytes*, else its own, else as many as before."""
        if nbytes is None:
            if type(element.value) is not int:  # many are numbers: they have no size
                element.nbytes = size_of(element.value, element.nbytes)
        elif callable(nbytes):
            given = self.ask(nbytes, element.value)
            name = check.ArgumentOf("nbytes", element.value)
            element.nbytes = check.integer(name, given, least=0)
        else:
            element.nbytes = nbytes

    def stack(self, element: Element, name: Callable[[], Name]) -> None:
        """Stack the values that *element* holds; for real the time is that of stage *name*."""
        element.value = stack(element.value)

    def record_span(
        self,
        stage: Name | None,
        kind: str,
        began: int,
        ended: int,
        element: Element,
        place: str = "",
    ) -> None:
        """Record a span of the current task: from now on it decides when that can go on."""
        if self.recorder is not None and stage is not None:
            task = self.current
            task.last = self.recorder.add_span(
                stage, kind, began, ended, task.lane, element.key, task.last, place
            )

    def name(self, wanted: str, position: Position, role: str) -> Name:
        """Name the stage at *position* in this *role*: *wanted*, with a number if that is taken."""
        key = (position.site, wanted, role)
        if key not in self.names:
            text = wanted
            number = 1
            while text in self.taken:
                number += 1
                text = f"{wanted} {number}"
            self.taken.add(text)
            self.names[key] = name = Name(text)
            name.position = position
            name.role = role
            name.wanted = wanted
            if self.recorder is not None:
                self.recorder.names.append(name)
        return self.names[key]

    def within(self, stage: Name, name: str | None) -> Name:
        """Return the stage *name* of a function that works in an operator's *stage*."""
        return self.name(name, stage.position, stage.role) if name else stage

    def start(
        self,
        coro: Coroutine[Any, None, Any],
        stage: Name,
        lane: int = 0,
        process: Process | None = None,
    ) -> Task:
        """Start a helper: a task that waits in the name of *stage*, in its *lane* of it.

        Without another *process* it belongs to that of the current task.
        It begins at the next wait of the current task at the earliest, and must catch what a
        learner's function may raise: an error that ends a helper ends the run.
        """
        task: Task = self.task_type(
            self, process or self.current.process, coro, stage, lane
        )
        self.tasks.add(task)
        self.wake(task)
        return task

    def end(self, task: Task) -> None:
        """Note that the helper *task* has ended."""
        task.done = True
        self.tasks.discard(task)

    # ---- what the two clocks do differently ----

    @types.coroutine
    def keep_step(self) -> Generator[Any, None, None]:
        """Keep in step with other ranks from now on, if there are any on this clock."""
        yield from ()

    def cancel(self, task: Any) -> None:
        """End the helper *task* where it stands."""
        if not task.done:
            self.end(task)
            # In a learner's function: it ends when that comes back
            if not task.coro.cr_running:
                task.coro.close()

    @property
    @abstractmethod
    def now(self) -> int:
        """The time that the current task has reached, by which it is due."""

    @abstractmethod
    def complete(self, coro: Coroutine[Any, None, Any], stage: Name) -> Any:
        """Run *coro*, which waits as *stage*, and all that it starts; return its value."""

    def finish(self, coro: Coroutine[Any, None, Any]) -> None:
        """End *coro* and its helpers, then all that would outlive the run."""
        coro.close()
        for end in self.leftovers:
            end()

    @abstractmethod
    def wake(self, task: Any) -> None:
        """Let *task*, which waits, go on: the current one has made that possible."""

    def wake_at(self, time: int, task: Any) -> None:
        """Let *task* go on at *time*: something outside this run may have made that possible."""
        self.wake(task)

    @abstractmethod
    def call_without_lock(
        self, caller: Any, function: Callable[..., Any], *arguments: Any
    ) -> Any:
        """Call `function(*arguments)`, which is no operator's; *caller* hears of its `work`."""

    @abstractmethod
    def call(
        self, function: Callable[..., Any], stage: Name, element: Element, log: WorkLog
    ) -> Any:
        """Call a learner's function on *element*; *log* collects work that is still to be done."""
