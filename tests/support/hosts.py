"""Pages that show widgets as anywidget does, and know nothing else of Jupyter."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from typing import Any

import mistune

from lessonkit.widgets.widget import Page
from support.alone import answer_all, sent
from tools.browser import Visit

# `host.show(place, widget)` draws a widget in the node `#cell-<place>`; what its model hears, and
# how the view ends, is in `host.views`. In a frame, `host` is that of the page around it.
HOST = """
const listeners = new Map();
const model = ({ place, ...about }) => ({
    get: (name) => about[name],
    set: (name, value) => (about[name] = value),
    save_changes() {},
    on: (event, hear) => listeners.set(place, [...(listeners.get(place) ?? []), [event, hear]]),
    off: (event, hear) => listeners.set(place, (listeners.get(place) ?? []).filter(
        ([other, heard]) => other !== event || heard !== hear)),
    async send(question) {
        for (const [content, text] of await window.hear(place, question)) {
            const buffers = text ? [new TextEncoder().encode(text)] : [];
            for (const [event, hear] of listeners.get(place) ?? []) {
                if (event === "msg:custom") hear(content, buffers);
            }
        }
    },
});

window.host = {
    views: {}, listeners,
    async show(place, { esm, shadow, ...about }) {
        const address = URL.createObjectURL(new Blob([esm], { type: "text/javascript" }));
        const { default: widget } = await import(address);
        const cell = document.getElementById(`cell-${place}`) ?? document.body;
        const root = shadow ? cell.attachShadow({ mode: "open" }) : cell;

        const el = root.appendChild(document.createElement("div"));
        const made = model({ place, ...about });

        host.views[place] = await widget.render({ model: made, el });
    },
    // As Colab and others do: a document of its own for each output.
    frame(place, about) {
        const frame = document.createElement("iframe");
        Object.assign(frame.style, { width: "900px", height: "900px" });
        document.getElementById(`cell-${place}`).append(frame);
        const { contentDocument: inside } = frame;
        inside.body.append(Object.assign(inside.createElement("script"), { textContent: SELF }));
        return frame.contentWindow.host.show(place, about);
    },
};
"""
SCRIPT = f"const SELF = {json.dumps(HOST)};\n{HOST}"
PAGE = """<!DOCTYPE html><html lang="en"><title>A host</title>
<style>:root {{ color-scheme: light dark }} main {{ max-width: 900px; margin: auto }}</style>
<main>{}</main>"""


def show_lesson(
    visit: Visit, cells: Sequence[Any], widgets: dict[int, Page], how: str = "flat"
) -> None:
    """Draw the *cells* of a lesson and their *widgets*, by the place of their cell.

    *how* is how a page may do it: "flat" has one node per cell, "nested" one section in another,
    "shadow" draws each widget in a shadow, and "frame" each in a frame of its own.
    """
    nodes = [node_of(place, cell) for place, cell in enumerate(cells)]
    inside = nested(cells, nodes) if how == "nested" else "".join(nodes)
    visit.page.set_content(PAGE.format(inside))
    answer_all(visit, widgets)
    visit.page.evaluate(SCRIPT)
    draw = "([place, about, how]) => host[how](place, about)"
    for place, widget in widgets.items():
        module = {"esm": widget._esm, "shadow": how == "shadow"}
        method = "frame" if how == "frame" else "show"
        visit.page.evaluate(draw, [place, sent(widget) | module, method])


def node_of(place: int, cell: Any) -> str:
    """What a page has of a cell: its text, or what it printed; its widget comes later."""
    inside = ""
    if cell.cell_type == "markdown":
        inside = str(mistune.create_markdown(escape=False, plugins=["table"])(cell.source))
    else:
        told = [output.get("text", "") for output in cell.outputs]
        inside = f"<pre>{escape(''.join(told))}</pre>"
    return f'<div id="cell-{place}">{inside}</div>'


def nested(cells: Sequence[Any], nodes: list[str]) -> str:
    """Put each heading and all below it into a section, as pages made by Sphinx are."""
    written, levels = [], list[int]()
    for cell, node in zip(cells, nodes, strict=True):
        level = len(cell.source) - len(cell.source.lstrip("#"))
        if cell.cell_type == "markdown" and level:
            while levels and levels[-1] >= level:
                levels.pop()
                written.append("</section>")
            levels.append(level)
            written.append("<section>")
        written.append(node)
    return "".join(written) + "</section>" * len(levels)
