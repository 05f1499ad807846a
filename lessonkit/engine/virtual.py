"""The virtual clock: no threads, no sleeping, the same on every run."""

import types
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from enum import Enum
from heapq import heappop, heappush
from math import inf
from typing import Any, NamedTuple

from .element import NOTHING, Element, call_parts
from .machine import Machine, WorkLog, current
from .node import NodeStates
from .run import Price, Run, StuckError, Task, Waits
from .storage import SharedCores
from .trace import Name, Recorder


class RanksWait(Enum):
    """What a task of one of several ranks yields instead of a time."""

    ALL = "until all ranks have made a step"
    EARLIER = "until no other rank has anything left to do at an earlier time"


@types.coroutine
def other_ranks() -> Generator[RanksWait, None, None]:
    """Wait for all ranks."""
    yield RanksWait.ALL


class Ended(NamedTuple):
    """Says that the main task of a run has ended, and what it returned."""

    value: Any


class Virtual(Run):
    """Runs tasks in the order of the times at which they are due."""

    def __init__(
        self, machine: Machine, states: NodeStates, recorder: Recorder | None
    ) -> None:
        super().__init__(machine, states, recorder)
        self.time = 0
        # None if no other rank shares anything with this one; else whether this one has begun to
        # keep in step with them
        self.in_step: bool | None = None
        # Can go on now, in the order in which they were woken
        self.ready: deque[Task] = deque()
        self.sleeping: list[tuple[int, int, Task]] = []  # a heap by due time
        if machine.step_cores:
            self.shared_cores = SharedCores(self, machine.cores, machine.step_cores)
        # Sleeps so far: among equal times, the first to fall asleep wakes first
        self.slept = 0

    @property
    def now(self) -> int:
        return self.time

    def complete(self, coro: Coroutine[Any, None, Any], stage: Name) -> Any:
        main = Task(self, self.process, coro, stage)
        self.ready.append(main)
        try:
            ended = self.go(main, inf)
            assert isinstance(ended, Ended)  # one run alone waits for no other
            return ended.value
        finally:
            self.finish(coro)

    # The loop that all simulated time goes through: each task that goes on passes it once.
    def go(self, main: Task, until: float) -> Ended | RanksWait | None:  # noqa: C901, PLR0912
        """Run tasks until *main* ends, or waits for all ranks, and return which.

        Returns None if nothing is due up to the time *until*, or if it is another rank's turn.
        """
        ready = self.ready
        sleeping = self.sleeping
        bounded = until < inf
        while True:
            if ready:
                task = ready.popleft()
            elif sleeping:
                if bounded and sleeping[0][0] > until:
                    return None
                self.time, _, task = heappop(sleeping)
            elif bounded:
                return None
            else:
                raise StuckError(self._who_waits(main))
            if task.done:
                continue
            self.current = task
            try:
                due = task.coro.send(None)
            except StopIteration as stop:
                if task is main:
                    return Ended(stop.value)
                self.end(task)
                continue
            if due is None:
                continue
            if type(due) is int:
                self.slept += 1
                heappush(sleeping, (due, self.slept, task))
            elif due is RanksWait.EARLIER:
                self.slept += 1
                heappush(sleeping, (self.time, self.slept, task))
                return None
            elif due is RanksWait.ALL:
                return RanksWait.ALL

    def _who_waits(self, main: Task) -> str:
        helpers = sorted(
            {f"{task.stage} waits for {task.waits_for}" for task in self.tasks}
        )
        return "; ".join(
            [
                f"nothing can ever go on: {main.stage} waits for {main.waits_for}",
                *helpers,
            ]
        )

    @types.coroutine
    def spend(
        self,
        cost: Price,
        stage: Name | None = None,
        element: Element = NOTHING,
        kind: str = "wait",
    ) -> Waits:
        if not cost:
            return
        if type(cost) is not int or kind != "wait" or cost < 0:
            yield from self.spend_held(cost, stage, element, kind)
            return
        began = self.time
        due = began + cost
        if self.in_step or self.ready or (self.sleeping and self.sleeping[0][0] <= due):
            yield due
        else:  # nothing else is due before, here or in another rank
            self.time = due
        recorder = self.recorder
        if recorder is not None and stage is not None:
            # As `record_span` does it: this is the way of most spans
            task = self.current
            task.last = recorder.add_span(
                stage, kind, began, due, task.lane, element.key, task.last
            )

    @types.coroutine
    def keep_step(self) -> Generator[RanksWait, None, None]:
        """Keep in step with other ranks from now on, before something that all of them share."""
        if self.in_step is False:
            self.in_step = True
            yield RanksWait.EARLIER

    def wake(self, task: Task) -> None:
        task.last = self.current.last
        self.ready.append(task)

    def wake_at(self, time: int, task: Task) -> None:
        if time > self.time:
            self.slept += 1
            heappush(self.sleeping, (time, self.slept, task))
        else:
            self.wake(task)

    def call(
        self, function: Callable[..., Any], stage: Name, element: Element, log: WorkLog
    ) -> Any:
        """Run *function* now; *log* collects the work that it says, to be spent after it."""
        return self.call_without_lock(log, function, *call_parts(element.value))

    def call_without_lock(
        self, caller: Any, function: Callable[..., Any], *arguments: Any
    ) -> Any:
        before = current.caller
        current.caller = caller
        try:
            return function(*arguments)
        finally:
            current.caller = before
