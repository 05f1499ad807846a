"""A curve that a learner draws: how exactly, which misconception speaks, and where the knee is."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pages import Said

from lessonkit import ArtificialDataset, Dataset
from lessonkit.widgets import predict

CALLS = range(1, 6)
IDEAL, FLAT = "You divided everything by the calls.", "More calls do help."


def mapped(calls: int) -> Any:
    return ArtificialDataset(20).map(cost=0.030, num_parallel_calls=calls), {
        "num_epochs": 1
    }


def question(
    wrong: Sequence[tuple[Any, str]] = (), curve: Sequence[float] = (), **changes: Any
) -> Any:
    """The time per sample against the calls, or a curve of one's own."""
    given: dict[str, Any] = {
        "draw": {"calls": CALLS},
        "wrong": wrong,
        "why": "Training decides.",
    }
    if curve:
        values = iter(curve)
        given |= {
            "draw": {"calls": range(1, len(curve) + 1)},
            "answer": lambda trace: next(values),
        }
    return predict("How many ms a sample?", mapped, **(given | changes))


def told(widget: Any, places: Any) -> tuple[dict[str, Any], Any]:
    return Said(widget).ask({"do": "commit", "said": places, "sure": 1})


def text(widget: Any, places: list[int]) -> str:
    return str(told(widget, places)[1]["text"])


def test_there_is_a_point_for_each_value_and_the_first_is_given() -> None:
    made = question()
    draw = json.loads(made.state)["answer"]
    assert draw["values"] == ["1", "2", "3", "4", "5"]
    assert made.names == ["calls=2", "calls=3", "calls=4", "calls=5"]
    assert draw["first"] * draw["step"] == pytest.approx(47.0)  # ms a sample
    assert [place * made.step for place in made.right] == pytest.approx(
        [0.02525, 0.0185, 0.0185, 0.0185]
    )


def test_a_curve_that_is_near_is_right_and_shows_the_run_at_the_knee_over_the_first() -> (
    None
):
    made = question()
    about, answer = told(made, [round(place) for place in made.right])
    assert about["right"]
    assert about["tries"] == [["4 of 4 within 10 %", "fairly sure", True]]
    assert (
        answer["text"]
        == "Right: all are within 10 %. From calls=3 on, nothing changes. Training decides."
    )
    assert (answer["truth"], answer["knee"]) == (made.right, 2)
    assert answer["scene"]["perSample"] == pytest.approx(0.0185)
    assert answer["pinned"]["perSample"] == pytest.approx(0.047)


@pytest.mark.parametrize(
    ("place", "right"), [(53, False), (54, True), (60, True), (66, True), (67, False)]
)
def test_within_ten_percent_is_right(place: int, right: bool) -> None:
    made = question(curve=[0.080, 0.060])  # the axis ends at 100 ms
    assert made.right == pytest.approx([60])
    assert told(made, [place])[0]["right"] == right


@pytest.mark.parametrize(
    ("place", "right"), [(1, False), (2, True), (3, True), (4, True), (5, False)]
)
def test_of_a_small_value_one_step_is_right(place: int, right: bool) -> None:
    assert told(question(curve=[0.080, 0.003]), [place])[0]["right"] == right


CURVE = [0.080, 0.040, 0.020, 0.020]  # 80, 40, 20, 20 steps
WRONG = [
    (lambda *runs: [0.080 / calls for calls in (1, 2, 3, 4)], "even"),
    ([0.080] * 4, "flat"),
    ([0.080, 0.040, 0.010, 0.005], "falls"),
]


@pytest.mark.parametrize(
    ("places", "sentence"),
    [
        ([80, 80, 80], "calls=2 gives less than 80 ms. flat"),
        ([40, 10, 5], "calls=3 gives more than 10 ms. falls"),
        ([40, 27, 20], "calls=3 gives less than 27 ms. even"),
        ([45, 30, 21], "calls=2 gives less than 45 ms."),
        ([70, 65, 61], "calls=2 gives less than 70 ms. flat"),
        ([50, 20, 20], "calls=2 gives less than 50 ms."),
        ([20, 20, 20], "calls=2 gives more than 20 ms."),
        ([40, 20, 30], "calls=4 gives less than 30 ms."),
    ],
)
def test_the_nearest_misconception_speaks_that_the_curve_follows_and_that_errs_to_its_side(
    places: list[int], sentence: str
) -> None:
    assert text(question(WRONG, CURVE), places) == sentence


