"""Numbers in a pipeline at other values, and what each value takes."""

from collections.abc import Iterable, Mapping
from inspect import signature
from typing import Any, NamedTuple

from lessonkit.dataset import Dataset
from lessonkit.engine.node import METHODS, Node, rebuilt, walk
from lessonkit.improve.change import check_options, try_out

KNOBS = (
    "cycle_length",
    "block_length",
    "num_parallel_calls",
    "buffer_size",
    "batch_size",
    "num_workers",
    "prefetch_factor",
)
KNEE = 0.02  # a value within this share of the best one is as good


class Knob(NamedTuple):
    """A number in a description that may be changed: the argument *name* of *node*."""

    node: Node
    name: str

    def __repr__(self) -> str:
        return f"{self.node.method}'s {self.name}={self.node.arguments[self.name]}"


class Curve(NamedTuple):
    """The seconds in all for each value of a knob, and the value after which more stops helping."""

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
    nodes = walk(dataset.node)
    return [Knob(node, name) for node in nodes for name in KNOBS if name in node.arguments]


def with_knob(dataset: Dataset, knob: Knob | str, value: int | None) -> Dataset:
    """Return *dataset* with *knob* at another *value*.

    *knob* is one of `knobs(dataset)`, or its name if no other knob has it; ValueError if
    there is none. Raises what the method raises for a value that it does not take.

    >>> with_knob(Dataset.range(4).prefetch(1), "buffer_size", 8)
    Dataset.range(4).prefetch(8)
    """
    return Dataset(with_knobs(dataset.node, {find_knob(dataset, knob): value}))


def find_knob(dataset: Dataset, wanted: Knob | str) -> Knob:
    """Return the *wanted* knob of *dataset*, or the only one of this name; else ValueError."""
    there = knobs(dataset)
    fitting = {knob for knob in there if wanted in (knob, knob.name)}
    if len(fitting) != 1:
        raise ValueError(f"knob={wanted!r}: must be one of {there}")
    return fitting.pop()


def with_knobs(root: Node, values: Mapping[Knob, int | None]) -> Node:
    """Return *root* with each knob at its value, set and checked by the methods themselves."""
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


def curve(
    dataset: Dataset,
    knob: Knob | str,
    values: Iterable[int],
    **options: Any,
) -> Curve:
    """Run *dataset* with each of *values* for *knob*, and return what each takes.

    *knob* is one of `knobs(dataset)`, or its name if no other knob has it. *options* are
    those of `benchmark`. Raises ValueError if there is no such knob, or for one of *values*
    that it does not take; TypeError for *clock*, *record* and *ranks*.

    >>> from lessonkit import ArtificialDataset
    >>> dataset = ArtificialDataset().map(cost=0.030, num_parallel_calls=1)
    >>> curve(dataset, "num_parallel_calls", values=[1, 2, 3, 4]).knee
    3
    """
    check_options(options)
    knob = find_knob(dataset, knob)
    nodes = {value: with_knob(dataset, knob, value).node for value in values}
    found = {value: try_out(node, options) for value, node in nodes.items()}
    points = tuple((value, tried.seconds) for value, tried in found.items())
    return Curve(knob, points, tuple(tried.samples for tried in found.values()))
