"""The bars of a picture in a page, beside those that a run gives."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from lessonkit.pictures.layout import Layout
from lessonkit.widgets.page_data import micros
from tools.browser import STEP

if TYPE_CHECKING:
    from playwright.sync_api import Locator

# What is drawn within a node of a page: of each bar its stage, begin and length
BARS = """(within) => [...within.querySelectorAll("rect.lk-bar")]
    .filter((bar) => bar.style.display !== "none")
    .map(({ dataset }) => [dataset.stage, Number(dataset.start), Number(dataset.length)])"""
SAME = f"([within, wanted]) => JSON.stringify(({BARS})(within)) === JSON.stringify(wanted)"


def assert_shows(shown: Locator, laid: Layout) -> None:
    """Wait until a page shows *laid* there, and see that every bar is where that has it."""
    from playwright.sync_api import Error

    wanted = [
        [laid.rows[bar.row].stage, micros(bar.start), micros(bar.end) - micros(bar.start)]
        for bar in laid.bars
    ]
    within = shown.element_handle()
    with suppress(Error):  # what is there instead is then told below
        shown.page.wait_for_function(SAME, arg=[within, wanted], timeout=STEP * 1e3)
    assert shown.evaluate(BARS) == wanted
