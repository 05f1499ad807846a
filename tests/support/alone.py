"""Widgets in a page without Jupyter: this process is their kernel."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Any

from lessonkit.widgets.widget import PROGRAM, Page
from tools.browser import Visit
from tools.servers import HOST

# What anywidget does for a host, and then for a widget. Its questions go to `ask`, and what `answer`
# gets goes to it.
SHOW = """async ([place, program, esm, about]) => {
    if (!window.drawing) {
        const module = async (text) => {
            const blob = new Blob([text], { type: "text/javascript" });
            return (await import(URL.createObjectURL(blob))).default;
        };
        const host = await module(program);
        host.initialize({ model: { get: (name) => about[name] } });
        window.drawing = await module(esm);
        window.hearing = {};
        const bytes = (text) => text && [new TextEncoder().encode(text)];
        window.answer = (place, content, text) =>
            hearing[place].forEach((hear) => hear(content, bytes(text)));
    }
    hearing[place] = [];
    window.saved ??= {}; // as a notebook does, for a widget that is drawn again
    const { state } = about;
    about.kept = saved[state] ?? "";
    const model = { get: (name) => about[name], set: (name, value) => (about[name] = value),
        on: (_, hear) => hearing[place].push(hear), send: (question) => ask(place, question),
        save_changes() { saved[state] = about.kept; } };
    const within = document.querySelectorAll(".jp-Cell")[place] ?? document.body;
    await drawing.render({ model, el: within.appendChild(document.createElement("div")) });
}"""
ANSWERED = """() => { window.ask = async (place, question) => {
    for (const [content, text] of await hear(place, question)) answer(place, content, text);
}; }"""
# A page draws once a frame, and has by then
DRAWN = "() => new Promise(requestAnimationFrame)"
HELD = "() => { window.asked = []; window.ask = (_, question) => asked.push(question); }"


def show(visit: Visit, place: int, widget: Page) -> None:
    """Draw a *widget* in the cell at this *place*, or in a page without cells."""
    visit.page.evaluate(SHOW, [place, PROGRAM, widget._esm, sent(widget)])


def sent(widget: Page) -> dict[str, str]:
    """What of a *widget* its page knows by name."""
    return {
        "role": widget.role,
        "state": widget.state,
        "kept": "",
        "host": f"IPY_MODEL_{widget.host.model_id}",
        "version": widget.version,
    }


# A page that can keep records needs an address of its own
ADDRESS = f"http://{HOST}:9/lesson.ipynb"


def give_address(visit: Visit) -> None:
    """Give a page an address, where nothing is but itself."""
    visit.page.route(
        ADDRESS, lambda route: route.fulfill(content_type="text/html", body=" ")
    )
    visit.page.goto(ADDRESS)


class Alone:
    """One widget in a page; its kernel is asked only when the test says so."""

    def __init__(self, visit: Visit, widget: Page) -> None:
        self.visit, self.page, self.widget = visit, visit.page, widget
        self.page.evaluate(HELD)
        show(visit, 0, widget)
        for _ in range(2):  # in the first frame a page gets its width, and draws once more
            self.page.evaluate(DRAWN)
        widget.send = self.say

    def say(self, content: Any, buffers: Any = None) -> None:
        told = [0, content, buffers and buffers[0].decode()]
        self.page.evaluate("(told) => answer(...told)", told)

    def load_again(self) -> None:
        """Draw the widget anew, from what is saved of it."""
        self.page.evaluate("() => document.body.replaceChildren()")
        show(self.visit, 0, self.widget)
        self.page.evaluate(DRAWN)

    def answer(self) -> None:
        """Let the kernel answer whatever it is asked, until nothing is left, and the page draw it."""
        while asked := self.page.evaluate("() => asked.splice(0)"):
            for question in asked:
                self.widget.hear(self.widget, question, [])
        self.page.evaluate(DRAWN)

    def choose(self, name: str, text: str) -> None:
        """Choose the value with this *text* for the control *name*, and let all be drawn for it."""
        self.page.get_by_label(name).select_option(label=text)
        self.answer()
        self.page.evaluate(DRAWN)


def show_cells(visit: Visit, cells: Sequence[Any], widgets: dict[int, Page]) -> None:
    """Draw a notebook's headings and *widgets*, by the place of their cell; each answers at once.

    The *cells* have the classes that a page without an editor gives them, by their tags.
    """
    inside = "".join(map(html_of, cells))
    visit.page.set_content(f'<!DOCTYPE html><div class="jp-Notebook">{inside}</div>')
    answer_all(visit, widgets)
    visit.page.evaluate(ANSWERED)
    for place, widget in widgets.items():
        show(visit, place, widget)


def answer_all(visit: Visit, widgets: dict[int, Page]) -> None:
    """Give a page `hear`, which is the kernel of all *widgets*, by the place of their cell."""

    def hear(place: int, question: Any) -> list[Any]:
        said: list[Any] = []
        widget = widgets[place]
        widget.send = lambda content, buffers=None: said.append(
            (content, buffers and buffers[0].decode())
        )
        widget.hear(widget, question, [])
        return said

    visit.page.expose_function("hear", hear)


def html_of(cell: Any) -> str:
    """What of a cell its page has without widgets: its tags, its heading or its text."""
    tags = "".join(f" celltag_{tag}" for tag in cell.metadata.get("tags", ()))
    inside = ""
    if cell.cell_type == "markdown":
        heading = re.match(r"(#+) (.+)", cell.source)
        inside = f"<p>{escape(cell.source)}</p>"
        if heading:
            level = len(heading[1])
            inside = f"<h{level}>{escape(heading[2])}</h{level}>"
    return (
        f'<div class="jp-Cell{tags}"><div class="jp-RenderedMarkdown">{inside}</div></div>'
    )
