"""How a lesson begins, as a page of its own: with its first picture and question alive before Python.

A reader meets a question within a second, and Python takes many. So whatever the page may ask of the
first widgets is asked here, when the site is built, and `page/opening.js` answers with it.
"""

import base64
import gzip
import re
from collections.abc import Mapping
from html import escape
from typing import Any

from nbconvert.filters import markdown2html

from lessonkit.widgets.explorer import Explore
from lessonkit.widgets.page_data import Json, packed
from lessonkit.widgets.questions import Choice, Number, Question
from lessonkit.widgets.widget import Page

LESSON = "index.html?path="
LAST = "The lesson goes on here as soon as it has loaded."
# The name of the element with what the widgets answer
STORED = "lessons-stored"


def opening(notebook: dict[str, Any], widgets: Mapping[str, Page]) -> str:
    """Return a *notebook* up to its first question as HTML, or "" without one.

    *widgets* has the widget of each cell that shows one. Each cell is an element with its name, so
    that the lesson can take its place at the same height.
    """
    parts: list[str] = []
    stored: dict[str, Json] = {}
    for cell in notebook["cells"]:
        name = cell["id"]
        widget = widgets.get(name)
        if isinstance(widget, Explore) and widget.controls:
            widget = None  # its pictures would be too many: the stored one stands there
        if widget:
            stored[name] = answers_of(widget)
        parts.append(f'<section data-cell="{name}">{shown(cell, widget)}</section>')
        if "predict" in cell["metadata"].get("tags", ()):
            content = base64.b64encode(gzip.compress(packed(stored).encode(), 9, mtime=0))
            told = f'<script type="text/plain" id="{STORED}">{content.decode()}</script>'
            return "\n".join([*parts, f"<p><em>{LAST}</em></p>", told])
    return ""


def shown(cell: dict[str, Any], widget: Page | None) -> str:
    """Return what a *cell* shows without its *widget*, which the page draws."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return f'<div class="lessons-text">{leading(markdown2html(source))}</div>'
    is_folded = cell["metadata"].get("jupyter", {}).get("source_hidden")
    code = (
        '<p class="lessons-folded">code</p>'
        if is_folded
        else f"<pre>{escape(source)}</pre>"
    )
    outputs = cell.get("outputs", ())
    printed = "".join("".join(output.get("text", ())) for output in outputs)
    lines = (
        f'<pre class="lessons-printed">{escape(printed.rstrip())}</pre>' if printed else ""
    )
    pictures = "" if widget else "".join(map(picture, outputs))
    return code + lines + pictures


def leading(html: str) -> str:
    """Return *html* in which links to other lessons lead there, as JupyterLite would make them."""
    return re.sub(r'<a href="(?=\d\d_\w+\.ipynb)', f'<a href="{LESSON}', html)


def picture(output: dict[str, Any]) -> str:
    """Return the stored picture of an *output*, or ""; its text is for those who do not see it."""
    data = output.get("data", {})
    told = escape("".join(data.get("text/plain", "")))
    if "image/svg+xml" in data:
        return f"<figure>{''.join(data['image/svg+xml'])}</figure>"
    if "image/png" not in data:
        return ""
    width = output["metadata"].get("image/png", {}).get("width", "")
    source = "".join(data["image/png"]).replace("\n", "")
    return f'<figure><img alt="{told}" width="{width}" src="data:image/png;base64,{source}"></figure>'


def answers_of(widget: Page) -> Json:
    """Return a *widget* as its page gets it, and its answers to what that may ask of a kernel."""
    stored: Json = {"role": widget.role, "state": widget.state}
    if isinstance(widget, Question):
        return stored | {"revealed": widget.revealed("")} | verdicts(widget)
    if isinstance(widget, Explore):
        return stored | {"code": widget.programs({})}
    return stored


def verdicts(question: Question) -> Json:
    """Return what decides an answer to a *question*: nothing where only its kernel can tell."""
    if isinstance(question, Choice):
        judged = map(question.judge, range(len(question.choices)))
        return {"choices": [one._asdict() for one in judged]}
    return {"number": question.rules()} if isinstance(question, Number) else {}
