"""The server judges each answer itself, as the kernel of a page does."""

from __future__ import annotations

import random
from typing import Any

import pytest
from support.class_questions import every_type

from delivery.classroom.judge import Reached, is_answer, judged, reached
from delivery.classroom.questions import asked
from lessonkit.widgets.questions import QUESTIONS

TYPES = every_type()
MARKS = {"names": ["a", "b"], "most": [3, 4]}


def answers_to(widget: Any, question: dict[str, Any]) -> list[Any]:
    """The right answer, those of known mistakes, and some that anybody may give."""
    draw = random.Random(1)
    known = [widget.right, *(wrong for wrong, _ in widget.wrong)]
    if not question["names"]:
        most = min(question["most"], 2000)
        near = [widget.right * share for share in (0.979, 0.98, 1.02, 1.021)]
        others = range(most + 1) if question["kind"] == "choice" else [*near, 0, most, 70.5]
        return [*known, *others]
    whole = [[round(step) for step in steps] for steps in known if max(steps) < 1e6]
    jumps = [
        [
            min(limit, max(0, step + draw.randint(-3, 3)))
            for step, limit in zip(steps, question["most"], strict=True)
        ]
        for steps in whole
        for _ in range(30)
    ]
    return whole + jumps + [steps[::-1] for steps in jumps]


def test_each_type_of_question_is_judged_here() -> None:
    assert {widget.kind for widget in TYPES} == {one.kind for one in QUESTIONS}


def test_a_type_without_a_rule_is_refused_and_not_taken_for_a_number() -> None:
    question: dict[str, Any] = {"names": None, "kind": "sorting", "right": 1, "wrong": []}
    with pytest.raises(ValueError, match="kind='sorting': must be choice or number"):
        judged(question, 1)


@pytest.mark.parametrize("place", range(len(TYPES)), ids=lambda place: TYPES[place].kind)
def test_it_agrees_with_the_kernel_in_verdict_and_words(place: int) -> None:
    widget = TYPES[place]
    question = asked(widget)
    found = set()
    for said in answers_to(widget, question):
        if not is_answer(question, said):
            with pytest.raises(ValueError):
                widget.judge(said)
            continue
        kernel = widget.judge(said)
        right, words, mistake = judged(question, said)
        assert (right, words) == (kernel.right, kernel.words), said
        if mistake:  # of marks the kernel speaks of one alone, which may err otherwise
            assert not right
        found.add(right)
    assert found == {True, False}


@pytest.mark.parametrize("place", range(len(TYPES)), ids=lambda place: TYPES[place].kind)
def test_a_known_mistake_is_known_by_its_sentence(place: int) -> None:
    widget = TYPES[place]
    for said, text in widget.wrong:
        steps = [round(step) for step in said] if isinstance(said, list) else said
        assert judged(asked(widget), steps).mistake == text


@pytest.mark.parametrize(
    ("question", "said", "fits"),
    [
        ({"names": None, "most": 3}, 2, True),
        ({"names": None, "most": 3}, 4, False),
        ({"names": None, "most": 3}, -1, False),
        ({"names": None, "most": 3}, float("nan"), False),
        ({"names": None, "most": 3}, float("inf"), False),
        ({"names": None, "most": 3}, [2], False),
        (MARKS, [0, 4], True),
        (MARKS, [0], False),
        (MARKS, [4, 4], False),
        (MARKS, [0, -1], False),
        (MARKS, 2, False),
    ],
)
def test_an_answer_is_a_number_or_one_for_each_name_of_its_question(
    question: dict[str, Any], said: Any, fits: bool
) -> None:
    """Of another shape it is refused, and raises nothing in the server."""
    assert is_answer(question, said) == fits


def test_of_a_challenge_only_marks_and_numbers_count() -> None:
    told = [
        (True, "total 1,095.5 ms, NOT 7"),
        (False, "MR SMITH IS AN IDIOT"),
        (True, "9e999"),
    ]
    assert reached(told) == [Reached(True, 1095.5), Reached(False, None), Reached(True, 9)]


@pytest.mark.parametrize("words", ["9" * 400, "1,000,000,000,001"])
def test_a_number_that_no_run_reaches_is_refused(words: str) -> None:
    with pytest.raises(ValueError):
        reached([(True, words)])
