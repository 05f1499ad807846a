"""Compute the numbers that stand in prose, and compare them or write them anew.

python -m tools.numbers check
python -m tools.numbers write notebooks/11_your_own_job.ipynb docs/teaching/11.md

In any Markdown of this repository, a number can be followed by a comment that computes it; `tools.comments`
shows one. An expression has the names that its lesson leaves at its end, in the notebook and on the page
for its teacher, those of a solution that the same cell shows, and on every page those of `names_for_all`.
Its value is in seconds, in bytes, or a share of 1, and is shown in the unit and with as many digits as the
number that stands there. A number up to twenty may be a word. The words around a number stay: read them
again if it changed much.
"""

from __future__ import annotations

import json
import re
import sys
from functools import partial
from math import isclose
from pathlib import Path
from textwrap import dedent
from typing import Any

from lessonkit import Dataset, Trace, benchmark
from lessonkit.widgets.questions import Number
from tools.comments import comments
from tools.lesson import CONTROLS, SOLUTION, SOLVED, Lesson, lesson
from tools.lessons import FIELD_GUIDE, LESSONS, NOTEBOOKS, WORDS, in_words

ROOT = NOTEBOOKS.parent
# What is one in the unit that a number is shown in: a second, a share of 1, a byte
UNITS = {
    "s": 1,
    "ms": 1e3,
    "µs": 1e6,
    "%": 1e2,
    "kB": 1e-3,
    "MB": 1e-6,
    "GB": 1e-9,
    "TB": 1e-12,
}
# The number directly before a comment, perhaps in bold type or in a formula
SHOWN = re.compile(
    rf"(?<![\w.,])(?P<number>\d[\d,]*(?:\.\d+)?|(?i:{'|'.join(WORDS)}))"
    rf"(?: ?(?P<unit>{'|'.join(UNITS)}))?[*$]*$"
)
ROUNDING = 1e-9  # as much as a float may be beside the half that rounds to the last digit


class CommentError(Exception):
    """A comment that cannot be run, or that has no number before it."""


def pages() -> list[Path]:
    """Return all pages that have a number with a comment."""
    markdown = [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "delivery").rglob("*.md"),
        *(ROOT / "evidence").rglob("*.md"),
    ]
    found = [*sorted(NOTEBOOKS.glob("*.ipynb")), CONTROLS, *sorted(markdown)]
    return [page for page in found if any(any(comments(text)) for text in texts_of(page))]


