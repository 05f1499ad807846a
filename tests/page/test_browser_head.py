"""The head of an experiment stays in sight; the switches for a class lie on nothing."""

from typing import Any

import pytest
from support.alone import Alone

from lessonkit import ArtificialDataset
from lessonkit.widgets import explore, seconds
from tools.browser import Visit

PAGE = """<!doctype html><meta charset="utf-8"><body><div class="jp-Notebook">
<h1>A lesson</h1><h2>Play</h2><div class="jp-Cell"></div><div style="height: 2000px"></div></div>"""
HEAD = 120  # px, of the part that stays in sight
SCREEN = 420  # px, from there to the sentence below the picture
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


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (640, 400)])
def test_an_experiment_is_one_screen(shown: Any, width: int, height: int) -> None:
    shown.set_viewport_size({"width": width, "height": height})
    head = shown.locator(".lk-top").bounding_box()
    said = shown.locator(".lk-said").first.bounding_box()
    assert head["height"] <= HEAD
    assert said["y"] + said["height"] - head["y"] <= SCREEN


def test_the_boxes_unfold_while_it_plays_and_when_asked(shown: Any) -> None:
    boxes = shown.locator(".lk-plumbing")
    asked = shown.get_by_role("button", name="Show the boxes")
    assert boxes.is_hidden()
    asked.click()
    assert boxes.is_visible()
    asked.click()
    assert boxes.is_hidden()
    above = shown.locator(".lk-play").bounding_box()
    shown.get_by_role("button", name="Play").click()
    boxes.wait_for()
    assert shown.locator(".lk-play").bounding_box()["y"] == above["y"]  # where the hand is
    assert asked.get_attribute("aria-pressed") == "true"


def test_what_it_could_be_at_best_is_told_when_somebody_asks(shown: Any) -> None:
    figures = shown.locator(".lk-figures")
    assert "limit" not in figures.inner_text()
    assert shown.locator("line.lk-limit").count() == 0
    shown.get_by_role("button", name="what could it be at best").click()
    assert "limit: the reader" in figures.inner_text()
    assert shown.locator("line.lk-limit").count() == 2  # one line in two parts


def test_sliders_stand_on_a_grid(shown: Any) -> None:
    shown.set_viewport_size({"width": 1280, "height": 720})
    boxes = [one.bounding_box() for one in shown.locator(".lk-top input").all()]
    lefts = {round(box["x"]) for box in boxes}
    assert len(boxes) == 3
    assert len(lefts) == 2
    assert len({round(box["width"]) for box in boxes}) == 1


def test_the_switches_for_a_class_lie_on_nothing(shown: Any) -> None:
    switches = shown.locator(".lk-class").bounding_box()
    others = shown.locator("h1, h2, .lk:not(.lk-class)").all()
    for other in others:
        box = other.bounding_box()
        is_above = switches["y"] + switches["height"] <= box["y"]
        assert is_above or box["y"] + box["height"] <= switches["y"]
