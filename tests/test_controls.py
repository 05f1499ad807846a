from math import inf, nan
from types import SimpleNamespace
from typing import Any

import ipywidgets
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pages import JSON

from lessonkit.widgets.controls import RefusedError, cards, control, controls_of, seconds, slider


def test_the_abbreviations_are_those_of_interact() -> None:
    assert control("a", (1, 8)).values == tuple(range(1, 9))
    assert control("a", (0, 10, 5)).values == (0, 5, 10)
    assert control("a", (0.0, 1.0, 0.25)).values == (0.0, 0.25, 0.5, 0.75, 1.0)
    assert control("a", (0.0, 1.0)).values[:3] == (0.0, 0.1, 0.2)
    assert control("a", 10).values[0] == -10
    assert control("a", 10).values[-1] == 30
    assert control("a", 10).values[control("a", 10).start] == 10
    assert control("a", ["x", "y"]).values == ("x", "y")
    assert control("a", {"one": 1, "two": 2}).texts == ("one", "two")
    assert control("a", [("one", 1), ("two", 2)]).values == (1, 2)
    assert control("a", True).start is True


@pytest.mark.parametrize(
    ("widget", "values", "start"),
    [
        (ipywidgets.IntSlider(min=1, max=4, value=3), (1, 2, 3, 4), 2),
        (ipywidgets.FloatSlider(min=0, max=1, step=0.5, value=0.5), (0.0, 0.5, 1.0), 1),
        (ipywidgets.Dropdown(options=["x", "y"], value="y"), ("x", "y"), 1),
        (ipywidgets.Checkbox(value=True), (False, True), True),
    ],
)
def test_a_widget_is_made_a_control_like_it(widget: Any, values: tuple[Any, ...], start: Any) -> None:
    made = control("a", widget)
    assert (made.values, made.start) == (values, start)


def test_a_slider_has_a_unit_and_a_label() -> None:
    made = control("n", slider(1, 3, unit="calls", label="calls at once"))
    assert made.texts == ("1 call", "2 calls", "3 calls")
    assert made.label == "calls at once"
    assert control("t", seconds(0.005, 0.015, 0.005)).values == (0.005, 0.01, 0.015)


def test_a_control_starts_at_the_default_of_the_function() -> None:
    def pipeline(calls: int = 3, order: str = "b", on: bool = True, other: int = 0) -> None: ...

    made = controls_of(pipeline, {"calls": (1, 8), "order": ["a", "b"], "on": False, "other": (1, 3)})
    assert [one.start for one in made] == [2, 1, True, 0]


def test_a_slider_without_a_default_starts_in_the_middle() -> None:
    def pipeline(calls: int) -> None: ...

    assert [one.values[one.start] for one in controls_of(pipeline, {"calls": (1, 9)})] == [5]


@pytest.mark.parametrize(
    "given",
    [
        (3, 1),
        (1, 1),
        (1, 5, 0),
        (0, 10**9),
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


@pytest.mark.parametrize("given", [(0.0, inf), (0.0, 1.0, nan), (0, 1e-12, 1e-13), slider("a", "b")])  # type: ignore[arg-type]
def test_a_slider_needs_ends_and_steps_that_can_be_told_apart(given: Any) -> None:
    with pytest.raises(ValueError, match=r"a: (must go|goes in steps)"):
        control("a", given)


def test_a_tuple_that_is_no_range_is_a_choice() -> None:
    assert control("a", (1, "a", 3, 4)).kind == "choice"


@pytest.mark.parametrize("given", [[1, 3], cards(one=len, two=len), ["a"]])
def test_a_default_that_is_no_value_is_refused(given: Any) -> None:
    def pipeline(a: int = 2) -> None: ...

    with pytest.raises(ValueError, match="a=2: the default of the function is none of "):
        controls_of(pipeline, {"a": given})


def test_numbers_of_numpy_are_numbers() -> None:
    assert control("a", (np.int64(1), np.int64(3))).texts == ("1", "2", "3")


def test_a_control_for_no_argument_is_refused() -> None:
    with pytest.raises(TypeError, match="missing: the pipeline function has no such argument"):
        controls_of(lambda calls: None, {"missing": (1, 2)})


def test_an_unknown_widget_is_refused() -> None:
    with pytest.raises(TypeError, match="can not be a control"):
        control("a", ipywidgets.Text())


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


@given(st.sampled_from(CONTROLS), JSON)
def test_a_value_is_one_of_the_control_or_is_refused(made: Any, said: Any) -> None:
    try:
        value = made.value(said)
    except RefusedError:
        return
    if made.kind == "order":
        assert sorted(said) == [0, 1, 2]
    else:
        assert value in made.values
        assert not isinstance(said, float)


def test_a_thing_that_only_looks_like_a_widget_is_refused() -> None:
    with pytest.raises(TypeError, match="can not be a control"):
        control("a", SimpleNamespace(value=object(), comm=None, description=""))
