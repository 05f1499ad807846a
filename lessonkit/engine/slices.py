"""Cores that are shared in slices, as a system shares them: all who compute go on, each more slowly."""

from __future__ import annotations

from typing import Any

from lessonkit.engine.element import Element
from lessonkit.engine.fluid import Fluid
from lessonkit.engine.machine import Machine, Sharing
from lessonkit.engine.recorder import TRAIN, Name


class SharedCores(Fluid):
    """Who computes in a run: a step (True), and all others (False)."""

    reason, place = "no core", "cores"

    def __init__(self, run: Any, machine: Machine, sharing: Sharing) -> None:
        super().__init__(run)
        self.cores, self.sharing = machine.cores, sharing

    async def spend(self, duration: int, stage: Name, element: Element, kind: str) -> None:
        """Do *duration* nanoseconds of work; what the others take of it is a wait for a core in a trace."""
        run, began, last = self.run, self.run.time, self.run.current.last
        await self.flow(run, duration, stage.role == TRAIN)
        self.took(run, began, duration, stage, element, kind, last)

    def rates(self) -> dict[Any, float]:
        sharing, steps, others = self.sharing, self.flowing[True], self.flowing[False]
        share = min(1.0, self.cores / max(1.0, others + steps * sharing.step_cores))
        beside = sharing.beside if steps else (1.0, sharing.workers)
        step, worker = (between(others, factors, self.cores) for factors in (sharing.step, beside))
        return {True: share / step, False: share / worker}


def between(workers: int, factors: tuple[float, float], cores: int) -> float:
    """Return the factor beside *workers* of them, between that beside one and that beside *cores*."""
    one, full = factors
    return one + (full - one) * min(1.0, (workers - 1) / max(1, cores - 1)) if workers else 1.0
