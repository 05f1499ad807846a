"""The strip of ranks in a page, and what a teacher switches there for a class."""

import nbformat
import pytest
from playwright.sync_api import Page
from support.alone import DRAWN, Alone, give_address, show_cells

from lessonkit import Dataset
from lessonkit.widgets import explore, show
from tools.browser import NARROW, WIDE, Visit

STEPS = 20
ROW = 22  # pixels, of a rank where there are few
STAGES = """() => [...document.querySelectorAll("rect.lk-bar")]
    .filter((bar) => bar.style.display !== "none" && bar.dataset.stage === "Map").length"""


def pipeline(rank: int) -> Dataset:
    """Only rank 2 has a map."""
    steps = Dataset.range(STEPS)
    return steps.map(cost=0.005) if rank == 2 else steps.map(cost=0.005, stage="Read")


def lesson_of(visit: Visit, *texts: str) -> None:
    """A lesson of these texts, each a cell; one without a text is a picture."""
    new = nbformat.v4
    cells = [
        new.new_markdown_cell(text) if text else new.new_code_cell("show()")
        for text in texts
    ]
    show_cells(visit, cells, {texts.index(""): show(Dataset.range(3), num_epochs=1)})


def seen(page: Page) -> list[int]:
    """Return the places of the cells that are in sight."""
    cells = page.locator(".jp-Cell").all()
    return [place for place, cell in enumerate(cells) if cell.is_visible()]


def test_a_click_on_a_rank_or_the_choice_of_one_shows_its_timeline(visit: Visit) -> None:
    page = visit.page
    alone = Alone(visit, show(pipeline, ranks=4, num_epochs=1))
    choice, canvas = page.get_by_label("timeline of"), page.locator(".lk-strip canvas")
    canvas.wait_for()
    # The strip stands alone until somebody asks for a rank
    timeline, play = (
        page.locator("rect.lk-bar").first,
        page.get_by_role("button", name="Play"),
    )
    assert not timeline.is_visible()
    assert not play.is_visible()
    fold = page.get_by_text("timeline of one rank")
    fold.focus()
    page.keyboard.press("Enter")
    timeline.wait_for()
    assert play.is_visible()
    drawn, around = timeline.evaluate(
        "(one) => [one.ownerSVGElement, one.closest('details')]"
        ".map((node) => node.clientWidth)"
    )
    assert drawn == around
    page.keyboard.press("Enter")
    timeline.wait_for(state="hidden")
    assert choice.input_value() == "0"
    assert page.evaluate(STAGES) == 0
    box = canvas.bounding_box()
    assert box
    canvas.click(position={"x": box["width"] / 2, "y": 2.5 * ROW})
    alone.answer()
    timeline.wait_for()
    assert choice.input_value() == "2"
    assert page.evaluate(STAGES) == STEPS
    choice.focus()
    page.keyboard.press("ArrowDown")
    alone.answer()
    assert choice.input_value() == "3"
    assert page.evaluate(STAGES) == 0


def test_the_timeline_of_a_rank_is_open_again_after_a_reload(visit: Visit) -> None:
    def ranks(slots: int = 1) -> object:
        return lambda rank: pipeline(rank).prefetch(slots), {"num_epochs": 1, "ranks": 4}

    give_address(visit)
    alone = Alone(visit, explore(ranks, slots=(1, 4)))
    timeline = visit.page.locator("rect.lk-bar").first
    assert not timeline.is_visible()
    visit.page.get_by_text("timeline of one rank").click()
    visit.page.get_by_label("timeline of").select_option("2")
    alone.answer()
    alone.load_again()
    timeline.wait_for()
    alone.answer()
    assert visit.page.get_by_label("timeline of").input_value() == "2"
    assert visit.page.evaluate(STAGES)
    visit.page.get_by_text("timeline of one rank").click()
    timeline.wait_for(state="hidden")
    visit.page.evaluate(DRAWN)
    alone.load_again()
    alone.answer()
    assert not timeline.is_visible()


SQUARE = """() => {
    const square = [...document.querySelectorAll(".lk-strip .lk-keys i")].at(-1);
    const { color } = getComputedStyle(document.querySelector(".lk-strip"));
    return [square.style.background, color];
}"""


def test_a_strip_is_drawn_again_in_the_colours_of_the_page(visit: Visit) -> None:
    page = visit.page
    page.add_style_tag(content=":root { color-scheme: light dark; }")
    Alone(visit, show(pipeline, ranks=4, num_epochs=1))
    light, ink = page.evaluate(SQUARE)
    assert light == ink
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(
        f"() => {{ const [now, ink] = ({SQUARE})(); return now === ink; }}"
    )
    assert page.evaluate(SQUARE)[0] != light


NOTE_TEXTS = """() => {
    const { fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
        const { width } = this.measureText(text), left = { right: x - width, center: x - width / 2 };
        (window.written ??= []).push([text, left[this.textAlign], y, width, this.fillStyle]);
        fillText.call(this, text, x, y);
    };
}"""
INK = """() => {
    const pen = document.createElement("canvas").getContext("2d");
    pen.fillStyle = getComputedStyle(document.querySelector(".lk-strip")).color;
    return pen.fillStyle;
}"""


