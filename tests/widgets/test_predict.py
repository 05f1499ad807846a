import json
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.gallery import QUESTIONS
from support.pages import JSON, Said

from lessonkit import ArtificialDataset, benchmark
from lessonkit.widgets import predict
from lessonkit.widgets.questions import Question

NAIVE = ArtificialDataset()


def question(**changes: Any) -> Any:
    wrong = [
        (0.105, "That is one epoch."),
        (lambda trace: trace.duration - 0.060, "Training is not free."),
    ]
    return predict(
        "How long?", NAIVE, **({"wrong": wrong, "why": "Everything adds up."} | changes)
    )


def test_the_right_answer_is_computed_and_shows_the_run() -> None:
    said = Said(question())
    about, answer = said.ask({"do": "commit", "said": 210, "sure": 2})
    assert about == {
        "about": "verdict",
        "right": True,
        "tries": [["210 ms", "certain", True]],
    }
    assert answer["text"] == "Right. The answer is 210 ms. Everything adds up."
    assert answer["scene"]["figures"][1][1] == "for 6 samples"


def test_a_known_misconception_gets_its_own_sentence_and_not_the_run() -> None:
    said = Said(question())
    assert said.ask({"do": "commit", "said": 105, "sure": 0})[1] == {
        "text": "Not 105 ms. That is one epoch."
    }
    assert said.ask({"do": "commit", "said": 150, "sure": 0})[1] == {
        "text": "Not 150 ms. Training is not free."
    }


def test_what_is_refused_changes_nothing() -> None:
    said = Said(question())
    said.ask({"do": "commit", "said": 105, "sure": 0})
    assert (
        said.ask({"do": "commit", "said": 150, "sure": 99, "anew": True})[0]["about"]
        == "error"
    )
    about, _ = said.ask({"do": "commit", "said": 210, "sure": 2})
    assert [text for text, *_ in about["tries"]] == ["105 ms", "210 ms"]


def test_any_other_answer_is_told_the_direction() -> None:
    said = Said(question())
    assert (
        said.ask({"do": "commit", "said": 300, "sure": 1})[1]["text"]
        == "Not 300 ms. That is too high."
    )
    assert (
        said.ask({"do": "commit", "said": 20, "sure": 1})[1]["text"]
        == "Not 20 ms. That is too low."
    )


def test_the_tolerance_is_stated_and_kept() -> None:
    made = question()
    assert json.loads(made.state)["answer"]["tolerance"] == "within 2 %"
    said = Said(made)
    assert [
        said.ask({"do": "commit", "said": value, "sure": 0})[0]["right"]
        for value in (206, 214, 205, 215)
    ] == [
        True,
        True,
        False,
        False,
    ]


def test_tries_are_kept() -> None:
    said = Said(question())
    for value in (105, 210):
        said.ask({"do": "commit", "said": value, "sure": 0})
    assert said.widget.tries == [
        ["105 ms", "a guess", False],
        ["210 ms", "a guess", True],
    ]


def test_a_choice_is_computed_too() -> None:
    def slower(deep: Any, shallow: Any) -> str:
        return "shallow" if shallow.duration > deep.duration else "the same"

    made = predict(
        "Which is slower?",
        NAIVE.prefetch(8),
        NAIVE,
        answer=slower,
        choices=["deep", "shallow", "the same"],
        wrong=[("deep", "A buffer never costs time here.")],
    )
    said = Said(made)
    assert (
        said.ask({"do": "commit", "said": 0, "sure": 1})[1]["text"]
        == "Not deep. A buffer never costs time here."
    )
    about, answer = said.ask({"do": "commit", "said": 1, "sure": 1})
    assert about["right"]
    assert answer["scene"]["end"] == round(benchmark(NAIVE).duration * 1e6)
    assert answer["pinned"]["end"] == round(benchmark(NAIVE.prefetch(8)).duration * 1e6)


def test_it_can_be_shown_without_an_answer() -> None:
    said = Said(question())
    about, answer = said.ask({"do": "reveal"})
    assert answer["text"].startswith("The answer is 210 ms")
    assert about["tries"] == []


def test_the_page_does_not_know_the_answer_before() -> None:
    assert "210" not in question().state


def test_shares_are_asked_for_in_percent() -> None:
    said = Said(predict("Busy?", NAIVE, answer=lambda trace: trace.busy("Train"), unit="%"))
    assert said.ask({"do": "commit", "said": 28.6, "sure": 1})[0]["right"]


@pytest.mark.parametrize(
    ("unit", "given", "name"),
    [
        ("ms", 0.21, "seconds"),
        ("ms", 210_000, "microseconds"),
        ("s", 210, "milliseconds"),
    ],
)
def test_a_right_number_in_another_unit_is_told_so(
    unit: str, given: float, name: str
) -> None:
    said = Said(predict("How long?", NAIVE, answer=lambda trace: 0.21, unit=unit))
    told, answer = said.ask({"do": "commit", "said": given, "sure": 1})
    assert not told["right"]
    assert answer["text"].endswith(f"Is that in {name}? The answer must be in {unit}.")


