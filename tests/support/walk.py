"""The main path of a lesson, step by step, in any page that shows its cells."""

from __future__ import annotations

from itertools import takewhile
from typing import Any

from heat_map_07 import HeatMap
from mystery_08 import STAGES, Mystery
from playwright.sync_api import expect

from lessonkit.engine.trace import Trace
from lessonkit.pictures.layout import layout
from lessonkit.widgets.challenges import Challenge, Outcome
from lessonkit.widgets.controls import Control
from lessonkit.widgets.explorer import Explore
from lessonkit.widgets.questions import Question
from lessonkit.words import milliseconds
from support.bars import assert_shows
from support.questions import RIGHT, card_of
from tools.browser import Visit, serious_violations
from tools.lesson import Lesson

TURN = {1: "ArrowRight", -1: "ArrowLeft"}


class Walk:
    """A lesson in the browser, beside the same lesson in this process."""

    def __init__(self, found: Lesson, page: Any) -> None:
        self.lesson, self.page = found, page

    @property
    def main(self) -> list[str]:
        """The ids of the cells before *Further*."""
        before = takewhile(
            lambda cell: not cell.source.startswith("## Further"), self.lesson.cells
        )
        return [cell.id for cell in before]

    def shown(self, cell: str) -> Any:
        """What the cell with this id shows; the page remembers that it was looked at."""
        place = [one.id for one in self.lesson.cells].index(cell)
        widget = self.page.locator(".jp-Notebook .jp-Cell").nth(place).locator(".lk")
        widget.evaluate("(one) => one.classList.add('walked')")
        return widget

    def is_picture_of(self, shown: Any, trace: Trace) -> None:
        """Every bar is where the trace has it."""
        assert_shows(shown, layout(trace))


def turns(one: Explore) -> bool:
    """Whether it is there to play with: it has controls, and is no challenge."""
    return bool(one.controls) and not one.task


# ---- the steps of a lesson ----


def predict(walk: Walk) -> None:
    """Every question of the main path: a wrong answer is explained, and in the end nothing is covered."""
    told = walk.page.get_by_text("Hidden until your answer is right")
    hidden = told.locator("visible=true")
    for cell, asked in walk.lesson.widgets(Question):
        if cell in walk.main:
            shown = walk.shown(cell)
            expect(hidden.first).to_be_visible()  # the vote covers the recap
            assert shown.locator(".lk-timeline rect.lk-bar").count() == 0
            card = card_of(asked, shown)
            card.answer(card.mistake(asked), "fairly sure", asked.wrong[0][1])
            card.say(asked.right)
            card.commit(RIGHT)
            for trace in asked.traces[-1:]:
                walk.is_picture_of(shown, trace)
    expect(hidden).to_have_count(0)


def play(walk: Walk) -> None:
    """The lab of the main path: each control moved one step, or a square lit, or a measurement bought."""
    for cell in walk.main:
        lab = walk.lesson.values.get(cell)
        if isinstance(lab, HeatMap):
            shown = walk.shown(cell)
            shown.locator(".lk-square[tabindex='0']").press("Enter")
            shown.get_by_text(
                milliseconds(lab.run([0, 0]).per_sample), exact=True
            ).wait_for()
        elif isinstance(lab, Mystery):
            shown, text = walk.shown(cell), lab.loaders[0].measured(STAGES)
            shown.get_by_role("button", name=f"Buy {STAGES}").first.click()
            shown.get_by_text(text).wait_for()
        elif isinstance(lab, Explore) and turns(lab):
            shown, numbers = (
                walk.shown(cell),
                {one.name: one.start for one in lab.controls.values()},
            )
            for control in lab.controls.values():
                numbers[control.name] = turn(shown, control)
                trace, _ = lab.picture(lab.values(numbers))
                walk.is_picture_of(shown, trace)
        else:
            continue
        return
    raise AssertionError("the main path has nothing to play with")


def turn(shown: Any, control: Control) -> Any:
    """Move a control one step from where it starts; its number is then what this returns."""
    if control.kind == "order":
        to: Any = [control.start[1], control.start[0], *control.start[2:]]
    elif control.kind == "flag":
        to = 1 - control.start
    else:
        to = control.start + (1 if control.start + 1 < len(control.values) else -1)
    move(shown, control, to)
    return to


def move(shown: Any, control: Control, to: Any) -> None:
    """Move a control by keyboard, step by step, from where it starts."""
    if control.kind == "order":
        order = list(control.start)
        for place, card in enumerate(to):
            while (now := order.index(card)) > place:
                grip = shown.get_by_role(
                    "button", name=f"{control.texts[card]}, {now + 1} of {len(order)}"
                )
                grip.press("ArrowLeft")
                order[now - 1 : now + 1] = order[now], order[now - 1]
        return
    field = shown.locator(f"[data-name={control.name}]")
    if control.kind == "flag":
        if to != control.start:
            field.press("Space")
        return
    on, back = (
        ("ArrowRight", "ArrowLeft") if control.kind == "range" else ("ArrowDown", "ArrowUp")
    )
    for _ in range(abs(to - control.start)):
        field.press(on if to > control.start else back)


def challenge(walk: Walk) -> None:
    """Not passed as it stands; it gives one hint at a time, and is passed by moving its controls."""
    solved = walk.lesson.solved()[0]
    shown = walk.shown(
        next(cell for cell, one in walk.lesson.values.items() if one is solved.task)
    )
    first, *others = solved.task.task.hints
    assert not shown.get_by_text(first).count()
    shown.get_by_role("button", name="Show the next hint").click()
    shown.get_by_text(first).wait_for()
    assert not any(shown.get_by_text(other).count() for other in others)
    if isinstance(solved.task, Challenge):
        cell = next(cell for cell, _ in walk.lesson.widgets(Outcome))
        walk.shown(cell).locator(".lk-goals li", has_text="○").first.wait_for()
        assert not walk.shown(cell).locator(".lk-verdict").inner_text()
        return
    shown.locator(".lk-goals li", has_text="○").first.wait_for()
    names = dict(walk.lesson.names)
    exec(solved.code, names)
    for name, value in names["values"].items():
        control = solved.task.controls[name]
        move(shown, control, control.number(value))
    shown.locator(".lk-verdict", has_text="Passed: every goal is met.").wait_for()


def walk_through(walk: Walk, visit: Visit) -> None:
    """Go the main path, and find nothing that keeps somebody from going it."""
    predict(walk)
    play(walk)
    challenge(walk)
    # One of each kind: axe takes its time
    assert not serious_violations(walk.page, ".lk.walked")
    assert not visit.elsewhere()
    assert not visit.errors
