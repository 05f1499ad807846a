"""The real clock: every task on a thread of its own, and waiting is real.

One lock is held while operator code runs, and let go for waiting, for work and for
learners' functions. A task sleeps until the time at which it is due by its own
reckoning, so that the small delays of a real machine do not add up. Functions see the
context variables of the code that asks.

Where no thread can be started, as in a browser, helpers run on the thread that asks for elements.
Their waits still overlap: each helper goes on when it is due, in the virtual clock's order. Their
computing does not overlap. While a function computes, or while nothing is asked for, a helper
stands still. After that its own clock is behind (its `lag`) and goes on from where it stood, so the
waits that it missed take no time.
"""

import threading
import time
import types
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from heapq import heappop, heappush
from math import inf
from typing import Any, TypeVar

from .element import NOTHING, Element, call_parts, stack
from .machine import Machine, WorkLog, current, this_process
from .node import NodeStates
from .run import Price, Process, Run, Stopped, Task, Waits
from .trace import Name, Recorder

T = TypeVar("T")
HASTE = 3_000_000  # ns; so long helpers may catch up before an element is given
LATE = 3_000_000  # ns; a task this far behind its own reckoning starts it afresh
SLICE = 0.05  # s; how long a sleep or a wait goes on without a look at whether to stop
VISIBLE = 20_000  # ns; a call to a real function that takes less is not worth a bar


def start_thread(function: Callable[[T], object], argument: T) -> bool:
    """Run `function(argument)` on a daemon thread; return False if none can start.

    *function* must not raise.
    """
    try:
        threading.Thread(
            target=function, args=(argument,), name="lessonkit", daemon=True
        ).start()
    except RuntimeError:
        return False
    return True


class ThreadTask(Task):
    """A task with the alarm that its thread waits on; it also hears of its functions' work."""

    run: "Threads"

    def __init__(
        self,
        run: "Threads",
        process: Process,
        coro: Any,  # None for the thread that asks, which drives several in a row
        stage: Name,
        lane: int = 0,
    ) -> None:
        super().__init__(run, process, coro, stage, lane)
        self.context = copy_context()
        self.due = 0  # the time it has reached by its own reckoning
        self.lag = 0  # how far its clock is behind, if it has no thread
        self.alarm = threading.Lock()
        self.alarm.acquire()
        self.asks = coro is None
        self.has_thread = self.asks  # a helper gets one when it is woken
        # The learner's function that it runs, if it runs one:
        self.call_stage = Name()
        self.element = Element(None)
        # Since it was called, or came back from its last work()
        self.call_began = 0
        self.call_took = 0
        self.call_worked = False  # it has said its cost

    def work(self, duration: int, stage: str | None, kind: str) -> None:
        """Spend *duration* here and now: a learner's function says `work(...)`."""
        run = self.run
        with run.lock:
            self.due += time.perf_counter_ns() - self.call_began
            try:
                own_stage = run.within(self.call_stage, stage)
                run.step(self, run.spend(duration, own_stage, self.element, kind))
            finally:
                self.call_worked = True
                self.call_began = time.perf_counter_ns()


