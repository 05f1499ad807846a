"""Descriptions: what they print, and what they refuse."""

import inspect
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.record import cases
from lessonkit import (
    AUTOTUNE,
    ArtificialDataset,
    Dataset,
    Machine,
    benchmark,
    per_sample,
    straggler,
    work,
)
from lessonkit.engine.node import cardinality

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


REFUSED: list[tuple[Any, type[Exception], str]] = [
    (
        lambda: NUMBERS.interleave(square, cycle_length=0),
        ValueError,
        "cycle_length=0: must be 1 or more, or AUTOTUNE",
    ),
    (
        lambda: NUMBERS.interleave(square, block_length=0),
        ValueError,
        "block_length=0: must be 1 or more",
    ),
    (
        lambda: NUMBERS.interleave(square, 1, 1, 4),
        ValueError,
        "num_parallel_calls=4: must be 1 or less",
    ),
    (lambda: NUMBERS.interleave(3), TypeError, "map_func=3: must be a function"),
    (
        lambda: NUMBERS.map(square, cost=-1),
        ValueError,
        "cost=-1: must be a number of seconds, 0 or more",
    ),
    (lambda: NUMBERS.map(square, cost=math.nan), ValueError, "cost=nan"),
    (lambda: NUMBERS.map(square, cost="1"), TypeError, "cost='1'"),
    (lambda: NUMBERS.map(square, cost=True), TypeError, "cost=True"),
    (lambda: NUMBERS.map(5), TypeError, "map_func=5: must be a function"),
    (
        lambda: NUMBERS.map(square, kind="gpu"),
        ValueError,
        "kind='gpu': must be one of wait, native, python",
    ),
    (
        lambda: NUMBERS.map(square, num_parallel_calls=0),
        ValueError,
        "num_parallel_calls=0: must be 1 or more",
    ),
    (
        lambda: NUMBERS.map(square, num_parallel_calls=1.5),
        TypeError,
        "num_parallel_calls=1.5",
    ),
    (
        lambda: NUMBERS.map(square, deterministic=1),
        TypeError,
        "deterministic=1: must be True or False",
    ),
    (
        lambda: NUMBERS.map(square, nbytes=-1),
        ValueError,
        "nbytes=-1: must be 0 or more",
    ),
    (lambda: NUMBERS.map(square, stage=""), TypeError, "stage=''"),
    (lambda: NUMBERS.filter(None), TypeError, "predicate=None: must be a function"),
    (
        lambda: NUMBERS.prefetch(-2),
        ValueError,
        "buffer_size=-2: must be 0 or more, or AUTOTUNE",
    ),
    (lambda: NUMBERS.shuffle(0), ValueError, "buffer_size=0: must be 1 or more"),
    (lambda: NUMBERS.shuffle(-1), ValueError, "buffer_size=-1: must be 1 or more"),
    (lambda: NUMBERS.shuffle(2, seed="x"), TypeError, "seed='x': must be an integer"),
    (lambda: NUMBERS.batch(0), ValueError, "batch_size=0: must be 1 or more"),
    (lambda: NUMBERS.repeat("x"), TypeError, "count='x': must be an integer"),
    (lambda: NUMBERS.take(None), TypeError, "count=None: must be an integer"),
    (lambda: NUMBERS.shard(0, 0), ValueError, "num_shards=0: must be 1 or more"),
    (
        lambda: NUMBERS.shard(3, 3),
        ValueError,
        "index=3: must be 0 to 2, as num_shards is 3",
    ),
    (lambda: Dataset.zip(), TypeError, "datasets=None: must be datasets"),
    (
        lambda: Dataset.zip(NUMBERS, datasets=NUMBERS),
        TypeError,
        "datasets: must not be given together with",
    ),
    (lambda: Dataset.zip(datasets=3), TypeError, "datasets=3: must be datasets"),
    (
        lambda: NUMBERS.batch(2, num_parallel_calls=0),
        ValueError,
        "num_parallel_calls=0: must be 1 or more",
    ),
    (lambda: Dataset.from_list({1}), TypeError, "values={1}: must be a list"),
    (lambda: Dataset.zip(NUMBERS, 3), TypeError, "datasets=3: must be datasets"),
    (lambda: Dataset.range(), TypeError, "range expected at least 1 argument"),
    (
        lambda: Dataset.range(1.5),  # type: ignore[arg-type]
        TypeError,
        "range=1.5: must be an integer",
    ),
    (lambda: Dataset.range(0, 5, 0), ValueError, "must not be zero"),
    (lambda: Dataset.from_list("abc"), TypeError, "values='abc': must be a list"),
    (lambda: Dataset.from_list(iter([1])), TypeError, "must be a list of elements"),
    (
        lambda: Dataset.from_generator([1]),  # type: ignore[arg-type]
        TypeError,
        "generator=[1]: must be a function",
    ),
    (lambda: ArtificialDataset(-1), ValueError, "num_samples=-1: must be 0 or more"),
    (lambda: ArtificialDataset(open=math.inf), ValueError, "open=inf"),
    (lambda: Machine(0), ValueError, "cores=0: must be 1 or more"),
    (lambda: work(-1), ValueError, "seconds=-1"),
    (lambda: work(1, kind="x"), ValueError, "kind='x'"),
    (lambda: straggler(1, every=0, slow=1), ValueError, "every=0: must be 1 or more"),
    (lambda: per_sample(-1), ValueError, "seconds=-1"),
    (lambda: Dataset(3), TypeError, "begin with Dataset.range"),  # type: ignore[arg-type]
    (lambda: benchmark(3), TypeError, "dataset=3: must be a Dataset"),  # type: ignore[call-overload]
    (
        lambda: benchmark(NUMBERS, clock="x"),
        ValueError,
        "clock='x': must be one of virtual, real",
    ),
    (lambda: benchmark(NUMBERS, num_epochs=-1), ValueError, "num_epochs=-1"),
    (lambda: benchmark(NUMBERS, train=-1), ValueError, "train=-1"),
    (lambda: benchmark(NUMBERS.repeat()), ValueError, "never ends: set max_elements"),
]


@pytest.mark.parametrize(
    ("build", "error", "message"), REFUSED, ids=[message for _, _, message in REFUSED]
)
def test_wrong_arguments_are_refused_at_once(
    build: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as raised:
        build()
    assert message in str(raised.value)


ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 5),
    st.floats(),
    st.text(max_size=3),
    st.just(square),
    st.lists(st.none()),
)
METHODS = [
    "map",
    "filter",
    "flat_map",
    "interleave",
    "prefetch",
    "cache",
    "batch",
    "unbatch",
    "shuffle",
    "repeat",
]
METHODS += ["take", "skip", "shard"]


@given(st.sampled_from(METHODS), st.lists(ANYTHING, max_size=4), st.booleans())
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
    assert cardinality(built.node) is None or cardinality(built.node) >= 0


@pytest.mark.parametrize(
    ("dataset", "expected"),
    [
        (NUMBERS, 10),
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
        (Dataset.zip(NUMBERS, NUMBERS.take(3)), 3),
        (NUMBERS.filter(square), None),
        (NUMBERS.repeat().filter(square), math.inf),
        (ArtificialDataset(), None),
        (ArtificialDataset().take(0), 0),
    ],
    ids=repr,
)
def test_cardinality_is_what_tf_data_says(dataset: Dataset, expected: float | None) -> None:
    assert cardinality(dataset.node) == expected


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
