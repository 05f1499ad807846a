"""Cells that are run again, in whatever order, show what they showed at first: no name means two things."""

from __future__ import annotations

import json

import pytest
from lesson import WRITTEN, lesson, run

from lessonkit.widgets.explorer import Explore
from lessonkit.widgets.page_data import packed


@pytest.mark.parametrize("name", WRITTEN)
def test_a_lesson_from_its_end_to_its_beginning_is_the_same(name: str) -> None:
    found = lesson(name)
    names = dict(found.names)
    backwards = {}
    for cell in reversed(found.cells):
        if cell.id in found.shown:
            backwards[cell.id] = run(cell.source, names, f"<{name} {cell.id}>")
            assert backwards[cell.id][1:] == found.shown[cell.id][1:], cell.id
    # A slider is moved after later cells, or earlier ones, have given names another meaning.
    for cell_id, shown in [*found.shown.items(), *backwards.items()]:
        if isinstance(shown.value, Explore):
            _, scene = shown.value.picture(shown.value.start)
            assert json.loads(packed(scene)) == json.loads(shown.state)["scene"], cell_id
