"""The lessons as a site, as a learner's browser sees them: static files in a folder of some plain server."""

import gzip
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Literal
from zipfile import ZipFile

import nbformat
import pytest
from playwright.sync_api import Locator, Page, Route, expect
from support.keys import by_keys
from support.places import ROOT
from support.school import (
    LESSONS,
    MOST,
    PATIENT,
    PLACE,
    READY,
    RUN,
    SCROLL,
    Site,
    served,
)

from delivery.classroom.answers import collected, table
from delivery.site import fetch, pages, python
from tools.browser import COMPLAINTS, Browser, Visit, serious_violations
from tools.lesson import lesson

PHONE = 390
LEFT_OUT = "A cell that you changed did not end the last time, and was left out: change it, then run it."
SECOND = (
    "This lesson is open in another tab, and only that tab keeps your work. "
    "Your work in this tab will be lost."
)
LAST_KEPT = "async () => Boolean(await caches.match(new URL('../files/text_11.json', location.href).href))"
DRAWN = "() => window.jupyterapp?.shell.currentWidget?.content?.widgets?.length > 9"
SAID = "This cell computes with NumPy"
EDIT = """async ([cell, source]) => {
    const panel = jupyterapp.shell.currentWidget;
    panel.content.widgets[cell].model.sharedModel.setSource(source);
    await panel.context.save();
}"""
INSERT = """([cell, source]) => {
    const { content, context } = jupyterapp.shell.currentWidget;
    content.model.sharedModel.insertCell(cell, { cell_type: "code", source });
    return context.save();
}"""
IDLE = """() => {
    const { kernel } = jupyterapp.shell.currentWidget.sessionContext.session;
    const prompts = [...document.querySelectorAll(".jp-InputPrompt")];
    return kernel.status === "idle" && prompts.every(({ textContent: text }) => text !== "[*]:");
}"""
SOURCE = "cell => jupyterapp.shell.currentWidget.content.widgets[cell].model.sharedModel.getSource()"
PAUSE = 300  # ms without a scroll or a press, until the place is kept
WHICH = "which still loads."
# How many cells had been run when this one was
RUNS = """(cell) => jupyterapp.shell.currentWidget.content.widgets
    .find(({ model }) => model.id === cell).model.executionCount"""
# What a lesson looked like when a learner copied it; another text stands for an earlier version.
FORGET = """path => {
    const key = Object.keys(localStorage).find((name) => name.startsWith("lessons /") && name.endsWith(path));
    localStorage.setItem(key, "of an earlier version");
}"""

# A browser that keeps nothing refuses whoever asks, as for a page that is framed by another site's.
KEEP_NOTHING = """for (const name of ["indexedDB", "localStorage", "sessionStorage", "caches"]) {
    Object.defineProperty(window, name, { get() { throw new DOMException("refused", "SecurityError"); } });
}
Object.defineProperty(Navigator.prototype, "serviceWorker", { value: undefined });"""
KEPT = """async () => {
    const caches_ = await Promise.all((await caches.keys()).map((name) => caches.open(name)));
    const kept = (await Promise.all(caches_.map((cache) => cache.keys()))).flat();
    return kept.some(({ url }) => url.endsWith(".wasm.packed"));
}"""
DAMAGE = """async ([file, text]) => {
    const headers = { "content-type": "text/javascript" };
    let damaged = 0;
    for (const name of await caches.keys()) {
        const cache = await caches.open(name);
        for (const { url } of await cache.keys()) {
            if (!url.endsWith(file)) continue;
            await cache.put(url, new Response(text, { headers }));
            damaged++;
        }
    }
    return damaged;
}"""
TWO_SAVES = """async () => {
    const { context } = jupyterapp.shell.currentWidget, { contents } = jupyterapp.serviceManager;
    const soon = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    const save = contents.save.bind(contents);
    contents.save = (...given) => save(...given).then(async (kept) => (await soon(400), kept));
    await context.save();
    await soon(1000); // a file that is younger than this is nobody else's
    const change = (text) => (context.model.sharedModel.cells[0].setSource(text), context.save());
    const first = change("# one");
    await soon(200);
    return Promise.race([Promise.all([first, change("# two")]).then(() => "saved"), soon(8000)]);
}"""
# As browsers measure by how much a page moves that nobody has touched; 0.1 counts as good.
WATCH_SHIFTS = """new PerformanceObserver((seen) => {
    const shifts = seen.getEntries().filter(({ hadRecentInput }) => !hadRecentInput);
    for (const { value } of shifts) window.shifted = (window.shifted ?? 0) + value;
}).observe({ type: "layout-shift", buffered: true });"""
SHIFTED = "() => window.shifted ?? 0"
FILL = """() => {
    for (let size = 1 << 20, count = 0; size; size >>= 1) {
        try {
            for (;;) localStorage.setItem(`${count++}`, "x".repeat(size));
        } catch { /* the next one is smaller */ }
    }
}"""
AS_TABLE = """(pre) => {
    const lines = pre.textContent.trimEnd().split("\\n").length;
    const line = parseFloat(getComputedStyle(pre).lineHeight);
    return [pre.offsetHeight, line, lines, pre.scrollWidth > pre.clientWidth, pre.tabIndex];
}"""
IS_IN = """(scheme) => {
    const ground = getComputedStyle(document.body).getPropertyValue("--jp-layout-color1").trim();
    return scheme === (["white", "#fff"].includes(ground) ? "light" : "dark");
}"""
# The colour that is seen behind a node.
GROUND = """(one) => {
    const colour = (node) => getComputedStyle(node).backgroundColor;
    while (colour(one) === "rgba(0, 0, 0, 0)") one = one.parentElement;
    return colour(one);
}"""
MOVED = 3  # px: nobody sees that
WAITS_FOR_EVER = "export const loadPyodide = () => new Promise(() => 0);"
NO_WEBASSEMBLY = "--js-flags=--jitless"