def test_a_curve_below_a_limit_is_told_which_one() -> None:
    made = question()
    # A straight line down
    steps = [round(seconds / made.step) for seconds in (0.040, 0.030, 0.016, 0.016)]
    said = text(made, steps)
    assert (
        "No run with calls=4 takes less than 18.5 ms: the limit is set by the reader."
        in said
    )
    assert "No run" not in text(made, [round(place) for place in made.right])
    # Every point that is drawn has a limit, and the last one is told
    assert [least * made.step for least, _ in made.limits] == pytest.approx([0.0185] * 4)
    steps[2:] = steps[1], round(0.012 / made.step)
    assert "No run with calls=5 takes less than 18.5 ms" in text(made, steps)


def test_runs_without_samples_can_be_drawn_by_another_figure() -> None:
    def empty(calls: int) -> Any:
        return Dataset.range(0).map(cost=0.010 * calls), {"num_epochs": 1}

    made = predict(
        "How many ms?",
        empty,
        draw={"calls": CALLS},
        answer=lambda trace: trace.duration,
    )
    assert told(made, [0] * 4)[0]["right"]


def test_a_curve_may_be_a_list_or_made_of_the_runs() -> None:
    made = question(
        [(lambda *runs: [runs[0].per_sample / calls for calls in CALLS], IDEAL)]
    )
    assert IDEAL in text(made, [round(place) for place in made.wrong[0][0]])
    assert made.wrong[0][0][0] == pytest.approx(0.047 / 2 / made.step)


@pytest.mark.parametrize(
    ("curve", "knee"),
    [
        ([0.080, 0.040, 0.020], 2),
        ([0.080] * 3, 0),
        ([0.080, 0.040, 0.0404], 1),
        ([0.2, 0.5, 0.5], 1),
    ],
)
def test_the_knee_is_the_first_value_within_two_percent_of_the_best(
    curve: list[float], knee: int
) -> None:
    made = question(curve=curve)
    _, answer = told(made, [round(place) for place in made.right])
    assert answer["knee"] == knee
    assert ("nothing changes" in answer["text"]) == (knee == 1)  # with values on both sides


def test_a_share_is_drawn_in_percent() -> None:
    made = question(answer=lambda trace: trace.busy("Train"), unit="%")
    assert text(made, [0] * 4) == "calls=2 gives more than 0 %."


def test_the_page_knows_only_the_first_point() -> None:
    curves = [0.080, 0.040, 0.020], [0.080, 0.060, 0.070]
    assert len({question(curve=curve).state for curve in curves}) == 1


MADE = question()


@given(st.lists(st.integers(0, 100), min_size=4, max_size=4))
def test_any_curve_is_judged_by_its_first_wrong_point(places: list[int]) -> None:
    about, answer = told(MADE, places)
    wrong = [
        point
        for point, (place, right) in enumerate(zip(places, MADE.right, strict=True))
        if abs(place - right) > max(0.1 * right, 1)
    ]
    assert about["right"] == (not wrong)
    if wrong:
        side = "less" if places[wrong[0]] > MADE.right[wrong[0]] else "more"
        assert answer["text"].startswith(f"calls={wrong[0] + 2} gives {side} than ")


@pytest.mark.parametrize("bad", [-1, 101, 3.5, float("nan"), None, True, "3"])
def test_a_point_that_is_not_on_the_axis_is_refused_with_a_sentence(bad: Any) -> None:
    error = (
        "calls=3 is not placed yet" if bad == -1 else "calls=3 is not at a step of the axis"
    )
    assert told(question(), [50, bad, 50, 50])[0] == {"about": "error", "text": error}


def test_a_question_that_can_not_be_asked_says_so() -> None:
    with pytest.raises(ValueError, match="must have a number for each of 5 values"):
        question([([0.1, 0.2], "x")])
    with pytest.raises(ValueError, match="must have a number for each of 3 values"):
        question(curve=[0.1, float("nan"), 0.1])
    with pytest.raises(ValueError, match="there must be one pipeline"):
        predict("?", mapped, mapped, draw={"calls": CALLS})
    with pytest.raises(ValueError, match="draw: must be one name with two or more values"):
        predict("?", mapped, draw={"calls": [1]})
    with pytest.raises(ValueError, match="draw: must be one name with two or more values"):
        predict("?", mapped, draw={"calls": [1, 2], "cores": [1, 2]})
