"""The notebook that shows every control once."""

import nbformat
import pytest
from support.kept_outputs import changed

import lessonkit.widgets
from tools.lesson import CONTROLS
from tools.notebooks import text_of


def test_running_it_again_gives_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not changed("../docs/controls", monkeypatch)


def test_it_is_kept_without_what_changes() -> None:
    text = CONTROLS.read_text(encoding="utf-8")
    assert text_of(nbformat.reads(text, as_version=4)) == text


def test_nothing_that_a_lesson_can_use_is_left_out() -> None:
    cells = "\n".join(cell.source for cell in nbformat.read(CONTROLS, as_version=4).cells)
    for name in lessonkit.widgets.__all__:
        assert name in cells


def test_every_control_has_its_picture() -> None:
    cells = nbformat.read(CONTROLS, as_version=4).cells
    labs = [
        cell for cell in cells if cell.cell_type == "code" and "explore(\n" in cell.source
    ]
    assert labs
    for cell in labs:
        assert any("image/png" in output.get("data", {}) for output in cell.outputs)
