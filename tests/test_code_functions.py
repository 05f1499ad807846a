"""A learner's functions and values in a program: it compiles, and does the same, or says what is missing."""

from __future__ import annotations

import ast
import concurrent.futures
import datetime
import enum
import functools
import math
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from test_code import built

from lessonkit import Dataset, benchmark, per_sample, straggler
from lessonkit.loops.fitting import costing, fit

X = Dataset.range(4)
SCALE = 3
LIMIT = math.inf
LABELS = {"cat": [0, 1], "dog": [2, 3]}
SEEN: list[int] = []
count = 0


def elements(dataset: Dataset) -> list[Any]:
    return benchmark(dataset, 1, 0, keep=True).epochs[0].elements


def texts(dataset: Dataset) -> list[str]:
    """The programs for this package and for tf.data, both of which compile."""
    both = [dataset.code(language) for language in ("lessonkit", "tf.data")]
    for text in both:
        compile(text, "program", "exec")
    return both


def is_left(text: str) -> bool:
    """Whether something is left to the reader."""
    return "# put " in text


# ---- functions that have a text ----


def has_its_own(x: int) -> list[int]:
    SCALE = [x, x]  # noqa: N806 - not the global one
    return [*SCALE, x]


def count_down(x: int) -> int:
    return count_down(x - 1) if x else 0


def is_odd(x: int) -> bool:
    return x > 0 and is_even(x - 1)


def is_even(x: int) -> bool:
    return x == 0 or is_odd(x - 1)


def keeps(x: int) -> int:
    SEEN.append(x)
    return len(SEEN)


def matched(x: int) -> Any:
    match x:
        case 0 | 1:
            return "few"
        case other:
            return other


def caught(x: int) -> float:
    try:
        return 1 / x
    except ZeroDivisionError as error:
        return len(str(error))


def ready(x: int) -> Any:
    return concurrent.futures.ThreadPoolExecutor.__name__, x


def plus_one(function: Callable[[int], int]) -> Callable[[int], int]:
    @functools.wraps(function)
    def wrapper(x: int) -> int:
        return function(x) + 1

    return wrapper


@plus_one
@plus_one
def decorated(x: int) -> int:
    return x * 2


def add(offset: int) -> Callable[[int], int]:
    def outer(factor: int) -> Callable[[int], int]:
        def inner(x: int) -> int:
            return x * factor + offset

        return inner

    return outer(SCALE)


def with_lines() -> Callable[[int], str]:
    def inner(x: int) -> str:
        text = """one
two"""
        return text + str(x)

    return inner


def lambda_rate(x: int) -> float:
    return x / 100


class Class:
    @staticmethod
    def static(x: int) -> int:
        return x + 1

    def method(self, x: int) -> int:
        return x + 1

    def __call__(self, x: int) -> int:
        return x + 1


down = lambda x: down(x - 1) if x else 0  # type: ignore # noqa: E731 - not the function of a `def`
pair = (lambda x: x + 1, lambda x: x + 2)
thrice = [lambda x, k=k: x + k for k in (1, 2, 3)]
same_name = [lambda x, offset=offset: add(offset)(x) for offset in (7, 1000)]

WRITTEN: list[Any] = [
    *(
        has_its_own,
        count_down,
        is_odd,
        keeps,
        matched,
        caught,
        ready,
        decorated,
        add(7),
        with_lines(),
    ),
    *(lambda_rate, Class.static, down, *pair, *thrice, *same_name, math.sqrt, np.sqrt, str),
    lambda x, k=SCALE: (lambda y: y + k)(x),
    lambda x: (y := x + SCALE) + y,
    lambda x: f"{x:>{SCALE}} {'a'} {LIMIT!r} {LABELS['dog']}",
    lambda x: [SCALE * y for y in range(x) if y in LABELS["cat"]],
]


@pytest.mark.parametrize("function", WRITTEN)
def test_a_function_does_the_same_in_a_program(function: Callable[..., Any]) -> None:
    SEEN.clear()
    dataset = X.map(function)
    text, in_tfdata = texts(dataset)
    assert not is_left(text + in_tfdata)
    SEEN.clear()
    assert elements(built(text)) == elements(dataset)


def test_functions_are_told_apart_by_what_they_captured() -> None:
    dataset = X
    for function in (*thrice, add(7), add(1000), add(7)):
        dataset = dataset.map(function)
    assert elements(built(dataset.code())) == elements(dataset)
    assert dataset.code().count("def inner") == 2


