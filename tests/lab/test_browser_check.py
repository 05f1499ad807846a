"""A challenge in code: the verdict of a try is where one looks, and *check* needs no keyboard."""

from typing import Any

import pytest

from tools.browser import Visit, open_next, run_all
from tools.servers import Server

BEGIN = """
from lessonkit import ArtificialDataset
from lessonkit.widgets import challenge, goals
task = challenge("Be quick.", goals=[goals.total(at_most=0.180)], hints=["Use a prefetch."])
task
"""
ATTEMPT = """
def mine():
    return ArtificialDataset()

task.check(mine)
"""
SOLUTION = "# A solution is here\n" + "\n".join(
    f"step_{line} = {line}" for line in range(30)
)
EDIT = """([from, to]) => {
    const { widgets } = jupyterapp.shell.currentWidget.content;
    const { sharedModel } = widgets[1].model;
    sharedModel.setSource(sharedModel.getSource().replace(from, to));
}"""
IN_SIGHT = """(card) => {
    const frame = card.closest(".jp-WindowedPanel-outer").getBoundingClientRect();
    const { top, bottom } = card.getBoundingClientRect();
    return top >= frame.top && bottom <= frame.bottom;
}"""
NO_DIFFERENCE = "✗ The same figures as before: this change makes no difference here."


@pytest.fixture
def page(desk: Visit, lab: Server) -> Any:
    lab.write("check", BEGIN, ATTEMPT, SOLUTION)
    open_next(desk.page, "check.ipynb")
    desk.page.evaluate("localStorage.clear()")
    desk.page.set_viewport_size({"width": 1000, "height": 500})
    run_all(desk.page)
    desk.page.locator(".lk-timeline").wait_for()
    return desk.page


def test_after_shift_enter_the_verdict_is_in_sight(page: Any) -> None:
    editor = page.locator(".jp-Cell .cm-content").nth(1)
    editor.click()
    page.evaluate(EDIT, ["ArtificialDataset()", "ArtificialDataset().prefetch(0)"])
    editor.press("Shift+Enter")
    verdict = page.locator(".lk-verdict", has_text=NO_DIFFERENCE).last
    verdict.wait_for()
    page.wait_for_timeout(1200)  # JupyterLab scrolls to the next cell for a while
    assert verdict.evaluate(IN_SIGHT)


def test_check_runs_the_attempt_and_the_reader_stays(page: Any) -> None:
    card = page.locator(".lk-task")
    card.scroll_into_view_if_needed()
    page.evaluate(EDIT, ["ArtificialDataset()", "ArtificialDataset().prefetch(1)"])
    card.get_by_role("button", name="check").click()
    card.get_by_text("Passed: every goal is met.").wait_for()
    assert card.evaluate(IN_SIGHT)
    # It is the only cell that has run again
    assert page.evaluate("jupyterapp.shell.currentWidget.content.activeCellIndex") == 1
    # What is out of sight has no inner text
    prompts = page.locator(".jp-CodeCell .jp-InputPrompt").all_text_contents()
    assert prompts == ["[1]:", "[4]:", "[3]:"]


def test_an_attempt_with_an_error_is_checked_again_from_the_card_above(page: Any) -> None:
    card = page.locator(".lk-task")
    check = card.get_by_role("button", name="check")
    page.evaluate(EDIT, ["return", "retrun"])
    check.click()
    page.get_by_text("SyntaxError").first.wait_for()
    page.evaluate(EDIT, ["retrun", "return"])
    check.click()
    card.get_by_text("Not yet.", exact=False).first.wait_for()
