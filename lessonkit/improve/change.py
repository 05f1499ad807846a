"""Runs another version of a pipeline, and tells what it took."""

from typing import Any, NamedTuple

from lessonkit.dataset import Dataset
from lessonkit.engine.node import Node, walk
from lessonkit.engine.trace import Trace
from lessonkit.engine.training import benchmark


class Tried(NamedTuple):
    """What a run took: *seconds* in all, *calls* at once at most, and bytes of *memory* at most."""

    per_sample: float  # seconds; of a run without samples all its seconds
    calls: int
    memory: int
    seconds: float
    samples: int


def try_out(node: Node, options: dict[str, Any]) -> Tried:
    """Run the pipeline that ends in *node* on the virtual clock, with *options* of `benchmark`."""
    return as_tried(benchmark(Dataset(node), **options))


def as_tried(trace: Trace) -> Tried:
    """Return what the run of *trace* took."""
    seconds, samples = trace.duration, trace.samples
    calls = sum(map(calls_at_once, walk(trace.dataset.node)))
    return Tried(seconds / (samples or 1), calls, trace.max_bytes, seconds, samples)


def calls_at_once(node: Node) -> int:
    """Return how many calls may be under way at once in one operator, beside the training loop."""
    calls = node.arguments.get("num_parallel_calls") or node.arguments.get("num_workers")
    return max(calls, 1) if calls else int(node.method == "prefetch")


def check_options(options: dict[str, Any]) -> None:
    """Raise TypeError for *options* of `benchmark` that many runs do not allow."""
    for name in ("clock", "record", "ranks"):
        if name in options:
            why = "one pipeline" if name == "ranks" else "on the virtual clock"
            raise TypeError(f"{name}={options[name]!r}: must be left out, this runs {why}")
