"""What would change the total: every stage faster or slower, every knob up and down."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from inspect import signature
from typing import Any

from lessonkit.dataset import Dataset
from lessonkit.engine.node import METHODS, Node, rebuilt, walk
from lessonkit.engine.training import benchmark

OF_LOADERS = ("num_workers", "prefetch_factor")
KNOBS = (
    "cycle_length",
    "block_length",
    "num_parallel_calls",
    "buffer_size",
    "batch_size",
    *OF_LOADERS,
)
TRIED = range(1, 9)
KNEE = 0.02  # a value within this share of the best one is as good


@dataclass(frozen=True)
class Knob:
    """A number in a description that may be turned: the argument *name* of *node*, which is *value* now.

    A search turns it up to *most*, and calls it *label* where people read it.
    """

    node: Node
    name: str
    value: int | None
    most: int = TRIED[-1]
    label: str = ""

    def __repr__(self) -> str:
        return f"{self.node.method}'s {self.name}={self.value}"


@dataclass(frozen=True)
class Curve:
    """The seconds in all for each value of a knob, and where more stops helping."""

    knob: Knob
    points: tuple[tuple[int, float], ...]
    # How many were trained on, for each value: a batch may drop some
    samples: tuple[int, ...]

    @property
    def knee(self) -> int:
        """The smallest value that is within 2 % of the best."""
        best = min(total for _, total in self.points)
        return next(value for value, total in self.points if total <= best * (1 + KNEE))


def knobs(dataset: Dataset) -> list[Knob]:
    """List the knobs of *dataset*, from its sources on."""
    places = (
        (node, name)
        for node in walk(dataset.node)
        for name in KNOBS
        if name in node.arguments
    )
    return [Knob(node, name, node.arguments[name]) for node, name in places]


def the_knob(dataset: Dataset, wanted: Knob | str) -> Knob:
    """Return the knob of *dataset* that is *wanted*, or the only one of this name; else ValueError."""
    there = knobs(dataset)
    fitting = [knob for knob in there if wanted in (knob, knob.name)]
    if len({*fitting}) != 1:
        raise ValueError(f"knob={wanted!r}: must be one of {there}")
    return fitting[0]


def turned(dataset: Dataset, knob: Knob | str, value: int | None) -> Dataset:
    """Return *dataset* with *knob* at another *value*.

    *knob* is one of `knobs(dataset)`, or its name if no other has it; ValueError if there is none.
    Raises what the method raises for a value that it does not take.

    >>> turned(Dataset.range(4).prefetch(1), "buffer_size", 8)
    Dataset.range(4).prefetch(8)
    """
    return Dataset(all_turned(dataset.node, {the_knob(dataset, knob): value}))


def all_turned(root: Node, values: Mapping[Knob, int | None]) -> Node:
    """Return *root* with each of some knobs at its value, by the methods themselves, which check it."""
    changes: dict[Node, dict[str, int | None]] = {}
    for knob, value in values.items():
        changes.setdefault(knob.node, {})[knob.name] = value

    def change(before: Node, node: Node) -> Node:
        if before not in changes:
            return node
        method = METHODS[node.method]
        known, wanted = signature(method).parameters, node.arguments | changes[before]
        given = {name: value for name, value in wanted.items() if name in known}
        return method(*map(Dataset, node.inputs), **given).node  # type: ignore[no-any-return]

    return rebuilt(root, change, {})


def on_the_virtual_clock(options: dict[str, Any]) -> None:
    """Refuse *options* of `benchmark` that are no choice where a pipeline is run many times: TypeError."""
    for name in ("clock", "record", "ranks"):
        if name in options:
            why = "one pipeline" if name == "ranks" else "on the virtual clock"
            raise TypeError(f"{name}={options[name]!r}: must be left out, this runs {why}")


def curve(
    dataset: Dataset, knob: Knob | str, values: Iterable[int] = TRIED, **options: Any
) -> Curve:
    """Run *dataset* with each of *values* for *knob*, and say what it takes.

    *knob* is one of `knobs(dataset)`, or its name if no other has it; ValueError if there
    is none, or for one of *values* that it does not take. *options* are those of
    `benchmark`; TypeError for *clock* and *record*.

    >>> from lessonkit import ArtificialDataset
    >>> dataset = ArtificialDataset().map(cost=0.030, num_parallel_calls=1)
    >>> curve(dataset, "num_parallel_calls", values=[1, 2, 3, 4]).knee
    3
    """
    on_the_virtual_clock(options)
    knob = the_knob(dataset, knob)
    values = list(values)
    runs = [
        benchmark(turned(dataset, knob, value), record=False, **options) for value in values
    ]
    points = tuple((value, run.duration) for value, run in zip(values, runs, strict=True))
    return Curve(knob, points, tuple(run.samples for run in runs))
