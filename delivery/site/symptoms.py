"""The pages of symptoms: one for each thing that people see in a job, there at once and without Python.

`symptoms.txt` lists them, and `answers.md` has an answer for each. What a lesson measured, drew
or says is taken from the lesson, and not written a second time.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import quote, unquote

from nbconvert.filters import markdown2html

from tools.comments import without_comments
from tools.lessons import FIELD_GUIDE, LESSONS

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
FOLDER = "symptoms"  # of the site
FIELD_GUIDE_FOLDER = "field_guide"
HEAD = '<thead><tr><th scope="col">what you see</th><th scope="col">the usual cause</th></tr></thead>'
# The symptom whose picture lives, and in what
LIVE = "how-many-workers"
FRAME = '<iframe src="../workers.html" title="How many workers? A picture with a slider"></iframe>'
CELL = re.compile(r"^\[\[(?:(\d\d_\w+) )?([\w-]+)\]\]$")
LESSON_LINK = re.compile(r'href="(\d\d_\w+\.ipynb)?(?:#([^"]*))?"')
ANCHOR = re.compile(r'<a class="anchor-link".*?</a>')
OWN_JOB = "recommend"  # an answer that names it is followed by how to get it


@dataclass(frozen=True)
class Symptom:
    """What people see in a job, what it mostly is, and the section of a lesson that shows it."""

    kind: str
    name: str  # of its page
    seen: str
    cause: str
    lesson: str
    section: str  # empty: the lesson's main path
    also: str  # the words by which else people look for it


@cache
def symptoms() -> list[Symptom]:
    """Return all symptoms, those of one kind after each other."""
    found = []
    kind = ""
    for line in (HERE / "symptoms.txt").read_text(encoding="utf-8").splitlines():
        if "::" not in line:
            kind = line
        elif not line.startswith("#"):
            found.append(Symptom(kind, *(part.strip() for part in line.split("::"))))
    return found


@cache
def answers() -> dict[str, str]:
    """Return the answers as they are written, by the name of their symptom."""
    text = (HERE / "answers.md").read_text(encoding="utf-8")
    parts = re.split(r"^## (\S+)\n", text, flags=re.M)
    return {
        name: answer.strip() for name, answer in zip(parts[1::2], parts[2::2], strict=True)
    }


@cache
def cells(lesson: str) -> dict[str, Any]:
    """Return the cells of a *lesson* by their names."""
    path = ROOT / "notebooks" / f"{lesson}.ipynb"
    return {cell["id"]: cell for cell in json.loads(path.read_bytes())["cells"]}


def whole(symptom: Symptom) -> tuple[str, dict[str, Any] | None]:
    """Return the answer to a *symptom* with what it takes from lessons, and the picture that it ends with."""
    lines = []
    picture = None
    for line in answers()[symptom.name].splitlines():
        if not (found := CELL.match(line)):
            lines.append(line)
            continue
        cell = cells(found[1] or symptom.lesson)[found[2]]
        if cell["cell_type"] == "markdown":
            lines.append("".join(cell["source"]))
            continue
        printed = "".join("".join(output.get("text", ())) for output in cell["outputs"])
        if printed:
            lines.append(f"```\n{printed.rstrip()}\n```")
        else:
            (picture,) = cell["outputs"]
    return "\n".join(lines), picture


def html(text: str, lesson: str = "") -> str:
    """Return Markdown as HTML, in which links to lessons, or within *lesson*, lead to them.

    A link to a section of the field guide leads to its page.
    """

    def to_lesson(link: re.Match[str]) -> str:
        path = link[1] or f"{lesson}.ipynb"
        section = link[2]
        if section and path == f"{FIELD_GUIDE}.ipynb":
            return f'href="{page_in_field_guide(unquote(section))}"'
        return (
            f'href="../notebooks/index.html?path={path}{f"#{section}" if section else ""}"'
        )

    # A wide block can be scrolled by keys, too
    text = ANCHOR.sub("", markdown2html(without_comments(text))).replace(
        "<pre>", '<pre tabindex="0">'
    )
    return LESSON_LINK.sub(to_lesson, text)


def drawn(picture: dict[str, Any], name: str) -> str:
    """Return the element that shows the file *name* with a stored *picture*, as large as in its lesson."""
    said = escape("".join(picture["data"]["text/plain"]))
    return f'<figure><img src="{name}" alt="{said}" {size(picture)}></figure>'


def size(picture: dict[str, Any]) -> str:
    """Return the attributes that say how large a stored *picture* is shown in its lesson."""
    content = png(picture)
    width, height = (int.from_bytes(content[at : at + 4], "big") for at in (16, 20))
    shown = picture["metadata"].get("image/png", {}).get("width", width)
    return f'width="{shown}" height="{round(height * shown / width)}"'


def first_picture(lesson: str) -> dict[str, Any]:
    """Return the first picture that is stored in a *lesson*."""
    return next(
        output
        for cell in cells(lesson).values()
        for output in cell.get("outputs", ())
        if "image/png" in output.get("data", {})
    )


def png(picture: dict[str, Any]) -> bytes:
    """Return the file of a stored *picture*."""
    return b64decode("".join(picture["data"]["image/png"]))


def own_job(name: str = "") -> str:
    """Return how one measures a script of one's own, in Markdown; *name* is the repository's, if known.

    It is how the page about it begins, up to what happens to the script meanwhile.
    """
    text = (ROOT / "docs" / "own_job.md").read_text(encoding="utf-8")
    text = text.partition("\n\n")[2].strip()  # without its title
    text = text.partition("\n**What happens to the script.**")[0].strip()
    text = text.replace("\n## A script as it is\n", "")
    text = re.sub(r"\[([^]]+)\]\(\.\./[^)]*\)", r"\1", text)  # the site has no other files
    clone = 'pip install ".[databound]"    # in a clone of the repository'
    return text if name else re.sub(r"^pip install .*git\+.*", clone, text, flags=re.M)


def name_in_field_guide(section: str) -> str:
    """Return the name of the page of a *section* of the field guide, from its title or from a link to it.

    >>> name_in_field_guide("Bus error: /dev/shm"), name_in_field_guide("Bus-error:-/dev/shm")
    ('bus-error-dev-shm', 'bus-error-dev-shm')
    """
    return re.sub(r"[\W_]+", "-", section.lower()).strip("-")


def page_in_field_guide(section: str) -> str:
    """Return the address of that page, from another page of the site that is in a folder."""
    return f"../{FIELD_GUIDE_FOLDER}/{name_in_field_guide(section)}.html"


def place(lesson: str, section: str) -> str:
    """Return the address of a *section* of a lesson, from the first page."""
    after = f"#{quote(section.replace(' ', '-'))}" if section else ""
    return f"notebooks/index.html?path={quote(lesson)}.ipynb{after}"


def page(symptom: Symptom, name: str = "", address: str = "") -> str:
    """Return the page of a *symptom*.

    *name* is that of the repository, and *address* that of the site, as far as they are known.
    """
    text, picture = whole(symptom)
    beside = [
        f'<li><a href="{other.name}.html">{escape(other.seen)}</a></li>'
        for other in symptoms()
        if other.kind == symptom.kind and other != symptom
    ]
    parts = {
        "seen": escape(symptom.seen),
        "cause": escape(symptom.cause),
        "also": escape(symptom.also),
        "answer": html(text, symptom.lesson),
        "leads": leads(symptom),
        "picture": shown(symptom, picture),
        "preview": f"{address}{f'{FOLDER}/{symptom.name}' if picture else 'preview'}.png",
        "canonical": f'<link rel="canonical" href="{address}{FOLDER}/{symptom.name}.html">'
        if address
        else "",
        "own": f'<h2 id="own-job">Measure your own job</h2>\n{html(own_job(name))}'
        if OWN_JOB in text
        else "",
        "kind": symptom.kind,
        "beside": "\n".join(beside),
    }
    template = (HERE / "page" / "symptom.html").read_text(encoding="utf-8")
    return Template(template).substitute(parts)


def shown(symptom: Symptom, picture: dict[str, Any] | None) -> str:
    """Return the *picture* on the page of a *symptom*: live where it is that of the first page."""
    if symptom.name == LIVE:
        return FRAME
    return drawn(picture, f"{symptom.name}.png") if picture else ""


def leads(symptom: Symptom) -> str:
    """Return where the page of a *symptom* leads: to the field guide, or to a lesson that shows it move."""
    lesson = f"../{place(symptom.lesson, symptom.section)}"
    if symptom.lesson == FIELD_GUIDE:
        guide = page_in_field_guide(symptom.section)
        return (
            f'<a class="lessons-button" href="{guide}">All about it</a> <span>in the field guide: '
            f'<em>{escape(symptom.section)}</em>; or <a href="{lesson}">run it</a></span>'
        )
    title = next(one.numbered for one in LESSONS if one.name == symptom.lesson)
    section = f", <em>{escape(symptom.section)}</em>" if symptom.section else ""
    return (
        f'<a class="lessons-button" href="{lesson}">See it move</a> '
        f"<span>in lesson {title}{section}</span>"
    )


def write_pages(folder: Path, name: str = "", address: str = "") -> None:
    """Write all pages and their pictures into the site in *folder*."""
    to = folder / FOLDER
    to.mkdir()
    for symptom in symptoms():
        text = page(symptom, name, address)
        (to / f"{symptom.name}.html").write_text(text, encoding="utf-8")
        if picture := whole(symptom)[1]:
            (to / f"{symptom.name}.png").write_bytes(png(picture))


def table() -> str:
    """Return the first page's symptoms as tables, folded by their kinds."""
    folded = []
    for kind in dict.fromkeys(symptom.kind for symptom in symptoms()):
        rows = [
            f'<tr data-also="{escape(one.also)}">'
            f'<td><a href="{FOLDER}/{one.name}.html">{escape(one.seen)}</a></td>'
            f"<td>{escape(one.cause)}</td></tr>"
            for one in symptoms()
            if one.kind == kind
        ]
        begin = f"<details><summary>{kind}</summary><table>{HEAD}<tbody>"
        folded.append("\n".join([begin, *rows, "</tbody></table></details>"]))
    return "\n".join(folded)
