"""A lesson of a class in browsers: the page of a learner, and the server that gives it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from support.alone import ANSWERED, html_of, show, show_cells
from support.classes import Class, class_beside
from support.questions import Card, card_of
from tools.browser import Visit

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

# Of a learner without the teacher, and of a teacher's board on a projector and on an old one
SENT = "Sent. Waiting for the class."
SCREENS = (1920, 1080), (1024, 768)


@contextmanager
def class_with_a_page(folder: Path, known: list[dict[str, Any]]) -> Iterator[Class]:
    """Serve a class whose board has *known* questions, and whose site is one page."""
    (folder / "site").mkdir()
    (folder / "site" / "index.html").write_text("<!DOCTYPE html><title>A lesson</title>")
    with class_beside(folder, known) as one:
        yield one


class LearnersPage:
    """The page of one learner, in a browser of its own: *cells*, and *widgets* by the places of theirs."""

    def __init__(
        self, page: Page, address: str, cells: Sequence[Any], widgets: dict[int, Any]
    ) -> None:
        self.page = page
        self.cells = cells
        self.widgets = widgets
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("dialog", lambda dialog: dialog.accept())
        page.goto(f"{address}index.html")
        show_cells(Visit(page), cells, widgets)

    def load_again(self) -> None:
        """Load the page again; its kernel is there still."""
        self.page.reload()
        inside = "".join(map(html_of, self.cells))
        self.page.set_content(f'<div class="jp-Notebook">{inside}</div>')
        self.page.evaluate(ANSWERED)
        for place, widget in self.widgets.items():
            show(Visit(self.page), place, widget)

    def card(self, place: int) -> Card[Any]:
        shown = self.page.locator(".jp-Cell").nth(place).locator(".lk-predict")
        return card_of(self.widgets[place], shown)

    def verdict(self, place: int) -> Locator:
        return self.card(place).verdict

    def answer(self, place: int, right: bool) -> None:
        """Say something right, or what a mistake leads to, and commit to it."""
        card = self.card(place)
        asked = self.widgets[place]
        card.answer(asked.right if right else card.mistake(asked), "certain")
