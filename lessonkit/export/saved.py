"""What a widget shows that was saved with a notebook, as HTML without a script."""

import json
from collections.abc import Callable, Mapping
from html import escape
from typing import Any, NamedTuple

from .run import svg_of

STYLE = """
.lk-saved { border: 1px solid #d0d7de; border-left: 4px solid #1565c0; border-radius: 6px; padding: 8px 14px;
  margin: 0 0 10px; break-inside: avoid; font: 15px / 1.45 system-ui, sans-serif; }
.lk-saved p { margin: 6px 0; }
.lk-saved ul { list-style: none; margin: 6px 0; padding: 0; }
.lk-saved .lk-right { color: #1b6e2c; }
.lk-saved .lk-wrong { color: #a4262c; }
.lk-saved small { color: #57606a; }
.lk-still { margin: 0 0 10px; break-inside: avoid; }
.lk-still > * { max-width: 100%; height: auto; }
"""


class SavedWidget(NamedTuple):
    """A widget of a saved notebook.

    *state* is what the kernel gave it, *kept* how far its learner was, and *still* the picture
    that the output has beside it, as HTML.
    """

    role: str
    state: Mapping[str, Any]
    kept: Any
    still: str


def saved_widget(model: Mapping[str, Any], still: str) -> SavedWidget | None:
    """Read the saved state of a *model*; return None if it is no widget of a lesson."""
    role, state = model.get("role"), model.get("state")
    if not isinstance(role, str) or not isinstance(state, str):
        return None
    kept = model.get("kept") or "null"
    return SavedWidget(role, json.loads(state), json.loads(kept), still)


def html_of(widget: SavedWidget) -> str:
    """Return what *widget* shows: its question, tries and verdict, and the run."""
    return DRAWN.get(widget.role, still_of)(widget)


def still_of(widget: SavedWidget) -> str:
    """Return the picture that stands in the notebook."""
    return f'<div class="lk-still">{widget.still}</div>'


def nothing(_: SavedWidget) -> str:
    """Return nothing, for what only a page that runs has a use for."""
    return ""


def question_of(widget: SavedWidget) -> str:
    """Return a question with the tries and the last verdict; the run only if it was shown."""
    state = widget.state
    kept = widget.kept or {}
    choices = state["answer"].get("choices", [])
    told = kept.get("verdict") or {}
    parts = [f"<p><b>{escape(state['asks'])}</b> {escape(state['question'])}</p>"]
    if choices:
        parts.append(f"<ul>{''.join(f'<li>· {escape(one)}</li>' for one in choices)}</ul>")
    if kept.get("waits"):
        told = {}
    if told:
        parts.append(marked("p", told["right"], told["text"]))
    tries = [
        marked("span", one["right"], f"{one['words']}, {one['sure']}")
        for one in kept.get("tries", [])
        if one.get("words") and not kept.get("waits")
    ]
    if tries:
        parts.append(f"<p><small>Your tries:</small> {' · '.join(tries)}</p>")
    if not told and not tries:
        parts.append("<p><small>Not answered.</small></p>")
    return card(*parts) + run_of(told)


def task_of(widget: SavedWidget) -> str:
    """Return what a challenge asks for."""
    task = widget.state["task"]
    goals = "".join(f"<li>○ {escape(goal)}</li>" for goal in task["goals"])
    return card(f"<p><b>Challenge</b> {escape(task['text'])}</p><ul>{goals}</ul>")


def outcome_of(widget: SavedWidget) -> str:
    """Return what came of an attempt, goal by goal, and its run."""
    verdict = widget.state["verdict"]
    said = " ".join(filter(None, [verdict.get("remark"), verdict["message"]]))
    return card(marked("p", verdict["passed"], said), goals_of(verdict)) + still_of(widget)


def explore_of(widget: SavedWidget) -> str:
    """Return the picture of the start; of a challenge also its task, and whether it was solved."""
    task = widget.state["task"]
    if not task:
        return still_of(widget)
    kept = widget.kept or {}
    reached = kept.get("reached")
    parts = [f"<p><b>Challenge</b> {escape(task['text'])}</p>"]
    if reached:
        said = "Passed: every goal is met." if kept.get("right") else "Not yet."
        parts += [marked("p", kept.get("right"), said), goals_of({"goals": reached})]
    return card(*parts) + still_of(widget)


def mystery_of(widget: SavedWidget) -> str:
    """Return each loader with what was bought and answered."""
    kept = widget.kept or [{} for _ in widget.state["told"]]
    shown = []
    for loader, (told, answers) in enumerate(
        zip(widget.state["told"], kept, strict=True), 1
    ):
        parts = [
            f"<p><b>Loader {loader} of number {widget.state['number']}</b> {escape(told)}</p>"
        ]
        verdict = answers.get("verdict")
        bought = [one["text"] for name, one in answers.items() if name != "verdict"]
        parts += [f"<p>{escape(text)}</p>" for text in bought]
        if verdict:
            parts.append(marked("p", verdict["right"], verdict["text"]))
        shown.append(card(*parts) + run_of(verdict or {}))
    return "".join(shown)


def goals_of(verdict: Mapping[str, Any]) -> str:
    """List goals with what was reached."""
    return f"<ul>{''.join(marked('li', met, said) for met, said in verdict['goals'])}</ul>"


def run_of(told: Mapping[str, Any]) -> str:
    """Draw the run that a verdict has shown, if it has."""
    scene = told.get("scene")
    if not scene:
        return ""
    figures = " · ".join(f"{value} {what}" for value, what in scene["figures"])
    return f'<div class="lk-still">{svg_of(scene)}<p>{escape(figures)}</p></div>'


def card(*parts: str) -> str:
    """Put *parts* into a frame."""
    return f'<div class="lk-saved">{"".join(parts)}</div>'


def marked(tag: str, well: object, text: str) -> str:
    """Return *text* as right or wrong, with the mark that says so without a colour."""
    kind, mark = ("right", "✓") if well else ("wrong", "✗")
    return f'<{tag} class="lk-{kind}">{mark} {escape(text)}</{tag}>'


DRAWN: dict[str, Callable[[SavedWidget], str]] = {
    "question": question_of,
    "challenge": task_of,
    "outcome": outcome_of,
    "explore": explore_of,
    "mystery": mystery_of,
    "installation": nothing,
}
