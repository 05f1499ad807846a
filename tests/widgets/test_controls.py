from fractions import Fraction
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pages import JSON

from lessonkit.widgets.controls import (
    cards,
    control,
    controls_of,
    seconds,
    slider,
)


def test_the_abbreviations_are_those_of_interact() -> None:
    assert control("a", (1, 8)).values == tuple(range(1, 9))
    assert control("a", (0, 10, 5)).values == (0, 5, 10)
    assert control("a", (0.0, 1.0, 0.25)).values == (0.0, 0.25, 0.5, 0.75, 1.0)
    assert control("a", ["x", "y"]).values == ("x", "y")
    assert control("a", {"one": 1, "two": 2}).texts == ("one", "two")
    assert control("a", True).start == 1


def test_a_slider_has_a_unit_and_a_label() -> None:
    made = control("n", slider(1, 3, unit="calls", label="calls at once"))
    assert made.texts == ("1 call", "2 calls", "3 calls")
    assert made.label == "calls at once"
    assert control("t", seconds(0.005, 0.015, 0.005)).values == (0.005, 0.01, 0.015)


def test_a_control_starts_at_the_default_of_the_function() -> None:
    def pipeline(
        calls: int = 3, order: str = "b", on: bool = True, other: int = 0
    ) -> None: ...

    made = controls_of(
        pipeline, {"calls": (1, 8), "order": ["a", "b"], "on": False, "other": (1, 3)}
    )
    assert [one.start for one in made.values()] == [2, 1, 1, 0]


def test_a_slider_without_a_default_starts_in_the_middle() -> None:
    def pipeline(calls: int) -> None: ...

    made = controls_of(pipeline, {"calls": (1, 9)})["calls"]
    assert made.values[made.start] == 5


@pytest.mark.parametrize(
    "given",
    [
        (3, 1),
        (1, 1),
        (1, 5, 0),
        (0, 10**9),
        (0, 10**400),
        10**400,
        nan,
        (0.0, inf),
        (0.0, 1.0, nan),
        (0, 1e-12, 1e-13),
        [],
        {},
        object(),
        "text",
    ],
)
def test_what_is_no_control_is_refused(given: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="a"):
        control("a", given)


def test_a_slider_has_at_most_a_thousand_steps_and_at_least_one() -> None:
    assert len(slider(0, 1, 0.001).values) == 1001
    assert slider(0.005, 0.015, 0.010).values == (0.005, 0.015)
    for least, most, step in (0, 1.001, 0.001), (0, 1, 5), (0, 1, -1):
        with pytest.raises(ValueError, match="at most 1000 steps"):
            slider(least, most, step)


@pytest.mark.parametrize("given", [(0.0, inf), (0.0, 1.0, nan), (0, 1e-12, 1e-13)])
def test_a_slider_needs_ends_and_steps_that_can_be_told_apart(given: Any) -> None:
    with pytest.raises(ValueError, match="slider: must go up in at most 1000 steps"):
        control("a", given)
    with pytest.raises(ValueError, match="not from a to b in steps of 1"):
        slider("a", "b")  # type: ignore[arg-type]


def test_a_tuple_that_is_no_range_is_a_choice() -> None:
    assert control("a", (1, "a", 3, 4)).kind == "choice"


@pytest.mark.parametrize("given", [[1, 3], cards(one=len, two=len), ["a"]])
def test_a_default_that_is_no_value_is_refused(given: Any) -> None:
    def pipeline(a: int = 2) -> None: ...

    with pytest.raises(ValueError, match="a=2: the default of the function is none of "):
        controls_of(pipeline, {"a": given})


def test_numbers_of_numpy_are_numbers() -> None:
    assert control("a", (np.int64(1), np.int64(3))).texts == ("1", "2", "3")
    tenth, half = np.float32(0.1), np.float32(0.5)
    assert control("a", (tenth, half, tenth)).texts == (
        "0.1",
        "0.2",
        "0.3",
        "0.4",
        "0.5",
    )


def test_fractions_are_numbers_and_large_ones_are_told_apart() -> None:
    assert control("a", (Fraction(1, 4), Fraction(1, 2), Fraction(1, 4))).texts == (
        "0.25",
        "0.5",
    )
    assert control("a", (1_000_000, 1_000_001)).texts == ("1,000,000", "1,000,001")


class BrokenError(Exception):
    """Raised by what cannot be compared."""


