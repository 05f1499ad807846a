"""Where the time went: per stage and per sample work and waiting, and who kept the accelerator idle."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

from lessonkit.analysis.critical_path import chain, ended, last_work
from lessonkit.trace import NOBODY, WAITS, Identity, Span, Trace

ACCELERATOR = ("Load", "Train")
EMPTY, FULL, CORE, LOCK = WAITS


@dataclass(frozen=True)
class Times:
    """Nanoseconds of work, and of waiting by what was missing."""

    working: int = 0
    input: int = 0  # a buffer was empty
    place: int = 0  # a buffer was full
    core: int = 0
    lock: int = 0  # of the interpreter

    @property
    def waiting(self) -> int:
        """Waiting, for whatever it was."""
        return self.input + self.place + self.core + self.lock


class Idle(NamedTuple):
    """A stretch in which the accelerator had nothing to do, and what its next element needed meanwhile."""

    start: int
    end: int
    blame: dict[str, int]


@dataclass(frozen=True)
class Waits:
    """Times by stage and by sample, and the idle stretches of the accelerator."""

    stages: dict[str, Times]
    samples: dict[Identity, Times] = field(repr=False)
    idle: tuple[Idle, ...] = field(repr=False)

    @property
    def idle_time(self) -> int:
        """How long the accelerator had nothing to do, in nanoseconds."""
        return sum(idle.end - idle.start for idle in self.idle)

    @property
    def blame(self) -> dict[str, int]:
        """The stages that the accelerator waited for, and how long, longest first."""
        total: dict[str, int] = defaultdict(int)
        for idle in self.idle:
            for stage, time in idle.blame.items():
                total[stage] += time
        return dict(sorted(total.items(), key=lambda item: -item[1]))


def waits(trace: Trace) -> Waits:
    """Who worked, who waited for what, and for whom the accelerator waited; all in nanoseconds.

    A stage waits under the name that the trace has. A sample waits while those wait who go
    on with it next; work on a batch is work on each of its samples. Number -1 of a file is
    its opening.

    >>> from lessonkit import ArtificialDataset, benchmark
    >>> found = waits(benchmark(ArtificialDataset(3, open=0.02).prefetch(1), num_epochs=1))
    >>> found.stages["Train"]
    Times(working=30000000, input=45000000, place=0, core=0, lock=0)
    >>> found.idle_time, found.blame
    (45000000, {'Read': 25000000, 'Open': 20000000})
    """
    spans = trace.spans
    stages: dict[str, list[int]] = defaultdict(lambda: [0] * 5)
    samples: dict[Identity, list[int]] = defaultdict(lambda: [0] * 5)
    who, went_on_with = trace.identities, followers(trace, spans)
    for index, span in enumerate(spans):
        column, time = (WAITS.index(span.kind) + 1 if span.is_wait else 0), span.end - span.start
        stages[span.stage][column] += time
        for sample in trace.members(went_on_with.get(index, span.element)):
            samples[who[sample]][column] += time
    samples.pop(NOBODY, None)
    return Waits(
        {stage: Times(*times) for stage, times in stages.items()},
        {sample: Times(*times) for sample, times in samples.items()},
        tuple(idle_stretches(trace)),
    )


def followers(trace: Trace, spans: list[Span]) -> dict[int, int]:
    """For each wait (by its index) the element that who waited went on with, if that can be told."""
    after: dict[object, list[tuple[int, int]]] = defaultdict(list)  # (time, element)
    for event in trace.events:
        after[event.change, trace.buffers[event.buffer].name].append((event.time, event.element))
    for span in spans:
        if not span.is_wait:
            after[span.stage, span.lane].append((span.start, span.element))
            after[span.lane, span.kind, span.cause].append((span.start, span.element))
    for rows in after.values():
        rows.sort()
    found = {}
    for index, wait in enumerate(spans):
        if wait.is_wait:
            for rows in (after[sign] for sign in signs(wait) if sign in after):
                place = bisect_left(rows, (wait.end, -1))
                if place < len(rows):
                    found[index] = rows[place][1]
                    break
    return found


def signs(wait: Span) -> list[tuple[object, ...]]:
    """By what to know what came after *wait*, the surest first."""
    if wait.kind == EMPTY:
        return [(-1, wait.place)]
    call = (wait.stage, wait.lane)  # of a parallel map; other helpers work in the names of others
    if wait.kind == FULL:
        return [call, (+1, wait.place)]
    kinds = ("python",) if wait.kind == LOCK else ("native", "python")
    return [*((wait.lane, kind, wait.cause) for kind in kinds), call]


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
