"""Where the time went: per stage and per sample work and waiting, and who kept the accelerator idle."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from lessonkit.engine.trace import WAITS, Trace
from lessonkit.explain.critical_path import chain, ended, last_work

ACCELERATOR = ("Load", "Train")
EMPTY, FULL, CORE, LOCK = WAITS


class Idle(NamedTuple):
    """A stretch in which the accelerator had nothing to do, and what its next element needed meanwhile."""

    start: int
    end: int
    blame: dict[str, int]


def idle_stretches(trace: Trace) -> list[Idle]:
    """The gaps between the steps of the accelerator, each with what led to the step after it."""
    spans, end = trace.spans, ended(trace)
    steps = [span for span in trace.work if span.stage in ACCELERATOR and span.end <= end]
    stops = [(step.start, step.end, step.cause) for step in steps]
    found, reached = [], 0
    for start, until, cause in [*stops, (end, end, last_work(spans, end))]:
        if start > reached:
            blame: dict[str, int] = defaultdict(int)
            for part in chain(spans, cause, reached, start):
                blame[part.stage] += part.end - part.start
            found.append(Idle(reached, start, dict(blame)))
        reached = max(reached, until)
    return found
