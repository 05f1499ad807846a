"""The first page of the site asks a question, confirms the answer, and can be used by all."""

import json
import re
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from playwright.sync_api import expect

from delivery.classroom.answers import collected
from delivery.site import pages, symptoms
from tools.browser import Browser, Visit, serious_violations
from tools.lessons import LESSONS, in_words

FETCHED = """() => {
    const kinds = ["navigation", "resource"];
    const all = kinds.flatMap((kind) => performance.getEntriesByType(kind));
    return Object.fromEntries(all.map(({ name, decodedBodySize }) => [name, decodedBodySize]));
}"""
# Pixels of its frame that the picture leaves empty; less than none if it does not fit
BLANK = """() => {
    const frame = document.querySelector("iframe");
    return frame.clientHeight - frame.contentDocument.documentElement.offsetHeight;
}"""
SIZE = "(one) => parseFloat(getComputedStyle(one).fontSize)"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_start_page_of_the_site_can_be_used_by_all(
    visit: Visit, start_page: str, scheme: Any
) -> None:
    visit.page.emulate_media(color_scheme=scheme)
    visit.page.goto(f"{start_page}/index.html")
    visit.page.get_by_role("button", name="8", exact=True).click()
    assert not serious_violations(visit.page, "body")


BEGUN = """() => {
    const when = "2026-03-01T09:00:00.000Z";
    const tries = [{ said: 200, words: "200 ms", sure: "certain", right: false, when }];
    const record = { schema: 1, lesson: "00_start_here", kind: "number", question: "How <b>long</b>?",
        said: 200, sure: "certain", tries, right: false, when };
    const key = "lessonkit record //00_start_here.ipynb number: How <b>long</b>?";
    localStorage.setItem(key, JSON.stringify(record));
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_start_page_has_the_report(
    visit: Visit, start_page: str, scheme: Any, tmp_path: Path
) -> None:
    page = visit.page
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 390, "height": 900})
    page.goto(f"{start_page}/index.html")
    page.evaluate(BEGUN)
    page.get_by_role("button", name="My report").press("Enter")
    told = page.locator(".lk-report")
    expect(told).to_contain_text("How <b>long</b>?at first ✗ 200 ms, certain")
    page.keyboard.press("Tab")
    page.keyboard.type("Ben")
    expect(told.get_by_role("heading", name="Report of Ben")).to_be_visible()
    assert page.evaluate("() => document.body.scrollWidth <= innerWidth")
    assert not serious_violations(page, "body")
    with page.expect_download() as coming:
        page.get_by_role("button", name="Download all my work").click()
    coming.value.save_as(tmp_path / "work.zip")
    with ZipFile(tmp_path / "work.zip") as work:
        assert work.namelist() == ["my-report.md", "my-report.json"]
    found, _ = collected([tmp_path / "work.zip"])
    assert list(found) == [("00_start_here", "How <b>long</b>?")]


@pytest.mark.parametrize("note", ['"', "null", "5", "{}", '{"asked": "many"}'])
def test_a_damaged_note_of_a_lesson_keeps_nothing_else_from_working(
    visit: Visit, start_page: str, note: str
) -> None:
    page = visit.page
    page.goto(f"{start_page}/index.html")
    folder = "new URL('.', location.href).pathname"
    key = f"`lessons reached ${{{folder}}}00_start_here.ipynb`"
    page.evaluate(f"(note) => localStorage.setItem({key}, note)", note)
    page.reload()
    page.get_by_role("button", name="My report").press("Enter")
    expect(page.locator(".lk-report")).to_be_visible()
    assert not page.locator("li progress").count()


def test_the_fewest_workers_that_keep_the_accelerator_busy_are_the_quotient() -> None:
    busy = json.loads(pages.question()["BUSY"])["busy"]
    assert len(busy) == pages.MOST + 1
    assert busy.index(max(busy)) == pages.MAKE / pages.STEP
    # The sentence beside it says how often a batch comes, and how long a step is
    for workers, share in enumerate(busy[1:], 1):
        assert share == pytest.approx(min(1, workers * pages.STEP / pages.MAKE), abs=1e-5)
    assert pages.MAKE / pages.STEP in pages.GUESSES


def test_the_start_page_says_what_it_is_and_has_one_button_to_start(
    visit: Visit, start_page: str
) -> None:
    page = visit.page
    page.goto(f"{start_page}/index.html")
    text = page.locator("main").inner_text()
    for word in (
        f"{in_words(len(LESSONS)).capitalize()} interactive lessons",
        "free",
        "install nothing",
    ):
        assert word in text
    start = page.get_by_role("link", name="Start", exact=True)
    assert start.get_attribute("href") == "notebooks/index.html?path=00_start_here.ipynb"


ON_THE_WAY = """(notes) => {
    const { pathname } = new URL(".", location.href);
    const put = ([key, value]) => localStorage.setItem(`lessons ${key.replace("/", pathname)}`, value);
    Object.entries(notes).forEach(put);
}"""


def test_who_was_in_a_lesson_goes_on_with_it_or_with_the_next_if_it_is_done(
    visit: Visit, start_page: str
) -> None:
    page = visit.page
    page.goto(f"{start_page}/index.html")
    row = page.locator("#lessons-row li")
    assert row.count() == len(LESSONS)
    assert row.locator("svg rect").count() == 3 * len(LESSONS)
    third, fourth = LESSONS[3], LESSONS[4]
    begun = {"asked": 3, "answered": 1, "tasks": 1, "solved": 0}
    notes = {
        "last /": f"{third.name}.ipynb",
        f"reached /{third.name}.ipynb": json.dumps(begun),
    }
    page.evaluate(ON_THE_WAY, notes)
    page.reload()
    start = page.locator(".lessons-start")
    expect(start).to_contain_text(f"Continue with {third.number} {third.title}")
    told = "1 of 3 questions answered"
    expect(row.nth(3).get_by_role("progressbar", name=told)).to_be_visible()
    begun |= {"answered": 3, "solved": 1}
    page.evaluate(ON_THE_WAY, notes | {f"reached /{third.name}.ipynb": json.dumps(begun)})
    page.reload()
    expect(start).to_contain_text(f"Continue with {fourth.number} {fourth.title}")
    button = start.get_by_role("link", name="Continue")
    assert str(button.get_attribute("href")).endswith(f"path={fourth.name}.ipynb")
    assert not serious_violations(page, "body")


def test_the_picture_alone_has_its_question_and_a_way_to_the_lessons(
    visit: Visit, start_page: str
) -> None:
    page = visit.page
    page.goto(f"{start_page}/workers.html")
    expect(page.get_by_role("heading", level=1)).to_have_text(pages.WORKERS)
    page.get_by_role("button", name="8", exact=True).click()
    expect(page.get_by_role("status").first).to_contain_text("8 is right")
    expect(page.locator("output").first).to_have_text("8 workers")
    page.locator("[data-name=workers]").press("ArrowLeft")
    expect(page.get_by_role("status").first).to_contain_text("88 % busy")
    expect(page.get_by_text(pages.UNDER_WORKERS)).to_be_visible()
    assert not serious_violations(page, "body")
    page.get_by_role("link", name="interactive lessons on data loaders").click()
    page.wait_for_url(f"{start_page}/index.html")


def test_a_guess_and_the_slider_are_answered(visit: Visit, start_page: str) -> None:
    page = visit.page
    page.goto(f"{start_page}/index.html")
    told = page.locator("#lessons-guess").get_by_role("status")
    expect(told).to_have_text(re.compile("^[?] Press your guess"))
    chosen = page.frame_locator("iframe").locator("output")

    page.get_by_role("button", name="4", exact=True).click()
    expect(told).to_have_text(
        re.compile(r"^50 % busy .*\(25 % with 2 workers\).*the GPU waits")
    )
    expect(chosen).to_have_text("4 workers")

    page.get_by_role("button", name="8", exact=True).click()
    expect(told).to_have_text(re.compile("^100 % busy .* 8 is right: 80 / 10 = 8"))
    expect(chosen).to_have_text("8 workers")
    # The limit is reached, because it counts batches as the run does
    page.frame_locator("iframe").get_by_role("button", name="what could it be").click()
    figures = page.frame_locator("iframe").locator(".lk-figures")
    expect(figures).to_have_text(re.compile(r"13\.3 ms.*13\.3 ms"))

    page.frame_locator("iframe").locator("[data-name=workers]").press("ArrowLeft")
    expect(told).to_have_text(re.compile("^88 % busy"))
    eight = page.get_by_role("button", name="8", exact=True)
    expect(eight).to_have_attribute("aria-pressed", "false")


def test_the_answer_is_the_one_large_figure_of_the_page(
    visit: Visit, start_page: str
) -> None:
    page = visit.page
    page.goto(f"{start_page}/index.html")
    figures = page.frame_locator("iframe").locator(".lk-figures b")
    figures.first.wait_for()
    seen = [one for one in figures.all() if one.is_visible()]
    sizes = {one.evaluate(SIZE) for one in seen}
    assert len(seen) >= 3
    assert len(sizes) == 1
    assert page.locator("#lessons-large").evaluate(SIZE) > 1.4 * max(sizes)


@pytest.mark.parametrize("name", ["index.html", "workers.html"])
def test_one_number_says_how_busy_the_gpu_is(
    visit: Visit, start_page: str, name: str
) -> None:
    page = visit.page
    page.goto(f"{start_page}/{name}")
    page.get_by_role("button", name="8", exact=True).click()
    expect(page.locator("#lessons-large")).to_have_text("100 %")
    picture = page.frame_locator("iframe") if name == "index.html" else page
    expect(picture.locator("output")).to_have_text("8 workers")
    # That of the whole run, which counts the wait for the first batch, would contradict it
    expect(picture.get_by_text("75 %", exact=True)).to_be_hidden()


@pytest.mark.parametrize("name", ["index.html", f"symptoms/{symptoms.LIVE}.html"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_picture_has_as_much_room_as_it_needs_and_grows(
    visit: Visit, start_page: str, name: str, width: int
) -> None:
    page = visit.page
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(f"{start_page}/{name}")
    inside = page.frame_locator("iframe")
    inside.locator("rect.lk-bar").first.wait_for()
    # Another font may need a line more
    assert page.evaluate(BLANK) < 30
    inside.get_by_role("button", name="boxes").click()
    inside.locator("[data-name=workers]").press("End")
    page.wait_for_function(f"() => Math.abs(({BLANK})()) < 2")


def test_a_part_of_the_page_is_no_setting_of_its_picture(
    visit: Visit, start_page: str
) -> None:
    page = visit.page
    page.goto(f"{start_page}/index.html#symptoms")
    expect(page.frame_locator("iframe").locator("output")).to_have_text("2 workers")
    assert page.frames[1].url.endswith("/workers.html")


def test_all_of_the_page_is_small_also_where_nothing_is_compressed(
    visit: Visit, start_page: str
) -> None:
    page = visit.page
    page.goto(f"{start_page}/index.html")
    page.frame_locator("iframe").locator("rect.lk-bar").first.wait_for()
    page.wait_for_load_state("networkidle")
    sizes = page.evaluate(FETCHED)
    assert any(name.endswith("/workers.html") for name in sizes)
    assert not any(name.endswith("/preview.png") for name in sizes)
    assert 100_000 < sum(sizes.values()) < 250_000


def test_without_scripts_the_picture_of_the_page_stands_still(
    browser: Browser, start_page: str
) -> None:
    chromium = browser.context.browser
    assert chromium
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{start_page}/workers.html")
    image = page.locator("img").bounding_box()
    context.close()
    assert image
    assert image["height"] > 100


def test_the_card_of_a_lesson_shows_its_glyph(visit: Visit, start_page: str) -> None:
    page = visit.page
    page.goto(f"{start_page}/index.html")
    bars = page.locator("ol > li svg rect")
    assert bars.count() == 3 * len(LESSONS)
    expect(bars.first).to_be_visible()


def test_a_name_that_leads_on_has_a_line_only_where_somebody_points_at_it(
    visit: Visit, start_page: str
) -> None:
    """In a text a link has it always, because colour alone does not tell it from the words."""
    page = visit.page
    page.goto(f"{start_page}/index.html")
    line = "(one) => getComputedStyle(one).textDecorationLine"
    name = page.locator("ol > li b a").first
    assert name.evaluate(line) == "none"
    name.hover()
    assert name.evaluate(line) == "underline"
    assert page.locator("ul > li p a").first.evaluate(line) == "underline"
    page.locator("#lessons-symptoms summary").last.click()  # a group is open for who asks
    symptom = page.locator("#lessons-symptoms td a").last
    assert symptom.evaluate(line) == "none"
    symptom.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    assert symptom.evaluate(line) == "underline"


def test_a_page_that_looks_for_kept_work_makes_no_storage(
    visit: Visit, start_page: str
) -> None:
    """Who leaves it before that is taken back would find no lesson that opens."""
    page = visit.page
    page.add_init_script(
        "IDBFactory.prototype.open = (name) => { throw new Error(`opens ${name}`); };"
    )
    page.goto(f"{start_page}/index.html")
    kept = page.evaluate("async () => (await (await import('./work.js')).saved())?.size")
    assert kept == 0, "null says that the browser keeps nothing"
