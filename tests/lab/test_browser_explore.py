"""`explore` in JupyterLab and in Voilà, as a learner meets it: every picture is checked against the trace."""

import re
from typing import Any

import pytest
from support.bars import assert_shows

from lessonkit import benchmark
from lessonkit.engine.trace import Trace
from lessonkit.pictures.layout import Layout, layout
from lessonkit.widgets.page_data import micros
from tools.browser import (
    HEIGHT,
    NARROW,
    Visit,
    open_next,
    run_all,
    serious_violations,
)
from tools.servers import Server

PIPELINE = """
from lessonkit import ArtificialDataset

def pipeline(buffer=1, calls=2):
    files = ArtificialDataset(6).map(cost=0.045, num_parallel_calls=calls)
    return files.prefetch(buffer), {"num_epochs": 1}
"""
SHOWN = """
from lessonkit.widgets import explore
explore(pipeline, buffer=(1, 5), calls=(1, 4))
"""
FITS = """() => document.querySelector(".lk-timeline").getBoundingClientRect().width
    <= document.querySelector(".lk-frame").clientWidth"""
ON_TOP = """(one) => {
    const { left, top, width, height } = one.getBoundingClientRect();
    return document.elementFromPoint(left + width / 2, top + height / 2) === one;
}"""
BOXES = """() => Object.fromEntries([...document.querySelectorAll(".lk-part")].map((part) => [
    part.querySelector("b").textContent,
    [...part.querySelectorAll(".lk-chip, .lk-slot")].map((place) => place.textContent)]))"""
DARK = "() => jupyterapp.commands.execute('apputils:change-theme', { theme: 'JupyterLab Dark' })"
SETTLES = 300  # ms, in which nothing else is to come


def run(**values: int) -> Trace:
    """What the page is to show."""
    made: dict[str, Any] = {}
    exec(PIPELINE, made)
    dataset, options = made["pipeline"](**values)
    trace: Trace = benchmark(dataset, **options)
    return trace


def expected(**values: int) -> Layout:
    """What is to be seen, straight from the trace."""
    return layout(run(**values))


class Shown:
    """The widget in a page."""

    def __init__(self, visit: Visit) -> None:
        self.visit, self.page = visit, visit.page
        self.time = self.page.get_by_role("slider", name="Time in the run")
        self.time.wait_for()

    def slider(self, name: str) -> Any:
        return self.page.get_by_role("slider", name=name, exact=True)

    def button(self, name: str) -> Any:
        """Of a name that a word on the button begins, the rest is enough."""
        return self.page.get_by_role(
            "button", name=re.compile(f"^(.*: )?{re.escape(name)}$")
        )

    def is_picture_of(self, **values: int) -> None:
        assert_shows(self.page.locator(":root"), expected(**values))

    def at(self) -> str:
        text = self.time.get_attribute("aria-valuetext")
        assert text
        return str(text)


def box(locator: Any) -> tuple[float, float, float, float]:
    found = locator.bounding_box()
    return found["x"], found["y"], found["width"], found["height"]


@pytest.fixture(scope="module")
def opened(desk: Visit, lab: Server) -> Shown:
    """One notebook for all tests; each starts it afresh."""
    lab.write("explore", PIPELINE, SHOWN)
    open_next(desk.page, "explore.ipynb")
    run_all(desk.page)
    return Shown(desk)


@pytest.fixture
def shown(opened: Shown) -> Shown:
    opened.page.mouse.move(0, 0)
    opened.button("Back to the start").click()
    opened.button("To the start").click()
    opened.is_picture_of(buffer=1, calls=2)
    return opened


def test_the_sliders_stay_in_sight_as_long_as_the_picture_does(shown: Shown) -> None:
    page, slider = shown.page, shown.slider("buffer")
    size = page.viewport_size
    assert size
    page.set_viewport_size({"width": size["width"], "height": 420})  # as with large type
    try:
        page.locator("svg.lk-timeline").scroll_into_view_if_needed()
        shown.button("Play").scroll_into_view_if_needed()
        assert 0 < box(slider)[1] < box(shown.button("Play"))[1] < 420
        assert slider.evaluate(ON_TOP)
    finally:
        page.set_viewport_size(size)


def test_the_picture_is_the_trace(shown: Shown) -> None:
    shown.is_picture_of(buffer=1, calls=2)
    figure = shown.page.locator(
        ":is(.lk-main, .lk-figures div)", has_text="per sample"
    ).locator("b")
    duration = run(buffer=1, calls=2).duration
    assert figure.inner_text() == f"{duration / 6 * 1e3:.1f} ms"


def test_who_turns_back_at_once_is_not_shown_what_comes_late(shown: Shown) -> None:
    shown.slider("calls").focus()
    shown.page.keyboard.press("ArrowRight")
    shown.page.keyboard.press("ArrowLeft")
    shown.page.wait_for_timeout(SETTLES)
    shown.is_picture_of(buffer=1, calls=2)


