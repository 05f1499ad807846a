"""The field guide: a page for each section, all in one document, every page led to, and every link alive."""

import re
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import pytest

from delivery.site import field_guide, symptoms
from tools.lessons import FIELD_GUIDE, LESSONS

SECTIONS = field_guide.sections()
NAMES = [section.name for section in SECTIONS]
FILES = {"index.html", *(f"{name}.html" for name in NAMES)}
TO_A_NOTEBOOK = re.compile(r"\.\./notebooks/index\.html\?path=(\w+)\.ipynb(?:#(.+))?")

each = pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.name)


def headings(notebook: str) -> list[str]:
    """The headings of a notebook, as links name them."""
    cells = symptoms.cells(notebook).values()
    texts = [field_guide.source(cell) for cell in cells if cell["cell_type"] == "markdown"]
    found = [re.match(r"#+ (.+)", text) for text in texts]
    return [heading[1].replace(" ", "-") for heading in found if heading]


def assert_it_leads_somewhere(link: str) -> None:
    """Of the links of a page in the folder of the guide, and not of those to other servers."""
    notebook = TO_A_NOTEBOOK.fullmatch(link)
    if notebook:
        assert not notebook[2] or unquote(notebook[2]) in headings(notebook[1]), link
    elif link.startswith("../symptoms/"):
        named = link.removeprefix("../symptoms/").removesuffix(".html")
        assert named in symptoms.answers(), link
    elif link.startswith("../field_guide/"):
        assert link.removeprefix("../field_guide/") in FILES, link
    elif not link.startswith("https://"):
        assert (
            link
            in {"../index.html", "../look.css", "../site.css", "#lessons-main"}
            | {"../notebooks/favicon.ico"}
            | FILES
        ), link


@each
def test_a_symptom_leads_to_the_page(section: field_guide.Section) -> None:
    assert section.seen_as
    for symptom in section.seen_as:
        assert f"../symptoms/{symptom.name}.html" in field_guide.page(section)
        assert unescape(field_guide.page(section)).count(symptom.seen)


@each
def test_every_link_of_the_page_leads_somewhere(section: field_guide.Section) -> None:
    page = field_guide.page(section)
    assert f"<h1>{section.title}</h1>" in unescape(page)
    for link in re.findall(r'href="([^"]+)"', page):
        assert_it_leads_somewhere(link)
    assert {*re.findall(r'src="([^"]+)"', page)} == {*field_guide.pictures_of(section)}
    assert "<!--" not in page.partition("<body")[2]


@each
def test_the_page_has_what_its_cells_printed(section: field_guide.Section) -> None:
    said = unescape(re.sub("<[^>]+>", "", field_guide.page(section)))
    for cell in section.cells:
        for output in cell.get("outputs", ()):
            for line in "".join(output.get("text", "")).splitlines():
                assert line.rstrip() in said


def test_the_document_has_every_section_once_in_order_and_leads_within_itself() -> None:
    document = field_guide.document()
    assert re.findall(r'<h3 id="([^"]+)">', document) == NAMES
    anchors = {*re.findall(r'id="([^"]+)"', document)}
    inner = re.findall(r'href="#([^"]+)"', document)
    assert {*NAMES} <= {*inner} <= anchors
    for link in re.findall(r'href="([^#"][^"]*)"', document):
        assert "../field_guide/" not in link
        assert_it_leads_somewhere(link)
    assert all(
        src.startswith("data:image/png") for src in re.findall(r'src="([^"]+)', document)
    )


def test_nothing_of_the_guide_stands_in_a_lesson_as_well() -> None:
    sources = [field_guide.source(cell) for one in SECTIONS for cell in one.cells]
    guide = {text for text in sources if not text.startswith("#")}
    for lesson in LESSONS:
        cells = symptoms.cells(lesson.name).values()
        assert not [cell["id"] for cell in cells if field_guide.source(cell) in guide]
        assert not {*headings(lesson.name)} & {
            one.title.replace(" ", "-") for one in SECTIONS
        }


def test_the_lesson_leads_to_the_guide() -> None:
    (further,) = (
        field_guide.source(cell)
        for cell in symptoms.cells("09_workers").values()
        if field_guide.source(cell).startswith("## Further")
    )
    linked = re.findall(rf"{FIELD_GUIDE}\.ipynb#([^)]+)\)", further)
    assert len(linked) >= 10
    assert {*linked} <= {*headings(FIELD_GUIDE)}


def test_all_files_are_written(tmp_path: Path) -> None:
    field_guide.write_pages(tmp_path)
    written = {path.name for path in (tmp_path / symptoms.FIELD_GUIDE_FOLDER).iterdir()}
    drawn = {name for section in SECTIONS for name in field_guide.pictures_of(section)}
    assert written == FILES | drawn
    assert len(drawn) == 3
