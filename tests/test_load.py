"""That a lesson takes the time that it says: how much is there to read, and how many minutes does that take?

The main path is everything before *Further*. Of its prose counts what is not code and not folded, of its code
what a learner sees.
"""

import re
from itertools import takewhile
from typing import Any

import pytest
from lesson import BLOCK, NOTEBOOKS, WRITTEN, lesson

WORDS, LINES, MINUTES = 700, 30, 15  # at most, in a main path
READING, LINE, PREDICTION = 200, 3, 90  # words a minute, seconds, seconds
PICTURES, VOTE = 5, 1  # minutes
TIME = re.compile(r"\*\*Time\*\* (\d+) minutes, ([3-6]) of them for the challenge")
UNREAD = re.compile(r"<!--.*?-->|<details>.*?</details>|<[^>]*>|(?<=\])\([^)\s]*\)", re.S)

each = pytest.mark.parametrize("name", WRITTEN)


def main_path(name: str) -> list[Any]:
    """The cells before *Further*."""
    return list(takewhile(lambda cell: not cell.source.startswith("## Further"), lesson(name).cells))


def words(name: str) -> int:
    """How many words of prose the main path has."""
    prose = "\n".join(cell.source for cell in main_path(name) if cell.cell_type == "markdown")
    return sum(bool(re.search(r"\w", word)) for word in UNREAD.sub("", BLOCK.sub("", prose)).split())


def lines(name: str) -> int:
    """How many lines of code the main path shows."""
    shown = [
        cell.source
        for cell in main_path(name)
        if cell.cell_type == "code" and not cell.metadata.get("jupyter", {}).get("source_hidden")
    ]
    return sum(bool(line.strip()) for source in shown for line in source.splitlines())


def minutes(name: str, challenge: int) -> float:
    """How long the main path takes, of which the *challenge* is so many minutes."""
    code = [cell.source for cell in main_path(name) if cell.cell_type == "code"]
    predictions = sum(bool(re.search(r"^(\w+ = )?predict\(", source, re.M)) for source in code)
    seconds = LINE * lines(name) + PREDICTION * predictions
    return words(name) / READING + seconds / 60 + PICTURES + challenge + VOTE


@each
def test_there_is_not_too_much_to_read(name: str) -> None:
    assert words(name) <= WORDS
    assert lines(name) <= LINES


@each
def test_it_takes_the_time_that_it_says(name: str) -> None:
    said = TIME.search(main_path(name)[0].source)
    assert said, "**Time** 15 minutes, 4 of them for the challenge."
    assert int(said[1]) == round(minutes(name, int(said[2]))) <= MINUTES
    page = (NOTEBOOKS.parent / f"docs/teaching/{name[:2]}.md").read_text(encoding="utf-8")
    assert f"**Minutes.** {said[1]} alone;" in page, "the teacher's page says another time"
