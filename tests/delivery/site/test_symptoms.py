"""The pages of symptoms: each answers in a screen, with code that compiles and facts that a lesson has."""

import json
import re
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from playwright.sync_api import expect
from support.fenced_code import BLOCKS

from delivery.site import pages, symptoms
from tools.browser import Visit, serious_violations
from tools.comments import without_comments

SYMPTOMS = symptoms.symptoms()
# A number with its unit, or a count of what was measured
FACT = re.compile(r"\d[\d,.]*(?= (?:ms|s|kB|MB|GB|million|pixels|times|numbers)\b)")
# What people type who do not know our words
SEARCHED = (
    "GIL",
    "OOM",
    "out of memory",
    "killed",
    "deadlock",
    "stuck",
    "freeze",
    "num_workers",
    "prefetch_factor",
    "forkserver",
    "CUDA",
    "DDP",
    "NFS",
    "image",
    "JPEG",
    "docker",
    "timeout",
    "exited unexpectedly",
    "OpenCV",
    "NumPy",
    "h5py",
    "HDF5",
    "LMDB",
    "WebDataset",
    "Hugging Face",
    "network",
    "checkpoint",
    "our suggested max number of worker",
    "re-initialize CUDA in forked subprocess",
    "an attempt has been made to start a new process",
    "freeze_support",
)
SCREEN, PHONE = (1280, 800), (390, 844)
BOTTOM = "(one) => document.querySelector(one).getBoundingClientRect().bottom"

each = pytest.mark.parametrize("symptom", SYMPTOMS, ids=lambda symptom: symptom.name)


def test_every_symptom_has_a_page_of_its_own_and_an_answer() -> None:
    names = [symptom.name for symptom in SYMPTOMS]
    assert names == list(dict.fromkeys(names))
    assert {*names} == {*symptoms.answers()}
    assert len(names) >= 28
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in names)
    assert len({symptom.kind for symptom in SYMPTOMS}) >= 4


@each
def test_the_page_leads_to_a_section_that_is_there(symptom: symptoms.Symptom) -> None:
    headings = [
        "".join(cell["source"]).lstrip("# ").split("\n")[0]
        for cell in symptoms.cells(symptom.lesson).values()
        if cell["cell_type"] == "markdown"
    ]
    assert not symptom.section or symptom.section in headings


@each
def test_the_page_says_what_it_is_and_all_its_links_lead_somewhere(
    symptom: symptoms.Symptom,
) -> None:
    page = symptoms.page(symptom, "", "https://a.example/")
    assert f"<h1>{symptom.seen}</h1>" in unescape(page)
    assert f'<meta name="description" content="{symptom.cause}">' in unescape(page)
    assert f'href="https://a.example/symptoms/{symptom.name}.html"' in page
    assert "<script" not in page
    assert "[[" not in page.replace("[[0", "").replace("[[1", "")  # lists of lists are none
    names = {f"{one.name}.html" for one in SYMPTOMS}
    for link in re.findall(r'href="([^"#]+)', page):
        lesson = re.fullmatch(r"\.\./notebooks/index\.html\?path=(\d\d_\w+\.ipynb)", link)
        if lesson:
            assert (pages.ROOT / "notebooks" / lesson[1]).exists()
        elif not link.startswith(("https://", "../")):
            assert link in names, link


def test_answers_show_what_lessons_drew_and_every_page_leads_to_a_section() -> None:
    shown = {one.name for one in SYMPTOMS if symptoms.whole(one)[1]}
    assert {"gpu-idle", "pause-each-epoch", "threads-gain-nothing", "pin-memory"} <= shown
    assert len(shown) >= 9
    assert all(one.section for one in SYMPTOMS)


def test_a_link_within_a_lesson_leads_to_that_lesson() -> None:
    text = symptoms.html("[there](#Bus-error:-/dev/shm)", "09_workers")
    assert '"../notebooks/index.html?path=09_workers.ipynb#Bus-error:-/dev/shm"' in unquote(
        text
    )


@each
def test_the_code_compiles_and_needs_nothing_of_ours(symptom: symptoms.Symptom) -> None:
    text, _ = symptoms.whole(symptom)
    blocks = BLOCKS.findall(text)
    assert blocks, "an answer has code to paste"
    for language, code in blocks:
        assert language in ("python", "sh")
        assert "lessonkit" not in code
        if language == "python":
            compile(code, symptom.name, "exec")


@each
def test_what_an_answer_measured_stands_in_its_lesson(symptom: symptoms.Symptom) -> None:
    prose = BLOCKS.sub("", symptoms.answers()[symptom.name])
    told = [
        without_comments(
            json.dumps([cell["source"], cell.get("outputs", "")], ensure_ascii=False)
        )
        for cell in symptoms.cells(symptom.lesson).values()
    ]
    for fact in FACT.findall(prose):
        assert any(re.search(rf"(?<![\d.]){re.escape(fact)}\b", cell) for cell in told), (
            fact
        )