def test_a_function_may_have_a_name_that_the_program_needs() -> None:
    dataset = X
    for name in (
        "plain",
        "work",
        "time",
        "tf",
        "dataset",
        "x",
        "value",
        "made",
        "print",
        "Dataset",
    ):
        function = add(len(name) * 1000)
        function.__name__ = name
        dataset = dataset.map(function).map(cost=function)
    text, _ = texts(dataset)
    assert benchmark(built(text)).duration == benchmark(dataset).duration


def test_comments_stay_where_nothing_has_to_be_filled_in() -> None:
    assert "SCALE = [x, x]  # noqa: N806 - not the global one" in X.map(has_its_own).code()
    # Its lines cannot be moved
    assert '        text = """one\ntwo"""' not in X.map(with_lines()).code()


# ---- functions that have none ----


def counts(x: int) -> int:
    global count
    count += 1
    return count


def two_meanings(x: int) -> list[int]:
    return [*(SCALE for SCALE in range(x)), SCALE]


def at_a_loss(x: int, *, k: int = 1) -> int:
    return x + k


def counter() -> Callable[[int], int]:
    number = 0

    def inner(x: int) -> int:
        nonlocal number
        number += x
        return number

    return inner


class Odd:
    """Nothing about it is as one would think."""

    def __repr__(self) -> str:
        raise RuntimeError("no")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no")

    __hash__ = None  # type: ignore[assignment]


class Liar(Odd):
    def __repr__(self) -> str:
        return "3"


LEFT = [
    *(counts, two_meanings, at_a_loss, counter(), Class(), Class().method, "{}".format),
    *(
        functools.partial(at_a_loss, k=3),
        functools.cache(at_a_loss),
        namedtuple("Point", "x"),
    ),
]


@pytest.mark.parametrize("function", LEFT)
def test_what_has_no_source_is_a_stub(function: Callable[..., Any]) -> None:
    for text in texts(X.map(cost=lambda x: isinstance(x, type(function)))) + texts(
        X.map(function)
    ):
        assert "(*args):  # put its source here\n    raise NotImplementedError" in text


def test_each_value_without_a_text_has_a_stub_of_its_own() -> None:
    one, other = ((lambda model: lambda x: (x, model)[0])(object()) for _ in range(2))
    for text in texts(X.map(one).map(other)):
        assert "model = None  # put the object here" in text
        assert "model_2 = None  # put the object here" in text


# ---- values ----

Point = namedtuple("Point", "x y")
Color = enum.IntEnum("Color", "RED GREEN")


@dataclass
class Data:
    x: Any


LOOP: list[Any] = []
LOOP.append(LOOP)
DEEP = functools.reduce(lambda inner, _: [inner], range(500), LOOP)
NUMBERS = st.one_of(
    st.integers(), st.floats(), st.complex_numbers(), st.booleans(), st.none()
)
PLAIN = NUMBERS | st.text(max_size=5) | st.binary(max_size=5)
HASHED = PLAIN | st.tuples(PLAIN)
KNOWN = st.recursive(
    HASHED,
    lambda part: st.lists(part, max_size=3) | st.dictionaries(HASHED, part, max_size=3),
    max_leaves=5,
)
ODD = [
    *(
        Point(1, 2),
        Color.RED,
        Color,
        Data(3),
        Path("."),
        datetime.date(2020, 1, 2),
        Odd(),
        Liar(),
    ),
    *(
        np.arange(3),
        np.float32(0.5),
        np.datetime64("2020"),
        np.bool_(True),
        np.dtype(int),
        LOOP,
        DEEP,
    ),
    *(object(), type("a\nb", (), {})(), type("class", (), {})(), ast, len, ...),
]


@settings(max_examples=30)
@given(KNOWN)
@example(complex(0, -0.0))
@example(complex(-0.0, 1))
@example(-0.0)
def test_plain_values_are_written(value: Any) -> None:
    dataset = X.map(lambda x: (x, value))
    text, _ = dataset.code(), texts(X.filter(lambda x: bool((x, value))))
    assert not is_left(text)
    assert repr(elements(built(text))) == repr(elements(dataset))


