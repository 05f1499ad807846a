"""What would change the total: every stage faster or slower, every knob up and down."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from lessonkit.dataset import Dataset
from lessonkit.engine.node import Node, swap, walk
from lessonkit.engine.training import benchmark

LOADER_KNOBS = ("num_workers", "prefetch_factor")
KNOBS = ("cycle_length", "block_length", "num_parallel_calls", "buffer_size", "batch_size", *LOADER_KNOBS)
KNEE = 0.02  # a value within this share of the best one is as good


@dataclass(frozen=True)
class Knob:
    """A number in a description that may be turned without changing the elements."""

    node: Node
    name: str
    value: int | None

    def __repr__(self) -> str:
        return f"{self.node.method}'s {self.name}={self.value}"


@dataclass(frozen=True)
class Curve:
    """The seconds in all for each value of a knob, and where more stops helping."""

    knob: Knob
    points: tuple[tuple[int, float], ...]
    samples: tuple[int, ...]  # how many were trained on, for each value: a batch may drop some

    @property
    def knee(self) -> int:
        """The smallest value that is within 2 % of the best."""
        best = min(total for _, total in self.points)
        return next(value for value, total in self.points if total <= best * (1 + KNEE))


def knobs(dataset: Dataset) -> list[Knob]:
    """List the knobs of *dataset*, from its sources on."""
    found = ((node, name) for node in walk(dataset.node) for name in KNOBS if name in node.arguments)
    return [Knob(node, name, node.arguments[name]) for node, name in found]


def turned(dataset: Dataset, knob: Knob, value: int | None) -> Dataset:
    """Return *dataset* with *knob* at another *value*."""
    return Dataset(swap(dataset.node, knob.node, knob.node.replace(**{knob.name: value})))


def curve(dataset: Dataset, knob: Knob, values: Iterable[int] = range(1, 9), **options: Any) -> Curve:
    """Run *dataset* with each of *values* for *knob*, one of `knobs(dataset)`; ValueError if it is none.

    *options* are those of `benchmark`.

    >>> from lessonkit import ArtificialDataset
    >>> dataset = ArtificialDataset().map(cost=0.030, num_parallel_calls=1)
    >>> curve(dataset, knobs(dataset)[0], values=[1, 2, 3, 4]).knee
    3
    """
    if knob not in (there := knobs(dataset)):
        raise ValueError(f"knob={knob!r}: must be one of {there}")
    values = list(values)
    runs = [benchmark(turned(dataset, knob, value), record=False, **options) for value in values]
    points = tuple((value, run.duration) for value, run in zip(values, runs, strict=True))
    return Curve(knob, points, tuple(run.samples for run in runs))