def test_arrow_keys_move_a_slider(shown: Shown) -> None:
    shown.slider("calls").focus()
    for calls in (3, 4):
        shown.page.keyboard.press("ArrowRight")
        shown.is_picture_of(buffer=1, calls=calls)
    for _ in range(3):  # faster than pictures come
        shown.page.keyboard.press("ArrowLeft")
    shown.is_picture_of(buffer=1, calls=1)


def test_the_pointer_moves_a_slider(shown: Shown) -> None:
    left, top, width, height = box(shown.slider("buffer"))
    y = top + height / 2
    shown.page.mouse.move(left + 8, y)
    shown.page.mouse.down()
    shown.page.mouse.move(left + width + 30, y, steps=10)
    shown.is_picture_of(buffer=5, calls=2)
    shown.page.mouse.move(left - 30, y, steps=10)
    shown.page.mouse.up()
    shown.is_picture_of(buffer=1, calls=2)


def test_arrow_keys_step_the_playhead(shown: Shown) -> None:
    laid = expected(buffer=1, calls=2)
    shown.time.focus()
    shown.page.keyboard.press("Home")
    assert shown.at() == "0 ms"
    moments = sorted({micros(at) for bar in laid.bars for at in (bar.start, bar.end)} - {0})
    for moment in moments[:3]:
        shown.page.keyboard.press("ArrowRight")
        assert shown.at() == f"{moment / 1000:g} ms"
    shown.page.keyboard.press("ArrowLeft")
    assert shown.at() == f"{moments[1] / 1000:g} ms"
    shown.page.keyboard.press("End")
    assert shown.at() == f"{run(buffer=1, calls=2).duration * 1e3:g} ms"


def test_the_plumbing_shows_who_is_where(shown: Shown) -> None:
    trace = run(buffer=1, calls=2)
    laid = layout(trace)
    shown.button("Show the boxes").click()
    shown.time.focus()
    shown.page.keyboard.press("Home")
    for now in sorted({at for bar in laid.bars for at in (bar.start, bar.end)} - {0}):
        shown.page.keyboard.press("ArrowRight")
        calls = ["", ""]  # each keeps its place
        for bar in laid.bars:
            if (
                laid.rows[bar.row].stage == "Map"
                and bar.kind == "work"
                and bar.start <= now < bar.end
            ):
                calls[bar.lane] = bar.label
        held = ""
        for event in trace.events:
            if event.buffer == "prefetch(1)" and event.time_ns <= now:
                held = laid.names[event.element] if event.change > 0 else ""
        boxes = shown.page.evaluate(BOXES)
        assert (boxes["Map"], boxes["prefetch(1)"]) == (calls, [held]), now


def test_play_goes_to_the_end(shown: Shown) -> None:
    shown.page.get_by_label("How many times slower").select_option("1")
    shown.button("Play").click()
    end = f"{run(buffer=1, calls=2).duration * 1e3:g} ms"
    shown.page.locator(f".lk-timeline[aria-valuetext='{end}']").wait_for()
    # It was called Pause, but a slow computer may not show that
    shown.button("Play").wait_for()


def test_a_bar_says_what_it_is(shown: Shown) -> None:
    shown.page.locator("rect.lk-bar[data-stage=Map]").first.hover()
    said = shown.page.locator(".lk-said")
    assert (
        said.inner_text()
        == "Map, sample 0: 45 ms, from 45 ms to 90 ms. It began when Read, sample 0 ended."
    )
    assert shown.page.locator("rect.lk-bar.lk-lit").count() == 3
    shown.page.mouse.move(0, 0)
    assert not said.inner_text().startswith("Map, sample 0")


def test_the_height_stays_the_same(shown: Shown) -> None:
    before = box(shown.page.locator(".lk").first)
    shown.slider("calls").focus()
    shown.page.keyboard.press("End")
    shown.is_picture_of(buffer=1, calls=4)
    assert box(shown.page.locator(".lk").first) == before


# The last one in the page that all share, for afterwards it is dark.
def test_everybody_can_use_it_in_the_colours_of_jupyterlab(shown: Shown) -> None:
    for pressed in (
        "Show the critical path",
        "Show the memory",
        "Keep this run as the baseline run",
    ):
        shown.button(pressed).click()
    shown.page.locator("rect.lk-bar[data-stage=Map]").first.hover()
    assert not serious_violations(shown.page)
    shown.page.evaluate(DARK)
    shown.page.locator("body[data-jp-theme-name='JupyterLab Dark']").wait_for(
        state="attached"
    )
    assert not serious_violations(shown.page)


@pytest.mark.long
def test_voila_shows_the_same_on_half_a_screen_and_answers(
    visit: Visit, voila: Server
) -> None:
    visit.page.set_viewport_size({"width": NARROW, "height": HEIGHT})
    visit.page.goto(voila.write("explore-narrow", PIPELINE, SHOWN))
    narrow = Shown(visit)
    visit.page.wait_for_function(FITS)
    narrow.is_picture_of(buffer=1, calls=2)
    narrow.slider("calls").press("ArrowRight")
    narrow.is_picture_of(buffer=1, calls=3)
