"""Collects what the lessons ask, with the right answer and the known mistakes, for the board alone.

    python -m delivery.classroom.questions TO

The answers are nowhere in the notebooks, so the lessons are run. This is a program of its own,
because the server has no use for what it imports.
"""

import json
import sys
from pathlib import Path
from typing import Any

from lessonkit.widgets.questions.question import Question
from tools.lesson import WRITTEN, Lesson


def asked(widget: Any) -> dict[str, Any]:
    """Return what the board has to know of a *widget* that asks something; nothing of another one."""
    if isinstance(widget, Question):
        return widget.for_board()
    if task := json.loads(getattr(widget, "state", "{}")).get("task"):
        return {"kind": "challenge", "question": task["text"], "goals": task["goals"]}
    return {}


def main(to: Path) -> None:
    """Write the questions of all lessons."""
    shown = [(name, widget) for name in WRITTEN for widget in Lesson(name).values.values()]
    found = [{"lesson": name, **one} for name, widget in shown if (one := asked(widget))]
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text(json.dumps(found, allow_nan=False), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