class Opening:
    """A page that shows the opening of a lesson until it may go on: JupyterLab's program is held back."""

    def __init__(self, visit: Visit, site: Site) -> None:
        self.page = visit.page
        self.site = site
        self.held: list[Route] = []

    def open(self, name: str) -> Locator:
        """Open a lesson, and return what covers it."""
        self.page.add_init_script(WATCH_SHIFTS)
        self.page.route("**/build/jlab_core*", lambda route: self.held.append(route))
        with self.page.expect_request("**/build/jlab_core*"):
            self.page.goto(self.site.lesson(name), wait_until="commit")
        return self.page.locator("#lessons-opening")

    def go_on(self) -> None:
        """Let JupyterLab come."""
        self.held.pop().continue_()


@pytest.fixture
def opening(site: Site, browser: Browser) -> Iterator[Opening]:
    with browser.started_with(), browser.visit(MOST) as visit:  # it has kept nothing
        yield Opening(visit, site)
        assert visit.errors == []


def await_true(page: Page, asked: str) -> None:
    """Ask a page until an asynchronous function is true; `wait_for_function` takes a promise for true."""
    deadline = monotonic() + PATIENT
    while not page.evaluate(asked):
        assert monotonic() < deadline, asked
        sleep(0.2)


def assert_says(page: Page, source: str, said: str) -> None:
    """Run a cell of our own, and look at what it has *said*."""
    page.evaluate(RUN, source)
    expect(
        page.locator(".jp-CodeCell").first.locator(".jp-OutputArea-output")
    ).to_have_text(said)


@pytest.mark.long
@pytest.mark.parametrize("name", LESSONS)
def test_keys_alone_lead_through_a_lesson(site: Site, learner: Visit, name: str) -> None:
    """The site's page is that of Notebook 7; the first page then says what was answered."""
    found = lesson(name)
    learner.page.goto(f"{site.address}/handout.html")
    learner.page.evaluate("localStorage.clear()")  # an earlier test may have answered
    site.open(learner.page, name)
    of_site = nbformat.read(site.school / "lessons" / "files" / f"{name}.ipynb", 4)
    by_keys(learner.page, of_site.cells, found)
    learner.page.wait_for_function(IDLE, timeout=PATIENT * 1e3)
    learner.page.evaluate("jupyterapp.shell.currentWidget.context.save()")
    learner.page.goto(f"{site.address}/index.html")
    card = learner.page.locator("ol > li", has=learner.page.locator(f"a[href*='{name}']"))
    expect(card).to_contain_text(re.compile(r"(\d) of \1 questions answered"))


def test_a_setting_has_an_address_on_the_first_page_too(site: Site, learner: Visit) -> None:
    page = learner.page
    page.goto(f"{site.address}/index.html#workers=4")
    chosen = page.frame_locator("iframe").locator("output")
    expect(chosen).to_have_text("4 workers")
    page.evaluate("() => { location.hash = 'workers=3' }")
    expect(chosen).to_have_text("3 workers")
    page.frame_locator("iframe").locator("[data-name=workers]").press("End")
    expect(chosen).to_have_text(f"{pages.MOST} workers")
    page.wait_for_url(f"**/index.html#workers={pages.MOST}")
    tall = "() => { const { contentDocument: { documentElement: page }, clientHeight: high } = "
    page.wait_for_function(
        f"{tall} document.querySelector('iframe'); return page.scrollHeight <= high; }}"
    )
    expect(page.locator("ol > li")).to_have_count(len(LESSONS))


@pytest.mark.long
def test_a_second_tab_of_a_lesson_says_that_it_keeps_nothing(
    site: Site, learner: Visit
) -> None:
    page, name = learner.page, LESSONS[2]
    site.open(page, name)
    second = page.context.new_page()
    site.open(second, name, SECOND)
    second.wait_for_function(DRAWN, timeout=PATIENT * 1e3)
    second.evaluate(EDIT, [0, "# Not to be kept"])
    expect(second.locator("#lessons-line [role=status]")).to_have_text(SECOND)
    page.evaluate(EDIT, [0, "# Mine"])
    expect(page.locator("#lessons-line [role=status]")).to_have_text(READY)
    page.goto("about:blank")
    line = second.locator("#lessons-line [role=status]")
    expect(line).to_contain_text("The other tab is closed", timeout=PATIENT * 1e3)
    second.evaluate("jupyterapp.shell.currentWidget.context.save()")
    expect(line).to_contain_text("The other tab is closed")
    site.open(second, name)
    assert second.evaluate(SOURCE, 0) == "# Mine"
    second.close()


