"""Write the numbers in the prose of lessons anew, and in tests/lessons/numbers, where they have changed.

python -m tools.numbers_of_lessons 11_your_own_job teaching_11

A number whose expression gives the same is left alone. The words around a number stay; read them again if
the number changed much.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent

from tools.lesson import NUMBER, NUMBERS, SOLVES, UNITS, lesson, pages_of  # noqa: E402

DIGITS = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


def written(shown: str, expression: str, names: dict[str, Any]) -> str:
    """Return *shown*, a number with its unit, with the digits that an *expression* gives now."""
    digits = DIGITS.search(shown)
    assert digits, f"there is no number in {shown!r}"
    unit = shown[digits.end() :].strip("* ").split()[:1]
    value = eval(expression, names) * (UNITS.get(unit[0], 1) if unit else 1)
    places = len(digits[0].partition(".")[2])
    comma = "," if value >= 1000 else ""
    return f"{shown[: digits.start()]}{value:{comma}.{places}f}{shown[digits.end() :]}"


def renewed(sources: list[str], lines: list[str], names: dict[str, Any]) -> None:
    """Write all numbers of *lines* anew, in these and in the *sources* that have their words."""
    places: dict[int, tuple[int, int, int, int, int]] = {}
    edits: dict[tuple[int, int, int], str] = {}
    for row, line in enumerate(lines):
        parts = NUMBER.fullmatch(line.strip())
        if not parts or parts["before"] == SOLVES:
            continue
        groups = [
            re.escape(parts[name]).replace("\\ ", r"\s+")
            for name in ("before", "shown", "after")
        ]
        words = re.compile(rf"(?<![\d.,])({groups[0]})({groups[1]})({groups[2]})(?!\.?\d)")
        for number, source in enumerate(sources):
            for found in words.finditer(source):
                places[row] = (number, found.start(), *found.span(2), found.end())
                new = written(parts["shown"], parts["expression"], names)
                edits[(number, *found.span(2))] = new
    changed = [
        edited(source, number, edits, 0, len(source))
        for number, source in enumerate(sources)
    ]
    for row, (number, start, begin, end, stop) in places.items():
        around = [
            " ".join(edited(sources[number], number, edits, *span).split(" "))
            for span in ((start, begin), (begin, end), (end, stop))
        ]
        before, shown, after = (re.sub(r"\s+", " ", text) for text in around)
        expression = lines[row].partition(" == ")[2]
        lines[row] = f"{before}{{{shown}}}{after} == {expression}"
    sources[:] = changed


def edited(
    source: str, number: int, edits: dict[tuple[int, int, int], str], start: int, stop: int
) -> str:
    """Return a *source* from *start* to *stop*, with the *edits* that lie in it."""
    text, at = "", start
    for (of, begin, end), new in sorted(edits.items()):
        if of == number and start <= begin and end <= stop:
            text += source[at:begin] + new
            at = end
    return text + source[at:stop]


def renew(name: str) -> None:
    """Write all numbers of a lesson, or of a page for its teachers, anew."""
    file = NUMBERS / f"{name}.txt"
    lines = file.read_text(encoding="utf-8").splitlines()
    run, page = pages_of(name)
    names = lesson(run).names
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".md":
        sources = [text]
        renewed(sources, lines, names)
        page.write_text(sources[0], encoding="utf-8")
    else:
        notebook = json.loads(text)
        told = [cell for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
        sources = ["".join(cell["source"]) for cell in told]
        renewed(sources, lines, names)
        for cell, source in zip(told, sources, strict=True):
            cell["source"] = source.splitlines(keepends=True)
        page.write_text(
            json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
        )
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        renew(name)
