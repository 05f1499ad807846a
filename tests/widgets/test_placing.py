"""Bars that a learner places: what is right, which misconception speaks, and what no run could do."""

import json
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pages import Said
from support.random_pipelines import pipeline

from lessonkit import ArtificialDataset, Dataset, benchmark
from lessonkit.pictures.layout import layout
from lessonkit.widgets import predict
from lessonkit.widgets.questions import Placing, placing

ONCE = {"num_epochs": 1}
STAGES = ["Open", "Read", "Train"]
NAIVE, AHEAD = ArtificialDataset(), ArtificialDataset().prefetch(1)
TURNS, EARLY = (
    "You let them take turns.",
    "You let training begin before its sample is read.",
)
NAMES = ["Open", "Read 0", "Read 1", "Read 2", "Train 0", "Train 1", "Train 2"]
RIGHT = [0, 6, 9, 12, 9, 12, 15]  # in steps of 5 ms: open 30 ms, read 15, train 10
BY_TURNS = [0, 6, 11, 16, 9, 14, 19]


def question(
    right: Any = AHEAD,
    wrong: Any = ((NAIVE, TURNS),),
    options: Any = ONCE,
    **changes: Any,
) -> Any:
    others = [((dataset, options), text) for dataset, text in wrong]
    given: dict[str, Any] = {
        "place": STAGES,
        "wrong": others,
        "why": "Reading goes on.",
    } | changes
    return predict("When does each bar begin?", (right, options), **given)


def told(widget: Any, places: Any, sure: Any = 1) -> tuple[dict[str, Any], Any]:
    return Said(widget).ask({"do": "commit", "said": places, "sure": sure})


def text(widget: Any, places: list[int]) -> str:
    return str(told(widget, places)[1]["text"])


def test_there_is_a_bar_for_each_piece_of_work_and_a_step_that_fits_them_all() -> None:
    made = question()
    place = json.loads(made.state)["answer"]
    assert [bar["name"] for bar in place["bars"]] == NAMES
    assert [bar["length"] for bar in place["bars"]] == [6, 3, 3, 3, 2, 2, 2]
    assert (place["step"], place["steps"]) == (
        5000,
        22,
    )  # the longest run ends after 21
    assert made.right == RIGHT


def test_bars_in_their_places_are_right_and_show_the_run() -> None:
    about, answer = told(question(), RIGHT)
    assert about == {
        "about": "verdict",
        "right": True,
        "tries": [["7 of 7 in place", "fairly sure", True]],
    }
    assert answer["text"] == "Right: all are in place. Reading goes on."
    assert answer["truth"] == RIGHT
    assert answer["scene"]["end"] == 85_000


def test_the_first_bar_that_is_wrong_speaks_and_the_run_is_shown_when_asked_for() -> None:
    about, answer = told(question(), BY_TURNS)
    assert not about["right"]
    assert about["tries"] == [["3 of 7 in place", "fairly sure", False]]
    assert answer == {"text": f"Read 1 begins before 55 ms. {TURNS}"}
    _, answer = Said(question()).ask({"do": "reveal"})
    assert (answer["text"], answer["truth"]) == ("Reading goes on.", RIGHT)
    assert answer["scene"]


def test_of_two_misconceptions_that_begin_alike_the_nearest_speaks() -> None:
    slow = ArtificialDataset(read=lambda sample: 0.025 if sample == 2 else 0.015)
    made = question(wrong=[(slow, "You let the last read take longer."), (NAIVE, TURNS)])
    assert TURNS in text(made, BY_TURNS)
    # As near to both, of which the first speaks; and the other one itself
    for last in (20, 21):
        assert "You let the last read take longer." in text(made, [*BY_TURNS[:-1], last])


def test_bars_of_one_name_may_change_places() -> None:
    twice = question(options={"num_epochs": 2}, wrong=())
    pairs = [twice.names.index("Read 0"), twice.names.index("Train 2")]
    swapped = list(twice.right)
    for bar in pairs:
        assert twice.names[bar] == twice.names[bar + 1]
        swapped[bar], swapped[bar + 1] = swapped[bar + 1], swapped[bar]
    about, answer = told(twice, [int(place) for place in swapped])
    assert about["right"]
    assert answer["truth"] == swapped  # each bar stays where it was put


@pytest.mark.parametrize(
    ("bar", "place", "sentence"),
    [
        ("Read 0", 3, "Read 0 cannot begin before Open has ended."),
        ("Train 0", 8, "Train 0 cannot begin before Read 0 has ended."),
        ("Read 2", 11, "Read 1 and Read 2 cannot overlap: Read has no free lane."),
        (
            "Train 1",
            9,
            "Train 0 and Train 1 cannot overlap: Train has no free lane.",
        ),
    ],
)
def test_what_no_run_could_do_has_its_own_sentence(
    bar: str, place: int, sentence: str
) -> None:
    places = list(RIGHT)
    places[NAMES.index(bar)] = place
    assert sentence in text(question(wrong=()), places)


