"""That a lesson takes the time that it says: how much is there to read, and how many minutes does that take?

The main path is everything before *Further*. Of its code counts what a learner sees, of its
prose what is not code. Solutions and what questions ask take time as well, but solutions
are folded.
"""

import ast
import re
from itertools import takewhile
from typing import Any

import pytest

from tools.comments import without_comments
from tools.lesson import BLOCK, WRITTEN, lesson, main_path
from tools.lessons import LESSONS, Lesson

LINES = 30  # of code at most, in a main path
# Words per minute, and seconds; a question takes one wrong try
READING = 160
LINE = 3
PREDICTION = 120
PLACING = 210
PICTURES = 5  # minutes
VOTE = 1
UNREAD = re.compile(r"<[^>]*>|(?<=\])\([^)\s]*\)", re.S)

each = pytest.mark.parametrize("name", WRITTEN)


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


def questions(name: str) -> list[tuple[str, bool]]:
    """What each prediction of the main path asks, and whether bars are to be placed; no vote is one."""
    trees = (
        ast.parse(cell.source) for cell in main_cells(name) if cell.cell_type == "code"
    )
    found = []
    for call in (
        node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)
    ):
        is_vote = ast.unparse(call).endswith(".vote())")
        if isinstance(call.func, ast.Name) and call.func.id == "predict" and not is_vote:
            texts = [
                node.value
                for node in ast.walk(call.args[0])
                if isinstance(node, ast.Constant)
            ]
            found.append(
                (
                    " ".join(map(str, texts)),
                    any(word.arg == "place" for word in call.keywords),
                )
            )
    return found


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
    asked = questions(name)
    vote = main_path(name).vote
    texts = [prose(name), *(text for text, _ in asked)]
    texts += [vote.question, *vote.choices, vote.why]
    read = sum(map(words, texts))
    seconds = LINE * lines(name) + sum(
        PLACING if places else PREDICTION for _, places in asked
    )
    return read / READING + seconds / 60 + PICTURES + challenge + VOTE


@each
def test_there_is_not_too_much_code_to_read(name: str) -> None:
    assert lines(name) <= LINES


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_it_takes_the_time_that_the_table_says(lesson: Lesson) -> None:
    assert 3 <= lesson.challenge_minutes <= 6
    assert lesson.minutes == round(minutes(lesson.name, lesson.challenge_minutes))
