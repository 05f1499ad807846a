"""Cells that are run again, in whatever order, show what they showed at first: no name means two things.

A section of *Further* needs none of the others: the site runs it alone when it is opened.
"""

from __future__ import annotations

import ast
import builtins
import json
from itertools import groupby
from typing import Any

import pytest

from lessonkit.widgets.explorer import Explore
from lessonkit.widgets.page_data import packed
from tools.lesson import NOTEBOOK_NAMES, WRITTEN, lesson, main_path, run
from tools.lessons import FIELD_GUIDE


@pytest.mark.parametrize("name", NOTEBOOK_NAMES)
def test_a_lesson_from_its_end_to_its_beginning_is_the_same(name: str) -> None:
    found = lesson(name)
    names = dict(found.names)
    backwards = {}
    for cell in reversed(found.cells):
        if cell.id in found.shown:
            backwards[cell.id] = run(cell.source, names, f"<{name} {cell.id}>")
            again, first = backwards[cell.id], found.shown[cell.id]
            assert again.printed == first.printed, cell.id
            assert without_attempt(again.state) == without_attempt(first.state), cell.id
    # A slider is moved after later cells, or earlier ones, have given names another meaning.
    for cell_id, shown in [*found.shown.items(), *backwards.items()]:
        if isinstance(shown.value, Explore):
            _, scene = shown.value.picture(shown.value.start)
            assert json.loads(packed(scene)) == json.loads(shown.state)["scene"], cell_id


def without_attempt(state: str) -> Any:
    """The state of a widget, without what a second attempt at a challenge is told of the first."""
    told = json.loads(state) if state else {}
    told.pop("tried", None)
    told.get("verdict", {}).pop("remark", None)
    return told


def names_in(cells: list[Any]) -> tuple[set[str], set[str]]:
    """The names that code cells make, anywhere in them, and those that they use."""
    made = set[str]()
    used = set[str]()
    for cell in cells:
        for node in ast.walk(ast.parse(cell.source if cell.cell_type == "code" else "")):
            if isinstance(node, ast.Name):
                (used if isinstance(node.ctx, ast.Load) else made).add(node.id)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                made.add(node.name)
            elif isinstance(node, ast.arg):
                made.add(node.arg)
            elif isinstance(node, ast.ExceptHandler) and node.name:
                made.add(node.name)
            elif isinstance(node, ast.alias):
                made.add((node.asname or node.name).partition(".")[0])
    return made, used


def sections(name: str) -> list[list[Any]]:
    """The cells before the first section, then those of each: *Further* alone has sections in a lesson."""
    count = 0

    def section(cell: Any) -> int:
        nonlocal count
        count += int(cell.source.startswith("### "))
        return count

    return [list(each) for _, each in groupby(lesson(name).cells, section)]


@pytest.mark.parametrize("name", WRITTEN)
def test_a_section_that_is_opened_alone_has_all_names_that_it_uses(name: str) -> None:
    known = {*main_path(name).names, *dir(builtins), "_", "display"}
    _, *found = sections(name)
    assert found
    for cells in found:
        made, used = names_in(cells)
        missing = used - made - known
        assert not missing, cells[0].source


def test_a_section_of_the_field_guide_needs_what_stands_above_the_first_and_no_other() -> (
    None
):
    first, *found = sections(FIELD_GUIDE)
    known = {*names_in(first)[0], *dir(builtins), "_", "display"}
    for cells in found:
        made, used = names_in(cells)
        missing = used - made - known
        assert not missing, cells[0].source
