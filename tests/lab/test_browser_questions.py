"""Placing bars, drawing a curve, and what stays covered until then, as a learner meets them."""

from pathlib import Path
from typing import Any

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from playwright.sync_api import expect
from support.asking import BEGIN, DRAW, FOLDED, PLACE, store, text
from support.questions import Card, CurveCard, PlacingCard, box_of

from tools.browser import (
    Browser,
    Visit,
    open_next,
    open_notebook,
    run_all,
)
from tools.servers import Server

CELLS = [
    new_markdown_cell("# A lesson"),
    new_code_cell(BEGIN),
    new_markdown_cell("## Predict"),
    new_code_cell(PLACE, metadata={"tags": ["predict"]}),
    new_code_cell(DRAW, metadata={"tags": ["predict"]}),
    new_markdown_cell("## Look", metadata=FOLDED),
    new_markdown_cell("It takes 85 ms."),
    new_code_cell("show(naive.prefetch(1), **once)"),
    new_markdown_cell("## Explain", metadata=FOLDED),
    new_markdown_cell("The larger of both."),
    new_markdown_cell("## Recap"),
    new_markdown_cell("Go on."),
    new_code_cell("print('the end')"),
]
NAMES = ["Open", "Read 0", "Read 1", "Read 2", "Train 0", "Train 1", "Train 2"]
BY_TURNS = [0, 6, 11, 16, 9, 14, 19]  # in steps of 5 ms
DRAWN_LATE = """async () => {
    const { content, sessionContext } = jupyterapp.shell.currentWidget;
    const [asking, { node }] = [content.widgets[3], content.widgets[5]];
    const { parentNode, nextSibling } = node;
    node.querySelector(".lk-note").remove();
    node.remove();
    await asking.constructor.execute(asking, sessionContext);
    await new Promise((resolve) => setTimeout(resolve, 300));
    parentNode.insertBefore(node, nextSibling);
}"""
SAVE = "() => jupyterapp.commands.execute('docmanager:save')"


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store(tmp_path_factory.mktemp("questions") / "questions.ipynb", CELLS)


@pytest.fixture(scope="module")
def page(desk: Visit, lab: Server, notebook: Path) -> Any:
    """JupyterLab as it is by default: what is out of sight is not drawn."""
    desk.page.emulate_media(reduced_motion="reduce")
    lab.store(notebook)
    open_next(desk.page, notebook.name)
    # Before anything has run
    assert not text(desk.page, "It takes 85 ms.").is_visible()
    run_all(desk.page)
    return desk.page


def placing(page: Any) -> PlacingCard:
    return PlacingCard(page.locator(".lk-predict").first)


def places(page: Any) -> list[str]:
    """Where each bar is, as a screen reader hears it."""
    return [placing(page).place_of(name) for name in NAMES]


def test_after_run_all_the_reader_is_at_the_first_question_and_what_tells_is_covered(
    page: Any,
) -> None:
    page.locator(".lk-predict").nth(1).wait_for()
    page.wait_for_function("document.activeElement.closest('.lk-placing')")
    assert placing(page).bar("Open").is_visible()
    for told in "It takes 85 ms.", "The larger of both.":
        assert not text(page, told).is_visible()
    assert (
        page.get_by_text("Hidden until your answer is right, or until you ask.").count()
        == 2
    )
    assert text(page, "Go on.").is_visible()


def test_a_covered_section_is_opened_by_our_button_alone(page: Any) -> None:
    theirs = page.locator(".jp-showHiddenCellsButton")
    assert theirs.count() == 2  # JupyterLab has one at each of these headings
    assert not any(button.is_visible() for button in theirs.all())
    ours = page.get_by_role("button", name="Show this section without an answer")
    assert ours.count() == 2


def test_a_section_that_is_drawn_late_is_covered_too(page: Any) -> None:
    page.evaluate(DRAWN_LATE)
    page.locator(".jp-Cell", has=page.get_by_role("heading", name="Look")).locator(
        ".lk-note"
    ).wait_for()


