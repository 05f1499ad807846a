"""What buffers and caches held over time, and how many files were open."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from lessonkit.engine.trace import Trace


@dataclass(frozen=True)
class Levels:
    """How much there was of something: in *steps*, by the name of its holder, and at its *peak*."""

    # (seconds, how much from then on)
    steps: dict[str, list[tuple[float, int]]] = field(repr=False)
    peak: int
    at: float  # when the peak was first reached, in seconds
    fullest: str | None  # who held most of the peak


@dataclass(frozen=True)
class Memory:
    """Bytes and elements in each buffer and cache, and open files."""

    bytes: Levels
    elements: Levels
    files: Levels


def memory(trace: Trace) -> Memory:
    """Follow what *trace* kept in memory: each change is a step, also several of one moment.

    >>> from lessonkit import ArtificialDataset, benchmark
    >>> kept = memory(benchmark(ArtificialDataset(3, nbytes=100).cache().prefetch(2), num_epochs=1))
    >>> kept.bytes
    Levels(peak=400, at=0.075, fullest='cache')
    >>> kept.elements.steps["cache"]
    [(0.045, 1), (0.06, 2), (0.075, 3)]
    """
    names = [buffer.name for buffer in trace.buffers]
    events = trace.events
    return Memory(
        levels(
            ((event.buffer, event.time, event.change * event.nbytes) for event in events),
            names,
        ),
        levels(((event.buffer, event.time, event.change) for event in events), names),
        levels((("files", event.time, event.change) for event in trace.files), ["files"]),
    )


def levels(changes: Iterable[tuple[str, float, int]], names: Iterable[str]) -> Levels:
    """Add up changes, given as (name, time, change)."""
    steps: dict[str, list[tuple[float, int]]] = {name: [] for name in names}
    now = dict.fromkeys(steps, 0)
    total = peak = 0
    at = 0.0
    fullest = None
    for name, time, change in changes:
        now[name] += change
        steps[name].append((time, now[name]))
        total += change
        if total > peak:
            peak, at = total, time
            fullest = max(now, key=lambda name: now[name])
    return Levels(steps, peak, at, fullest)
