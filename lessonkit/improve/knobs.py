"""Numbers in a pipeline at other values, and what a run of another version takes."""

from collections.abc import Iterable, Mapping
from inspect import signature
from typing import Any, NamedTuple

from lessonkit.dataset import Dataset
from lessonkit.engine.node import METHODS, Node, rebuilt, walk
from lessonkit.engine.trace import Trace
from lessonkit.engine.training import benchmark

# Arguments that are numbers of something that a run has more or less of
KNOBS = (
    "cycle_length",
    "block_length",
    "num_parallel_calls",
    "buffer_size",
    "batch_size",
    "num_workers",
    "prefetch_factor",
)
AS_FAST = 1.02  # times the shortest time: who takes a longer one gets more for less


class Knob(NamedTuple):
    """A number in a description that may be changed: the argument *name* of *node*."""

    node: Node
    name: str

    def __repr__(self) -> str:
        return f"{self.node.method}'s {self.name}={self.node.arguments[self.name]}"


class Point(NamedTuple):
    """A *value* of a knob, and the seconds *per_sample* that a run with it takes."""

    value: int
    per_sample: float


class Curve(NamedTuple):
    """The seconds per sample for each value of a knob, and the value that is enough."""

    knob: Knob
    points: tuple[Point, ...]

    @property
    def knee(self) -> int:
        """The first value that is within 2 % of the best."""
        best = min(point.per_sample for point in self.points)
        return next(
            point.value for point in self.points if point.per_sample <= best * AS_FAST
        )


def knobs(dataset: Dataset) -> list[Knob]:
    """List the knobs of *dataset*, from its sources on."""
    nodes = walk(dataset.node)
    return [Knob(node, name) for node in nodes for name in KNOBS if name in node.arguments]


def with_knob(dataset: Dataset, knob: Knob, value: int | None) -> Dataset:
    """Return *dataset* with *knob* at another *value*.

    Raises ValueError if *knob* is none of `knobs(dataset)`, and what the method raises for
    a value that it does not take.

    >>> dataset = Dataset.range(4).prefetch(1)
    >>> with_knob(dataset, knobs(dataset)[0], 8)
    Dataset.range(4).prefetch(8)
    """
    there = knobs(dataset)
    if knob not in there:
        raise ValueError(f"knob={knob!r}: must be one of {there}")
    return Dataset(with_knobs(dataset.node, {knob: value}))


def with_knobs(root: Node, values: Mapping[Knob, int | None]) -> Node:
    """Return *root* with each knob at its value, set and checked by the methods themselves."""
    changes: dict[Node, dict[str, int | None]] = {}
    for knob, value in values.items():
        changes.setdefault(knob.node, {})[knob.name] = value

    def change(before: Node, node: Node) -> Node:
        if before not in changes:
            return node
        method = METHODS[node.method]
        known = signature(method).parameters
        wanted = node.arguments | changes[before]
        given = {name: value for name, value in wanted.items() if name in known}
        return method(*map(Dataset, node.inputs), **given).node  # type: ignore[no-any-return]

    return rebuilt(root, {}, change)


def curve(
    dataset: Dataset,
    knob: Knob,
    values: Iterable[int],
    **options: Any,
) -> Curve:
    """Run *dataset* with each of *values* for *knob*, and return the time per sample with each.

    *knob* is one of `knobs(dataset)`, and *options* are those of `benchmark`. Raises
    ValueError if there is no such knob, for one of *values* that it does not take, or if no
    sample reaches the training loop; TypeError for *clock*, *record* and *ranks*.

    >>> from lessonkit import ArtificialDataset
    >>> dataset = ArtificialDataset().map(cost=0.030, num_parallel_calls=1)
    >>> curve(dataset, knobs(dataset)[0], values=[1, 2, 3, 4]).knee
    3
    """
    check_options(options)
    nodes = {value: with_knob(dataset, knob, value).node for value in values}
    points = []
    for value, node in nodes.items():
        tried = try_out(node, options)
        if not tried.samples:
            raise ValueError(f"{knob.name}={value}: no sample reached the training loop")
        points.append(Point(value, tried.per_sample))
    return Curve(knob, tuple(points))


# ---- runs of other versions ----


class Tried(NamedTuple):
    """What a run took: *seconds* in all, and the most *calls* and bytes of *memory* at a time."""

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
    return Tried(
        per_sample=trace.duration / (trace.samples or 1),
        calls=sum(calls_at_once(node) for node in walk(trace.dataset.node)),
        memory=trace.max_bytes,
        seconds=trace.duration,
        samples=trace.samples,
    )


def calls_at_once(node: Node) -> int:
    """Return how many calls an operator may have under way at a time, besides the training loop."""
    calls = node.arguments.get("num_parallel_calls") or node.arguments.get("num_workers")
    return max(calls, 1) if calls else int(node.method == "prefetch")


def check_options(options: dict[str, Any]) -> None:
    """Raise TypeError for *options* of `benchmark` that many runs do not allow."""
    for name in ("clock", "record", "ranks"):
        if name in options:
            why = "one pipeline" if name == "ranks" else "on the virtual clock"
            raise TypeError(
                f"{name}={options[name]!r}: must be left out, because this runs {why}"
            )
