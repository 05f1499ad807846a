"""Collects what the lessons ask, with the right answer and the known mistakes, for the board alone.

    python -m tools.classroom.questions TO

The answers are nowhere in the notebooks, so their cells are run, except those on the real clock.
This is a program of its own, because the server has no use for what it imports.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ipywidgets import Widget

from lessonkit.widgets.questions.marks import Marks
from lessonkit.widgets.questions.question import Predict

NOTEBOOKS = Path(__file__).resolve().parent.parent.parent / "notebooks"
NOWHERE = 1e6  # where a bar begins that a mistaken run lacks


def asked(widget: Widget) -> dict[str, Any]:
    """Return what the board has to know of a *widget* that asks something; nothing of another one."""
    state = json.loads(getattr(widget, "state", "{}"))
    if task := state.get("task"):
        return {"kind": "challenge", "question": task["text"], "goals": task["goals"]}
    known: dict[str, Any]
    wrong: list[Any]
    if isinstance(widget, Predict):
        kind, wrong = "choice" if widget.choices else "number", widget.wrong
        known = {"unit": widget.unit, "choices": widget.choices, "close": widget.tolerance}
    elif isinstance(widget, Marks):
        kind = "placing" if "place" in state else "curve"
        wrong = [[[min(at, NOWHERE) for at in steps], text] for steps, text in widget.wrong]
        known = {"names": widget.names, **(state.get("place") or state["draw"])}
    else:
        return {}
    told = {"right": widget.right, "wrong": wrong, "why": widget.why}
    return {"kind": kind, "question": widget.question, **told, **known}


def questions_of(lesson: Path, folder: Path) -> list[dict[str, Any]]:
    """Run the cells of a *lesson* as a file in *folder*; return what it asks, each once."""
    widgets: list[Widget] = []
    Widget.on_widget_constructed(widgets.append)
    cells = json.loads(lesson.read_text(encoding="utf-8"))["cells"]
    file = folder / f"{lesson.stem}.py"
    file.write_text("\n\n".join(map(code_of, cells)), encoding="utf-8")
    with redirect_stdout(StringIO()):
        runpy.run_path(str(file), run_name=lesson.stem)
    found = filter(None, map(asked, widgets))
    return list({(one["kind"], one["question"]): one for one in found}.values())


def code_of(cell: dict[str, Any]) -> str:
    """Return what is to be run of a cell."""
    is_real = "real-clock" in cell["metadata"].get("tags", ())
    return "".join(cell["source"]) if cell["cell_type"] == "code" and not is_real else ""


def main(to: Path) -> None:
    """Write the questions of all lessons."""
    sys.path.insert(0, str(NOTEBOOKS))
    os.chdir(NOTEBOOKS)
    with TemporaryDirectory() as folder:
        found = [
            {"lesson": lesson.stem, **one}
            for lesson in sorted(NOTEBOOKS.glob("*.ipynb"))
            for one in questions_of(lesson, Path(folder))
        ]
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
