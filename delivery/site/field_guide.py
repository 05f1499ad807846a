"""The field guide as pages: one for each section of its notebook, and all of them as one document to print.

The notebook is the source. Nothing of it is written a second time: a page has its text, its code, and what
the cells printed and drew when the notebook was run.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from delivery.site import symptoms
from delivery.site.symptoms import FIELD_GUIDE_FOLDER
from tools.lessons import FIELD_GUIDE

TEMPLATE = Path(__file__).parent / "page" / "field_guide.html"
ROW = re.compile(r"^\| (?P<asks>.+) \| \[(?P<title>.+)\]\(#.+\) \|$", re.M)
ASKED = "Predict: "  # so begins what a question leaves in its cell
TO_A_PAGE = re.compile(rf'href="\.\./{FIELD_GUIDE_FOLDER}/([\w-]+)\.html"')


@dataclass(frozen=True)
class Section:
    """A section of the field guide, and what somebody asks who needs it."""

    group: str
    title: str
    asks: str
    cells: tuple[dict[str, Any], ...]  # without the one of its heading

    @property
    def name(self) -> str:
        """The name of its page."""
        return symptoms.name_in_field_guide(self.title)

    @property
    def seen_as(self) -> list[symptoms.Symptom]:
        """List the symptoms whose pages lead here, as their section or from their answers."""
        link = f'href="{symptoms.page_in_field_guide(self.title)}"'
        return [one for one, text in pages_of_symptoms().items() if link in text]

    @property
    def uses_the_job(self) -> bool:
        """Whether its code names something of the small job that stands above the first section."""
        names = re.findall(r"^(\w+) = ", source(symptoms.cells(FIELD_GUIDE)["job"]), re.M)
        code = "\n".join(source(cell) for cell in self.cells if is_shown(cell))
        return any(re.search(rf"\b{name}\b", code) for name in names)


@cache
def sections() -> list[Section]:
    """Return the sections of the field guide in their order."""
    cells = symptoms.cells(FIELD_GUIDE)
    asks = {row["title"]: row["asks"] for row in ROW.finditer(source(cells["index"]))}
    found: list[tuple[str, str, list[dict[str, Any]]]] = []
    group = ""
    for cell in cells.values():
        marks, _, title = source(cell).partition(" ")
        if cell["cell_type"] == "markdown" and marks == "##":
            group = title
        elif cell["cell_type"] == "markdown" and marks == "###":
            found.append((group, title, []))
        elif found:
            found[-1][2].append(cell)
    return [
        Section(group, title, asks[title], tuple(cells)) for group, title, cells in found
    ]


@cache
def pages_of_symptoms() -> dict[symptoms.Symptom, str]:
    """Return the pages of all symptoms."""
    return {one: symptoms.page(one) for one in symptoms.symptoms()}


def is_shown(cell: dict[str, Any]) -> bool:
    """Whether a page shows the code of a *cell*: not if nobody need read it, or if it only draws."""
    is_hidden = cell["metadata"].get("jupyter", {}).get("source_hidden")
    draws = any("image/png" in output.get("data", {}) for output in cell.get("outputs", ()))
    return cell["cell_type"] == "code" and not is_hidden and not draws


def source(cell: dict[str, Any]) -> str:
    """Return what is written in a *cell*."""
    return "".join(cell["source"])


def pictures_of(section: Section) -> dict[str, dict[str, Any]]:
    """Return the stored pictures of a *section*, by the names of their files."""
    return {
        f"{cell['id']}.png": output
        for cell in section.cells
        for output in cell.get("outputs", ())
        if "image/png" in output.get("data", {})
    }


def shown(cell: dict[str, Any], address_of: Callable[[str], str]) -> Iterator[str]:
    """Yield what a reader of a page sees of a *cell*; *address_of* says where the file of a picture is."""
    if cell["cell_type"] == "markdown":
        yield symptoms.html(source(cell), FIELD_GUIDE)
        return
    if is_shown(cell):
        yield symptoms.html(f"```python\n{source(cell)}\n```")
    for output in cell["outputs"]:
        data = output.get("data", {})
        told = "".join(data.get("text/plain", output.get("text", ""))).strip()
        if "image/png" in data:
            yield symptoms.drawn(output, address_of(f"{cell['id']}.png"))
        elif told.startswith(ASKED):
            asked = escape(told.removeprefix(ASKED))
            yield f'<p class="lessons-asked"><strong>Guess first:</strong> {asked}</p>'
        elif told:
            yield symptoms.html(f"```\n{told}\n```")


def the_job() -> str:
    """Return the small job that several sections speak of."""
    cells = symptoms.cells(FIELD_GUIDE)
    told = symptoms.html(source(cells["job-text"]), FIELD_GUIDE)
    code = "\n".join(shown(cells["job"], str))
    return f"<details><summary>The small job of this guide</summary>\n{told}\n{code}\n</details>"


def body(section: Section, address_of: Callable[[str], str]) -> str:
    """Return what a *section* says, without its heading."""
    return "\n".join(part for cell in section.cells for part in shown(cell, address_of))


def listed(names: dict[str, str]) -> str:
    """Return a list of links: the text of each by its address."""
    items = [
        f'<li><a href="{link}">{escape(text)}</a></li>' for link, text in names.items()
    ]
    return "\n".join(["<ul>", *items, "</ul>"])


def page(section: Section) -> str:
    """Return the page of a *section*."""
    run = f"../{symptoms.place(FIELD_GUIDE, section.title)}"
    seen = {f"../{symptoms.FOLDER}/{one.name}.html": one.seen for one in section.seen_as}
    beside = {
        f"{other.name}.html": other.title
        for other in sections()
        if other.group == section.group and other != section
    }
    # Its own headings come directly below that of the page
    text = re.sub(r"(</?h)4", r"\g<1>2", body(section, lambda name: name))
    parts = {
        "title": escape(section.title),
        "description": escape(section.asks.replace("*", "").replace("`", "")),
        "text": "\n".join(
            [
                f"<h1>{escape(section.title)}</h1>",
                f'<div class="lessons-answer">\n{text}\n</div>',
                the_job() if section.uses_the_job else "",
                f'<p><a class="lessons-button" href="{run}">Run it</a> '
                "<span>change it, and see what happens, in the notebook of this guide</span></p>",
                "<h2>People who need this page say</h2>",
                listed(seen),
            ]
        ),
        "beside": f"<h2>{section.group}: the other pages</h2>\n{listed(beside)}",
    }
    return Template(TEMPLATE.read_text(encoding="utf-8")).substitute(parts)


def document() -> str:
    """Return all of the guide as one document: what it is, its contents, and its sections in their order.

    It has its pictures in it, so somebody can keep it as a single file.
    """
    cells = symptoms.cells(FIELD_GUIDE)
    heading, _, told = source(cells["title"]).partition("\n\n")
    title = heading.lstrip("# ")
    texts = [f"<h1>{escape(title)}</h1>", symptoms.html(told, FIELD_GUIDE)]
    texts.append(symptoms.html(source(cells["index"]), FIELD_GUIDE))
    texts.append(the_job().replace("<details>", "<details open>"))
    group = ""
    for section in sections():
        if section.group != group:
            group = section.group
            texts.append(f'<h2 class="lessons-group">{escape(group)}</h2>')
        pictures = {
            name: f"data:image/png;base64,{b64encode(symptoms.png(picture)).decode()}"
            for name, picture in pictures_of(section).items()
        }
        texts.append(f'<h3 id="{section.name}">{escape(section.title)}</h3>')
        texts.append(body(section, pictures.__getitem__))
    parts = {
        "title": title,
        "description": "What workers of a DataLoader do to people: slow, wrong, dead, and why",
        "text": TO_A_PAGE.sub(r'href="#\1"', "\n".join(texts)),
        "beside": "",
    }
    return Template(TEMPLATE.read_text(encoding="utf-8")).substitute(parts)


def write_pages(folder: Path) -> None:
    """Write the document, all pages and their pictures into the site in *folder*."""
    to = folder / FIELD_GUIDE_FOLDER
    to.mkdir()
    (to / "index.html").write_text(document(), encoding="utf-8")
    for section in sections():
        (to / f"{section.name}.html").write_text(page(section), encoding="utf-8")
        for name, picture in pictures_of(section).items():
            (to / name).write_bytes(symptoms.png(picture))
