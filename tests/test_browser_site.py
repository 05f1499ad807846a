"""The lessons as a site, as a learner's browser sees them: static files in a folder of some plain server."""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

import pytest
from browser import Browser, Visit, run_all
from playwright.sync_api import Page, expect
from servers import HOST, await_start, free_port, process

ROOT = Path(__file__).parent.parent
LESSONS = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
KNOB = "input[type=range]:not([aria-label='Time in the run'])"
PHONE = 390
MOST, PATIENT = 900, 300  # s, for all that is done with a page and for each part: this Python is slow
SAID = "This cell computes with NumPy"
EDIT = """async ([cell, source]) => {
    const panel = jupyterapp.shell.currentWidget;
    panel.content.widgets[cell].model.sharedModel.setSource(source);
    await panel.context.save();
}"""
SOURCE = "cell => jupyterapp.shell.currentWidget.content.widgets[cell].model.sharedModel.getSource()"
# What a lesson looked like when a learner copied it; another text stands for an earlier version.
FORGET = """path => {
    const key = Object.keys(localStorage).find((name) => name.startsWith("lessons ") && name.endsWith(path));
    localStorage.setItem(key, "of an earlier version");
}"""


@dataclass
class Site:
    """Where the site is, for now."""

    address: str

    def open(self, page: Page, lesson: str) -> None:
        """Open a lesson and wait until Python is there."""
        page.goto(f"{self.address}/notebooks/index.html?path={lesson}.ipynb")
        line = page.locator("#lessons-line [role=status]")
        expect(line).to_have_text(
            "Python is ready. Your work is kept in this browser.", timeout=PATIENT * 1e3
        )


