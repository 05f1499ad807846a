"""Why a run took so long, and why the accelerator waited: chains of causes."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from lessonkit.engine.trace import ACCELERATOR, NO_CORE, NS, WAITS, Span, Trace
from lessonkit.words import percent

# Time that no span accounts for: a thread that wakes up, a run broken off
RUNTIME = "runtime"


class Step(NamedTuple):
    """A stretch of the path, and the index of its span; -1 for the runtime. Times as in `Span`."""

    span: int
    stage: str
    start_ns: int
    end_ns: int


@dataclass(frozen=True)
class CriticalPath:
    """The steps from the start of a run to its end, without a gap, and the share of each stage."""

    steps: tuple[Step, ...] = field(repr=False)
    shares: dict[str, float]  # of the whole, largest first

    @property
    def sentence(self) -> str:
        """What to look at first, in words."""
        if not self.shares:
            return "Nothing took any time."
        stage, share = next(iter(self.shares.items()))
        return f"Bottleneck: {stage} ({percent(share)} of the critical path)."


def critical_path(trace: Trace) -> CriticalPath:
    """Find the chain of work as long as *trace*: faster work elsewhere would change nothing.

    >>> from lessonkit import ArtificialDataset, benchmark
    >>> path = critical_path(benchmark(ArtificialDataset(3).prefetch(1), num_epochs=1))
    >>> [(step.stage, step.end_ns // 10**6) for step in path.steps[:3]]
    [('Open', 30), ('Read', 45), ('Read', 60)]
    >>> path.sentence
    'Bottleneck: Read (52.9 % of the critical path).'
    """
    spans = trace.spans
    end = ended(trace)
    steps = chain(spans, last_work(spans, end), 0, end)
    shares = {stage: time / end for stage, time in times(steps).items()}
    return CriticalPath(tuple(steps), shares)


def times(steps: Iterable[Step]) -> dict[str, int]:
    """Add up the nanoseconds of each stage, largest first."""
    taken: dict[str, int] = {}  # no Counter: that takes twice as long
    for _, stage, start, end in steps:
        taken[stage] = taken.get(stage, 0) + end - start
    return dict(sorted(taken.items(), key=lambda item: -item[1]))


def ended(trace: Trace) -> int:
    """Return when the run of *trace* was over, in nanoseconds."""
    return round(trace.duration * NS)


def last_work(spans: list[Span], end: int) -> int:
    """Find the work that ended last, by *end*, and return its index; -1 if there is none.

    On threads a learner's function may return when the run is over: it is on no chain.
    """
    for index in range(len(spans) - 1, -1, -1):
        if not spans[index].is_wait and spans[index].end_ns <= end:
            return index
    return -1


def chain(spans: list[Span], index: int, start: int, end: int) -> list[Step]:
    """List what the time from *start* to *end* went into, by the causes back from span *index*."""
    steps = []
    while index >= 0 and end > start:
        span = spans[index]
        if span.end_ns < end:
            reached = max(span.end_ns, start)
            steps.append(Step(-1, RUNTIME, reached, end))
            end = reached
        began = max(span.start_ns, start)
        if began < end:
            steps.append(Step(index, span.stage, began, end))
            end = began
        index = span.cause
    if end > start:
        steps.append(Step(-1, RUNTIME, start, end))
    return steps[::-1]


class Idle(NamedTuple):
    """A stretch in which the accelerator idled, and what its next element needed in that time.

    Times are the clock's nanoseconds; *blame* has those of each stage, largest first.
    """

    start_ns: int
    end_ns: int
    blame: dict[str, int]


def idle_stretches(trace: Trace) -> list[Idle]:
    """List the gaps between the steps of the accelerator, each with what led to the step after."""
    spans = trace.spans
    end = ended(trace)
    # A step that others slow down, for they compute on the same cores, is a wait for a core
    # and then work.
    steps = [span for span in spans if span.kind == NO_CORE or span.kind not in WAITS]
    steps = [span for span in steps if span.role in ACCELERATOR and span.end_ns <= end]
    gaps: list[Idle] = []
    reached = 0

    def add_gap(until: int, cause: int) -> None:
        if until > reached:
            blame = times(chain(spans, cause, reached, until))
            gaps.append(Idle(reached, until, blame))

    for step in steps:
        add_gap(step.start_ns, step.cause)
        reached = max(reached, step.end_ns)
    add_gap(end, last_work(spans, end))
    return gaps