class Broken:
    """Raises when it is compared, and cannot be hashed."""

    def __eq__(self, other: object) -> bool:
        raise BrokenError


class Agreeable:
    """Equals anything."""

    def __eq__(self, other: object) -> bool:
        return True


ONES, BROKEN = np.ones(3), Broken()


@pytest.mark.parametrize(
    ("values", "default", "start"),
    [
        ([np.zeros(3), ONES], ONES, 1),
        ([Broken(), BROKEN], BROKEN, 1),
        ([Agreeable(), 3], 3, 1),
        ([1, True], True, 1),
        ([1, 1.0], 1.0, 1),
        ([1.0, 2.0], 2, 1),
        ([1, None], None, 1),
        ([1, nan], nan, 1),
        ([[1], {}], {}, 1),
    ],
    ids=str,
)
def test_a_choice_starts_at_the_default_itself_or_else_at_an_equal_one(
    values: list[Any], default: Any, start: int
) -> None:
    assert controls_of(lambda a=default: None, {"a": values})["a"].start == start


@pytest.mark.parametrize(
    "values", [[np.zeros(3), ONES], [BROKEN, BROKEN], [1, None], {"x": ONES, "y": None}]
)
def test_a_choice_without_a_default_starts_at_the_first(values: Any) -> None:
    assert control("a", values).start == 0


@pytest.mark.parametrize("default", [np.ones(3), Broken(), "x" * 10**6])
@pytest.mark.parametrize("given", [(1, 3), [np.ones(3), Broken()]])
def test_a_default_that_equals_nothing_is_refused_with_its_beginning(
    given: Any, default: Any
) -> None:
    with pytest.raises(
        ValueError, match="the default of the function is none of "
    ) as refused:
        controls_of(lambda a=default: None, {"a": given})
    assert len(str(refused.value)) < 1000


@pytest.mark.parametrize("default", [None, 10**400])
def test_a_default_that_no_slider_reaches_is_refused(default: Any) -> None:
    with pytest.raises(ValueError, match="the default of the function is none of "):
        controls_of(lambda a=default: None, {"a": (0.0, 1.0)})


def test_a_switch_says_what_its_default_may_be() -> None:
    with pytest.raises(
        ValueError, match="the default of the function is none of False, True"
    ):
        controls_of(lambda a=ONES: None, {"a": True})


@pytest.mark.parametrize("default", [[len], [len, len], [str, len, len], None])
def test_cards_start_at_an_order_of_all_of_them(default: Any) -> None:
    with pytest.raises(
        ValueError, match="the default of the function is none of length, text"
    ):
        controls_of(lambda order=default: None, {"order": cards(length=len, text=str)})


def test_a_long_text_is_cut() -> None:
    assert len(control("a", ["x" * 10**6]).texts[0]) < 1000


def test_a_control_for_no_argument_is_refused() -> None:
    with pytest.raises(
        TypeError, match="missing: the pipeline function has no such argument"
    ):
        controls_of(lambda calls: None, {"missing": (1, 2)})


def test_cards_give_their_functions_in_order() -> None:
    first, second = (lambda data: data), (lambda data: data)
    made = control("order", cards(first=first, second=second))
    assert made.texts == ("first", "second")
    assert made.value([1, 0]) == [second, first]
    with pytest.raises(ValueError, match="two or more"):
        cards(one=first)


CONTROLS = [
    control("range", (1, 8)),
    control("choice", ["a", "b"]),
    control("flag", True),
    control("order", cards(a=len, b=len, c=len)),
]


@pytest.mark.parametrize("sent", [(1, 0, 2), [1.0, 0, 2], [True, 0, 2], {0: 1}, "012", 1])
def test_an_order_of_cards_is_a_list_of_their_numbers(sent: Any) -> None:
    order = control("order", cards(a=len, b=len, c=len))
    assert order.value([1, 0, 2]) == [order.values[1], order.values[0], order.values[2]]
    with pytest.raises(ValueError, match="order: there is no such value"):
        order.value(sent)


@given(st.sampled_from(CONTROLS), JSON)
def test_a_value_is_one_of_the_control_or_is_refused(made: Any, said: Any) -> None:
    try:
        value = made.value(said)
    except ValueError:
        return
    if made.kind == "order":
        assert sorted(said) == [0, 1, 2]
    else:
        assert value in made.values
        assert not isinstance(said, float)
