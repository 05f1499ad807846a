"""Collects what the lessons ask, with the right answer and the known mistakes, for the board alone.

    python -m tools.classroom.questions TO

The answers are nowhere in the notebooks, so their cells are run, except those on the real clock.
This is a program of its own, because the server has no use for what it imports.
"""

from __future__ import annotations

import contextlib
import io
import json
import linecache
import os
import sys
from pathlib import Path
from typing import Any

from lessonkit.widgets.questions.marks import Marks
from lessonkit.widgets.questions.question import Predict
from lessonkit.widgets.widget import Page

NOTEBOOKS = Path(__file__).resolve().parent.parent.parent / "notebooks"


def asked(widget: Page, state: dict[str, Any]) -> dict[str, Any] | None:
    """Return what the board has to know of a *widget* that asks something; None of any other."""
    known: dict[str, Any]
    if isinstance(widget, Predict):
        kind = "choice" if widget.choices else "number"
        known = {"unit": widget.unit, "choices": widget.choices, "close": widget.tolerance}
    elif isinstance(widget, Marks):
        kind = "placing" if "place" in state else "curve"
        known = {"names": widget.names, **(state.get("place") or state["draw"])}
    elif state.get("task"):
        goals = state["task"]["goals"]
        return {"kind": "challenge", "question": state["task"]["text"], "goals": goals}
    else:
        return None
    # JSON has no infinity: a bar that a mistaken run lacks is nowhere.
    wrong = [[plain(answer), text] for answer, text in widget.wrong]
    told = {"right": plain(widget.right), "wrong": wrong, "why": widget.why}
    return {"kind": kind, "question": widget.question, **told, **known}


def plain(answer: Any) -> Any:
    """Return a known *answer* without infinite numbers."""
    if isinstance(answer, (list, tuple)):
        return [plain(one) for one in answer]
    return answer if abs(answer) < 1e300 else None


def questions_of(path: Path) -> list[dict[str, Any]]:
    """Run the cells of a lesson; return what it asks, each once, in its order."""
    made: list[tuple[Page, dict[str, Any]]] = []
    begin = Page.__init__

    def noted(self: Page, role: str, state: dict[str, Any], *more: Any) -> None:
        made.append((self, state))
        begin(self, role, state, *more)

    names: dict[str, Any] = {"__name__": path.stem}
    with contextlib.ExitStack() as until:
        until.callback(setattr, Page, "__init__", begin)
        until.enter_context(contextlib.redirect_stdout(io.StringIO()))
        Page.__init__ = noted  # type: ignore
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "code" and not left_out(cell):
                source, name = "".join(cell["source"]), f"<{path.stem} {cell['id']}>"
                lines = source.splitlines(keepends=True)
                linecache.cache[name] = (len(source), None, lines, name)  # for inspect
                exec(compile(source, name, "exec"), names)
    found = filter(None, (asked(widget, state) for widget, state in made))
    return list({(one["kind"], one["question"]): one for one in found}.values())


def left_out(cell: dict[str, Any]) -> bool:
    """Whether a cell needs real time."""
    return "real-clock" in cell["metadata"].get("tags", ())


def main(to: Path) -> None:
    """Write the questions of all lessons."""
    sys.path.insert(0, str(NOTEBOOKS))
    os.chdir(NOTEBOOKS)
    found = [
        {"lesson": path.stem, **one}
        for path in sorted(NOTEBOOKS.glob("*.ipynb"))
        for one in questions_of(path)
    ]
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
