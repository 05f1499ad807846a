"""Descriptions: what they print, and what they refuse."""

import inspect
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.record import cases
from lessonkit import (
    AUTOTUNE,
    ArtificialDataset,
    DataLoader,
    Dataset,
    Machine,
    benchmark,
    per_sample,
    straggler,
    work,
)
from lessonkit.engine.element import Element
from lessonkit.engine.node import METHODS, Node, cardinality, walk
from lessonkit.engine.operators.stream import Stream, operator

NUMBERS: Any = Dataset.range(10)  # Any: it is given what it must refuse


def square(x: int) -> int:
    return x * x


def test_repr_is_the_code_that_builds_it() -> None:
    dataset = (
        Dataset.range(2)
        .interleave(ArtificialDataset, cycle_length=2, num_parallel_calls=AUTOTUNE)
        .map(square, cost=straggler(0.01, every=4, slow=0.04), deterministic=False)
        .shuffle(10, reshuffle_each_iteration=False)
        .batch(4, True)
        .prefetch(AUTOTUNE)
    )
    assert repr(dataset) == (
        "Dataset.range(2).interleave(ArtificialDataset, cycle_length=2, num_parallel_calls=AUTOTUNE)"
        ".map(square, cost=straggler(usual=0.01, every=4, slow=0.04), deterministic=False)"
        ".shuffle(10, reshuffle_each_iteration=False).batch(4, drop_remainder=True).prefetch(AUTOTUNE)"
    )


@pytest.mark.parametrize(
    "dataset",
    [
        Dataset.range(3),
        Dataset.range(1, 5),
        Dataset.range(5, 1, -2),
        Dataset.from_list([1, (2, 3), "x"], nbytes=3),
        Dataset.zip(NUMBERS, (NUMBERS.take(3), NUMBERS)).take(5),
        Dataset.zip((NUMBERS,)).map(None, 2, False, cost=0.5),
        NUMBERS.batch(2, True, 3, False).shuffle(3, 1, None),
        NUMBERS.skip(2).shard(2, 1).repeat(),
        ArtificialDataset(
            5, open=per_sample(0.1), read=straggler(0.1, every=3, slow=1.0)
        ).cache(),
        NUMBERS.batch(2).unbatch().map(cost=0.5, kind="native", stage="Decode", nbytes=10),
        NUMBERS.enumerate(2).concatenate(Dataset.zip(NUMBERS, NUMBERS)).take_while(abs),
        Dataset.from_tensor_slices({"a": [1, 2], "b": ([3, 4], ["x", "y"])}, nbytes=3),
        NUMBERS.map_and_batch(abs, 2, 3, True).map_and_batch(
            None, 2, num_parallel_calls=AUTOTUNE, cost=0.5, random=True
        ),
        NUMBERS.map_and_filter(None, bool, stage="Decode").map_and_filter(abs, bool),
        NUMBERS.shuffle_and_repeat(3).shuffle_and_repeat(
            2, 3, 1, reshuffle_each_iteration=False
        ),
    ],
    ids=repr,
)
def test_repr_builds_the_same_again(dataset: Dataset) -> None:
    again = eval(repr(dataset), globals() | {"Dataset": Dataset})
    assert repr(again) == repr(dataset)


def test_building_runs_nothing_and_changes_nothing() -> None:
    calls: list[Any] = []
    dataset = Dataset.range(3)
    dataset.map(calls.append).prefetch(1).cache()
    assert calls == []
    assert repr(dataset) == "Dataset.range(3)"