@pytest.mark.parametrize("place", range(len(ODD)))
@pytest.mark.parametrize(
    "around", [lambda value: value, lambda value: [1, value], lambda value: {"a": (value,)}]
)
def test_programs_compile_whatever_was_captured(
    place: int, around: Callable[[Any], Any]
) -> None:
    value = around(ODD[place])
    texts(
        X.map(lambda x, default=value: (x, value, default)[0]).map(
            cost=lambda x: 0.01 if isinstance(x, type(value)) else 0
        )
    )
    texts(Dataset.from_generator(lambda: iter([1, value][:1])))


def test_numbers_of_numpy_keep_their_types_where_a_function_computes_with_them() -> None:
    three: Any = np.int64(3)
    half = np.float32(0.5)
    dataset = Dataset.from_list(np.arange(3)).map(lambda x: (x * three + half, [half]))
    assert repr(dataset) == "Dataset.from_list([0, 1, 2]).map(<lambda>)"
    text, in_tfdata = texts(dataset)
    assert "half = np.float32(0.5)" in text
    assert "half = np.float32(0.5)" in in_tfdata
    assert repr(elements(built(text))) == repr(elements(dataset))


def test_numbers_of_numpy_are_plain_numbers_in_arguments() -> None:
    three: Any = np.int64(3)
    dataset = Dataset.range(three).take(three)
    assert repr(dataset) == "Dataset.range(3).take(3)"
    dataset = dataset.map(cost=per_sample(np.float64(0.1)))
    assert "np" not in "".join(texts(dataset))


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_numbers_without_end_are_written(value: float) -> None:
    text, _ = texts(X.map(lambda x: (x, value)))
    assert f"value = float('{value}')" in text
    assert repr(elements(built(text))[0]) == f"(0, {value})"
    assert (
        f"tf.constant([1.0, float('{value}')], tf.float64)"
        in texts(Dataset.from_list([1.0, value]))[1]
    )


def test_a_function_on_bytes_stays_as_it_was_written() -> None:
    dataset = Dataset.from_list([b"a"]).map(lambda value: value.decode() + "!")
    text = dataset.code("tf.data")
    assert (
        "lambda value: value.decode() + '!'" in text
        or "return value.decode() + '!'" in text
    )
    assert "return value if isinstance(value, bytes)" in text
    assert "return value.decode() if isinstance(value, bytes)" in Dataset.from_list(
        ["a"]
    ).map(len).code("tf.data")


# ---- names of stages, and costs ----


@settings(max_examples=100)
@given(
    st.text(min_size=1)
    | st.sampled_from(
        ["2nd decode", "class", "Import", "None", "Ω", "½", "ﬁ", "__", "\ud800"]
    )
)
def test_programs_compile_whatever_a_stage_is_called(stage: str) -> None:
    texts(X.map(str, cost=0.01, stage=stage).map(cost=len, stage=stage))


@pytest.mark.parametrize(
    ("stage", "name"),
    [
        *(
            ("Decode", "decode"),
            ("2nd decode", "mapped_2nd_decode"),
            ("class", "mapped_class"),
            ("Print", "print_2"),
        ),
        *(
            ("Time!", "time_2"),
            ("keep", "keep"),
            ("ﬁle 1", "file_1"),
            ("Größe", "größe"),
            ("?", "mapped_"),
        ),
    ],
)
def test_a_stage_names_its_function(stage: str, name: str) -> None:
    assert f"def {name}(x):\n    tf.py_function(" in X.map(cost=0.01, stage=stage).code(
        "tf.data"
    )


def test_a_measured_cost_is_written() -> None:
    uneven = fit([(number, 0.050 if number % 4 == 3 else 0.010) for number in range(8)])
    text, in_tfdata = texts(X.map(has_its_own, cost=uneven))
    assert (
        "cost=fitting.fitted(times=(0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.05, 0.05))"
        in text
    )
    assert "return 0.02  # on average" in in_tfdata
    measured = X.filter(costing(is_even, 0.25, "wait"))
    text, in_tfdata = texts(measured)
    assert elements(built(text)) == elements(measured)
    assert "lessonkit" not in in_tfdata


@pytest.mark.parametrize("cost", [per_sample(0.01), straggler(0.01, every=2, slow=0.02)])
def test_a_cost_is_the_same_in_a_program(cost: Any) -> None:
    dataset = X.map(cost=cost)
    assert benchmark(built(dataset.code())).duration == benchmark(dataset).duration
