"""That a lesson takes the time that it says: how much is there to read, and how many minutes does that take?

The main path is everything before *Further*. Of its code counts what a learner sees, of its
prose what is not code. Solutions and what questions ask take time as well, but solutions
are folded.
"""

import re
from itertools import takewhile
from typing import Any

import pytest

from lessonkit.widgets.questions import Question
from tools.comments import without_comments
from tools.lesson import BLOCK, lesson, main_path
from tools.lessons import LESSONS, Lesson

WORDS_A_MINUTE = 160  # of prose that is new to its reader
LINE = 3  # seconds
# Seconds of a question by its kind, with one wrong try: a choice is made, a number found, and bars
# and curves are laid out step by step
SECONDS = {"choice": 60, "number": 120, "placing": 210, "curve": 210}
# Minutes of a lesson
PICTURES = 5
VOTE = 1
# What a cell of the main path takes that is more than a picture: one of five loaders is to be
# diagnosed, or a loader of one's own is to be put in and measured
LONG_CELLS = {"mystery(": 3, "recommend(my_loader": 5}
UNREAD = re.compile(r"<[^>]*>|(?<=\])\([^)\s]*\)", re.S)


def main_cells(name: str) -> list[Any]:
    """The cells before *Further*."""
    return list(
        takewhile(lambda cell: not cell.source.startswith("## Further"), lesson(name).cells)
    )


def prose(name: str) -> str:
    """The text of the main path, without code."""
    text = "\n".join(
        cell.source for cell in main_cells(name) if cell.cell_type == "markdown"
    )
    return BLOCK.sub("", without_comments(text))


def words(text: str) -> int:
    """How many words of a text are read."""
    return sum(bool(re.search(r"\w", word)) for word in UNREAD.sub("", text).split())


def questions(name: str) -> list[tuple[str, int]]:
    """What each prediction of the main path asks, and how many seconds it takes; no vote is one."""
    asked = [one for _, one in main_path(name).widgets(Question) if one.traces]
    return [
        (" ".join([one.question, *one.for_board().get("choices", ())]), SECONDS[one.kind])
        for one in asked
    ]


def lines(name: str) -> int:
    """How many lines of code the main path shows."""
    shown = [
        cell.source
        for cell in main_cells(name)
        if cell.cell_type == "code"
        and not cell.metadata.get("jupyter", {}).get("source_hidden")
    ]
    return sum(bool(line.strip()) for source in shown for line in source.splitlines())


def minutes(name: str, challenge: int) -> float:
    """How long the main path takes with its solutions, of which the *challenge* is so many minutes."""
    asked, vote = questions(name), main_path(name).vote
    texts = [prose(name), *(text for text, _ in asked)]
    texts += [vote.question, *vote.choices, vote.why]
    read = sum(map(words, texts))
    seconds = LINE * lines(name) + sum(taken for _, taken in asked)
    sources = [cell.source for cell in main_cells(name) if cell.cell_type == "code"]
    long = sum(
        taken
        for begins, taken in LONG_CELLS.items()
        if any(begins in source for source in sources)
    )
    return read / WORDS_A_MINUTE + seconds / 60 + PICTURES + challenge + VOTE + long


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_it_takes_the_time_that_the_table_says(lesson: Lesson) -> None:
    assert 3 <= lesson.challenge_minutes <= 6
    assert lesson.minutes == round(minutes(lesson.name, lesson.challenge_minutes))