def texts_of(page: Path) -> list[str]:
    """Return the Markdown of a page: one text, or one of each cell of a notebook."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".md":
        return [text]
    cells = json.loads(text)["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]


def store(page: Path, texts: list[str]) -> None:
    """Write the Markdown of a page as `texts_of` returned it, with other words."""
    if page.suffix == ".md":
        (text,) = texts
        page.write_text(text, encoding="utf-8")
        return
    notebook = json.loads(page.read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    for cell, text in zip(cells, texts, strict=True):
        cell["source"] = text.splitlines(keepends=True)
    written = json.dumps(notebook, indent=1, ensure_ascii=False)
    page.write_text(f"{written}\n", encoding="utf-8")


def ran(made: Dataset | tuple[Dataset, dict[str, Any]], **changes: Any) -> Trace:
    """Run what a live view draws: a pipeline, or one and how it is run, with some *changes* to that."""
    dataset, options = made if isinstance(made, tuple) else (made, {})
    return benchmark(dataset, **options | changes)


def same(first: float, *others: float) -> float:
    """Return what all of them are; raise ValueError if they differ."""
    if any(not isclose(first, other) for other in others):
        raise ValueError(f"{first} is not the same as {others}")
    return first


def explained(found: Lesson, seconds: float) -> float:
    """Return the wrong answer of so many *seconds*; raise ValueError if no question explains it."""
    asked = [question for _, question in found.widgets(Number) if question.unit == "ms"]
    wrong = [answer for question in asked for answer, _ in question.wrong]
    if not any(isclose(answer, seconds * UNITS["ms"]) for answer in wrong):
        raise ValueError(f"{seconds} s is no wrong answer that {found.name} explains")
    return seconds


def names_for_all() -> dict[str, Any]:
    """Return the names that expressions have on every page."""
    return {"LESSONS": LESSONS, "ran": ran, "same": same}


def names_of(page: Path) -> dict[str, Any]:
    """Return the names that the expressions of a page have: of a lesson those that it leaves, and `this`."""
    names = names_for_all()
    if page.stem == FIELD_GUIDE:
        return names | lesson(FIELD_GUIDE).names
    is_of_lesson = page.parent in (NOTEBOOKS, ROOT / "docs" / "teaching")
    for this in LESSONS:
        if is_of_lesson and page.name.startswith(this.number):
            found = lesson(this.name)
            names |= found.names | {"this": this, "explained": partial(explained, found)}
    return names


def shown(value: float, before: re.Match[str]) -> str:
    """Return a *value* as the number that stands there; it stays as it is if it is right as far as it goes.

    >>> there = SHOWN.search("It takes 210 ms")
    >>> shown(0.2104, there), shown(1.25, there)
    ('210', '1,250')
    """
    value *= UNITS.get(before["unit"], 1)
    there = before["number"]
    if there.lower() in WORDS:
        return in_words(value).capitalize() if there[0].isupper() else in_words(value)
    digits = len(there.partition(".")[2])
    if abs(value - float(there.replace(",", ""))) <= 0.5 * 10**-digits + ROUNDING:
        return there
    return f"{value:{',' if value >= 1000 else ''}.{digits}f}"


def renewed(text: str, names: dict[str, Any]) -> str:
    """Return Markdown with its numbers as they are computed with *names*, to which its comments may add.

    Raise `CommentError` at a comment that has no number directly before it, that cannot be run, or
    that would end a cell of a table.
    """
    parts = []
    at = 0
    for program in SOLUTION.findall(text) if SOLVED in text else ():
        exec(program, names)
    for comment in comments(text):
        code = dedent(comment["code"]).strip()
        before = text[at : comment.start()]
        line = text[: comment.start()].rpartition("\n")[2]
        if "|" in code and line.startswith("|"):
            raise CommentError(
                f"{code}: a | ends a cell of the table; write {{**one, **other}}"
            )
        try:
            if comment["kind"] == ":":
                exec(code, names)
            else:
                number = SHOWN.search(before)
                if not number:
                    raise CommentError(f"{code}: there is no number directly before it")
                value = shown(eval(code, names), number)
                begin, end = number.span("number")
                before = before[:begin] + value + before[end:]
        except CommentError:
            raise
        except Exception as error:
            raise CommentError(f"{code}: {type(error).__name__}: {error}") from error
        parts += [before, comment[0]]
        at = comment.end()
    return "".join([*parts, text[at:]])


def differences(old: str, new: str) -> list[str]:
    """Return what stands in Markdown and what would be right, a line for each number that is wrong."""
    found = []
    for one, other in zip(comments(old), comments(new), strict=True):
        there, right = (
            SHOWN.search(text[: comment.start()])
            for text, comment in ((old, one), (new, other))
        )
        if one["kind"] == "=" and there and right and there[0] != right[0]:
            found.append(f"{there[0]} should be {right[0]}: {one['code'].strip()}")
    return found


def main(arguments: list[str]) -> str:
    """Check pages, or write them; return what is wrong."""
    what, *names = arguments or [""]
    if what not in ("check", "write"):
        return "say check or write, and which pages; all of them if you name none"
    wrong = []
    for page in map(Path.resolve, map(Path, names)) if names else pages():
        known = names_of(page)
        old = texts_of(page)
        new = [renewed(text, known) for text in old]
        for one, other in zip(old, new, strict=True):
            wrong += [
                f"{page.relative_to(ROOT)}: {line}" for line in differences(one, other)
            ]
        if what == "write" and new != old:
            store(page, new)
    print("\n".join(wrong))
    return "numbers are wrong" if wrong and what == "check" else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
