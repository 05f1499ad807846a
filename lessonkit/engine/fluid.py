"""Something that many share at once, each with a part of it: cores in slices, the bandwidth of a storage.

What flows is served at a common rate for its class. So each ends when the service of its class has grown
by its amount: one heap for each class, and no look at the others.
"""

from __future__ import annotations

import types
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from heapq import heappop, heappush
from math import ceil
from typing import Any

from lessonkit.engine.element import Element
from lessonkit.engine.recorder import Name

NOTHING_LEFT = 0.01  # of an amount; so little is none, but an error of rounding
SAME_TIME = 2  # ns; an alarm that rings so near to what is due need not be set again


class Fluid(ABC):
    """What flows in a run, and how much of it is left; one alarm rings for the first that ends.

    In a trace what a task has lost to others is a wait of kind *reason* at *place*.
    """

    reason, place = "", ""

    def __init__(self, run: Any) -> None:
        self.run = run  # in which the alarm is
        self.flowing = Counter[Any]()  # how many there are of each class
        self.served: dict[Any, float] = defaultdict(float)  # by class: what one that was there always has got
        self.heaps: dict[Any, list[tuple[float, int, Any]]] = defaultdict(list)
        self.waiting: dict[Any, Any] = {}  # tasks that flow, and their classes
        self.since = self.count = 0
        self.armed: int | None = None  # when the alarm rings
        self.alarm: Any = None

    @abstractmethod
    def rates(self) -> dict[Any, float]:
        """Return how much each class is served in a nanosecond."""

    async def flow(self, run: Any, amount: float, kind: Any) -> None:
        """Let *amount* flow for the current task of *run*, as one of the class *kind*."""
        task = run.current
        if self.alarm is None:
            self.alarm = self.run.start(self.ring(), Name(self.place))
        self.go_on(run.time)
        self.count += 1
        heappush(self.heaps[kind], (self.served[kind] + amount, self.count, task))
        self.waiting[task] = kind
        self.flowing[kind] += 1
        self.run.wake_at(run.time, self.alarm)
        try:
            await self.done(task)
        finally:
            if task in self.waiting:  # it was cancelled
                self.go_on(run.time)
                self.leave(task)

    @types.coroutine
    def done(self, task: Any) -> Any:
        while task in self.waiting:
            yield None

    def leave(self, task: Any) -> None:
        self.flowing[self.waiting.pop(task)] -= 1

    @types.coroutine
    def ring(self) -> Any:
        """Let those go on that have got all, whenever one may have."""
        while True:
            now, first = self.run.time, None
            self.go_on(now)
            for kind, heap in self.heaps.items():
                while heap and (
                    heap[0][2] not in self.waiting or heap[0][0] <= self.served[kind] + NOTHING_LEFT
                ):
                    task = heappop(heap)[2]
                    if task in self.waiting:
                        self.leave(task)
                        task.run.wake_at(now, task)
            rates = self.rates()
            for kind, heap in self.heaps.items():
                if heap:
                    due = now + ceil((heap[0][0] - self.served[kind]) / rates[kind])
                    first = due if first is None else min(first, due)
            if self.armed is not None and self.armed <= now:
                self.armed = None
            is_set = first is not None and self.armed is not None and abs(first - self.armed) <= SAME_TIME
            self.armed = self.armed if is_set else first
            yield None if is_set else first

    def go_on(self, now: int) -> None:
        """Serve all up to *now*."""
        if passed := now - self.since:
            for kind, rate in self.rates().items():
                self.served[kind] += passed * rate
            self.since = now

    def took(
        self, run: Any, began: int, alone: int, stage: Name, element: Element, kind: str, last: int
    ) -> None:
        """Take down work since *began*, made possible by *last*; its end is what it takes *alone*."""
        task, lost = run.current, max(0, run.time - began - alone)
        task.last = last
        if lost and run.recorder is not None:  # the wait is on the way to the work, in a critical path
            spans = run.recorder.spans
            spans += (stage, self.reason, began, began + lost, task.lane, element.key, last, self.place)
            task.last = len(spans) // 8 - 1
        run.took(stage, kind, began + lost, run.time, element)