@pytest.mark.long
def test_after_one_visit_another_lesson_opens_without_a_network(
    site: Site, browser: Browser
) -> None:
    with browser.started_with(), browser.visit(MOST) as visit:
        page = visit.page
        with served(site.school) as once:
            once.open(page, LESSONS[0])
            await_true(page, KEPT)
            await_true(page, LAST_KEPT)
            page.goto("about:blank")
        once.open(page, LESSONS[3])  # nobody is there any more
        assert page.locator("rect.lk-bar").count() > 0
        page.goto(f"{once.address}/")
        assert page.get_by_role("link", name="Start here").count()


@pytest.mark.long
def test_links_stay_in_the_tab_and_back_leads_to_where_one_was(
    site: Site, learner: Visit
) -> None:
    page = learner.page
    page.goto(f"{site.address}/index.html")
    page.get_by_role("link", name="00 Start here").first.click()
    status = page.locator("#lessons-line [role=status]")
    expect(status).to_have_text(READY, timeout=PATIENT * 1e3)
    expect(page).to_have_title(re.compile("^00 Start here"))
    heading = page.get_by_role("heading", name="Why an artificial dataset")
    expect(heading).not_to_be_in_viewport()
    link = page.get_by_role("link", name="made these times up")
    link.click()
    expect(heading).to_be_in_viewport()
    assert page.url.endswith(f"path={LESSONS[0]}.ipynb#Why-an-artificial-dataset")
    # The section that was opened runs
    section = page.locator(".lk-live:not([inert]) .lk-figures >> visible=true")
    expect(section.filter(has_text="210 ms").last).to_be_visible(timeout=PATIENT * 1e3)
    page.get_by_role("button", name="Back to where I was").click()
    expect(link).to_be_in_viewport()
    page.go_forward()
    expect(heading).to_be_in_viewport()
    page.go_back()
    expect(link).to_be_in_viewport()
    page.get_by_role("link", name="Next: 01 Prefetch").first.click()
    expect(page).to_have_title(re.compile("^01 Prefetch"))
    expect(status).to_have_text(READY, timeout=PATIENT * 1e3)
    assert len(page.context.pages) == 2  # the browser's own, and this one
    page.go_back()
    expect(link).to_be_in_viewport(timeout=PATIENT * 1e3)
    page.go_back()
    expect(page).to_have_url(f"{site.address}/index.html")


@pytest.mark.long
def test_a_cell_that_never_ends_is_left_out_the_next_time(
    site: Site, learner: Visit
) -> None:
    page, lesson = learner.page, LESSONS[3]
    site.open(page, lesson)
    page.evaluate(INSERT, [2, "while True:\n    pass"])
    page.goto(site.lesson(lesson))
    status = page.locator("#lessons-line [role=status]")
    expect(status).to_contain_text(
        "A cell that you changed still runs", timeout=PATIENT * 1e3
    )
    page.goto("about:blank")
    site.open(page, lesson, said=LEFT_OUT)
    page.evaluate(EDIT, [2, "pass"])
    site.open(page, lesson)


@pytest.mark.long
@pytest.mark.parametrize(
    ("seen", "text"),
    [
        ('A worker dies with "Bus error"', "unable to open shared memory object"),
        ("It stops, without an error", "makes no progress, raises no error"),
        ('cache="ram" gains nothing', "option that keeps the data in memory"),
        ("Video is slow", "A video file is not a list of images"),
    ],
)
def test_a_symptom_leads_to_a_folded_section_which_is_opened(
    site: Site, learner: Visit, seen: str, text: str
) -> None:
    page = learner.page
    page.goto(f"{site.address}/")
    row = page.get_by_role("row", name=seen, include_hidden=True)
    row.locator("xpath=ancestor::details/summary").click()
    row.get_by_role("link").click()
    page.get_by_role("link", name=re.compile("^(See it move|run it)$")).click()
    paragraph = page.get_by_role("paragraph").filter(has_text=text)
    expect(paragraph).to_be_in_viewport(timeout=PATIENT * 1e3)


def test_an_address_that_names_no_lesson_says_so_and_loads_no_python(
    site: Site, learner: Visit
) -> None:
    page = learner.page
    page.goto(site.lesson("nope"))
    expect(page.locator("#lessons-line [role=status]")).to_contain_text(
        "There is no lesson of this name"
    )
    assert not [address for address in learner.requests if "packages.zip" in address]
    page.goto(f"{site.lesson('nope')}#a-section")
    expect(page.locator("#lessons-cover")).to_have_count(0)
    learner.errors.clear()  # JupyterLab reports the file that is not there


