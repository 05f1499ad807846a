"""A lesson on the site lives, and when it is loaded again all is as it was left, and every number is true."""

import json
import re
from collections.abc import Iterator
from time import monotonic, sleep
from typing import Any

import pytest
from playwright.sync_api import expect
from support.places import ROOT
from support.school import KNOB, LESSONS, MOST, PATIENT, PLACE, RUN, SCROLL, Site

from delivery.site import pages
from delivery.site.python import BIG, PACKED
from lessonkit.widgets.explorer import Explore
from lessonkit.widgets.questions.question import Question
from lessonkit.words import number
from tools.browser import Browser, Visit
from tools.lesson import main_path

# What a widget in the cell with this id shows; the controls by the number of their value.
SEEN = """(id) => {
    const { widgets } = jupyterapp.shell.currentWidget.content;
    const { node } = widgets.find(({ model }) => model.id === id);
    const text = (of) => [...node.querySelectorAll(of)].map(({ textContent }) => textContent);
    const valueOf = ({ type, checked, value }) => Number(type === "checkbox" ? checked : value);
    const fields = [...node.querySelectorAll("[data-name]")];
    const marks = ".lk-card-of input, .lk-placing g[role], circle[role]";
    const all = [...node.querySelectorAll(`[data-name], ${marks}`)];
    const isOld = node.querySelector(".lk-stale") || node.querySelector(".lk-live[inert]");
    return {
        is_old: Boolean(isOld),
        values: Object.fromEntries(fields.map((one) => [one.dataset.name, valueOf(one)])),
        figures: [...node.querySelectorAll(":is(.lk-main, .lk-figures) b")]
            .map((one) => [one.textContent, one.nextElementSibling.textContent]).sort(),
        compared: text(".lk-was"), words: text(".lk-words:not(.lk-verdict *)"),
        formula: text(".lk-formula > b, .lk-formula > [aria-live]"), goals: text(".lk-goals li"),
        said: text(".lk-verdict, .lk-tries"),
        left: all.map((one) => one.getAttribute("aria-label") + one.getAttribute("aria-valuetext")
            + (one.type === "radio" ? one.checked : one.value)),
    };
}"""
TURN = """(id) => {
    const { widgets } = jupyterapp.shell.currentWidget.content;
    const { node } = widgets.find(({ model }) => model.id === id);
    for (const one of node.querySelectorAll("[data-name]")) {
        const { type, value, max } = one, count = one.options?.length - 1;
        if (type === "checkbox") one.checked = !one.checked;
        else one.value = Number(value) < Number(max ?? count) ? Number(value) + 1 : Number(value) - 1;
        for (const kind of ["input", "change"]) one.dispatchEvent(new Event(kind, { bubbles: true }));
    }
}"""
# What a run could be at best is told to who asks.
ASK_LIMIT = """(id) => {
    const { widgets } = jupyterapp.shell.currentWidget.content;
    const { node } = widgets.find(({ model }) => model.id === id);
    node.querySelector("[title='Show the limit'][aria-pressed=false]").click();
}"""
# Puts down an answer that is most likely wrong, and commits to it where that is one click.
ANSWER = """(id) => {
    const { widgets } = jupyterapp.shell.currentWidget.content;
    const { node } = widgets.find(({ model }) => model.id === id);
    const field = node.querySelector("input[type=number]");
    if (field) field.value = 1;
    for (const group of node.querySelectorAll("fieldset")) group.querySelector("input").click();
    node.querySelector(".lk-tools button").click();
    const mark = node.querySelector(".lk-placing g[role], circle[role]");
    const press = (key) => mark?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    for (const key of mark?.matches("g") ? ["Enter", "ArrowRight", "Enter"] : ["ArrowUp"]) press(key);
}"""
ACTIVE = "jupyterapp.shell.currentWidget.content.activeCell.model.id"

# Modules that no lesson imports; one is in a package of which others are there.
IMPORT_MORE = """
from left_out import ARCHIVE
before = ARCHIVE.exists()
import optparse
from encodings import ascii
print(before, ARCHIVE.exists(), ascii.getregentry().name)
"""


@pytest.fixture(scope="module")
def learner(site: Site, browser: Browser) -> Iterator[Visit]:
    """One page for all tests, in which the first lesson is open: to begin takes long."""
    with browser.visit(len(LESSONS) * MOST) as visit:
        site.open(visit.page, LESSONS[0])
        # Nobody has pressed anything
        expect(visit.page.locator("rect.lk-bar").first).to_be_attached()
        yield visit
        assert visit.errors == []
        assert visit.elsewhere() == []


def test_the_line_knows_how_large_python_is(site: Site, learner: Visit) -> None:
    data = learner.page.evaluate(
        "({ ...document.getElementById('lessons-script').dataset })"
    )
    there = [site.school / "lessons" / data["python"] / (name + PACKED) for name in BIG]
    assert int(data["bytes"]) == sum(path.stat().st_size for path in there)


def test_no_cell_of_the_main_path_has_failed(learner: Visit) -> None:
    failed = learner.page.locator("[data-mime-type='application/vnd.jupyter.error']")
    assert failed.all_inner_texts() == []


def test_what_no_lesson_needs_is_not_started(learner: Visit) -> None:
    started = learner.page.evaluate("jupyterapp.listPlugins()")
    texts = [path.read_text() for path in (ROOT / "build/site/build").glob("*.js")]
    for name in pages.NOT_STARTED:
        assert any(name in text for text in texts), name  # another version has other names
        assert not [one for one in started if name in (one, one.partition(":")[0])]