class Threads(Run):
    """Runs tasks on threads, against the computer's own clock."""

    current: ThreadTask
    task_type = ThreadTask
    is_real = True

    def __init__(
        self,
        machine: Machine,
        states: NodeStates,
        recorder: Recorder | None,
        stop: threading.Event | None = None,
    ) -> None:
        super().__init__(machine, states, recorder)
        self.lock = threading.Lock()
        self.origin = time.perf_counter_ns()
        self.stop = stop or threading.Event()
        # A heap of helpers without a thread
        self.sleeping: list[tuple[int, int, ThreadTask]] = []
        # Sleeps so far: among equal times, the first to fall asleep wakes first
        self.slept = 0
        self.stood_still = 0  # the end of the last time in which these helpers stood still
        self.pid = this_process.pid

    @property
    def now(self) -> int:
        task = self.current
        real = self.time
        if real - task.due > LATE:
            task.due = real
        return task.due

    @property
    def time(self) -> int:  # type: ignore[override]
        return time.perf_counter_ns() - self.origin - self.current.lag

    @property
    def real(self) -> int:
        """The time, whoever asks for it."""
        return time.perf_counter_ns() - self.origin

    # ---- driving coroutines ----

    def complete(self, coro: Coroutine[Any, None, Any], stage: Name) -> Any:
        """Run *coro* on this thread, and all that it starts on others; return its value."""
        with self.lock:
            self.current = ThreadTask(self, self.process, None, stage)
            try:
                return self.step(self.current, coro)
            finally:
                self.finish(coro)

    def step(self, task: ThreadTask, coro: Any) -> Any:
        """Run *coro* on this thread, the lock held, until it returns; give its value."""
        while True:
            self.current = task
            try:
                due = coro.send(None)
            except StopIteration as stop:
                return stop.value
            if due is None:
                self._wait(task)
            else:
                while task.asks and self.real < due and self.run_one(task, due):
                    pass
                self.sleep(task, due)
                task.due = due
            if self.must_stop(task):
                coro.close()
                raise Stopped

    def must_stop(self, task: ThreadTask) -> bool:
        """Whether *task* has nothing more to do, or its run is over."""
        return task.done or self.crash is not None or self.stop.is_set()

    def sleep(self, task: ThreadTask, due: int) -> bool:
        """Sleep until *due*, without the lock; False if something else came before."""
        self.lock.release()
        try:
            while (
                (left := due - self.real) > 0
                and task.alarm.locked()
                and not self.must_stop(task)
            ):
                time.sleep(min(left / 1e9, SLICE))
        finally:
            self.lock.acquire()
        return left <= 0

    def _wait(self, task: ThreadTask) -> None:
        while not (task.alarm.acquire(blocking=False) or self.must_stop(task)):
            if task.asks and self.run_one(task, inf):
                continue
            self.lock.release()
            try:
                # In slices, so that Ctrl+C works everywhere
                if task.alarm.acquire(timeout=SLICE):
                    return
            finally:
                self.lock.acquire()
            if this_process.pid != self.pid:
                raise RuntimeError(
                    "this iterator began before the fork, in the other process: make a new one"
                )

    @types.coroutine
    def spend(
        self,
        cost: Price,
        stage: Name | None = None,
        element: Element = NOTHING,
        kind: str = "wait",
    ) -> Waits:
        if type(cost) is not int or cost < 0 or kind != "wait":
            yield from self.spend_held(cost, stage, element, kind)
        elif cost:
            began = self.time
            yield self.now + cost
            self.record_span(stage, kind, began, self.time, element)

    def call(
        self, function: Callable[..., Any], stage: Name, element: Element, log: WorkLog
    ) -> Any:
        """Run *function*; the task is due later by the time that this took."""
        task = self.current
        task.call_stage = stage
        task.element = element
        task.call_worked = False
        try:
            return self.call_without_lock(
                task if task.has_thread else log, function, *call_parts(element.value)
            )
        finally:
            began = task.call_began - self.origin
            took = task.call_took
            if took > LATE:  # too long to be behind still
                self.stood_still = began + took
                task.due += task.lag
                task.lag = 0
            task.due += took
            if took >= VISIBLE and not (task.call_worked or log):
                began -= task.lag
                self.record_span(stage, "call", began, began + took, element)

    def stack(self, element: Element, name: Callable[[], Name]) -> None:
        if type(element.value[0]) in (int, float, str):  # there is little to do
            super().stack(element, name)
        else:
            element.value = self.call(stack, name(), element, WorkLog())

    def call_without_lock(
        self, caller: Any, function: Callable[..., Any], *arguments: Any
    ) -> Any:
        """Call *function* without the lock; raise Stopped if the run is over by then."""
        task = self.current
        before = current.caller
        current.caller = caller
        self.lock.release()
        task.call_began = time.perf_counter_ns()
        try:
            return function(*arguments)
        finally:
            task.call_took = time.perf_counter_ns() - task.call_began
            current.caller = before
            self.lock.acquire()
            self.current = task
            if self.must_stop(task):
                raise Stopped

    # ---- helpers ----

    def _help(self, task: ThreadTask) -> None:
        """Drive the helper *task* on this thread until it ends."""
        with self.lock:
            try:
                if not task.done:
                    task.context.run(self.step, task, task.coro)
                self.end(task)
            except BaseException as error:
                self.ended(task, error)

    def ended(self, task: ThreadTask, error: BaseException) -> None:
        """Note that *task* has ended with *error*; one that is not expected ends the run."""
        if not isinstance(error, (StopIteration, Stopped)):
            self.crash = error
        self.end(task)

    def wake(self, task: ThreadTask) -> None:
        task.last = self.current.last
        task.due = max(task.due, self.now)
        if task.has_thread:
            task.alarm.release()
        else:
            task.has_thread = not self.lacks_threads and start_thread(self._help, task)
            if not task.has_thread:
                self.lacks_threads = True
                self.schedule(task, task.due)

    def cancel(self, task: ThreadTask) -> None:
        super().cancel(task)
        if task.alarm.locked():
            task.alarm.release()  # its thread ends now, not at the next look

    # ---- helpers without a thread ----

    def schedule(self, helper: ThreadTask, due: int) -> None:
        """Let *helper*, which has no thread, go on when it is *due*."""
        self.slept += 1
        heappush(self.sleeping, (due, self.slept, helper))

    def catch_up(self, asker: ThreadTask) -> None:
        """Let helpers catch up with the time that they have missed, now that *asker* asks again."""
        asked = asker.due
        self.stood_still = asked
        while self.real - asked < HASTE and self.run_one(asker, asked):
            pass
        if self.must_stop(asker):
            raise Stopped

    def run_one(self, asker: ThreadTask, until: float) -> bool:
        """Let the first helper go on that is due by *until*; False if there is none.

        That may be later: *asker* sleeps until then, unless it is woken before.
        """
        if not self.sleeping or self.sleeping[0][0] > until or self.must_stop(asker):
            return False
        if self.sleep(asker, self.sleeping[0][0]):
            due, _, helper = heappop(self.sleeping)
            if not helper.done:
                helper.due = due
                helper.lag = max(0, self.stood_still - due)
                self.run_helper(helper)
            self.current = asker
        return True

    def run_helper(self, helper: ThreadTask) -> None:
        """Run *helper* until it waits again."""
        self.current = helper
        try:
            due = helper.context.run(helper.coro.send, None)
        except BaseException as error:
            self.ended(helper, error)
        else:
            if due is not None:
                self.schedule(helper, due)