@pytest.mark.skipif(not shutil.which("node"), reason="there is no Node.js")
def test_the_page_compiles_nothing_of_ours_and_has_its_source(site: Site) -> None:
    (packed,) = (site.school / "lessons").glob("python-*/packages.zip.packed")
    with ZipFile(BytesIO(gzip.decompress(packed.read_bytes()))) as archive:
        names = {*archive.namelist()}
    ours = [name for name in names if name.endswith(".py") and python.OURS.match(name)]
    assert {"lessonkit/plot.py", "answers_00.py"} <= {*ours}
    assert [name for name in ours if f"{name}c" not in names] == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pyodide.asm.wasm.packed", "broken"),
        ("packages.zip.packed", "broken"),
        ("/start.mjs", WAITS_FOR_EVER),
    ],
    ids=["python", "packages", "start"],
)
def test_a_damaged_file_in_the_cache_is_dropped_and_work_is_kept(
    site: Site, learner: Visit, file: str, text: str
) -> None:
    school = shutil.copytree(
        site.school / "lessons", site.school / "impatient", dirs_exist_ok=True
    )
    script = school / "site.js"
    script.write_text(
        script.read_text().replace("const LATE = 60000", "const LATE = 20000")
    )
    impatient = Site(site.address.replace("lessons", "impatient"), site.school)
    page = learner.page
    impatient.open(page, LESSONS[0])
    page.evaluate("keptWork => localStorage.setItem('work of mine', keptWork)", "a text")
    await_true(page, KEPT)  # the page has told its worker what it fetched
    assert page.evaluate(DAMAGE, [file, text])
    page.reload()
    expect(page.locator("#lessons-line [role=status]")).to_have_text(
        READY, timeout=PATIENT * 1e3
    )
    assert page.evaluate("localStorage.getItem('work of mine')") == "a text"
    learner.errors.clear()  # of the damaged file


@pytest.mark.long
def test_what_a_learner_did_is_there_again_and_comes_along(
    site: Site, learner: Visit, tmp_path: Path
) -> None:
    page, lesson = learner.page, LESSONS[1]
    site.open(page, lesson)
    cells = json.loads((ROOT / "notebooks" / f"{lesson}.ipynb").read_text())["cells"]
    code = next(place for place, cell in enumerate(cells) if cell["cell_type"] == "code")
    mine = "".join(cells[code]["source"]) + "\nmine = 1"
    page.evaluate(EDIT, [code, mine])
    site.open(page, lesson)
    assert page.evaluate(SOURCE, code) == mine
    assert_says(page, "print(mine)", "1")  # what a learner has changed runs as well
    expect(page.locator("rect.lk-bar").first).to_be_visible(timeout=PATIENT * 1e3)

    with page.expect_download() as coming:
        page.get_by_role("button", name="Download all my work").click()
    coming.value.save_as(tmp_path / "work.zip")
    with ZipFile(tmp_path / "work.zip") as work:
        assert work.testzip() is None
        saved = json.loads(work.read(f"{lesson}.ipynb"))
    (kept,) = (cell for cell in saved["cells"] if cell["id"] == cells[code]["id"])
    assert "".join(kept["source"]) == mine
    assert "execution" not in kept["metadata"], "nobody reads when a cell ran"


@pytest.mark.long
def test_a_teacher_totals_what_learners_answered(
    site: Site, learner: Visit, tmp_path: Path
) -> None:
    page = learner.page
    site.open(page, LESSONS[8])
    asked = page.locator(".lk-predict").first
    asked.get_by_label("2.5 s").check()
    asked.get_by_label("fairly sure").check()
    asked.get_by_role("button", name="Commit to this answer").click()
    expect(asked.locator(".lk-verdict")).to_contain_text(
        "As the first tool", timeout=PATIENT * 1e3
    )
    with page.expect_download() as coming:
        page.get_by_role("button", name="Download all my work").click()
    coming.value.save_as(tmp_path / "anna.zip")
    told = "\n".join(table(collected([tmp_path / "anna.zip"])[0]))
    said = (
        r"How much does this prefetch save\?\n  ✗ 2.5 s .*\(1 fairly sure\)\n  0 of 1 right"
    )
    assert re.search(said, told)
    page.goto(f"{site.address}/index.html")
    card = page.locator("ol > li", has=page.locator(f"a[href*='{LESSONS[8]}']"))
    # A wrong answer is on its way
    expect(card).to_contain_text(re.compile(r"0 of \d questions answered"))


@pytest.mark.long
def test_two_saves_at_once_do_not_take_each_other_for_somebody_elses(
    site: Site, learner: Visit
) -> None:
    site.open(learner.page, LESSONS[2])
    assert learner.page.evaluate(TWO_SAVES) == "saved"