# What an error names, and the call that is refused.
Refused = list[tuple[str, Callable[[], object]]]
WRONG_TYPES: Refused = [
    ("map_func=3: must be a function", lambda: NUMBERS.interleave(3)),
    ("cost='1'", lambda: NUMBERS.map(square, cost="1")),
    ("cost=True", lambda: NUMBERS.map(square, cost=True)),
    ("map_func=5: must be a function", lambda: NUMBERS.map(5)),
    ("num_parallel_calls=1.5", lambda: NUMBERS.map(square, num_parallel_calls=1.5)),
    (
        "deterministic=1: must be True or False",
        lambda: NUMBERS.map(square, deterministic=1),
    ),
    ("stage=''", lambda: NUMBERS.map(square, stage="")),
    ("predicate=None: must be a function", lambda: NUMBERS.filter(None)),
    ("seed='x': must be an integer", lambda: NUMBERS.shuffle(2, seed="x")),
    ("count='x': must be an integer", lambda: NUMBERS.repeat("x")),
    ("count=None: must be an integer", lambda: NUMBERS.take(None)),
    ("predicate=3: must be a function", lambda: NUMBERS.take_while(3)),
    ("start=1.5: must be an integer", lambda: NUMBERS.enumerate(1.5)),
    ("start=None: must be an integer", lambda: NUMBERS.enumerate(None)),
    ("dataset=[1]: must be a Dataset", lambda: NUMBERS.concatenate([1])),
    ("predicate=None", lambda: NUMBERS.map_and_filter(abs, None)),
    ("datasets=None: must be datasets", lambda: Dataset.zip()),
    (
        "datasets: must not be given together with",
        lambda: Dataset.zip(NUMBERS, datasets=NUMBERS),
    ),
    ("datasets=3: must be datasets", lambda: Dataset.zip(datasets=3)),
    ("values={1}: must be a list", lambda: Dataset.from_list({1})),
    ("datasets=3: must be datasets", lambda: Dataset.zip(NUMBERS, 3)),
    ("range expected at least 1 argument", lambda: Dataset.range()),
    ("range=1.5: must be an integer", lambda: Dataset.range(1.5)),  # type: ignore[arg-type]
    ("values='abc': must be a list", lambda: Dataset.from_list("abc")),
    ("must be a list of elements", lambda: Dataset.from_list(iter([1]))),
    ("generator=[1]: must be a function", lambda: Dataset.from_generator([1])),  # type: ignore[arg-type]
    ("begin with Dataset.range", lambda: Dataset(3)),  # type: ignore[arg-type]
    ("dataset=3: must be a Dataset", lambda: benchmark(3)),  # type: ignore[call-overload]
]
WRONG_VALUES: Refused = [
    (
        "cycle_length=0: must be 1 or more, or AUTOTUNE",
        lambda: NUMBERS.interleave(square, cycle_length=0),
    ),
    (
        "block_length=0: must be 1 or more",
        lambda: NUMBERS.interleave(square, block_length=0),
    ),
    (
        "num_parallel_calls=4: must be 1 or less",
        lambda: NUMBERS.interleave(square, 1, 1, 4),
    ),
    (
        "cost=-1: must be a number of seconds, 0 or more",
        lambda: NUMBERS.map(square, cost=-1),
    ),
    ("cost=nan", lambda: NUMBERS.map(square, cost=math.nan)),
    (
        "kind='gpu': must be one of wait, native, python",
        lambda: NUMBERS.map(square, kind="gpu"),
    ),
    (
        "num_parallel_calls=0: must be 1 or more",
        lambda: NUMBERS.map(square, num_parallel_calls=0),
    ),
    ("nbytes=-1: must be 0 or more", lambda: NUMBERS.map(square, nbytes=-1)),
    ("buffer_size=-2: must be 0 or more, or AUTOTUNE", lambda: NUMBERS.prefetch(-2)),
    ("buffer_size=0: must be 1 or more", lambda: NUMBERS.shuffle(0)),
    ("buffer_size=-1: must be 1 or more", lambda: NUMBERS.shuffle(-1)),
    ("batch_size=0: must be 1 or more", lambda: NUMBERS.batch(0)),
    ("num_shards=0: must be 1 or more", lambda: NUMBERS.shard(0, 0)),
    ("index=3: must be 0 to 2, as num_shards is 3", lambda: NUMBERS.shard(3, 3)),
    ("batch_size=0: must be 1 or more", lambda: NUMBERS.map_and_batch(abs, 0)),
    (
        "num_parallel_calls=0: must be 1 or more, or AUTOTUNE",
        lambda: NUMBERS.map_and_batch(abs, 2, num_parallel_calls=0),
    ),
    ("buffer_size=0: must be 1 or more", lambda: NUMBERS.shuffle_and_repeat(0)),
    (
        "num_parallel_calls=0: must be 1 or more",
        lambda: NUMBERS.batch(2, num_parallel_calls=0),
    ),
    ("must not be zero", lambda: Dataset.range(0, 5, 0)),
    ("num_samples=-1: must be 0 or more", lambda: ArtificialDataset(-1)),
    ("open=inf", lambda: ArtificialDataset(open=math.inf)),
    ("open=1e+300: must be a number of seconds", lambda: ArtificialDataset(open=1e300)),
    ("and at most 1e+09", lambda: ArtificialDataset(open=1e300)),
    ("cost=100000000000…: ", lambda: NUMBERS.map(cost=10**400)),
    ("cores=0: must be 1 or more", lambda: Machine(0)),
    ("seconds=-1", lambda: work(-1)),
    ("kind='x'", lambda: work(1, kind="x")),
    ("every=0: must be 1 or more", lambda: straggler(1, every=0, slow=1)),
    ("seconds=-1", lambda: per_sample(-1)),
    ("clock='x': must be one of virtual, real", lambda: benchmark(NUMBERS, clock="x")),
    ("num_epochs=-1", lambda: benchmark(NUMBERS, num_epochs=-1)),
    ("train=-1", lambda: benchmark(NUMBERS, train=-1)),
    ("never ends: set max_elements", lambda: benchmark(NUMBERS.repeat())),
]