def test_a_share_in_place_of_percent_is_told_so() -> None:
    said = Said(predict("Busy?", NAIVE, answer=lambda trace: 0.4, unit="%"))
    assert (
        "Is that in parts of one?"
        in said.ask({"do": "commit", "said": 0.4, "sure": 1})[1]["text"]
    )


@pytest.mark.parametrize("unit", ["s", "ms"])
def test_a_time_has_the_same_tolerance_in_seconds_as_in_milliseconds(unit: str) -> None:
    scale = {"s": 1, "ms": 1000}[unit]
    made = predict("How long?", NAIVE, answer=lambda trace: 0.999999999, unit=unit)
    assert json.loads(made.state)["answer"]["tolerance"] == "within 2 %"
    answers = {
        seconds: Said(made).ask({"do": "commit", "said": seconds * scale, "sure": 1})
        for seconds in (1, 1.03)
    }
    assert [about["right"] for about, _ in answers.values()] == [True, False]
    assert answers[1][1]["text"].startswith(f"Right. The answer is {scale:,} {unit}.")


def test_what_is_counted_is_exact() -> None:
    said = Said(
        predict("How many?", NAIVE, answer=lambda trace: trace.samples, unit="samples")
    )
    assert json.loads(said.widget.state)["answer"]["tolerance"] == ""
    assert [
        said.ask({"do": "commit", "said": count, "sure": 1})[0]["right"]
        for count in (6, 6.1)
    ] == [
        True,
        False,
    ]


def test_of_answers_that_can_not_be_told_apart_the_first_speaks() -> None:
    said = Said(question(wrong=[(0.211, "right"), (0.1, "first"), (0.101, "second")]))
    assert (
        said.ask({"do": "commit", "said": 100.5, "sure": 1})[1]["text"]
        == "Not 100.5 ms. first"
    )
    assert said.ask({"do": "commit", "said": 211, "sure": 1})[0]["right"]


def vote(**changes: Any) -> Any:
    asked: dict[str, Any] = {
        "choices": ["A: yes", "B: no"],
        "answer": lambda: "B: no",
        "why": "So it is.",
    }
    return predict("Is it?", **(asked | {"wrong": [("A: yes", "It is not.")]} | changes))


def test_a_vote_needs_no_run_and_shows_none() -> None:
    said = Said(vote())
    assert repr(said.widget) == "Vote: Is it?\n- A: yes\n- B: no"
    assert said.ask({"do": "commit", "said": 0, "sure": 1})[1] == {
        "text": "Not A: yes. It is not."
    }
    right = {"text": "Right. The answer is B: no. So it is.", "scene": None, "pinned": None}
    assert said.ask({"do": "commit", "said": 1, "sure": 1})[1] == right
    assert said.ask({"do": "reveal"})[1]["text"] == "The answer is B: no. So it is."


def test_without_a_run_there_must_be_choices_and_an_answer() -> None:
    for changes in {"choices": ()}, {"answer": None}:
        with pytest.raises(ValueError, match="a pipeline to run, or choices and an answer"):
            vote(**changes)


def test_answers_must_be_among_the_choices() -> None:
    with pytest.raises(ValueError, match=r"answer=0\.21: must be one of a"):
        question(choices=["a"], wrong=[])
    with pytest.raises(ValueError, match="answer='c': must be one of a"):
        question(choices=["a"], answer=lambda trace: "a", wrong=[("c", "x")])


def test_there_must_be_a_run() -> None:
    with pytest.raises(ValueError, match="there must be a pipeline"):
        predict("How long?")
    with pytest.raises(TypeError, match="must return a Dataset"):
        predict("How long?", 3)


ANSWERS = JSON | st.integers(-2, 110)


@pytest.mark.parametrize("kind", QUESTIONS)
@given(said=ANSWERS | st.lists(ANSWERS, min_size=2, max_size=8), sure=JSON | st.just(1))
def test_nothing_that_a_page_may_send_breaks_it(kind: str, said: Any, sure: Any) -> None:
    widget = made(kind)
    asked = Said(widget)
    about, _ = asked.ask({"do": "commit", "said": said, "sure": sure})
    assert about["about"] in ("verdict", "error")
    right = json.loads(json.dumps(widget.right))
    steps = [round(step) for step in right] if isinstance(right, list) else right
    assert asked.ask({"do": "commit", "said": steps, "sure": 1})[0]["right"]
    assert asked.ask({"do": "reveal"})[0]["about"] == "verdict"


@cache
def made(kind: str) -> Question:
    """Return a question of this *kind*; to make it runs its pipelines."""
    return QUESTIONS[kind](kind)
