"""What would change the total: every stage faster or slower, every knob up and down."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from lessonkit.dataset import Dataset
from lessonkit.engine.node import Node, swap, walk
from lessonkit.engine.training import benchmark

KNOBS = {
    "map": ("num_parallel_calls",),
    "interleave": ("cycle_length", "block_length", "num_parallel_calls"),
    "prefetch": ("buffer_size",),
    "shuffle": ("buffer_size",),
    "batch": ("batch_size",),
    "DataLoader": ("batch_size", "num_workers", "prefetch_factor"),
}
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
    def best(self) -> float:
        return min(total for _, total in self.points)

    @property
    def knee(self) -> int:
        """The smallest value that is within 2 % of the best."""
        return next(value for value, total in self.points if total <= self.best * (1 + KNEE))


def knobs(dataset: Dataset) -> list[Knob]:
    """The knobs of a description, from its sources on."""
    return [
        Knob(node, name, node.arguments[name])
        for node in walk(dataset.node)
        for name in KNOBS.get(node.method, ())
    ]


def turned(dataset: Dataset, knob: Knob, value: int | None) -> Dataset:
    """The same pipeline with one knob at another value."""
    return Dataset(swap(dataset.node, knob.node, knob.node.replace(**{knob.name: value})))


def curve(dataset: Dataset, knob: Knob | str, values: Iterable[int] = range(1, 9), **options: Any) -> Curve:
    """The seconds in all against the values of a knob; the pipeline is run for each.

    *knob* is one of `knobs(dataset)`, or its name, if no other has that name: ValueError if
    it is neither. *options* are those of `benchmark`.

    >>> from lessonkit import ArtificialDataset
    >>> dataset = ArtificialDataset().map(cost=0.030, num_parallel_calls=1)
    >>> curve(dataset, "num_parallel_calls", values=[1, 2, 3, 4]).knee
    3
    """
    there = list(dict.fromkeys(knobs(dataset)))
    fitting = [one for one in there if knob in (one, one.name)]
    if len(fitting) != 1:
        raise ValueError(f"knob={knob!r}: must be one of {there}, or a name that only one of them has")
    knob, values = fitting[0], list(values)
    runs = [benchmark(turned(dataset, knob, value), record=False, **options) for value in values]
    points = tuple((value, run.duration) for value, run in zip(values, runs, strict=True))
    return Curve(knob, points, tuple(run.samples for run in runs))