@pytest.mark.long
def test_a_newer_version_of_a_lesson_lies_beside_what_a_learner_did(
    site: Site, learner: Visit
) -> None:
    page, lesson = learner.page, LESSONS[4]  # no other test changes it
    site.open(page, lesson)
    cells = json.loads((ROOT / "notebooks" / f"{lesson}.ipynb").read_text())["cells"]
    code = next(place for place, cell in enumerate(cells) if cell["cell_type"] == "code")
    page.evaluate(EDIT, [code, "mine = 1"])
    page.evaluate(FORGET, f"{lesson}.ipynb")
    page.reload()
    page.get_by_role("button", name="Open the new version, and keep my copy").click()
    expect(page.get_by_role("link", name="My earlier copy")).to_be_visible(
        timeout=PATIENT * 1e3
    )
    page.wait_for_function(
        f"() => window.jupyterapp?.shell.currentWidget?.content?.widgets.length === {len(cells)}"
    )
    assert page.evaluate(SOURCE, code) == "".join(cells[code]["source"])
    page.get_by_role("link", name="My earlier copy").click()
    page.wait_for_function(
        f"() => window.jupyterapp?.shell.currentWidget?.content?.widgets.length === {len(cells)}"
    )
    assert page.evaluate(SOURCE, code) == "mine = 1"


@pytest.mark.long
def test_a_browser_without_webassembly_shows_text_and_stored_pictures(
    site: Site, browser: Browser
) -> None:
    said = "This browser cannot run Python, because it is too old or has no WebAssembly. "
    said += "You can read the text and see stored pictures."
    with browser.started_with(NO_WEBASSEMBLY), browser.visit(MOST) as visit:
        page = visit.page
        site.open(page, LESSONS[0], said)
        page.locator(".jp-MarkdownCell h1").first.wait_for()
        page.locator(".jp-OutputArea-output img").first.wait_for()
        page.wait_for_function(
            "() => jupyterapp.shell.currentWidget.sessionContext.session?.kernel"
        )
        line = page.locator("#lessons-line")
        expect(line.get_by_role("status")).to_have_text(said)
        expect(line.get_by_role("button", name="Run all cells")).to_have_count(0)
        expect(page.get_by_role("dialog")).to_have_count(0)
        assert visit.errors == []


@pytest.mark.long
def test_text_and_picture_are_there_before_the_lesson_which_then_takes_their_place(
    opening: Opening,
) -> None:
    page = opening.page
    begins = opening.open(LESSONS[1])
    expect(begins.get_by_role("heading", level=1)).to_have_text(re.compile("Prefetch"))
    expect(begins.locator("rect.lk-bar").first).to_be_visible()  # it lives
    page.set_viewport_size({"width": 1200, "height": 500})
    begins.get_by_role("heading", name="Predict").scroll_into_view_if_needed()
    opening.go_on()
    expect(begins).to_have_count(0, timeout=PATIENT * 1e3)
    expect(page.get_by_role("heading", name="Predict")).to_be_in_viewport()
    # All that is above the question is alive, and nothing has moved before the reader's eyes
    expect(page.locator(".lk-live:not([inert]) .lk-figures").first).to_be_attached()
    assert page.evaluate(SHIFTED) <= 0.1


@pytest.mark.long
def test_an_answer_before_python_is_judged_and_is_there_when_the_lesson_takes_over(
    opening: Opening,
) -> None:
    page = opening.page
    asked = opening.open(LESSONS[0]).locator(".lk-predict")
    said = asked.locator(".lk-verdict")
    asked.get_by_label("as much as now").check()
    asked.get_by_label("a guess").check()
    asked.get_by_role("button", name="Commit to this answer").click()
    expect(said).to_contain_text("Not as much as now.")
    asked.get_by_label("less than now").check()
    asked.get_by_label("fairly sure").check()
    asked.get_by_role("button", name="Commit to this answer").click()
    expect(said).to_contain_text("Right.")
    tries = asked.locator(".lk-tries").inner_text()
    verdict = said.inner_text()
    # The run that shows why has come into sight, and nothing moves any more
    shown = page.locator("#lessons-opening .lk-figures").last
    expect(shown).to_be_in_viewport(ratio=0.9)  # a pixel may be cut in two
    top = asked.evaluate("(one) => one.getBoundingClientRect().top")
    opening.go_on()
    page.locator("#lessons-opening").wait_for(state="detached", timeout=PATIENT * 1e3)
    asked = page.locator(".jp-Notebook .lk-predict").first
    expect(asked.locator(".lk-verdict")).to_have_text(verdict, use_inner_text=True)
    expect(asked.locator(".lk-tries")).to_have_text(tries, use_inner_text=True)
    now = asked.evaluate("(one) => one.getBoundingClientRect().top")
    assert now == pytest.approx(top, abs=MOVED)
    assert page.evaluate(SHIFTED) <= 0.1


