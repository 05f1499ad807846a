"""Pictures that the page draws by itself: their names, their keys, in the dark and where it is narrow."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect
from support.alone import Alone

from lessonkit import AUTOTUNE, ArtificialDataset, benchmark
from lessonkit.analysis import curve, knobs
from lessonkit.optimize import autotune
from lessonkit.plot import plot_curve, plot_search, plot_timelines, plot_waterfall
from tools.browser import Visit

STEPS = [
    ("naive", 13.35),
    ("+ prefetch", 10.85),
    ("+ cache", 6.19),
    ("+ batch before the maps", 6.242),
]
FILE = ArtificialDataset(6, nbytes=1000)
MAPPED = FILE.map(cost=0.030, num_parallel_calls=1)
CHARTS: dict[str, Callable[[], Any]] = {
    "curve": lambda: plot_curve(curve(MAPPED, knobs(MAPPED)[0], values=[1, 2, 3, 4])),
    "search": lambda: plot_search(autotune(MAPPED.prefetch(AUTOTUNE), most_slots=4).steps),
    "waterfall": lambda: plot_waterfall(STEPS, title="a waterfall"),
    "timelines": lambda: plot_timelines(
        {"plain": benchmark(FILE, 1), "mapped": benchmark(MAPPED, 1)}
    ),
}
TEXTS = """() => [...document.querySelectorAll("svg text")]
    .map((text) => [text, text.getBoundingClientRect()])
    .filter(([text, { width }]) => width && getComputedStyle(text).visibility !== "hidden")
    .map(([text, { left, right, top, bottom }]) => [text.textContent, left, right, top, bottom])"""
SIZE = "() => [document.documentElement.scrollWidth, innerWidth]"


@pytest.mark.parametrize("name", ["curve", "search", "waterfall"])
def test_keys_lead_through_all_that_is_drawn(visit: Visit, name: str) -> None:
    alone = Alone(visit, CHARTS[name]())
    page, scene = alone.page, json.loads(alone.widget.state)
    chart = page.locator("svg.lk-chart")
    assert chart.get_attribute("aria-label") == f"{scene['title']}: {scene['words']}"
    told = [
        mark["say"] for row in scene["rows"] for mark in row["marks"] if mark.get("say")
    ]
    assert told
    chart.focus()
    for place, sentence in enumerate(told, 1):
        page.keyboard.press("ArrowRight")
        assert (
            page.locator(".lk-said").inner_text()
            == chart.get_attribute("aria-valuetext")
            == sentence
        )
        assert chart.get_attribute("aria-valuenow") == str(place)
    page.keyboard.press("ArrowRight")  # there is no more
    assert (
        chart.get_attribute("aria-valuenow")
        == chart.get_attribute("aria-valuemax")
        == str(len(told))
    )
    page.keyboard.press("Home")
    assert page.locator(".lk-said").inner_text() == told[0]


def test_a_chart_tells_what_the_pointer_is_at(visit: Visit) -> None:
    page = Alone(visit, CHARTS["waterfall"]()).page
    # A chart is drawn again as soon as its page has a width: `hover` waits until it stays
    # where it is.
    page.locator("svg.lk-chart text").get_by_text("6.24 s").hover(
        position={"x": 0, "y": 5}, force=True
    )
    expect(page.locator(".lk-said")).to_contain_text("6.24 s")
    said = page.locator(".lk-said").inner_text()
    assert said == page.locator("svg.lk-chart").get_attribute("aria-valuetext")