@pytest.mark.parametrize(("message", "call"), WRONG_TYPES)
def test_a_wrong_type_is_refused_at_once(message: str, call: Callable[[], object]) -> None:
    with pytest.raises(TypeError, match=re.escape(message)):
        call()


@pytest.mark.parametrize(("message", "call"), WRONG_VALUES)
def test_a_wrong_value_is_refused_at_once(message: str, call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        call()


ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 5),
    st.floats(),
    st.text(max_size=3),
    st.just(square),
    st.lists(st.none()),
)
# Of a dataset, without those that begin a pipeline and the one that prints it
BUILDERS = [
    name
    for name, method in vars(Dataset).items()
    if inspect.isfunction(method) and not name.startswith("_") and name != "code"
]


@given(st.sampled_from(BUILDERS), st.lists(ANYTHING, max_size=4), st.booleans())
def test_builders_refuse_or_build_whatever_they_are_given(
    method: str, args: list[Any], batched: bool
) -> None:
    dataset = NUMBERS.batch(2) if batched else NUMBERS
    try:
        built = getattr(dataset, method)(*args)
    except (ValueError, TypeError):
        return
    assert isinstance(built, Dataset)
    assert repr(built).startswith("Dataset.range(10)")
    count = cardinality(built.node)
    assert count is None or count >= 0


COUNTED: list[tuple[Dataset, float | None]] = [
    (NUMBERS, 10),
    (NUMBERS.map(square), 10),
    (NUMBERS.prefetch(1), 10),
    (NUMBERS.cache(), 10),
    (NUMBERS.shuffle(3), 10),
    (NUMBERS.flat_map(Dataset.range), None),
    (NUMBERS.repeat().flat_map(Dataset.range), math.inf),
    (NUMBERS.interleave(Dataset.range), None),
    (NUMBERS.repeat().interleave(Dataset.range), math.inf),
    (Dataset.from_list([1, 2]), 2),
    (Dataset.from_generator(list), None),
    (DataLoader(NUMBERS, 4), 3),
    (DataLoader(NUMBERS.filter(square), 4), None),
    (NUMBERS.repeat(3), 30),
    (NUMBERS.repeat(), math.inf),
    (NUMBERS.repeat().take(7), 7),
    (NUMBERS.repeat().skip(7), math.inf),
    (NUMBERS.repeat(0).repeat(), 0),
    (NUMBERS.take(-1), 10),
    (NUMBERS.skip(-1), 0),
    (NUMBERS.skip(3), 7),
    (NUMBERS.batch(4), 3),
    (NUMBERS.batch(4, drop_remainder=True), 2),
    (NUMBERS.batch(4, drop_remainder=True).unbatch(), 8),
    (NUMBERS.batch(4).unbatch(), None),
    (NUMBERS.shard(3, 1), 3),
    (NUMBERS.concatenate(NUMBERS.take(3)), 13),
    (NUMBERS.concatenate(NUMBERS.repeat()), math.inf),
    (NUMBERS.filter(square).concatenate(NUMBERS), None),
    (NUMBERS.filter(square).concatenate(NUMBERS.repeat()), math.inf),
    (NUMBERS.enumerate(), 10),
    (Dataset.from_tensor_slices([[1, 2], [3, 4], [5, 6]]), 3),
    (NUMBERS.take_while(square), None),
    (NUMBERS.repeat().take_while(square), None),
    (NUMBERS.map_and_batch(square, 4), 3),
    (NUMBERS.map_and_batch(square, 4, drop_remainder=True).unbatch(), 8),
    (NUMBERS.repeat().map_and_batch(square, 4), math.inf),
    (NUMBERS.map_and_filter(square, bool), None),
    (NUMBERS.repeat().map_and_filter(square, bool), math.inf),
    (NUMBERS.shuffle_and_repeat(3, 4), 40),
    (NUMBERS.shuffle_and_repeat(3), math.inf),
    (NUMBERS.take(0).shuffle_and_repeat(3), 0),
    (Dataset.zip(NUMBERS, NUMBERS.take(3)), 3),
    (NUMBERS.filter(square), None),
    (NUMBERS.repeat().filter(square), math.inf),
    (ArtificialDataset(), None),
    (ArtificialDataset().take(0), 0),
]


