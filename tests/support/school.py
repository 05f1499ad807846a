"""The lessons as a site, in a folder of some plain server."""

from __future__ import annotations

import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tools import lessons
from tools.servers import HOST, await_start, free_port, process

if TYPE_CHECKING:
    from playwright.sync_api import Page

LESSONS = [lesson.name for lesson in lessons.LESSONS]
KNOB = 'input[type=range]:not([aria-label="Time in the run"])'
# S, for all that is done with a page and for each part: this Python is slow
MOST, PATIENT = 900, 300
READY = "Python is ready. Your work is kept in this browser."
RUN = """async (source) => {
    const { content, sessionContext } = jupyterapp.shell.currentWidget;
    const { sharedModel } = content.model; // a cell of our own: the lesson's are kept for other tests
    const isThere = sharedModel.getCell(0).id === "of-a-test";
    if (!isThere) sharedModel.insertCell(0, { id: "of-a-test", cell_type: "code" });
    const cell = content.widgets[0];
    cell.model.sharedModel.setSource(source);
    await cell.constructor.execute(cell, sessionContext);
}"""
# The cell at the top of what is seen, and how far its head is from there.
PLACE = """() => {
    const { widgets } = jupyterapp.shell.currentWidget.content;
    const top = document.querySelector(".jp-WindowedPanel-outer").getBoundingClientRect().top;
    const first = widgets.find(({ node }) => node.getBoundingClientRect().bottom > top);
    return [first.model.id, Math.round(first.node.getBoundingClientRect().top - top)];
}"""
# As a reader turns the wheel.
SCROLL = """(share) => {
    const outer = document.querySelector(".jp-WindowedPanel-outer");
    dispatchEvent(new WheelEvent("wheel"));
    outer.scrollTop = share * outer.scrollHeight;
}"""


@dataclass
class Site:
    """Where the site is, for now."""

    address: str
    school: Path  # the folder of the school's server

    def lesson(self, name: str) -> str:
        """The address of a lesson."""
        return f"{self.address}/notebooks/index.html?path={name}.ipynb"

    def open(self, page: Page, lesson: str, said: str = READY) -> None:
        """Open a lesson and wait until its line has *said* this."""
        from playwright.sync_api import expect

        page.goto(self.lesson(lesson))
        expect(page.locator("#lessons-line [role=status]")).to_have_text(
            said, timeout=PATIENT * 1e3
        )


@contextmanager
def served(folder: Path) -> Iterator[Site]:
    """Serve the lessons in a folder, as a school's plain server does."""
    port = free_port()
    command = [sys.executable, "-m", "http.server", str(port), "--bind", HOST]
    command += ["--directory", str(folder)]
    with process(command, {}, folder / "log") as child:
        await_start("http.server", child, folder / "log", lambda: answers(port))
        yield Site(f"http://{HOST}:{port}/lessons", folder)


def answers(port: int) -> bool:
    """True if a server answers there."""
    try:
        urllib.request.urlopen(f"http://{HOST}:{port}/").close()
    except OSError:
        return False
    return True
