"""Lessons in pages that show widgets, and are neither JupyterLab nor Voilà."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import pytest
from support.hosts import show_lesson
from support.sections import further_of, level, sections, tags

from lessonkit.widgets.questions import Choice, Number, Question
from lessonkit.widgets.widget import Page
from tools.browser import Browser, Visit, serious_violations
from tools.lesson import Lesson, lesson

LESSONS = ["00_start_here", "01_prefetch", "09_workers"]
LAYOUTS = ["nested", "shadow", "frame", "flat"]  # how a page may draw its cells


def each_with(layouts: list[str]) -> list[Any]:
    """Each lesson in each layout: once for each lesson every time, and all else in a long test."""
    return [
        pytest.param(name, how, marks=[pytest.mark.long] * (number != place))
        for number, name in enumerate(LESSONS)
        for place, how in enumerate(layouts)
    ]


# Counts what hears, watches or waits: on the window, the document, and the nodes of the page.
COUNTED = """() => {
    const left = (window.left = new Map());
    const add = (what, by) => left.set(what, (left.get(what) ?? 0) + by);
    for (const node of [window, document, document.body]) {
        const { addEventListener: on, removeEventListener: off } = node;
        node.addEventListener = (...given) => (add(given[0], 1), on.apply(node, given));
        node.removeEventListener = (...given) => (add(given[0], -1), off.apply(node, given));
    }
    for (const name of ["ResizeObserver", "MutationObserver"]) {
        const watching = new Set();
        window[name] = class extends window[name] {
            observe(...given) { watching.add(this); super.observe(...given); }
            disconnect() { watching.delete(this); super.disconnect(); }
        };
        left.set(name, watching);
    }
    const waiting = new Set(), { setTimeout: start, clearTimeout: stop } = window;
    window.setTimeout = (act, ...given) => {
        const id = start(() => (waiting.delete(id), act()), ...given);
        waiting.add(id);
        return id;
    };
    window.clearTimeout = (id) => (waiting.delete(id), stop(id));
    left.set("timers", waiting);
}"""
LEFT = """() => {
    const found = [...left].map(([what, many]) => [what, many.size ?? many]);
    const heard = [...host.listeners].map(([place, many]) => [`model ${place}`, many.length]);
    return Object.fromEntries([...found, ...heard].filter(([, many]) => many));
}"""
CLICK = """(name) => {
    const named = ({ ariaLabel, textContent }) => (ariaLabel ?? textContent).includes(name);
    const all = [...document.querySelectorAll("button")].filter(named);
    all.forEach((one) => one.click());
    return all.length;
}"""
SEEN = "(place) => document.getElementById(`cell-${place}`).checkVisibility()"


def widgets_of(found: Lesson) -> dict[int, Page]:
    """The widgets of a lesson, by the place of their cell."""
    values = [found.values.get(cell.get("id")) for cell in found.cells]
    return {place: value for place, value in enumerate(values) if isinstance(value, Page)}


def questions_of(found: Lesson) -> dict[int, Question]:
    return {
        place: one for place, one in widgets_of(found).items() if isinstance(one, Question)
    }


def inside(visit: Visit, place: int, how: str) -> Any:
    """Where the widget of a cell is."""
    cell = visit.page.locator(f"#cell-{place}")
    return cell.frame_locator("iframe").locator("body") if how == "frame" else cell


def written(shown: Any, text: str) -> Any:
    """The button on which this text is written."""
    return shown.locator("button", has_text=re.compile(f"^{text}$"))


def answer(shown: Any, asked: Question) -> None:
    """Commit to the right answer of a question; of bars and curves ask for the run."""
    if isinstance(asked, Choice):
        shown.get_by_label(asked.shown(asked.right), exact=True).check()
    elif isinstance(asked, Number):
        shown.locator("input[type=number]").fill(str(asked.right))
    else:
        written(shown, "show me anyway").click()
        return
    shown.get_by_label("certain").check()
    written(shown, "commit").click()


def is_seen(visit: Visit, place: int) -> bool:
    return bool(visit.page.evaluate(SEEN, place))


def unfold(visit: Visit) -> None:
    """Show what is folded below Further."""
    visit.page.evaluate(CLICK, "Show or hide")


def covered_by(found: Lesson) -> dict[int, set[int]]:
    """For each cell that is covered, the places of the questions that it waits for."""
    waits: dict[int, set[int]] = {}
    for above, start, end in sections(found):
        asked = {
            place for place in range(above, start) if "predict" in tags(found.cells[place])
        }
        for place in range(start + 1, end):
            waits[place] = waits.get(place, set()) | asked
    return waits


@pytest.mark.parametrize(("name", "how"), each_with(LAYOUTS))
def test_in_any_page_a_question_hides_its_explanation_until_it_is_answered(
    browser: Browser, name: str, how: str
) -> None:
    found = lesson(name)
    asked = questions_of(found)
    assert len(asked) >= 3
    with browser.visit() as visit:
        show_lesson(visit, found.cells, widgets_of(found), how)
        unfold(visit)
        for place, question in asked.items():
            shown = inside(visit, place, how)
            written(shown, "commit").wait_for()
            assert question.why
            assert question.why not in shown.inner_text()
            assert not shown.locator("rect.lk-bar").count()  # the run is not drawn
            answer(shown, question)
            shown.get_by_text(question.why).wait_for()
            if question.traces:
                shown.locator("rect.lk-bar").first.wait_for(state="attached")
    assert not visit.errors


ALL_SEEN = ["flat", "nested", "shadow"]
EACH_TIME = [*zip(LESSONS, ALL_SEEN, strict=True)]
CASES = [
    pytest.param(name, how, is_audited, marks=[pytest.mark.long] * is_audited)
    for name, how in product(LESSONS, ALL_SEEN)
    for is_audited in ([True, False] if (name, how) in EACH_TIME[1:] else [True])
    if (name, how) != EACH_TIME[0]
]


@pytest.mark.parametrize(("name", "how", "is_audited"), [(*EACH_TIME[0], True), *CASES])
def test_what_tells_an_answer_is_out_of_sight_in_a_page_without_cells_and_tags(
    browser: Browser, name: str, how: str, is_audited: bool
) -> None:
    """At its end everybody can use the page: axe takes long for that, so each time it looks at one lesson.

    That the page around the widgets breaks no rule is the same in each; a long test looks at all.
    """
    found = lesson(name)
    main = range(further_of(found))
    waits = {place: asked for place, asked in covered_by(found).items() if place in main}
    asked = {place: one for place, one in questions_of(found).items() if place in main}
    assert waits
    assert asked
    with browser.visit() as visit:
        show_lesson(visit, found.cells, widgets_of(found), how)
        left = set(asked)
        for place, question in asked.items():
            seen = {cell for cell in waits if is_seen(visit, cell)}
            assert seen == {cell for cell, wanted in waits.items() if not wanted & left}
            answer(inside(visit, place, how), question)
            inside(visit, place, how).get_by_text(question.why).wait_for()
            left.remove(place)
        assert all(is_seen(visit, cell) for cell in main)
        assert not is_audited or not serious_violations(visit.page, "main")
    assert not visit.errors


def test_what_the_learner_asks_to_see_stays_and_the_rest_is_covered(
    browser: Browser,
) -> None:
    found = lesson("00_start_here")
    places = {cell.id: place for place, cell in enumerate(found.cells)}
    with browser.visit() as visit:
        show_lesson(visit, found.cells, widgets_of(found))
        notes = visit.page.locator(".lk-note")
        before = notes.count()
        written(notes.first, "show it now").click()
        assert is_seen(visit, places["run-notice"])
        assert not is_seen(visit, places["explain-text"])
        assert notes.count() == before - 1
        # The page draws one more cell, of a section that is covered.
        late = """(before) => document.getElementById(before).insertAdjacentHTML(
            "beforebegin", "<div id='cell-late'>This is drawn late: 210 ms.</div>")"""
        visit.page.evaluate(late, f"cell-{places['play']}")
        late_cell = visit.page.locator("#cell-late")
        late_cell.wait_for(state="hidden")
        assert is_seen(visit, places["run-notice"])
        assert late_cell.count() == 1


@pytest.mark.parametrize("how", ["flat", "nested", "shadow"])
def test_the_check_of_the_installation_takes_its_advice_away(
    browser: Browser, how: str
) -> None:
    found = lesson("00_start_here")
    (place,) = [
        place for place, cell in enumerate(found.cells) if cell.id == "installation"
    ]
    with browser.visit() as visit:
        show_lesson(visit, found.cells, {}, how)
        advice = visit.page.get_by_text("If this text stays")
        assert advice.is_visible()  # a page that shows no widgets
    with browser.visit() as visit:
        show_lesson(visit, found.cells, {place: widgets_of(found)[place]}, how)
        visit.page.get_by_text("page and kernel: hear each other within").wait_for()
        visit.page.get_by_text("If this text stays").wait_for(state="hidden")
        assert is_seen(visit, place)
    assert not visit.errors


def test_going_on_and_one_section_at_a_time_work_without_cells(browser: Browser) -> None:
    found = lesson("00_start_here")
    places = {cell.id: place for place, cell in enumerate(found.cells)}
    with browser.visit() as visit:
        page: Any = visit.page
        show_lesson(visit, found.cells, widgets_of(found))
        question = inside(visit, places["predict-total"], "flat")
        answer(question, questions_of(found)[places["predict-total"]])
        written(question, "go on").click()
        focus = "() => document.activeElement.id"
        assert page.evaluate(focus) == f"cell-{places['predict-total'] + 1}"
        page.locator(".lk-class summary").click()
        written(page, "one section at a time").click()
        page.get_by_role("button", name="The section after").click()
        told = page.locator(".lk-class [aria-live]").inner_text()
        seen = [place for place in range(len(found.cells)) if is_seen(visit, place)]
        headings = [
            found.cells[place].source.splitlines()[0]
            for place in seen
            if level(found.cells[place]) == 2
        ]
        assert [f"## {told.split(': ')[1]}"] == headings
    assert not visit.errors


def test_a_widget_in_a_frame_of_its_own_offers_nothing_that_is_not_there(
    browser: Browser,
) -> None:
    found = lesson("00_start_here")
    asked = questions_of(found)
    place = next(iter(asked))
    with browser.visit() as visit:
        show_lesson(visit, found.cells, {place: asked[place]}, "frame")
        shown = inside(visit, place, "frame")
        answer(shown, asked[place])
        written(shown, "ask me again").wait_for()
        assert not written(shown, "go on").is_visible()
        assert not shown.locator(".lk-class").count()
        written(shown, "ask me again").click()
        written(shown, "commit").wait_for()
        assert asked[place].why not in shown.inner_text()
    assert not visit.errors


# Together they have every kind of widget.
LONG = [
    pytest.param(name, marks=pytest.mark.long)
    for name in ("07_optimisers", "08_put_it_together")
]


@pytest.mark.parametrize("name", ["00_start_here", *LONG])
def test_nothing_listens_after_a_view_has_ended(browser: Browser, name: str) -> None:
    found = lesson(name)
    widgets, asked = widgets_of(found), questions_of(found)
    with browser.visit() as visit:
        page: Any = visit.page
        page.evaluate(COUNTED)
        show_lesson(visit, found.cells, widgets)
        unfold(visit)
        for place, question in asked.items():
            shown = inside(visit, place, "flat")
            if place == min(asked):  # a view that was made anew has an end too
                answer(shown, question)
                written(shown, "ask me again").click()
            answer(shown, question)
            written(shown, "ask me again").wait_for()
        for slider in page.locator("[data-name]").all():
            slider.press("ArrowRight")
        # All in one call, because pictures that play slow down each click that follows
        assert page.evaluate(CLICK, "Play") >= len(asked)
        assert {"ResizeObserver", f"model {min(asked)}"} <= set(page.evaluate(LEFT))
        page.evaluate("() => Object.values(host.views).forEach((end) => end())")
        page.evaluate("() => document.querySelector('main').replaceChildren()")
        page.evaluate("() => new Promise(requestAnimationFrame)")
        assert page.evaluate(LEFT) == {}
    assert not visit.errors
