"""Whom the accelerator waited for."""

from typing import NamedTuple

from lessonkit.engine.trace import ACCELERATOR, NO_CORE, WAITS, Trace
from lessonkit.explain.critical_path import chain, ended, last_work, times


class Idle(NamedTuple):
    """A stretch in which the accelerator had nothing to do, and what its next element needed meanwhile.

    Times are the clock's nanoseconds; *blame* has those of each stage, largest first.
    """

    start_ns: int
    end_ns: int
    blame: dict[str, int]


def idle_stretches(trace: Trace) -> list[Idle]:
    """Find the gaps between the steps of the accelerator, each with what led to the step after it."""
    spans, end = trace.spans, ended(trace)
    # A step that others slow down, for they compute on the same cores, is a wait for a core
    # and then work.
    steps = [span for span in spans if span.kind == NO_CORE or span.kind not in WAITS]
    steps = [span for span in steps if span.role in ACCELERATOR and span.end_ns <= end]
    stops = [(step.start_ns, step.end_ns, step.cause) for step in steps]
    waits, reached = [], 0
    for start, until, cause in [*stops, (end, end, last_work(spans, end))]:
        if start > reached:
            waits.append(Idle(reached, start, times(chain(spans, cause, reached, start))))
        reached = max(reached, until)
    return waits
