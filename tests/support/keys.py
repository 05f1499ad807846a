"""A lesson by keyboard alone, with the keys that it names, in any page of Jupyter's."""

from __future__ import annotations

from typing import Any

from lessonkit.widgets.questions import Question
from support.questions import NumberCard, card_of
from tools.browser import RUN
from tools.lesson import Lesson

CHOSEN = (
    "() => document.querySelector('.jp-Notebook .jp-mod-active').dataset.windowedListIndex"
)
MOVED = f"(before) => ({CHOSEN})() !== before"
IN_QUESTION = (
    "() => Boolean(document.activeElement.closest('.lk-predict:not([data-answered])'))"
)
IS_ASKED = """(place) => {
  const cell = document.querySelector(`.jp-Cell[data-windowed-list-index="${place}"]`);
  return cell?.querySelector(".lk-predict")?.contains(document.activeElement);
}"""
TRIES = """(many) => {
  const asked = document.activeElement.closest(".lk-predict");
  return asked.querySelectorAll(".lk-tries span").length === many;
}"""
GO_ON = "() => document.activeElement.textContent === 'go on'"


def by_keys(page: Any, cells: list[Any], found: Lesson) -> None:
    """Go with keys alone through a lesson that was not run, to *Further*; the page has its *cells*."""
    further = next(
        place for place, cell in enumerate(cells) if cell.source.startswith("## Further")
    )
    asked, passed = questions(cells[:further], found), []
    page.locator(".jp-Notebook .jp-Cell").first.click()
    page.keyboard.press("Escape")
    while (here := int(page.evaluate(CHOSEN))) < further:
        passed.append(here)
        page.keyboard.press("Shift+Enter")
        if here in asked:
            page.wait_for_function(IS_ASKED, arg=here, timeout=RUN * 1e3)
            card = card_of(asked[here], page.locator(":root"))
            if isinstance(card, NumberCard):
                wrong_first(page)
            card.answer_by_keys(asked[here].right)
            page.wait_for_function(GO_ON, timeout=RUN * 1e3)
            page.keyboard.press("Enter")
        page.wait_for_function(MOVED, arg=str(here), timeout=RUN * 1e3)
    assert passed == list(range(further)), "a cell was passed over"
    assert page.locator(".lk-predict[data-answered]").count() == len(asked)


def questions(cells: list[Any], found: Lesson) -> dict[int, Question]:
    """The questions among *cells*, by the numbers of their cells."""
    numbers = {cell.id: place for place, cell in enumerate(cells)}
    return {numbers[cell]: one for cell, one in found.widgets(Question) if cell in numbers}


def wrong_first(page: Any) -> None:
    """Commit to a wrong number three times; the same answer is no second try."""
    page.keyboard.type("7")
    for key in "Tab", "Space", "Tab", "Enter":
        page.keyboard.press(key)
    page.wait_for_function(TRIES, arg=1)
    for key in "Enter", "Enter", "Shift+Tab", "Shift+Tab":
        page.keyboard.press(key)
    assert page.evaluate(TRIES, 1)
    page.keyboard.press("ControlOrMeta+a")