def test_a_bar_is_moved_by_keyboard(page: Any) -> None:
    placing(page).bar("Read 0").focus()
    said = page.locator(".lk-placing .lk-said")
    for key, told in {
        "Enter": "Read 0 is picked up: from 0 ms to 15 ms.",
        "ArrowRight": "Read 0: from 5 ms to 20 ms.",
        "Shift+ArrowRight": "Read 0: from 30 ms to 45 ms.",
        "ArrowLeft": "Read 0: from 25 ms to 40 ms.",
        "Enter ": "Read 0 is put down: from 25 ms to 40 ms.",
        " ": "Read 0 is picked up: from 25 ms to 40 ms.",
        "Shift+ArrowLeft": "Read 0: from 0 ms to 15 ms.",
        "ArrowLeft ": "Read 0: from 0 ms to 15 ms.",  # and no further
        "Escape": "Read 0 is put down: from 25 ms to 40 ms.",
        "Enter  ": "Read 0 is picked up: from 25 ms to 40 ms.",
        "Delete": "Read 0 is put down: not placed yet.",
        "ArrowRight  ": "Read 0 is put down: not placed yet.",  # it is not held
    }.items():
        page.keyboard.press(key.strip() or " ")
        assert said.inner_text() == told, key
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")  # who goes on has put it down
    assert said.inner_text() == "Read 0 is put down: from 0 ms to 15 ms."
    assert places(page) == [
        "not placed yet",
        "from 0 ms to 15 ms",
        *["not placed yet"] * 5,
    ]


def test_a_bar_follows_the_hand_and_comes_back_if_it_is_dropped_outside(
    page: Any,
) -> None:
    axis = page.locator(".lk-placing svg").bounding_box()
    placing(page).drag("Read 1", (axis["x"] + axis["width"] / 2, axis["y"] + 60))
    there = placing(page).bar("Read 1").get_attribute("aria-label")
    assert there
    assert there.startswith("Read 1, 15 ms, from ")
    placing(page).drag("Read 1", (axis["x"] + 50, axis["y"] - 100))
    assert (
        page.locator(".lk-placing .lk-said")
        .inner_text()
        .startswith("Read 1 was dropped outside and is back: from")
    )
    assert placing(page).bar("Read 1").get_attribute("aria-label") == there
    placing(page).drag("Read 1", (axis["x"] + 5, axis["y"] + 60))  # before the axis begins
    assert places(page)[2] == "from 0 ms to 15 ms"
    placing(page).drag("Read 1", (axis["x"] + 200, axis["y"] + axis["height"] - 10))
    assert places(page)[2] == "not placed yet"


def test_what_is_not_all_placed_is_refused_with_a_sentence(page: Any) -> None:
    placing(page).is_sure("fairly sure")
    placing(page).commit("Open is not placed yet")


def test_a_second_page_goes_on_where_the_first_one_is(
    page: Any, browser: Browser, lab: Server, notebook: Path
) -> None:
    placing(page).place("Train 2", 19)
    before = places(page)
    page.evaluate(SAVE)
    with browser.visit() as other:
        open_notebook(other.page, lab.url + lab.program.page.format(notebook.name))
        placing(other.page).bar("Train 2").wait_for()
        assert places(other.page) == before
        assert placing(other.page).shown.get_by_label("fairly sure").is_checked()
        told = "This is your answer from last time. You have not committed to it yet."
        other.page.get_by_text(told).wait_for()
        placing(page).place("Open", 0)
        other.page.wait_for_function(
            "document.querySelector(\".lk-placing g[aria-label^='Open, 30 ms, from 0 ms']\")"
        )
    assert not other.errors