@pytest.mark.parametrize("width", [WIDE, 390])
def test_a_strip_whose_timeline_is_folded_away_has_an_axis_of_time(
    visit: Visit, width: int
) -> None:
    page = visit.page
    page.set_viewport_size({"width": width, "height": 1000})
    page.add_style_tag(content=":root { color-scheme: dark; }")
    page.evaluate(NOTE_TEXTS)
    Alone(visit, show(pipeline, ranks=4, num_epochs=1))
    canvas = page.locator(".lk-strip canvas").bounding_box()
    assert canvas
    axis = page.locator(".lk-timeline .lk-axis text:not(.lk-limit)").all_text_contents()
    assert axis[0] == "0 ms"
    assert len(axis) > 2
    written = page.evaluate("() => written.splice(0)")
    ticks = {text: rest for text, *rest in written if rest[1] == written[0][2]}
    assert [*ticks] == axis
    free = 0.0
    for left, y, wide, ink in ticks.values():
        assert free <= left
        assert left + wide <= canvas["width"]
        assert 4 * ROW < y < canvas["height"]  # below the last row
        assert ink == page.evaluate(INK)
        free = left + wide


# Of the columns in the first row that have the colour of a key: how many there are, and how many leave
# a part of the row free, whose last pixel is given.
LOW = """([key, free]) => {
    const canvas = document.querySelector(".lk-strip canvas"), pen = canvas.getContext("2d");
    const { width, data } = pen.getImageData(0, 0, canvas.width, 20);
    const at = (x, y) => [...data.slice(4 * (y * width + x), 4 * (y * width + x) + 4)];
    const of = document.querySelectorAll(".lk-strip .lk-keys i")[key];
    const [red, green, blue] = getComputedStyle(of).backgroundColor.match(/\\d+/g).map(Number);
    const wait = (x) => String(at(x, 18)) === String([red, green, blue, 255]);
    const found = Array.from({ length: width }, (_, x) => x).filter(wait);
    return [found.length, found.filter((x) => at(x, free)[3] === 0).length];
}"""


@pytest.mark.parametrize(
    ("key", "free"),
    [
        pytest.param(1, 4, id="for their own data"),
        pytest.param(2, 10, id="for others"),
    ],
)
def test_ranks_that_wait_are_lower_than_those_that_work(
    visit: Visit, key: int, free: int
) -> None:
    def slower(rank: int) -> Dataset:
        return Dataset.range(4).map(cost=0.005 + 0.020 * rank)

    Alone(visit, show(slower, ranks=2, num_epochs=1, train=0.005))
    waits, low = visit.page.evaluate(LOW, [key, free])
    assert waits > 100
    assert low == pytest.approx(waits, abs=16)  # at an edge a pixel has two colours


def test_a_class_gets_large_type_and_one_section_at_a_time(visit: Visit) -> None:
    page = visit.page
    lesson_of(
        visit,
        "# A lesson",
        "First",
        "## The situation",
        "Some words",
        "",
        "## Predict",
        "Others",
    )
    page.set_viewport_size({"width": NARROW, "height": 1000})
    assert not page.locator(".lk-class").is_visible()  # no class looks at a phone
    page.set_viewport_size({"width": WIDE, "height": 1000})
    page.locator(".lk-class summary").click()
    assert page.locator(".lk-class").count() == 1
    words = page.get_by_text("Some words")
    small = words.bounding_box()
    page.get_by_role("button", name="Switch to large type").click()
    large = words.bounding_box()
    assert small
    assert large
    assert large["height"] > 1.3 * small["height"]
    page.get_by_role("button", name="Switch to large type").click()
    assert words.bounding_box() == small

    page.get_by_role("button", name="Switch to one section").click()
    assert seen(page) == [0, 1]
    page.get_by_role("button", name="The section after").click()
    assert seen(page) == [2, 3, 4]
    assert "2 of 3: The situation" in page.locator(".lk-class").inner_text()
    page.get_by_role("button", name="The section after").click()
    assert page.get_by_role("button", name="The section after").is_disabled()
    assert seen(page) == [5, 6]
    page.get_by_role("button", name="Switch to one section").click()
    assert seen(page) == [*range(7)]


def test_a_section_that_speaks_of_the_picture_before_it_is_seen_with_that(
    visit: Visit,
) -> None:
    page = visit.page
    texts = ["# A lesson", "## Explain", "", "## Play", "Turn it.", "## Recap", "So it is."]
    lesson_of(visit, *texts)
    page.locator(".lk-class summary").click()
    page.get_by_role("button", name="Switch to one section").click()
    assert seen(page) == [0]
    page.get_by_role("button", name="The section after").click()
    assert seen(page) == [1, 2, 3, 4]
    page.get_by_role("button", name="The section after").click()
    assert seen(page) == [5, 6]


def test_the_sections_of_further_are_folded_where_no_editor_folds_them(
    visit: Visit,
) -> None:
    page = visit.page
    lesson_of(
        visit,
        "# A lesson",
        "",
        "## Further",
        "### First",
        "Some words",
        "### Second",
        "Other words",
    )
    words, others = page.get_by_text("Some words"), page.get_by_text("Other words")
    button = page.get_by_role("button", name="Show or hide First")
    button.wait_for()
    assert not words.is_visible()
    assert not others.is_visible()
    button.click()
    assert words.is_visible()
    assert not others.is_visible()
    button.click()
    assert not words.is_visible()
