"""A lesson on the site that is loaded again: all is there as it was left, and every number is true."""

import json
import re
from time import monotonic, sleep
from typing import Any

import pytest
from browser import Visit
from lesson import main_path
from test_browser_site import LESSONS, PATIENT, Site, learner, site  # noqa: F401 - fixtures

from lessonkit.widgets.explorer import Explore
from lessonkit.widgets.questions.question import Question
from lessonkit.words import number

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
        figures: text(".lk-figures b"), words: text(".lk-words:not(.lk-verdict *)"),
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
PLACE = """() => {
    const { widgets } = jupyterapp.shell.currentWidget.content;
    const top = document.querySelector(".jp-WindowedPanel-outer").getBoundingClientRect().top;
    const first = widgets.find(({ node }) => node.getBoundingClientRect().bottom > top);
    return [first.model.id, Math.round(first.node.getBoundingClientRect().top - top)];
}"""
SCROLL = """(share) => {
    const outer = document.querySelector(".jp-WindowedPanel-outer");
    dispatchEvent(new WheelEvent("wheel"));
    outer.scrollTop = share * outer.scrollHeight;
}"""


def seen(page: Any, cell: str) -> Any:
    """What a cell shows once it is the answer to what was asked last."""
    deadline = monotonic() + PATIENT
    while (found := page.evaluate(SEEN, cell))["is_old"] or found["said"][:1] == ["…"]:
        assert monotonic() < deadline, found
        sleep(0.1)
    return found


def assert_true(page: Any, cell: str, view: Explore) -> Any:
    """Every number that a view shows is that of the engine, for the values of its controls."""
    deadline = monotonic() + PATIENT
    while True:
        found = seen(page, cell)
        drawn = view.picture(view.values(found["values"]))[1]
        figures = [value for value, _ in drawn["figures"]]
        pinned = json.loads(view.state)["pinned"]
        if pinned and pinned["summary"] != drawn["summary"]:
            figures.insert(1, f"{number(pinned['perSample'] / drawn['perSample'])}×")
        wanted = [figures, [drawn["summary"]]]
        if view.formula:
            judged = drawn["formula"]
            wanted.append([judged["value"], judged["said"]])
        if view.task:
            wanted.append([said for _, said in drawn["verdict"]["goals"]])
        shown = [found["figures"], found["words"]]
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
    [LESSONS[0], *(pytest.param(one, marks=pytest.mark.long) for one in LESSONS[1:])],
)
def test_a_lesson_that_is_loaded_again_is_as_it_was_left(
    site: Site,  # noqa: F811
    learner: Visit,  # noqa: F811
    name: str,
) -> None:
    page = learner.page
    page.goto(f"{site.address}/index.html")
    page.evaluate("() => localStorage.clear()")  # what another test did there
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
    for cell in questions:
        after = seen(page, cell)
        assert after["left"] == before[cell]["left"]
        if any(before[cell]["said"][1:]):  # or it was refused, and is no try
            assert after == before[cell]
    for cell, view in views.items():
        assert assert_true(page, cell, view) == before[cell]
        page.evaluate(TURN, cell)
        assert_true(page, cell, view)