def test_keys_lead_past_the_line_above_a_lesson(site: Site, browser: Browser) -> None:
    held: list[Route] = []
    with browser.started_with(), browser.visit(MOST) as visit:
        page = visit.page
        page.route("**/build/jlab_core*", lambda route: held.append(route))
        page.goto(site.lesson(LESSONS[0]), wait_until="commit")
        page.locator("#lessons-opening .lk-predict").wait_for()
        skip = page.get_by_role("link", name="To the lesson")
        page.keyboard.press("Tab")
        expect(skip).to_be_focused()
        address = page.url
        page.keyboard.press("Enter")
        expect(page.locator("#lessons-opening")).to_be_focused()
        assert page.url == address  # what stands behind a # is a section
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.closest('#lessons-opening') !== null")
        assert not serious_violations(page, "#lessons-line")


@pytest.mark.long
def test_a_real_run_that_is_asked_for_before_python_runs_once_the_lesson_lives(
    site: Site, browser: Browser
) -> None:
    held: list[Route] = []
    with browser.started_with(), browser.visit(MOST) as visit:
        page = visit.page
        page.route("**/build/jlab_core*", lambda route: held.append(route))
        with page.expect_request("**/build/jlab_core*"):
            page.goto(site.lesson(LESSONS[0]), wait_until="commit")
        begins = page.locator("#lessons-opening")
        begins.get_by_role("button", name="run for real").click()
        soon = "It runs as soon as all of the lesson lives."
        expect(begins.locator(".lk-panel")).to_contain_text(
            f"This needs Python, {WHICH} {soon}"
        )
        held.pop().continue_()
        begins.wait_for(state="detached", timeout=PATIENT * 1e3)
        panel = page.locator(".jp-Notebook .lk-panel").first
        expect(panel).to_have_text(soon)
        expect(panel).to_contain_text("measured", timeout=PATIENT * 1e3)
        expect(page.locator("#lessons-line")).to_contain_text("Python is ready")
        assert visit.errors == []


@pytest.mark.long
def test_what_was_covered_has_one_button_and_runs_for_real_again_when_it_opens(
    site: Site, learner: Visit
) -> None:
    page = learner.page
    site.open(page, LESSONS[0])
    covered = page.locator(".jp-Cell", has=page.get_by_role("heading", name="For real"))
    expect(covered.locator(".jp-showHiddenCellsButton")).to_be_hidden()
    before = page.evaluate(RUNS, "real-run")
    covered.get_by_role("button", name="Show this section without an answer").click()
    page.wait_for_function(f"(before) => ({RUNS})('real-run') > before", arg=before)


@pytest.mark.long
def test_a_phone_comes_back_to_the_section_that_it_had(site: Site, learner: Visit) -> None:
    page = learner.page
    page.set_viewport_size({"width": PHONE, "height": 844})
    site.open(page, LESSONS[6])
    for _ in range(2):
        page.get_by_role("button", name="The section after").click()
    shown = page.locator(".lk-moves span")
    expect(shown).to_contain_text("Predict")
    page.wait_for_timeout(2 * PAUSE)
    page.reload()
    expect(page.locator("#lessons-line [role=status]")).to_have_text(
        READY, timeout=PATIENT * 1e3
    )
    expect(shown).to_contain_text("Predict")


@pytest.mark.long
def test_bars_that_were_placed_before_python_is_there_are_judged_then(
    opening: Opening,
) -> None:
    page = opening.page
    asked = opening.open(LESSONS[3]).locator(".lk-predict")
    for point in asked.locator("circle[role]").all():
        point.press("ArrowUp")
    asked.get_by_label("a guess").check()
    asked.get_by_role("button", name="Commit to this answer").click()
    expect(asked.locator(".lk-verdict")).to_contain_text("Your answer is kept.")
    opening.go_on()
    asked = page.locator(".jp-Notebook .lk-predict").first
    expect(asked.locator(".lk-tries")).to_contain_text("within 10 %", timeout=PATIENT * 1e3)


@pytest.mark.long
def test_a_link_in_the_text_before_the_lesson_opens_later_and_back_leads_back(
    opening: Opening,
) -> None:
    def with_link(route: Route) -> None:
        told = route.fetch()
        link = '<p><a href="#In-the-wild">In the wild</a></p></div>'
        before, predict, after = told.text().partition('data-cell="predict"')
        route.fulfill(
            response=told, body=before + predict + after.replace("</div>", link, 1)
        )

    page = opening.page
    page.route("**/openings/*", with_link)
    begins = opening.open(LESSONS[1])
    begins.get_by_role("heading", name="Predict").scroll_into_view_if_needed()
    begins.evaluate("(one) => one.scrollTop += 100")
    place = begins.evaluate("(one) => one.scrollTop")
    link = begins.get_by_role("link", name="In the wild")
    link.click()
    coming = begins.get_by_text("opens as soon as the lesson is here")
    expect(coming).to_be_visible()
    page.go_back()
    expect(coming).to_have_count(0)
    assert begins.evaluate("(one) => one.scrollTop") == place
    link.click()
    opening.go_on()
    expect(begins).to_have_count(0, timeout=PATIENT * 1e3)
    expect(page.get_by_role("heading", name="In the wild")).to_be_in_viewport()
    page.get_by_role("button", name="Back to where I was").click()
    expect(page.get_by_role("heading", name="Predict")).to_be_in_viewport()


