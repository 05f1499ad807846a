"""A question that is answered with bars: how they follow the hand, and how soon the verdict is there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any

from benchmarks.measure import limited

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

WATCH = Path(__file__).with_name("place.js").read_text()
BEGIN = """
from lessonkit import ArtificialDataset
from lessonkit.widgets import predict

def question(samples):
    made = ArtificialDataset(samples).prefetch(1), {"num_epochs": 1}
    return predict("When does each bar begin?", made, place=["Open", "Read", "Train"])
"""
SIZES = 3, 12  # samples: of a question as in a lesson, and of a large one
QUESTIONS = 8  # each gives its answer once
MOVES = 120  # of the pointer while it drags
MOVES_A_SECOND = 60
# From one frame to the next, of 60 a second; until the answer is seen
FRAME_MS = 20
ANSWER_MS = 150


def drag(page: Page, asked: Locator) -> list[float]:
    """Drag the first bar to and fro; return how many ms each frame took."""
    # Held, it comes to the end of them all
    bar = asked.locator("svg g[role=button]").first.element_handle()
    box = bar.bounding_box()
    assert box
    x, y = box["x"] + 5, box["y"] + 5
    page.mouse.move(x, y)
    page.mouse.down()
    page.evaluate("(bar) => { lkFollow(bar); }", bar)
    began = perf_counter()
    for move in range(MOVES):
        sleep(max(0, began + move / MOVES_A_SECOND - perf_counter()))
        page.mouse.move(x + 3 * min(move, MOVES - move), y - 40 - move % 2)
    film = page.evaluate("() => lkFollowed()")
    page.mouse.up()
    assert film["moved"] > MOVES / 2, "the bar does not follow"
    return [later - earlier for earlier, later in pairwise(film["frames"])]


def reveal(page: Page, asked: Locator) -> float:
    """Place all bars by keyboard, and ask for the answer; return how many ms that took."""
    bars = asked.locator("svg g[role=button]")
    for number in range(bars.count()):
        bars.nth(number).focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")
    took: float = page.evaluate("(asked) => lkReveal(asked)", asked.element_handle())
    return took


def in_browser(questions: int) -> Iterator[tuple[int, list[float], list[float]]]:
    """For each size, how many ms frames took while dragging, and answers."""
    from tools.browser import Browser, open_notebook, run_all
    from tools.servers import LAB, serve

    cells = [f"question({size})" for size in SIZES for _ in range(questions)]
    with closing(Browser()) as browser, serve(LAB) as lab, browser.visit(600) as visit:
        page: Any = visit.page
        open_notebook(page, lab.write("place", BEGIN, *cells))
        run_all(page)
        page.add_script_tag(content=WATCH)
        shown = page.locator(".lk-predict")
        shown.nth(len(cells) - 1).wait_for()
        for number, size in enumerate(SIZES):
            frames: list[float] = []
            answers = []
            for place in range(number * questions, (number + 1) * questions):
                asked = shown.nth(place)
                asked.scroll_into_view_if_needed()
                frames += drag(page, asked)
                answers.append(reveal(page, asked))
            yield size, frames, answers


def rows(quick: bool) -> Iterator[str]:
    """All lines on placing."""
    from tools.browser import missing

    if missing():
        yield f"NOT MEASURED: placing. {missing()}"
        return
    for size, frames, answers in in_browser(2 if quick else QUESTIONS):
        what = f"placing {2 * size + 1} bars: a frame while dragging, median"
        yield limited(what, median(frames), FRAME_MS, "ms")
        yield limited("  95th percentile", quantiles(frames, n=20)[-1], FRAME_MS, "ms")
        yield limited(
            "  from asking for the answer until it is seen",
            median(answers),
            ANSWER_MS,
            "ms",
        )
        yield limited("  the slowest", max(answers), ANSWER_MS, "ms")