def test_how_to_measure_a_job_of_ones_own_is_said_in_one_way_everywhere() -> None:
    known, unknown = symptoms.own_job("ada/lessons"), symptoms.own_job()
    command = "databound train.py --epochs 90 --lr 0.1"
    for text in (known, unknown):
        assert command in text
        assert "They take turns" in text
        assert "\n## " not in text
        assert "](../" not in text
    assert "git+https://github.com/" in known
    assert "git+" not in unknown
    assert 'pip install ".[databound]"' in unknown
    assert command in (pages.ROOT / "README.md").read_text(encoding="utf-8")
    lesson = pages.for_browser(
        json.loads((pages.ROOT / "notebooks" / "11_your_own_job.ipynb").read_bytes())
    )
    sources = ["".join(cell["source"]) for cell in lesson["cells"]]
    assert sum(unknown in source for source in sources) == 1
    assert not any("my_loader" in source for source in sources)
    page = symptoms.page(SYMPTOMS[0])
    assert "recommend" in symptoms.answers()[SYMPTOMS[0].name]
    assert command in re.sub("<.*?>", "", page)


def size(visit: Visit, screen: tuple[int, int]) -> None:
    """Give the page the size of a *screen*."""
    visit.page.set_viewport_size({"width": screen[0], "height": screen[1]})


@pytest.mark.parametrize(
    "pages", [SYMPTOMS[::4], pytest.param(SYMPTOMS, marks=pytest.mark.long)]
)
def test_every_page_can_be_used_by_all_and_fits_a_screen(
    visit: Visit, start_page: str, pages: list[Any]
) -> None:
    """One after another, because to load a page takes longer than a look at it."""
    for symptom in pages:
        size(visit, SCREEN)
        visit.page.goto(f"{start_page}/symptoms/{symptom.name}.html")
        schemes: tuple[Any, ...] = ("dark", "light")
        for scheme in schemes:
            visit.page.emulate_media(color_scheme=scheme)
            assert not serious_violations(visit.page, "body"), (symptom.name, scheme)
        # Without a move: what it mostly is, and how the answer begins
        for screen in (SCREEN, PHONE):
            size(visit, screen)
            begins = ".lessons-answer > :first-child"
            assert visit.page.evaluate(BOTTOM, begins) <= screen[1], symptom.name
            wide = visit.page.evaluate("document.documentElement.scrollWidth")
            assert wide <= screen[0], symptom.name


def test_the_table_is_sorted_by_kind_and_can_be_filtered(
    visit: Visit, start_page: str
) -> None:
    page = visit.page
    page.goto(f"{start_page}/index.html")
    rows = page.locator("#lessons-symptoms tbody tr")
    kinds = page.locator("#lessons-symptoms summary")
    assert not rows.locator("visible=true").count()
    assert rows.count() == len(SYMPTOMS)
    assert kinds.all_text_contents() == list(dict.fromkeys(one.kind for one in SYMPTOMS))
    box = page.get_by_label("Filter")
    box.fill("SHM  error")
    seen = rows.locator("visible=true").locator("a").all_text_contents()
    assert seen == ['A worker dies with "Bus error"']
    assert page.locator("#lessons-found").text_content() == f"1 of {len(SYMPTOMS)}"
    assert kinds.locator("visible=true").count() == 1
    for word in SEARCHED:
        box.fill(word)
        assert rows.locator("visible=true").count(), word
    nothing = page.get_by_text("No symptom has all these words.")
    expect(nothing).to_be_hidden()
    box.fill("xyzzy")
    expect(nothing.get_by_role("link", name="measure your own job")).to_be_visible()
    box.fill("")
    expect(nothing).to_be_hidden()
    assert rows.locator("visible=true").count() == len(SYMPTOMS)
    rows.first.get_by_role("link").click()
    assert page.locator("h1").text_content() == SYMPTOMS[0].seen


def test_the_symptom_of_workers_holds_the_picture_alive(
    visit: Visit, start_page: str
) -> None:
    page = visit.page
    page.goto(f"{start_page}/symptoms/{symptoms.LIVE}.html")
    inside = page.frame_locator("iframe")
    inside.locator("[data-name=workers]").press("ArrowRight")
    expect(inside.locator("output")).to_have_text("3 workers")
    # The page around it has asked and told
    expect(inside.locator("h1")).to_be_hidden()
    expect(inside.locator("#lessons-guess")).to_be_hidden()
    high = "(one) => one.contentDocument.documentElement.scrollHeight <= one.clientHeight"
    assert page.locator("iframe").evaluate(high)


def test_the_pages_are_small_enough_for_a_slow_line(tmp_path: Path) -> None:
    symptoms.write_pages(tmp_path)
    for path in (tmp_path / symptoms.FOLDER).glob("*.html"):
        assert path.stat().st_size < 20_000