def seen(page: Any, cell: str) -> Any:
    """What a cell shows once it is the answer to what was asked last."""
    deadline = monotonic() + PATIENT
    while (found := page.evaluate(SEEN, cell))["is_old"] or found["said"][:1] == ["…"]:
        assert monotonic() < deadline, found
        sleep(0.1)
    return found


def speed_beside(drawn: Any, pinned: Any) -> str:
    """What a page says of the speed of a run, beside its baseline run."""
    if drawn["summary"] == pinned["summary"]:
        return "\u00a0"
    factor = pinned["perSample"] / drawn["perSample"]
    if factor == 1:
        return "as fast as the baseline run"
    if factor < 1:
        return f"{number(1 / factor)} times as slow as the baseline run"
    return f"{number(factor)} times as fast as the baseline run"


def assert_true(page: Any, cell: str, view: Explore) -> Any:
    """Every number that a view shows is that of the engine, for the values of its controls."""
    deadline = monotonic() + PATIENT
    while True:
        found = seen(page, cell)
        drawn = view.compared(view.values(found["values"]))
        pinned = drawn.get("pinned", json.loads(view.state)["pinned"])
        compared = [speed_beside(drawn, pinned)] if pinned else []
        figures = sorted([value, what] for value, what in drawn["figures"])
        wanted = [figures, compared, [drawn["summary"]]]
        if view.formula:
            judged = drawn["formula"]
            wanted.append([judged["value"], judged["said"]])
        if view.task:
            wanted.append([said for _, said in drawn["verdict"]["goals"]])
        faster = [re.sub("^was .*: ", "", text) for text in found["compared"]]
        shown = [found["figures"], faster, found["words"]]
        shown += (
            [[re.sub("^ ?[✓✗≤] ", "", text) for text in found["formula"]]]
            if view.formula
            else []
        )
        shown += (
            [[re.sub("^[✓✗○] ", "", text) for text in found["goals"]]] if view.task else []
        )
        if shown == wanted:
            return found
        assert monotonic() < deadline, (shown, wanted)
        sleep(0.1)


@pytest.mark.parametrize(
    "name",
    [*(pytest.param(one, marks=pytest.mark.long) for one in LESSONS[1:]), LESSONS[0]],
)
def test_a_lesson_that_is_loaded_again_is_as_it_was_left(
    site: Site, learner: Visit, name: str
) -> None:
    page = learner.page
    if not page.url.endswith(f"{name}.ipynb"):
        site.open(page, name)
    found = main_path(name)
    views = {cell: one for cell, one in found.widgets(Explore) if one.controls}
    views = {
        cell: one
        for cell, one in views.items()
        if "order" not in {c.kind for c in one.controls.values()}
    }
    questions = [cell for cell, _ in found.widgets(Question)]
    for cell in questions:
        page.evaluate(ANSWER, cell)
        seen(page, cell)
    for cell, view in views.items():
        page.evaluate(ASK_LIMIT, cell)
        assert_true(page, cell, view)
        page.evaluate(TURN, cell)
        assert_true(page, cell, view)
    before = {cell: page.evaluate(SEEN, cell) for cell in [*questions, *views]}
    assert all(before[cell]["said"] for cell in questions)
    page.evaluate(SCROLL, 0.4)
    page.wait_for_timeout(1000)
    place = page.evaluate(PLACE)

    site.open(page, name)
    assert page.locator(".lk-live[inert]").count() == 0
    assert page.evaluate(PLACE) == [place[0], pytest.approx(place[1], abs=2)]
    assert page.evaluate(ACTIVE) == place[0]  # where the keys go on
    for cell in questions:
        after = seen(page, cell)
        assert after["left"] == before[cell]["left"]
        if any(before[cell]["said"][1:]):  # or it was refused, and is no try
            assert after == before[cell]
    for cell, view in views.items():
        assert assert_true(page, cell, view) == before[cell]
        page.evaluate(TURN, cell)
        assert_true(page, cell, view)


def test_the_first_lesson_lives_without_a_server(learner: Visit) -> None:
    page = learner.page
    for place in range(2):  # a guess, and what covers the run
        question = page.locator(".lk-predict").nth(place)
        question.get_by_role("button", name="Show the run without an answer").click()
        expect(question.locator(".lk-verdict")).not_to_have_text("…", timeout=PATIENT * 1e3)
        assert question.locator(".lk-verdict").inner_text()

    # What tells the answer was covered until now.
    view = (
        page.locator(".lk >> visible=true")
        .filter(has=page.locator(KNOB))
        .filter(has_text="run for real")
        .first
    )
    figures = view.locator(".lk-figures")
    before = figures.inner_text()
    view.locator(KNOB).first.press("ArrowRight")
    expect(figures).not_to_have_text(before, use_inner_text=True, timeout=PATIENT * 1e3)

    view.get_by_role("button", name="Run this pipeline for real").click()
    expect(view.locator(".lk-panel table")).to_be_visible(timeout=PATIENT * 1e3)
    assert "measured" in view.locator(".lk-panel table").inner_text()

    page.evaluate(RUN, IMPORT_MORE)
    expect(
        page.locator(".jp-CodeCell").first.locator(".jp-OutputArea-output")
    ).to_have_text("False True ascii")
