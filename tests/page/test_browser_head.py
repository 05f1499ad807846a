"""The head of an experiment stays in sight; the switches for a class lie on nothing."""

from typing import Any

import pytest
from support.alone import Alone

from lessonkit import ArtificialDataset
from lessonkit.widgets import explore, seconds
from tools.browser import Visit

PAGE = """<!doctype html><meta charset="utf-8"><body><div class="jp-Notebook">
<h1>A lesson</h1><h2>Play</h2><div class="jp-Cell"></div><div style="height: 2000px"></div></div>"""
FORMULA = "2 * (open + 3 * (read + train))"
# Whether a node is in sight, and nothing lies on it.
FREE = """(one) => {
    const { left, top, width, height } = one.getBoundingClientRect();
    const seen = document.elementFromPoint(left + width / 2, top + height / 2);
    return one === seen || one.contains(seen);
}"""


def in_turn(open: float = 0.03, read: float = 0.015, train: float = 0.01) -> Any:
    return ArtificialDataset(3, open=open, read=read), {"train": train}


@pytest.fixture
def shown(visit: Visit) -> Any:
    visit.page.set_content(PAGE)
    costs: dict[str, Any] = {
        name: seconds(0.005, 0.05, 0.005) for name in ("open", "read", "train")
    }
    Alone(visit, explore(in_turn, formula=FORMULA, **costs))
    visit.page.locator(".lk-timeline rect.lk-bar").first.wait_for()
    return visit.page


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (390, 844), (640, 400)])
def test_controls_stay_in_sight_with_the_figure_that_they_change(
    shown: Any, width: int, height: int
) -> None:
    shown.set_viewport_size({"width": width, "height": height})
    timeline = shown.locator(".lk-timeline").bounding_box()
    head = shown.locator(".lk-top")
    room = head.bounding_box()["height"]
    shown.evaluate("(top) => scrollTo(0, top)", timeline["y"] - room)
    for part in ("[data-name=read]", ".lk-main b", ".lk-term"):
        assert shown.locator(f".lk-top {part}").first.evaluate(FREE), part
    # And the picture has as much room, at least
    assert room <= height / 2


def test_the_switches_for_a_class_lie_on_nothing(shown: Any) -> None:
    switches = shown.locator(".lk-class").bounding_box()
    others = shown.locator("h1, h2, .lk:not(.lk-class)").all()
    for other in others:
        box = other.bounding_box()
        is_above = switches["y"] + switches["height"] <= box["y"]
        assert is_above or box["y"] + box["height"] <= switches["y"]
