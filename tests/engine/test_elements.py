"""Elements of every shape: what a learner yields comes out as it was, or is refused in a sentence."""

import json
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessonkit import Dataset, benchmark, per_sample, straggler
from lessonkit.engine.element import size_of, split, stack
from lessonkit.engine.node import cardinality
from lessonkit.widgets import show

Point = namedtuple("Point", "x y")


@dataclass
class Record:
    number: int


class Unlike:
    """Cannot be compared, printed, counted or walked through."""

    __hash__ = object.__hash__

    def fails(self, *_: Any) -> Any:
        raise RuntimeError("broken")

    __eq__ = __repr__ = __len__ = __iter__ = __bool__ = fails


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal and of one kind, down to their parts."""
    if isinstance(one, (tuple, list)):
        alike = (
            isinstance(other, list) if isinstance(one, list) else type(one) is type(other)
        )
        return alike and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray):
        return bool(one.dtype == other.dtype and np.array_equal(one, other))
    return one is other or (type(one) is type(other) and bool(one == other))


# ---- what goes in comes out ----

LEAVES: dict[str, st.SearchStrategy[Any]] = {
    "numbers": st.integers() | st.floats(allow_nan=False),
    "texts": st.text(max_size=3) | st.binary(max_size=3),
    "nothing": st.none(),
    "lists": st.lists(st.lists(st.integers(), max_size=2), max_size=2),
    "arrays": st.integers(0, 9).map(lambda number: np.full((2, 1), number)),
    "scalars": st.integers(0, 9).map(np.int64),
    "objects": st.builds(Record, st.integers())
    | st.builds(Unlike)
    | st.frozensets(st.integers()),
}


def structures(
    leaf: st.SearchStrategy[Any],
) -> st.SearchStrategy[st.SearchStrategy[Any]]:
    """Strategies for elements that have the same structure."""
    return st.recursive(
        st.just(leaf),
        lambda part: (
            st.lists(part, min_size=1, max_size=3).map(lambda parts: st.tuples(*parts))
            | st.tuples(part, part).map(lambda pair: st.builds(Point, *pair))
            | st.dictionaries(st.sampled_from("abc"), part, min_size=1).map(
                st.fixed_dictionaries
            )
        ),
        max_leaves=4,
    )


@st.composite
def elements(draw: st.DrawFn) -> list[Any]:
    leaf = LEAVES[draw(st.sampled_from([*LEAVES]))]
    return draw(st.lists(draw(draw(st.just(structures(leaf)))), min_size=1, max_size=5))


SAME: list[Callable[[Dataset], Dataset]] = [
    lambda dataset: dataset.batch(2).unbatch(),
    lambda dataset: dataset.batch(2, num_parallel_calls=2).batch(1).unbatch().unbatch(),
    lambda dataset: (
        Dataset.zip(dataset, dataset).batch(2).unbatch().map(lambda one, other: one)
    ),
    lambda dataset: (
        Dataset.zip(Dataset.range(9), dataset)
        .cache()
        .map(lambda number, value: value, num_parallel_calls=2)
    ),
    lambda dataset: dataset.shuffle(1).prefetch(1).filter(lambda *value: True),
    lambda dataset: dataset.map_and_batch(None, 2, num_parallel_calls=3).unbatch(),
    lambda dataset: dataset.map_and_filter(None, lambda *value: True).take_while(
        lambda *value: True
    ),
    lambda dataset: dataset.enumerate().map(lambda number, value: value),
    lambda dataset: dataset.take(1).concatenate(dataset.skip(1)).shuffle_and_repeat(1, 1),
    lambda dataset: Dataset.zip(Dataset.range(9), dataset).interleave(
        lambda _, value: Dataset.from_list([value]), 2, 1, 2
    ),
]


@given(elements(), st.sampled_from(SAME))
def test_elements_of_every_shape_come_out_as_they_went_in(
    values: list[Any], change: Callable[[Dataset], Dataset]
) -> None:
    dataset = change(Dataset.from_list(values))
    kept = benchmark(dataset, 1, keep=True)
    assert same(kept.epochs[0].elements, values)
    assert (
        benchmark(dataset, 1, record=False).samples
        == benchmark(dataset, 1).samples
        == len(values)
    )


@given(elements())
def test_a_batch_is_split_into_what_it_was_stacked_of(values: list[Any]) -> None:
    assert same([*split(stack(values))], values)
    assert size_of(values, otherwise=0) >= 0


@given(st.sampled_from(["numbers", "texts", "arrays"]).flatmap(LEAVES.get), st.data())  # type: ignore[arg-type]
def test_costs_take_any_value_that_a_number_can_be_had_of(
    value: Any, data: st.DataObject
) -> None:
    shape = data.draw(
        st.sampled_from([(value,), {"x": value}, [value, 1], np.array(5), float("nan")])
    )
    for cost in (straggler(0.001, every=2, slow=0.002), per_sample(0.001)):
        assert 0 < cost(shape) <= 0.002


@pytest.mark.parametrize(
    "value",
    [Point(1, 2), {"a": Unlike()}, Record(1), {1}, None, (), "", b"", [[], [1]]],
)
def test_every_shape_can_be_explored(value: Any) -> None:
    dataset = Dataset.from_list([value] * 3).cache().batch(2).prefetch(1)
    assert json.loads(show(dataset).state)["error"] == ""


# ---- structures ----


def test_named_tuples_stay_named_and_arrive_whole() -> None:
    points = Dataset.from_list([Point(1, 2), Point(3, 4)])
    assert benchmark(points.batch(2), 1).epochs[0].elements == [Point([1, 3], [2, 4])]
    assert list(points.batch(2).unbatch().map(lambda point: point.x)) == [1, 3]


@pytest.mark.parametrize(
    "values",
    [
        [{"a": 1}, {"a": 1, "b": 2}],
        [{"a": 1, "b": 2}, {"a": 1}],
        [(1,), (1, 2)],
        [(1,), 1],
        [Point(1, 2), (1, 2)],
    ],
)
def test_elements_with_different_parts_cannot_be_one_batch(values: list[Any]) -> None:
    with pytest.raises(ValueError, match=r"batch: .* has other parts than"):
        list(Dataset.from_list(values).batch(2))


def test_the_parts_of_a_batch_must_be_equally_long() -> None:
    with pytest.raises(
        ValueError,
        match=r"unbatch: the parts of \(\[1, 2\], \[3\]\) have \[2, 1\] values",
    ):
        list(Dataset.from_list([([1, 2], [3])]).unbatch())


@pytest.mark.parametrize("value", [1, "ab", b"ab", None, {1, 2}, Record(1)])
def test_a_single_value_is_no_batch(value: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="unbatch"):
        list(Dataset.from_list([value]).map(lambda x: x).unbatch())


# ---- batches compute ----

NUMBERS = st.integers(-9, 9)
DEEP = st.integers(1, 3).flatmap(
    lambda n: st.lists(st.lists(NUMBERS, min_size=n, max_size=n), min_size=2, max_size=2)
)


@given(DEEP, NUMBERS.filter(bool), st.sampled_from(["+", "-", "*", "/", "//", "%"]))
def test_a_batch_computes_as_an_array_does(
    rows: list[list[int]], number: int, sign: str
) -> None:
    batch = Dataset.from_list([*chain(*rows)]).batch(len(rows[0])).batch(2)
    array = np.array(rows)
    row = [number] * len(rows[0])
    for term in (
        "x {} n",
        "n * x {} n",
        "x {} row",
        "(x * x + 1) {} n",
        "-x {} x[0] * 0 + n",
    ):
        formula = term.format(sign)
        if sign in "-+*" or not formula.endswith("+ n"):
            (ours,) = batch.map(
                lambda x, formula=formula: eval(formula, {"x": x, "n": number, "row": row})
            )
            assert ours == eval(formula, {"x": array, "n": number, "row": row}).tolist()


def increment(x: Any) -> Any:
    return x + 1


def test_a_function_of_a_number_takes_a_batch_of_them() -> None:
    numbers = Dataset.range(5)
    assert (
        list(numbers.batch(2).map(increment))
        == list(numbers.map(increment).batch(2))
        == [[1, 2], [3, 4], [5]]
    )
    assert list(numbers.batch(2).batch(2).map(increment)) == [[[1, 2], [3, 4]], [[5]]]
    assert [value.tolist() for value in numbers.batch(5).map(lambda x: x * np.ones(5))] == [
        [0, 1, 2, 3, 4]
    ]


def test_a_batch_is_otherwise_a_list() -> None:
    (batch,) = Dataset.range(3).batch(3)
    assert isinstance(batch, list)
    assert (repr(batch), batch, len(batch), json.dumps(batch)) == (
        "[0, 1, 2]",
        [0, 1, 2],
        3,
        "[0, 1, 2]",
    )
    assert batch[1:] * 2 == [2, 4]
    seen: list[int] = []
    seen += batch
    assert seen == [0, 1, 2]
    batch += 1  # type: ignore[arg-type]
    assert batch == [1, 2, 3]
    with pytest.raises(
        ValueError, match=r"\[1, 2, 3\] and \[1\]: must have the same length"
    ):
        batch + [1]  # noqa: RUF005


# ---- how long a pipeline may be ----


def test_nobody_looks_at_every_number_of_a_long_list() -> None:
    class Number(int):
        """A number that tells when somebody asks what it is."""

        asked = 0

        def __getattribute__(self, name: str) -> object:
            Number.asked += 1
            return super().__getattribute__(name)

    many: list[int] = [0, *map(Number, range(5000))]
    assert size_of(many, otherwise=7) == 7
    trace = benchmark(Dataset.range(2).map(lambda _: many).batch(2), 1)
    assert trace.epochs[0].elements == [["<list (5001,)>", "<list (5001,)>"]]
    assert not Number.asked
    short = Dataset.range(1).map(lambda _: list(range(1000)))
    assert benchmark(short, 1).epochs[0].elements == [list(range(1000))]


def test_a_thousand_operators_are_described_and_run() -> None:
    dataset = Dataset.range(3)
    for _ in range(1000):
        dataset = dataset.map(increment)
    assert repr(dataset).count(".map(increment)") == 1000
    assert cardinality(dataset.node) == 3
    assert list(dataset) == [1000, 1001, 1002]
    assert benchmark(dataset, 1).samples == 3


def test_more_operators_than_can_run_are_refused_in_a_sentence() -> None:
    dataset = Dataset.range(3)
    for _ in range(4000):
        dataset = dataset.take(-1)
    assert len(Dataset.zip(dataset, dataset).code()) > 8000
    inner = Dataset.range(1).flat_map(lambda x: dataset)
    for run in (lambda: benchmark(dataset), lambda: list(dataset), lambda: list(inner)):
        with pytest.raises(
            RecursionError,
            match="more than 1000 operators in a row: Python cannot nest them",
        ):
            run()