def test_a_drawing_of_the_opening_is_dark_where_the_page_is(opening: Opening) -> None:
    page = opening.page
    page.emulate_media(color_scheme="dark")
    begins = opening.open(LESSONS[1])
    kitchen = begins.get_by_role("img", name="A kitchen")
    ground = kitchen.locator("> rect").evaluate("(one) => getComputedStyle(one).fill")
    assert ground == kitchen.evaluate(GROUND)
    assert max(map(int, re.findall(r"\d+", ground))) < 50
    ink = kitchen.locator("text").first.evaluate("(one) => getComputedStyle(one).fill")
    assert min(map(int, re.findall(r"\d+", ink))) > 200
    assert not serious_violations(page, "#lessons-opening")


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_picture_of_a_report_stays_when_its_cell_runs(
    site: Site, learner: Visit, scheme: Literal["light", "dark"]
) -> None:
    page = learner.page
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": PHONE, "height": 800})
    site.open(page, LESSONS[11])
    alone = page.locator(".lk-alone[aria-pressed=true]")  # as a phone begins
    if alone.count():
        alone.click()
    show_answers(page)
    picture = page.get_by_role("img", name="settings: how long an epoch takes").first
    assert picture.evaluate("(one) => one.naturalWidth") > 1000
    box = picture.bounding_box()
    assert box
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= PHONE
    assert box["width"] / box["height"] > 2, "as wide as it is, and not squeezed"


@pytest.mark.long
@pytest.mark.parametrize("width", [1280, PHONE])
def test_a_cover_says_which_place_opens_until_nothing_moves_there(
    site: Site, learner: Visit, width: int
) -> None:
    page, name = learner.page, LESSONS[11]
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{site.address}/handout.html")
    page.evaluate("localStorage.clear()")  # an earlier test may have answered
    site.open(page, name)  # as when one comes back
    page.goto("about:blank")
    page.add_init_script(WATCH_SHIFTS)
    page.goto(f"{site.lesson(name)}#For-real", wait_until="commit")
    cover = page.locator("#lessons-cover")
    expect(cover).to_contain_text("The section For real opens as soon as it has loaded.")
    expect(cover.get_by_role("heading")).to_contain_text("11 Your own job")
    expect(cover).to_have_count(0, timeout=PATIENT * 1e3)
    heading = page.get_by_role("heading", name="For real", exact=True)
    expect(heading).to_be_in_viewport()
    page.wait_for_timeout(1000)
    assert page.evaluate(SHIFTED) <= 0.1

    status = page.locator("#lessons-line [role=status]")
    expect(status).to_have_text(READY, timeout=PATIENT * 1e3)
    page.evaluate(SCROLL, 0.3)
    page.wait_for_timeout(
        2000
    )  # the place, and what is seen, is kept when nothing scrolls any more
    place = page.evaluate(PLACE)
    page.goto("about:blank")
    page.goto(site.lesson(name), wait_until="commit")
    # What was seen last is there at once, at its place
    still = page.locator(".lessons-still")
    part = still.locator(f"[data-cell='{place[0]}']")
    expect(part).to_be_in_viewport()
    expect(cover).to_have_count(0)
    expect(still).to_have_count(0, timeout=PATIENT * 1e3)
    page.wait_for_timeout(1000)
    assert page.evaluate(PLACE) == [place[0], pytest.approx(place[1], abs=2)]
    assert page.evaluate(SHIFTED) <= 0.1


@pytest.mark.long
def test_a_browser_that_keeps_nothing_runs_a_lesson_and_gives_it_away(
    site: Site, learner: Visit, tmp_path: Path
) -> None:
    page = learner.page
    page.add_init_script(KEEP_NOTHING)
    page.goto(f"{site.address}/index.html")
    said = "This browser keeps no work. Download your work before you leave"
    expect(page.locator("#lessons-said")).to_have_text(f"{said} a lesson.")
    site.open(page, LESSONS[0], f"Python is ready. {said}.")
    assert page.locator("rect.lk-bar").count() > 0
    expect(page.get_by_role("dialog")).to_have_count(0)
    with page.expect_download() as coming:
        page.get_by_role("button", name="Download all my work").click()
    coming.value.save_as(tmp_path / "work.zip")
    with ZipFile(tmp_path / "work.zip") as work:
        assert work.namelist() == [f"{LESSONS[0]}.ipynb"]


