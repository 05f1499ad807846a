"""A formula that belongs to a live view: what it may say, and whether it holds."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessonkit import ArtificialDataset, Dataset
from lessonkit.widgets import explore, seconds
from lessonkit.widgets.formula import Formula

COST = seconds(0, 0.040, 0.001)
COSTS = st.integers(0, 40)


def in_turn(
    samples: int = 3,
    epochs: int = 2,
    open: float = 0.030,
    read: float = 0.015,
    train: float = 0.010,
) -> Any:
    return ArtificialDataset(samples, open=open, read=read), {
        "num_epochs": epochs,
        "train": train,
    }


def ahead(
    samples: int = 3,
    buffer: int = 1,
    open: float = 0.030,
    read: float = 0.015,
    train: float = 0.010,
) -> Any:
    return ArtificialDataset(samples, open=open, read=read).prefetch(buffer), {
        "num_epochs": 2,
        "train": train,
    }


def kept(
    samples: int = 3,
    epochs: int = 5,
    read: float = 0.015,
    map: float = 0.030,
    train: float = 0.010,
) -> Any:
    dataset = ArtificialDataset(samples, open=0.030, read=read).map(cost=map).cache()
    return dataset, {"num_epochs": epochs, "train": train}


def lanes(
    files: int = 8,
    lanes: int = 2,
    open: float = 0.300,
    read: float = 0.015,
    train: float = 0.010,
) -> Any:
    numbers = Dataset.range(files)
    dataset = numbers.interleave(
        lambda _: ArtificialDataset(3, open=open, read=read), lanes, 1, lanes
    )
    return dataset, {"num_epochs": 1, "train": train}


def judged(pipeline: Any, formula: str, **numbers: int) -> Any:
    """What the formula says at a step of each control that is named."""
    controls: dict[str, Any] = {
        "samples": (1, 20),
        "epochs": (1, 5),
        "buffer": (0, 4),
        "lanes": (1, 8),
    }
    shown = explore(
        pipeline,
        formula=formula,
        **{name: controls.get(name, COST) for name in numbers},
    )
    return shown.picture(shown.values(numbers))[1]["formula"]


SUM = "epochs * (open + samples * (read + train))"
LARGER = "2 * (open + read + (samples - 1) * max(read, train) + train)"
WAVES = "max(round_up(files / (3 * lanes)) * (open + 3 * read), open + read + files * 3 * train)"


def test_its_value_stands_beside_the_run() -> None:
    assert judged(in_turn, SUM, read=15) == {
        "value": "210 ms",
        "holds": True,
        "said": "the same as the run",
        "beaten": [],
    }


def test_one_that_does_not_hold_cannot_hide() -> None:
    assert judged(ahead, SUM.replace("epochs", "2"), read=15) == {
        "value": "210 ms",
        "holds": False,
        "said": "the run takes 170 ms",
        "beaten": [],
    }
    assert judged(ahead, LARGER, buffer=0)["said"] == "the run takes 210 ms"


def test_a_bound_holds_if_the_run_takes_longer() -> None:
    said = judged(lanes, f"total >= {WAVES}", lanes=1)
    assert (said["value"], said["holds"], said["said"]) == (
        "690 ms",
        True,
        "the run of 750 ms",
    )
    assert not judged(lanes, WAVES, lanes=1)["holds"]
    assert not judged(in_turn, "total >= 1", read=15)["holds"]


def test_the_run_is_said_as_the_figures_beside_it_have_it() -> None:
    shown = explore(
        lambda calls=2: (
            ArtificialDataset(20).map(cost=0.030, num_parallel_calls=calls),
            {"num_epochs": 1},
        ),
        formula="per_sample >= max(0.015, (0.015 + 0.030) / calls, 0.010)",
    )
    _, scene = shown.picture({"calls": 2})
    assert scene["figures"][0][0] == "25.25 ms"
    assert scene["formula"]["said"] == "the run of 25.25 ms"


def test_what_would_be_written_as_nothing_is_less_than_can_be_written() -> None:
    shown = explore(in_turn, formula="total >= 2 * (open + 3 * (read + train)) - 0.000004")
    assert shown.picture({})[1]["formula"]["said"] == "the run, by less than 0.01 ms"
    shown = explore(in_turn, formula="total >= 2 * (open + 3 * (read + train)) - 0.000006")
    assert shown.picture({})[1]["formula"]["said"] == "the run, by 0.01 ms"


@given(
    samples=st.integers(0, 19),
    epochs=st.integers(0, 4),
    open=COSTS,
    read=COSTS,
    train=COSTS,
)
def test_a_sum_holds_for_whatever_takes_turns(**numbers: int) -> None:
    assert judged(in_turn, SUM, **numbers)["holds"]
    assert judged(in_turn, "per_sample == open / samples + read + train", **numbers)[
        "holds"
    ]


@given(
    samples=st.integers(0, 19),
    buffer=st.integers(1, 4),
    open=COSTS,
    read=COSTS,
    train=COSTS,
)
def test_the_larger_holds_with_any_buffer(**numbers: int) -> None:
    assert judged(ahead, LARGER, **numbers)["holds"]


@given(
    samples=st.integers(0, 19),
    epochs=st.integers(0, 4),
    read=COSTS,
    map=COSTS,
    train=COSTS,
)
def test_what_is_before_a_cache_is_paid_once(**numbers: int) -> None:
    assert judged(
        kept, "0.030 + samples * (read + map) + epochs * samples * train", **numbers
    )["holds"]


@given(lanes=st.integers(0, 7), open=COSTS, read=COSTS, train=COSTS)
def test_waves_are_a_bound(**numbers: int) -> None:
    assert judged(lanes, f"total >= {WAVES}", **numbers)["holds"]


def beaten(text: str, **values: Any) -> list[str]:
    """The names that have no say, with their places among all names."""
    formula = Formula(text, in_turn, values)
    names = re.findall(r"[a-z_]+", text)
    return [f"{place} {names[place]}" for place in sorted(formula.beaten(values))]


def test_names_in_a_max_that_something_else_exceeds_have_no_say() -> None:
    assert beaten("open + max(read, train)", read=0.015, train=0.010) == ["3 train"]
    assert beaten("open + max(read, train)", read=0.010, train=0.015) == ["2 read"]
    assert beaten("open + max(read, train)", read=0.010, train=0.010) == []  # both decide
    assert beaten("min(read, train)", read=0.010, train=0.020) == ["2 train"]
    assert beaten("max(read, (read + open) / samples, train)", read=0.010, samples=2) == [
        "1 read",
        "5 train",
    ]
    assert beaten("round_up(read / train) * max(read, 1)") == ["4 read"]
    assert beaten("max(\n read,\n train)", read=0.015, train=0.010) == ["2 train"]


# ---- what the page is told ----


def test_the_page_gets_words_and_names_in_turns_and_the_steps_of_costs() -> None:
    shown = explore(
        in_turn,
        formula=f"per_sample >= {SUM}",
        samples=(1, 3),
        read=seconds(0.005, 0.015, 0.005),
    )
    told = json.loads(shown.state)["formula"]
    assert told["said"] == "per sample ≥"
    assert told["words"][1::2] == ["epochs", "open", "samples", "read", "train"]
    assert "".join(told["words"]) == SUM.replace("*", "·")
    assert told["fixed"] == {
        "samples": "3",
        "epochs": "2",
        "open": "30 ms",
        "read": "15 ms",
        "train": "10 ms",
    }
    assert told["steps"] == {"read": [5000, 10000, 15000]}


def wide(öffnen: float = 0.030, µs: float = 0.015) -> Any:
    return ArtificialDataset(open=öffnen, read=µs)


def test_a_name_is_any_that_python_takes() -> None:
    text = "2 * (öffnen + 3 * (µs + 10e-3))"
    shown = explore(wide, formula=text, öffnen=COST, µs=COST)
    told = json.loads(shown.state)
    # As Python itself writes the name
    assert told["formula"]["words"][1::2] == ["öffnen", "μs"]
    assert (
        {*told["formula"]["steps"]}
        == {"öffnen", "μs"}
        == {one["name"] for one in told["controls"]}
    )
    assert told["scene"]["formula"]["holds"]


def test_a_minus_may_stand_before_a_number_a_name_or_a_bracket() -> None:
    assert Formula("-1 + -read * -(samples - 5)", in_turn, {}).value({}) == -1.03


def test_without_one_the_page_is_told_of_none() -> None:
    shown = explore(in_turn, read=COST)
    assert json.loads(shown.state)["formula"] is None
    assert "formula" not in json.loads(shown.state)["scene"]


# ---- what it may not say ----

WRONG = [
    "read +",
    "",
    "nothing",
    "print(read)",
    "__import__('os').getcwd()",
    "read.real",
    "max()",
    "max(read, key=1)",
    "max(*[1])",
    "(lambda: 1)()",
    "[read][0]",
    "read ** 99999",
    "read % 2",
    "~samples",
    "not read",
    "read if read else 1",
    "'a'",
    "True",
    "read < train",
    "(yes := 1)",
    "total == read == train",
    "duration == read",
]


@pytest.mark.parametrize("text", ["1 / (read - 1)", "round_up(1, 2)"])
def test_a_formula_without_a_value_at_the_start_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="formula="):
        Formula(text, in_turn, {"read": 1})


@pytest.mark.parametrize("text", WRONG)
def test_anything_but_arithmetic_on_the_arguments_is_refused_at_once(text: str) -> None:
    with pytest.raises(ValueError, match="formula"):
        Formula(text, in_turn, {})


@given(st.text(max_size=30) | st.text("read+-*/(), max.total=>1", max_size=20))
def test_any_text_is_a_number_or_is_refused(text: str) -> None:
    with suppress(ValueError, ArithmeticError):
        assert isinstance(Formula(text, in_turn, {}).value({}), float)


def test_where_there_is_no_number_the_run_is_shown_all_the_same() -> None:
    def often(calls: Any = 2, read: float = 0.015) -> Any:
        return ArtificialDataset(read=read).map(cost=0.010, num_parallel_calls=calls)

    shown = explore(often, formula="read / calls", calls=[2, None], read=COST)
    drawn = shown.picture(shown.values({"calls": 1, "read": 15}))[1]
    assert drawn["formula"] == {
        "value": "?",
        "holds": False,
        "said": "the formula has no number for calls",
        "beaten": [],
    }
    assert drawn["figures"][1][1] == "for 6 samples"
    shown = explore(often, formula="calls / read", calls=[2, None], read=COST)
    assert (
        shown.picture(shown.values({"calls": 0, "read": 0}))[1]["formula"]["value"] == "?"
    )


def test_no_control_may_have_its_name() -> None:
    with pytest.raises(TypeError, match="no control can have this name"):
        explore(in_turn, formula=(1, 2))  # type: ignore[arg-type]
