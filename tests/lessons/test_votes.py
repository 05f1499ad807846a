"""That a vote is won by who has learnt the lesson, and not by who knows how such questions are made."""

import re
from collections import Counter

import pytest

from tools.lessons import LESSONS, Lesson, right_choice, vote_of

REASON = re.compile(r"\bbecause\b|\bso that\b|\bsince\b")


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_no_choice_or_every_choice_of_a_vote_gives_a_reason(lesson: Lesson) -> None:
    """A choice that stands alone among reasons is taken for the right one, or for the wrong one."""
    choices = vote_of(lesson)["choices"]
    with_reason = [choice for choice in choices if REASON.search(choice)]
    assert with_reason in ([], choices)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_each_choice_of_a_vote_has_its_letter(lesson: Lesson) -> None:
    letters = [choice[:3] for choice in vote_of(lesson)["choices"]]
    assert letters == ["A: ", "B: ", "C: ", "D: "]


def test_every_letter_is_right_more_than_once_and_none_in_half_of_the_votes() -> None:
    right = Counter(right_choice(lesson)[0] for lesson in LESSONS)
    assert set(right) == set("ABCD")
    assert min(right.values()) > 1
    assert max(right.values()) < len(LESSONS) / 2