@pytest.mark.long
def test_a_full_pyodide_gives_numpy_to_the_cells_that_import_it(
    site: Site, learner: Visit, tmp_path: Path
) -> None:
    with tarfile.open(fetch.pyodide(ROOT / "build" / "cache")) as tar:
        tar.extractall(tmp_path, filter="data")
    full = tmp_path / "package"
    packages = {name: add_wheel(full, name) for name in python.OF_FULL}
    lock = json.loads((full / python.LOCK).read_text()) | {"packages": packages}
    (full / python.LOCK).write_text(json.dumps(lock))
    command = [
        sys.executable,
        "-m",
        "delivery.site",
        "--pyodide",
        str(full),
        "--to",
        str(site.school / "full"),
    ]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)

    page = learner.page
    Site(site.address.replace("/lessons", "/full"), site.school).open(page, LESSONS[0])
    first = page.locator(".jp-CodeCell").first
    for module in python.OF_FULL:
        page.evaluate(RUN, f"import {module}; print({module}.MADE_UP)")
        expect(first.locator(".jp-OutputArea-output")).to_have_text(f"{module}, for a test")


def add_wheel(folder: Path, name: str) -> dict[str, Any]:
    """Add a made-up package to a Pyodide in *folder*; return what its lock file says of it."""
    wheel = folder / f"{name}-9.0-py3-none-any.whl"
    with ZipFile(wheel, "w") as packed:
        packed.writestr(f"{name}/__init__.py", f"MADE_UP = '{name}, for a test'")
        about = f"{name}-9.0.dist-info"
        packed.writestr(
            f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 9.0\n"
        )
        packed.writestr(
            f"{about}/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
    told = {
        "name": name,
        "version": "9.0",
        "file_name": wheel.name,
        "depends": [],
        "imports": [name],
    }
    told |= {"install_dir": "site", "package_type": "package"}
    return told | {"sha256": hashlib.sha256(wheel.read_bytes()).hexdigest()}


@pytest.mark.long
@pytest.mark.parametrize("lesson", LESSONS)
def test_every_cell_runs_on_the_site(site: Site, learner: Visit, lesson: str) -> None:
    page = learner.page
    site.open(page, lesson)
    page.evaluate("() => jupyterapp.commands.execute('notebook:run-all-cells')")
    assert page.locator(COMPLAINTS).all_inner_texts() == []
    left_out = page.locator(".jp-OutputArea-output").filter(has_text=SAID).count()
    print(f"{lesson}: {left_out} cells need NumPy")
    assert_says(page, "from left_out import ARCHIVE; print(ARCHIVE.exists())", "False")


@pytest.mark.long
@pytest.mark.parametrize("lesson", LESSONS)
def test_the_whole_page_of_a_lesson_can_be_used_by_all(
    site: Site, learner: Visit, lesson: str
) -> None:
    """As it opens, and with all answers shown, which uncovers the sections that tell them."""
    page = learner.page
    site.open(page, lesson)
    found = {"as it opens": violations(page)}
    show_answers(page)
    expect(page.locator(".lk-note >> visible=true")).to_have_count(0)
    found["answered"] = violations(page)
    assert not any(found.values()), found


def show_answers(page: Page) -> None:
    """Give up on one question after another, because some are covered until those before are answered."""
    asked = page.locator(".lk-predict:not([data-answered]) >> visible=true")
    show = re.compile("Show (the run|which is right)")
    shown = page.locator(".lk-predict[data-answered]")
    while asked.count():
        before = shown.count()
        asked.first.get_by_role("button", name=show).click()
        expect(shown).to_have_count(before + 1, timeout=PATIENT * 1e3)


def violations(page: Page) -> list[dict[str, Any]]:
    """What axe finds on the whole page, in the light and in the dark."""
    found = []
    schemes: list[Literal["light", "dark"]] = ["light", "dark"]
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(
            IS_IN, arg=scheme
        )  # a theme is loaded when it is first chosen
        found += serious_violations(page, "body")
    return found


@pytest.mark.long
def test_a_browser_without_room_says_that_it_keeps_nothing(
    site: Site, browser: Browser
) -> None:
    said = (
        "Python is ready. This browser keeps no work. Download your work before you leave."
    )
    with browser.started_with(), browser.visit(MOST) as visit:
        visit.page.goto(f"{site.address}/handout.html")
        visit.page.evaluate(FILL)
        site.open(visit.page, LESSONS[0], said)
        assert visit.errors == []


@pytest.mark.long
@pytest.mark.parametrize("lesson", [LESSONS[0], LESSONS[9]])
def test_a_phone_gets_a_page_to_read(site: Site, learner: Visit, lesson: str) -> None:
    page = learner.page
    page.set_viewport_size({"width": PHONE, "height": 800})
    site.open(page, lesson)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE
    expect(page.locator(".jp-NotebookPanel-toolbar")).to_be_hidden()
    boxes = "[...document.querySelectorAll('.lk, .jp-WindowedPanel-outer')]"
    wide = f"() => {boxes}.map((one) => one.scrollWidth - one.clientWidth)"
    assert max(page.evaluate(wide)) <= 0
    # The columns of a printed table stay below each other, and keys can scroll it
    tables = page.locator("pre.lessons-table")
    assert tables.count()
    for printed in tables.all():
        height, line, lines, scrolls, index = printed.evaluate(AS_TABLE)
        assert height < (lines + 1) * line
        assert not scrolls or index == 0