def test_as_many_bars_as_lanes_may_overlap() -> None:
    files = Dataset.range(2).interleave(
        lambda _: ArtificialDataset(2), cycle_length=2, num_parallel_calls=2
    )
    made = question(files, wrong=())
    assert made.names[2:6] == ["Read A0", "Read A1", "Read B0", "Read B1"]
    assert "overlap" not in text(made, [0, 0, 6, 10, 7, 10, *range(20, 28, 2)])
    assert "Read A0, Read A1 and Read B0 cannot overlap: Read has no free lane." in text(
        made, [0, 0, 6, 8, 7, 10, *range(20, 28, 2)]
    )


@pytest.mark.parametrize("seeds", [range(start, start + 40) for start in range(0, 200, 40)])
def test_no_run_is_impossible(seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placing, "MOST_STEPS", 10**9)
    for seed in seeds:
        trace = benchmark(pipeline(seed), num_epochs=1)
        if stages := [row.stage for row in layout(trace).rows]:
            made = Placing(trace, [], stages, question="?", why="")
            assert made.remark([round(place) for place in made.right]) == "", seed


MADE = question()


@given(st.lists(st.integers(0, 22), min_size=7, max_size=7))
def test_any_placement_is_judged_by_its_first_wrong_bar(places: list[int]) -> None:
    about, answer = told(MADE, places)
    if any(place > last for place, last in zip(places, MADE.last, strict=True)):
        assert about["about"] == "error"
        return
    wrong = [(right, bar) for bar, right in enumerate(RIGHT) if places[bar] != right]
    assert about["right"] == (not wrong)
    if wrong:
        first = min(wrong)[1]
        side = "before" if places[first] > RIGHT[first] else "after"
        said = f"{NAMES[first]} begins {side} {places[first] * 5} ms."
        assert answer["text"].startswith(said)
        assert (TURNS in answer["text"]) == (places[first] == BY_TURNS[first])


def test_the_page_can_not_tell_which_run_is_the_right_one() -> None:
    runs = [NAIVE, AHEAD]
    states = {question(right, [(wrong, "x")]).state for right, wrong in permutations(runs)}
    assert len(states) == 1


def test_stages_that_are_not_asked_for_are_given() -> None:
    place = json.loads(question(place=["Train"]).state)["answer"]
    assert [bar["name"] for bar in place["bars"]] == ["Train 0", "Train 1", "Train 2"]
    assert place["given"] == [
        {"row": 0, "lane": 0, "start": 0, "length": 30000},
        {"row": 1, "lane": 0, "start": 30000, "length": 15000},
        {"row": 1, "lane": 0, "start": 45000, "length": 15000},
        {"row": 1, "lane": 0, "start": 60000, "length": 15000},
    ]


def test_it_can_be_shown_without_placing_anything() -> None:
    about, answer = Said(question()).ask({"do": "reveal"})
    assert about == {"about": "verdict", "right": True, "tries": []}
    assert (answer["text"], answer["truth"]) == ("Reading goes on.", RIGHT)


@pytest.mark.parametrize(
    ("places", "error"),
    [
        ([*RIGHT[:-1], -1], "Train 2 is not placed yet"),
        ([-1] * 7, "Open is not placed yet"),
        ([*RIGHT[:-1], 21], "Train 2 is not at a step of the axis"),
        ([*RIGHT[:-1], 9.5], "Train 2 is not at a step of the axis"),
        ([*RIGHT[:-1], float("nan")], "Train 2 is not at a step of the axis"),
        ([*RIGHT[:-1], True], "Train 2 is not at a step of the axis"),
        ([*RIGHT[:-1], None], "Train 2 is not at a step of the axis"),
        ([*RIGHT[:-1], -2], "Train 2 is not at a step of the axis"),
        (RIGHT[:-1], "the question has changed: run its cell again"),
        ([*RIGHT, 3], "the question has changed: run its cell again"),
        (7, "the question has changed: run its cell again"),
    ],
)
def test_what_is_no_answer_is_refused_with_a_sentence(places: Any, error: str) -> None:
    assert told(question(), places)[0] == {"about": "error", "text": error}


def test_a_question_that_can_not_be_asked_says_so() -> None:
    with pytest.raises(ValueError, match="place='Map': must be one of Open, Read, Train"):
        question(place=["Map"])
    with pytest.raises(ValueError, match=r"steps of 0\.01 ms are too many to choose from"):
        question(ArtificialDataset(read=0.01001))
    with pytest.raises(ValueError, match="there must be one pipeline"):
        predict("?", NAIVE, AHEAD, place=STAGES)
    with pytest.raises(ValueError, match="there must be one pipeline"):
        predict("?", choices=["a"], answer=lambda: "a", place=STAGES)
