"""Mystery loaders: the same for all who share a number, solvable by what they sell, giving nothing away."""

from __future__ import annotations

import json
from functools import lru_cache
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mystery_08 import (
    AS_GOOD,
    CHANGES,
    CLEAR,
    COUNT,
    CULPRITS,
    FOUR,
    MADE,
    MEASURES,
    MysteryLoader,
    drawn,
    mystery,
)
from support.pages import JSON, Said

from tools.lessons import NOTEBOOKS

NUMBERS = range(8)
made = lru_cache(mystery)
EACH = [(number, place) for number in NUMBERS for place in range(COUNT)]


@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_has_five_loaders_that_five_things_hold_back(number: int) -> None:
    assert len({loader.culprit for loader in made(number).loaders}) == COUNT


def test_everything_that_can_hold_one_back_is_drawn() -> None:
    assert (
        {loader.culprit for number in NUMBERS for loader in made(number).loaders}
        == set(CULPRITS)
        == set(MADE)
    )


def test_a_number_stands_for_the_same_loaders_everywhere() -> None:
    assert mystery(7).state == made(7).state != made(8).state
    assert [loader.costs for loader in mystery(7).loaders] == [
        loader.costs for loader in made(7).loaders
    ]


SEVEN = ["cannot tell", "step-bound", "Open", "they take turns", "Read"]


def test_another_computer_draws_the_same() -> None:
    loaders = made(7).loaders
    assert [loader.culprit for loader in loaders] == SEVEN
    assert [loader.costs["train"] for loader in loaders] == [
        0.011,
        0.014,
        0.004,
        0.010,
        0.012,
    ]


def solved(loader: MysteryLoader) -> str:
    """What somebody finds who bought both measurements: the number of a culprit."""
    if loader.probe.kind != "data-bound":
        return loader.probe.kind
    parts = [part.rsplit(" ", 4) for part in loader.measured(MEASURES[0]).split(", ")]
    spent = {stage: float(mean) * int(count[1:]) for stage, mean, _, count, _ in parts}
    stage = max(spent, key=spent.__getitem__)
    faster = loader.probe.loader / (float(loader.measured(FOUR).split()[0]) / 1e3)
    return "interpreter lock" if stage == "Decode" and faster < 1.2 else stage


@pytest.mark.parametrize(("number", "place"), EACH)
def test_what_is_sold_is_enough(number: int, place: int) -> None:
    loader = made(number).loaders[place]
    assert solved(loader) == loader.culprit


@pytest.mark.parametrize(("number", "place"), EACH)
def test_the_best_change_is_found_by_trying_all_and_ties_count_as_the_best(
    number: int, place: int
) -> None:
    loader = made(number).loaders[place]
    times = {change: loader.after[change].per_sample for change in CHANGES}
    least = min(times.values())
    for change, time in times.items():
        assert not AS_GOOD < time / least < CLEAR  # as good, or plainly worse
        best = "No other change on the list is better." in loader.verdict(
            loader.culprit, change
        )
        assert best == (time <= AS_GOOD * least)
    assert least < loader.trace.per_sample / 1.05  # there is something to gain


def test_the_right_change_follows_from_what_holds_it_back() -> None:
    best: dict[str, set[str]] = {culprit: set(CHANGES) for culprit in CULPRITS}
    for number, place in EACH:
        loader = made(number).loaders[place]
        best[loader.culprit] &= {
            change for change in CHANGES if loader.worse(change) <= AS_GOOD
        }
    assert all(best.values())


# ---- giving nothing away ----


def test_the_page_knows_three_numbers_of_each_and_nothing_else() -> None:
    states = [json.loads(made(number).state) for number in NUMBERS]
    for number, state in zip(NUMBERS, states, strict=True):
        assert state.pop("told") == [loader.told() for loader in made(number).loaders]
        assert state.pop("number") == str(number)
    assert all(state == states[0] for state in states)


def test_the_three_numbers_are_those_of_the_runs() -> None:
    loader = drawn("they take turns", Random(1))
    alone, step, both, *_ = loader.probe
    assert alone + step == pytest.approx(both)
    assert (step, both) == (loader.costs["train"], loader.trace.per_sample)


def test_every_text_of_the_saved_cell_is_of_the_three_numbers() -> None:
    told = repr(made(3))
    assert not [word for word in (*CULPRITS.values(), *CHANGES) if word in told]


# ---- what the page asks ----


@pytest.mark.parametrize("place", range(COUNT))
def test_an_answer_shows_the_run_after_the_change_over_the_one_before(
    place: int,
) -> None:
    widget = made(3)
    loader = made(3).loaders[place]
    culprits = [(culprit, 1) for culprit in range(1, len(CULPRITS) + 1)]
    changes = [(1, change) for change in range(1, len(CHANGES) + 1)]
    for culprit, change in culprits + changes:
        answer = {"loader": place, "culprit": culprit, "change": change}
        about, told = Said(widget).ask({"do": "commit"} | answer)
        assert about == {"about": "told", "loader": place}
        assert (
            told["right"]
            == ([*CULPRITS][culprit - 1] == loader.culprit)
            == told["text"].startswith("Right: ")
        )
        assert told["scene"]["perSample"] == loader.after[[*CHANGES][change - 1]].per_sample
        assert told["pinned"]["perSample"] == loader.trace.per_sample


def test_both_must_be_chosen_before_anything_is_told() -> None:
    for answer in ((0, 1), (1, 0), (0, 0)):
        question = dict(zip(("culprit", "change"), answer, strict=True))
        about, told = Said(made(3)).ask({"do": "commit", "loader": 0} | question)
        assert (about["text"], told) == (
            "Choose what holds it back, and one change.",
            None,
        )


@given(JSON | st.integers(-1, 5), JSON | st.integers(-1, 8), JSON | st.integers(-1, 6))
def test_what_is_not_on_the_page_is_refused(loader: Any, first: Any, second: Any) -> None:
    def there(said: Any, least: int, most: int) -> bool:
        return type(said) is int and least <= said <= most

    known = there(loader, 0, COUNT - 1)
    measured = known and there(first, 0, 1)
    judged = known and there(first, 1, len(CULPRITS)) and there(second, 1, len(CHANGES))
    about, _ = Said(made(3)).ask({"do": "measure", "loader": loader, "which": first})
    assert about["about"] == ("told" if measured else "error")
    about, _ = Said(made(3)).ask(
        {"do": "commit", "loader": loader, "culprit": first, "change": second}
    )
    assert about["about"] == ("told" if judged else "error")


@pytest.mark.parametrize("number", [None, "7", 7.5, True, -7])
def test_a_number_is_a_whole_one(number: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="number"):
        mystery(number)


def test_the_teacher_s_page_has_the_answers_of_its_number() -> None:
    page = (NOTEBOOKS.parent / "docs/teaching/08.md").read_text(encoding="utf-8")
    assert "**The answers for `mystery(2024)`.**" in page
    for count, loader in enumerate(made(2024).loaders, 1):
        milliseconds = f"{loader.after[loader.best].per_sample * 1e3:.1f} ms"
        culprit = CULPRITS[loader.culprit]
        assert f"| {count} | {culprit} | {loader.best} | {milliseconds} |" in page
