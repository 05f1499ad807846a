"""Cores that are shared in slices, as a system shares them: all who compute go on, each more slowly."""

from __future__ import annotations

import types
from math import ceil
from typing import Any

from lessonkit.engine.element import Element
from lessonkit.engine.machine import Machine, Sharing
from lessonkit.engine.recorder import Name

NOTHING_LEFT = 0.01  # ns; so little work is none, but an error of rounding
SAME_TIME = 2  # ns; an alarm that rings so near to what is due need not be set again


class SharedCores:
    """Who computes in a run, and how much work each has left; one alarm rings for the first that is done."""

    def __init__(self, run: Any, machine: Machine, sharing: Sharing) -> None:
        self.run, self.cores, self.sharing = run, machine.cores, sharing
        self.left: dict[Any, float] = {}  # by tasks: nanoseconds of work, alone on a core
        self.since = 0  # up to when that is so
        self.armed: int | None = None  # when the alarm rings
        self.alarm: Any = None

    async def spend(self, duration: int, stage: Name, element: Element, kind: str) -> None:
        """Do *duration* nanoseconds of work; what the others take of it is a wait for a core in a trace."""
        run, task, began, last = self.run, self.run.current, self.run.time, self.run.current.last
        if self.alarm is None:
            self.alarm = run.start(self.ring(), Name("cores"))
        self.go_on()
        self.left[task] = duration
        run.wake(self.alarm)
        try:
            await self.done(task)
        finally:
            if task in self.left:  # it was cancelled
                self.go_on()
                del self.left[task]
        task.last = last
        lost = max(0, run.time - began - duration)
        if lost and run.recorder is not None:  # the wait is on the way to the work, in a critical path
            spans = run.recorder.spans
            spans += (stage, "no core", began, began + lost, task.lane, element.key, last, "cores")
            task.last = len(spans) // 8 - 1
        run.took(stage, kind, began + lost, run.time, element)

    @types.coroutine
    def done(self, task: Any) -> Any:
        while task in self.left:
            yield None

    @types.coroutine
    def ring(self) -> Any:
        """Let those go on whose work is done, whenever one may be."""
        while True:
            self.go_on()
            for task in [task for task, left in self.left.items() if left <= NOTHING_LEFT]:
                del self.left[task]
                self.run.wake(task)
            now, rates = self.run.time, self.rates()
            due = min(
                (now + ceil(left / rates[is_step(task)]) for task, left in self.left.items()), default=None
            )
            if self.armed is not None and self.armed <= now:
                self.armed = None
            is_set = due and self.armed and abs(due - self.armed) <= SAME_TIME
            self.armed = self.armed if is_set else due
            yield None if is_set else due

    def go_on(self) -> None:
        """Take from what each has left what it has done since."""
        if passed := self.run.time - self.since:
            rates = self.rates()
            for task in self.left:
                self.left[task] -= passed * rates[is_step(task)]
            self.since = self.run.time

    def rates(self) -> dict[bool, float]:
        """Return how fast the loop's own work goes on (True) and that of workers (False), against alone."""
        said = self.sharing
        steps = sum(map(is_step, self.left))
        others = len(self.left) - steps
        share = min(1.0, self.cores / max(1.0, others + steps * said.step_cores))
        beside = said.beside if steps else (1.0, said.workers)
        step, worker = (between(others, factors, self.cores) for factors in (said.step, beside))
        return {True: share / step, False: share / worker}


def between(workers: int, factors: tuple[float, float], cores: int) -> float:
    """Return the factor beside *workers* of them, between that beside one and that beside *cores*."""
    one, full = factors
    return one + (full - one) * min(1.0, (workers - 1) / max(1, cores - 1)) if workers else 1.0


def is_step(task: Any) -> bool:
    """Whether *task* computes in the process of the loop."""
    return task.process.info is None
