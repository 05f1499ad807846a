"""Pictures: how long a timeline takes, from the trace to the bytes of a file."""

from collections.abc import Iterator
from statistics import median

from benchmarks.measure import limited, seconds
from lessonkit import ArtificialDataset, benchmark
from lessonkit.pictures.drawing import png
from lessonkit.pictures.timeline import plot_timelines

SAMPLES = 84  # give 503 spans, waits among them
MS = 250


def rows(quick: bool) -> Iterator[str]:
    """The line on pictures."""
    dataset = ArtificialDataset(SAMPLES).map(cost=0.02, num_parallel_calls=3).prefetch(2)
    trace = benchmark(dataset, 1)
    png(plot_timelines({"": trace}))  # fonts are looked up once
    took = median(
        seconds(lambda: png(plot_timelines({"": trace}))) for _ in range(5 if quick else 15)
    )
    yield limited(f"timeline of {len(trace.spans)} spans, as a PNG", took * 1e3, MS, "ms")