@pytest.mark.parametrize(("dataset", "expected"), COUNTED, ids=repr)
def test_cardinality_is_what_tf_data_says(dataset: Dataset, expected: float | None) -> None:
    assert cardinality(dataset.node) == expected


def test_the_number_of_elements_of_every_operator_is_tested() -> None:
    counted = {node.method for dataset, _ in COUNTED for node in walk(dataset.node)}
    assert counted == METHODS.keys() - {"code"}


@operator("one_in_two")
class OneInTwo(Stream):
    """An operator that says nothing of how many elements it gives."""

    async def next(self) -> Element:
        await self.input.next()
        return await self.input.next()


@pytest.fixture
def halved(monkeypatch: pytest.MonkeyPatch) -> Dataset:
    """Every second number below 10, by an operator of which only its stream is known."""
    monkeypatch.setitem(METHODS, "one_in_two", lambda dataset: dataset)
    return Dataset(Node("one_in_two", (Dataset.range(10).node,), {}))


def test_how_many_elements_an_operator_gives_is_unknown_unless_it_says_so(
    halved: Dataset,
) -> None:
    assert [*halved] == [1, 3, 5, 7, 9]
    assert cardinality(halved.node) is None
    assert cardinality(halved.batch(2).node) is None
    with pytest.raises(TypeError, match="has no length that is known"):
        len(DataLoader(halved, 2))


def test_an_operator_may_make_batches_of_single_values_unless_it_keeps_them(
    halved: Dataset,
) -> None:
    halved.unbatch()  # is not refused
    with pytest.raises(ValueError, match="single values"):
        Dataset.range(10).take(3).unbatch()


SIGNATURES: dict[str, list[dict[str, Any]]] = {
    case["method"]: case["parameters"] for case in cases("tfdata_signatures")
}


@pytest.mark.parametrize("method", [name for name in SIGNATURES if hasattr(Dataset, name)])
def test_arguments_mean_the_same_by_position_and_by_name_as_in_tf_data(
    method: str,
) -> None:
    parameters = inspect.signature(getattr(Dataset, method)).parameters.values()
    ours = [parameter for parameter in parameters if parameter.name != "self"]
    by_place = [
        parameter.name for parameter in ours if parameter.kind is not parameter.KEYWORD_ONLY
    ]
    theirs = {parameter["name"]: parameter for parameter in SIGNATURES[method]}
    assert by_place == [*theirs][: len(by_place)]
    for parameter in ours:
        if parameter.name in theirs:
            said = theirs[parameter.name]
            assert parameter.kind.name == said["kind"]
            default = None if parameter.default is parameter.empty else parameter.default
            assert default in (None, said.get("default"))


def test_numbers_of_numpy_are_kept_as_numbers() -> None:
    one, two, three = map(np.int64, (1, 2, 3))
    dataset = Dataset.range(three).interleave(Dataset.range, two).shard(2, one)  # type: ignore[arg-type]
    assert (
        repr(dataset)
        == "Dataset.range(3).interleave(range, cycle_length=2).shard(2, index=1)"
    )
    assert "Dataset.range(3)" in dataset.code()
    assert dataset.node.inputs[0].inputs[0].arguments["args"] == (3,)


def test_data_sets_are_zipped_as_tf_data_does() -> None:
    one, two = Dataset.range(1), Dataset.range(1, 2)
    assert list(Dataset.zip(one)) == [0]
    assert list(Dataset.zip((one,))) == [(0,)]
    assert (
        list(Dataset.zip(datasets=(one, two))) == list(Dataset.zip((one, two))) == [(0, 1)]
    )
    assert list(Dataset.zip(one, (two, one))) == [(0, (1, 0))]


def test_a_range_has_no_more_numbers_than_can_be_counted() -> None:
    with pytest.raises(
        ValueError,
        match=r"range=\(10000000000000000000,\): must have fewer numbers than",
    ):
        Dataset.range(10**19)
    assert list(Dataset.range(10**19, 10**19 + 2)) == [10**19, 10**19 + 1]


def test_calls_of_an_interleave_are_named_if_they_are_no_number() -> None:
    with pytest.raises(
        TypeError, match="num_parallel_calls='4': must be 1 or more, or AUTOTUNE"
    ):
        Dataset.range(3).interleave(Dataset.range, 4, num_parallel_calls="4")  # type: ignore[arg-type]
