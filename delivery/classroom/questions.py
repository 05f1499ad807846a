"""Collects what the lessons ask, with the right answer and the known mistakes, for the board alone.

    python -m delivery.classroom.questions TO

The answers are nowhere in the notebooks, so the lessons are run. This is a program of its own,
because the server has no use for what it imports.
"""

import json
import sys
from pathlib import Path
from typing import Any

from numpy import isfinite

from lessonkit.widgets.questions.question import Question
from tools.lesson import WRITTEN, Lesson

# By what the page is told
KINDS = {"place": "placing", "draw": "curve", "choices": "choice"}
TOLD = ("right", "why", "names", "tolerance")


def asked(widget: Any) -> dict[str, Any]:
    """Return what the board has to know of a *widget* that asks something; nothing of another one."""
    state = json.loads(getattr(widget, "state", "{}"))
    if task := state.get("task"):
        return {"kind": "challenge", "question": task["text"], "goals": task["goals"]}
    if not isinstance(widget, Question):
        return {}
    kind = next((kind for part, kind in KINDS.items() if state.get(part)), "number")
    told: dict[str, Any] = state | (state.get("place") or state.get("draw") or {})
    most = {"number": 1e12, "choice": len(told.get("choices", ())) - 1}
    told |= {"kind": kind, "most": most.get(kind, told.get("steps"))}
    # Nobody can place a bar where a mistaken run has none.
    wrong = [one for one in widget.wrong if isfinite(one[0]).all()]
    return told | {part: getattr(widget, part, None) for part in TOLD} | {"wrong": wrong}


def main(to: Path) -> None:
    """Write the questions of all lessons."""
    shown = [(name, widget) for name in WRITTEN for widget in Lesson(name).values.values()]
    found = [{"lesson": name, **one} for name, widget in shown if (one := asked(widget))]
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text(json.dumps(found, allow_nan=False), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
