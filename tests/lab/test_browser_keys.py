"""A lesson in JupyterLab by keyboard alone, with the keys that it names."""

from typing import Any

import pytest

from lessonkit.widgets.questions.question import Question
from tools.browser import RUN, Visit, open_next
from tools.lesson import WRITTEN, Lesson, main_path
from tools.servers import Server

# A number, a choice; bars are placed by keys in `test_browser_questions.py`
QUICK = "06_ordering"
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
UNDERLINED = """() => {
  const links = [...document.querySelectorAll(".jp-RenderedMarkdown :is(p, li) a[href]")];
  return links.every((link) => getComputedStyle(link).textDecorationLine === "underline");
}"""
GO_ON = "() => document.activeElement.textContent === 'go on'"


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.long] * (name != QUICK)) for name in WRITTEN],
)
def test_shift_enter_and_the_keys_of_a_question_lead_through_a_lesson(
    desk: Visit, lab: Server, name: str
) -> None:
    page, found = desk.page, main_path(name)
    page.emulate_media(reduced_motion="reduce")
    lab.store(found.path)
    open_next(page, found.path.name)
    by_keys(page, found.cells, found)
    assert page.evaluate(UNDERLINED), "colour alone does not tell a link from the text"
    assert not desk.errors


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
            answer(page, asked[here])
            page.wait_for_function(GO_ON, timeout=RUN * 1e3)
            page.keyboard.press("Enter")
        page.wait_for_function(MOVED, arg=str(here), timeout=RUN * 1e3)
    assert passed == list(range(further)), "a cell was passed over"
    assert page.locator(".lk-predict[data-answered]").count() == len(asked)


def questions(cells: list[Any], found: Lesson) -> dict[int, Question]:
    """The questions among *cells*, by the numbers of their cells."""
    numbers = {cell.id: place for place, cell in enumerate(cells)}
    return {numbers[cell]: one for cell, one in found.widgets(Question) if cell in numbers}


def answer(page: Any, asked: Any) -> None:
    """Answer by keyboard, wherever the focus is, and commit."""
    if asked.kind == "placing":
        for place, last in zip(asked.right, asked.last, strict=True):
            to = round(min(place, last))
            for key in [
                "Enter",
                *["Shift+ArrowRight"] * (to // 5),
                *["ArrowRight"] * (to % 5),
                "Enter",
            ]:
                page.keyboard.press(key)
            page.keyboard.press("Tab")
    elif asked.kind == "curve":
        for place in asked.right:
            page.keyboard.press("ArrowUp")
            up = round(place) - int(page.evaluate("document.activeElement.ariaValueNow"))
            for _ in range(abs(up)):
                page.keyboard.press("ArrowUp" if up > 0 else "ArrowDown")
            page.keyboard.press("Tab")
    elif asked.kind == "choice":
        page.keyboard.press("Space")
        for _ in range(int(asked.right)):
            page.keyboard.press("ArrowDown")
        page.keyboard.press("Tab")
    else:
        wrong_first(page)
        page.keyboard.type(f"{asked.right:.6g}")
        page.keyboard.press("Tab")
    page.keyboard.press("Space")  # how sure
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")


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