@pytest.fixture(scope="session")
def site(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The site, built if it is not there yet, in a folder of a school's server."""
    built = subprocess.run([sys.executable, "-m", "tools.site"], cwd=ROOT, capture_output=True, text=True)
    if "cannot be reached" in built.stderr:
        pytest.skip(f"the site cannot be built: {built.stderr.strip()}")
    assert not built.returncode, built.stderr
    folder = tmp_path_factory.mktemp("school")
    (folder / "lessons").symlink_to(ROOT / "build" / "site")
    port = free_port()
    command = [sys.executable, "-m", "http.server", str(port), "--bind", HOST, "--directory", str(folder)]
    with process(command, {}, folder / "log") as child:
        await_start("http.server", child, folder / "log", lambda: answers(port))
        yield Site(f"http://{HOST}:{port}/lessons")


def answers(port: int) -> bool:
    import urllib.request

    try:
        urllib.request.urlopen(f"http://{HOST}:{port}/").close()
    except OSError:
        return False
    return True


@pytest.fixture
def whole_site(request: pytest.FixtureRequest) -> None:
    """What takes too long for each time."""
    if request.config.getoption("--site") != "all":
        pytest.skip("walked by `make test-site`")


@pytest.fixture
def learner(site: Site, browser: Browser) -> Iterator[Visit]:
    with browser.visit(MOST) as visit:
        yield visit
        assert visit.errors == []
        assert visit.elsewhere() == []


def test_the_first_lesson_lives_without_a_server(site: Site, learner: Visit) -> None:
    page = learner.page
    site.open(page, LESSONS[0])
    assert page.locator("rect.lk-bar").count() > 0  # nobody has pressed anything
    run_all(page, PATIENT)

    question = page.locator(".lk-predict").first
    question.get_by_role("button", name="Show the run without an answer").click()
    expect(question.locator(".lk-verdict")).not_to_have_text("…", timeout=PATIENT * 1e3)
    assert question.locator(".lk-verdict").inner_text()

    # What tells the answer was covered until now.
    view = (
        page.locator(".lk >> visible=true")
        .filter(has=page.locator(KNOB))
        .filter(has_text="run for real")
        .first
    )
    figures = view.locator(".lk-figures")
    before = figures.inner_text()
    view.locator(KNOB).first.press("ArrowRight")
    expect(figures).not_to_have_text(before, use_inner_text=True, timeout=PATIENT * 1e3)

    view.get_by_role("button", name="Run this pipeline on threads").click()
    expect(view.locator(".lk-panel table")).to_be_visible(timeout=PATIENT * 1e3)
    assert "measured" in view.locator(".lk-panel table").inner_text()


def test_what_a_learner_did_is_there_again_and_comes_along(
    site: Site, learner: Visit, tmp_path: Path
) -> None:
    page, lesson = learner.page, LESSONS[1]
    site.open(page, lesson)
    cells = json.loads((ROOT / "notebooks" / f"{lesson}.ipynb").read_text())["cells"]
    code = next(place for place, cell in enumerate(cells) if cell["cell_type"] == "code")
    page.evaluate(EDIT, [code, "mine = 1"])
    site.open(page, lesson)
    assert page.evaluate(SOURCE, code) == "mine = 1"
    # Drawn from what was saved: what a learner has changed is not run without being asked for.
    expect(page.locator("rect.lk-bar").first).to_be_visible(timeout=PATIENT * 1e3)

    with page.expect_download() as coming:
        page.get_by_role("button", name="Download all my work").click()
    coming.value.save_as(tmp_path / "work.zip")
    with ZipFile(tmp_path / "work.zip") as work:
        assert work.testzip() is None
        saved = json.loads(work.read(f"{lesson}.ipynb"))
    assert "".join(saved["cells"][code]["source"]) == "mine = 1"


@pytest.mark.usefixtures("whole_site")
def test_a_newer_version_of_a_lesson_lies_beside_what_a_learner_did(site: Site, learner: Visit) -> None:
    page, lesson = learner.page, LESSONS[1]
    site.open(page, lesson)
    cells = json.loads((ROOT / "notebooks" / f"{lesson}.ipynb").read_text())["cells"]
    code = next(place for place, cell in enumerate(cells) if cell["cell_type"] == "code")
    page.evaluate(EDIT, [code, "mine = 1"])
    page.evaluate(FORGET, f"{lesson}.ipynb")
    page.reload()
    page.get_by_role("button", name="Open the new version, and keep mine beside it").click()
    expect(page.get_by_role("link", name="My earlier copy")).to_be_visible(timeout=PATIENT * 1e3)
    page.wait_for_function(
        f"() => window.jupyterapp?.shell.currentWidget?.content?.widgets.length === {len(cells)}"
    )
    assert page.evaluate(SOURCE, code) == "".join(cells[code]["source"])
    page.get_by_role("link", name="My earlier copy").click()
    page.wait_for_function(
        f"() => window.jupyterapp?.shell.currentWidget?.content?.widgets.length === {len(cells)}"
    )
    assert page.evaluate(SOURCE, code) == "mine = 1"


@pytest.mark.usefixtures("whole_site")
@pytest.mark.parametrize("lesson", LESSONS)
def test_every_cell_runs_on_the_site(site: Site, learner: Visit, lesson: str) -> None:
    page = learner.page
    site.open(page, lesson)
    run_all(page, PATIENT)
    left_out = page.locator(".jp-OutputArea-output").filter(has_text=SAID).count()
    print(f"{lesson}: {left_out} cells need NumPy")


@pytest.mark.usefixtures("whole_site")
@pytest.mark.parametrize("lesson", LESSONS[:2])
def test_a_phone_gets_a_page_to_read(site: Site, learner: Visit, lesson: str) -> None:
    page = learner.page
    page.set_viewport_size({"width": PHONE, "height": 800})
    site.open(page, lesson)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE
    expect(page.locator(".jp-NotebookPanel-toolbar")).to_be_hidden()
    wide = "() => [...document.querySelectorAll('.lk')].map((one) => one.scrollWidth - one.clientWidth)"
    assert max(page.evaluate(wide)) <= 0
