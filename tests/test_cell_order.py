"""Cells that are run again, in whatever order, show what they showed at first: no name means two things."""

from __future__ import annotations

import json
from typing import Any

import pytest
from lesson import WRITTEN, lesson, run

from lessonkit.widgets.challenges.challenge import Outcome
from lessonkit.widgets.explorer import Explore
from lessonkit.widgets.page_data import packed
from lessonkit.widgets.questions.prediction import Predict


def shown(name: str, cell: Any, names: dict[str, Any]) -> tuple[Any, list[str], str]:
    """The value of a cell, what it prints, and what its widget begins with."""
    printed: list[str] = []
    names["print"] = lambda *said, **_: printed.append(" ".join(map(str, said)))
    value = run(cell.source, names, f"<{name} {cell.id}>")
    return value, printed, value.state if isinstance(value, (Explore, Predict, Outcome)) else ""


@pytest.mark.parametrize("name", WRITTEN)
def test_a_lesson_from_its_end_to_its_beginning_is_the_same(name: str) -> None:
    found = lesson(name)
    cells = [cell for cell in found.cells if cell.id in found.values]
    names: dict[str, Any] = {"__name__": name}
    first = [shown(name, cell, names) for cell in cells]
    for cell, before in list(zip(cells, first, strict=True))[::-1]:
        assert shown(name, cell, names)[1:] == before[1:], cell.id
    for lab, *_ in first:  # a slider is moved after later cells have given names another meaning
        if isinstance(lab, Explore):
            _, scene = lab.picture(lab.start)
            assert json.loads(packed(scene)) == json.loads(lab.state)["scene"], lab