def test_what_the_learner_placed_is_judged_and_the_true_bars_take_its_place(
    page: Any,
) -> None:
    card = placing(page)
    card.say(BY_TURNS)
    card.is_sure("fairly sure")
    card.commit("Read 1 begins before 55 ms. You let them take turns.")
    assert places(page)[2] == "from 55 ms to 70 ms"  # to be corrected
    assert not card.shown.locator(".lk-theirs rect").count()
    page.get_by_text(
        "Hidden until your answer is right, or until you ask."
    ).first.wait_for()
    give_up = card.shown.get_by_role("button", name="Show the run without an answer")
    give_up.evaluate("(one) => one.scrollIntoView({ block: 'end' })")
    card.give_up()
    card.verdict.get_by_text("Reading goes on.").wait_for()
    # Both come into sight: the verdict, and the run that shows why
    expect(page.locator(".lk-figures").first).to_be_in_viewport(ratio=1)
    expect(card.verdict).to_be_in_viewport(ratio=1)
    page.wait_for_function(
        "document.querySelector(\".lk-placing g[aria-label^='Train 2, 10 ms, from 75 ms']\")"
    )
    assert card.shown.locator(".lk-theirs rect").count() == 7
    assert not card.to_commit.count()
    page.locator(".lk rect.lk-bar").first.wait_for()
    assert not text(page, "It takes 85 ms.").is_visible()  # there is one more question


def test_a_curve_is_drawn_and_then_all_is_uncovered(page: Any) -> None:
    card = CurveCard(page.locator(".lk-predict").nth(1))
    card.marks.first.focus()
    card.press("ArrowDown", "PageDown", "ArrowRight", "ArrowUp")
    # 47 ms are 80 of 100 steps
    assert card.values() == ["40.5 ms", "41.1 ms", "not drawn yet", "not drawn yet"]
    plot = box_of(card.shown.locator("svg.lk-plot"))
    page.mouse.move(plot["x"] + 0.2 * plot["width"], plot["y"] + 60)
    page.mouse.down()
    page.mouse.move(plot["x"] + plot["width"] - 5, plot["y"] + 60, steps=20)
    page.mouse.up()
    assert len(card.values()) == 4
    assert len({*card.values()}) == 1
    card.is_sure("certain")
    card.commit("More calls do help.")
    assert not card.shown.get_by_text("knee: calls=3").count()
    card.give_up()
    card.shown.get_by_text("From calls=3 on, nothing changes. Training decides.").wait_for()
    card.shown.get_by_text("knee: calls=3").wait_for()
    for told in "It takes 85 ms.", "The larger of both.":
        text(page, told).wait_for()


def test_what_was_judged_is_still_there_when_the_page_is_loaded_again(
    page: Any,
) -> None:
    page.evaluate(SAVE)
    page.reload()
    page.locator(".lk-verdict").get_by_text("Reading goes on.").wait_for()
    page.locator(".lk rect.lk-bar").first.wait_for()
    text(page, "It takes 85 ms.").wait_for()
    assert not page.get_by_text("Hidden until").is_visible()


def touched(page: Any, start: tuple[float, float], end: tuple[float, float]) -> None:
    """A finger that is is put down: moved and taken away."""
    session = page.context.new_cdp_session(page)
    for kind, (x, y) in (
        ("touchStart", start),
        ("touchMove", end),
        ("touchMove", end),
        ("touchEnd", end),
    ):
        points = [] if kind == "touchEnd" else [{"x": x, "y": y}]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


def test_on_a_small_screen_with_a_finger_and_without_jupyterlab(
    browser: Browser, voila: Server, notebook: Path
) -> None:
    with browser.visit(width=390) as visit:
        page: Any = visit.page
        page.goto(voila.store(notebook))
        placing(page).bar("Open").wait_for()
        page.get_by_text(
            "Hidden until your answer is right, or until you ask."
        ).first.wait_for()
        assert not text(page, "It takes 85 ms.").is_visible()
        box, axis = (
            box_of(placing(page).bar("Open")),
            page.locator(".lk-placing svg").bounding_box(),
        )
        touched(page, (box["x"] + 5, box["y"] + 5), (axis["x"] + 150, axis["y"] + 50))
        assert places(page)[0].startswith("from ")
        assert page.evaluate("scrollY") == 0  # the page did not move with the finger
        page.get_by_role("button", name="Show this section without an answer").first.click()
        text(page, "It takes 85 ms.").wait_for()
        # A section that is shown without an answer has the runs of the questions that it waited for
        for question in range(2):
            card = Card[Any](page.locator(".lk-predict").nth(question))
            card.shown.get_by_text("✓").wait_for()
        text(page, "The larger of both.").wait_for()
    assert not visit.errors
