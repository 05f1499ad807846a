"""In every width and theme, everybody can use each widget in each of its states, and read all of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import pytest
from support.gallery import Exhibit, exhibits, hang

from lessonkit import DataLoader, Dataset, plot
from lessonkit.widgets import explore, slider
from lessonkit.widgets.controls import Kind
from lessonkit.widgets.explorer import Explore
from lessonkit.widgets.questions import QUESTIONS, Question
from tools.browser import VISIT, Browser, Visit, serious_violations

if TYPE_CHECKING:
    from playwright.sync_api import Page

LEGIBLE = Path(__file__).parent / "support" / "legible.js"
LOOK = """async ([text, name, given]) => {
    const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    return (await import(address))[name](...given);
}"""
# A page draws what is wider in the next frame, and its canvases in the one after.
DRAWN = (
    "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
)
MOST = 4 * VISIT  # s, for all tests together, on a busy machine
WIDTHS = [390, 640, 1280]  # px: a phone, half a screen, a screen; the narrowest comes first


@pytest.fixture(scope="module")
def shown() -> dict[str, Exhibit]:
    return exhibits()


@pytest.fixture(scope="module")
def gallery(browser: Browser, shown: dict[str, Exhibit]) -> Iterator[Visit]:
    """One page for all tests; to bring everything into its state takes long."""
    with browser.visit(MOST, WIDTHS[0]) as visit, pytest.MonkeyPatch.context() as patch:
        # The page hears what a real run says while it asks
        patch.setattr("lessonkit.widgets.explorer.start_thread", lambda *_: False)
        hang(visit, shown)
        yield visit
    assert not visit.errors
    assert not visit.elsewhere()


@pytest.fixture(scope="module")
def by_itself(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A picture in a file of its own."""

    def workers(workers: int = 4, prefetch_factor: int = 2) -> Any:
        more: Any = {"prefetch_factor": prefetch_factor} if workers else {}
        images = Dataset.range(48).map(cost=0.020, stage="Decode")
        loader = DataLoader(images, batch_size=4, num_workers=workers, **more)
        return loader, {"num_epochs": 1}

    path = tmp_path_factory.mktemp("alone") / "workers.html"
    controls: dict[str, Any] = {
        "workers": slider(0, 4, unit="workers"),
        "prefetch_factor": [1, 2],
    }
    explore(workers, **controls).save(path, title="How many workers?", caption="Try 4.")
    with browser.visit(MOST, WIDTHS[0]) as visit:
        visit.page.goto(path.as_uri())
        visit.page.locator("rect.lk-bar").first.wait_for()
        yield visit.page
    assert not visit.errors


def look(page: Page, width: int, scheme: Literal["light", "dark"]) -> None:
    """Make a *page* so wide, in this colour *scheme*, and wait until it is drawn so."""
    page.set_viewport_size({"width": width, "height": 1000})
    page.emulate_media(color_scheme=scheme)
    page.bring_to_front()  # no other page is drawn
    page.evaluate(DRAWN)


def ask(page: Page, name: str, *given: str) -> Any:
    """Ask a *page* what a function of `support/legible.js` says of it."""
    return page.evaluate(LOOK, [LEGIBLE.read_text("utf-8"), name, given])


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_everybody_can_use_and_read_all_of_it(
    gallery: Visit, by_itself: Page, width: int, scheme: Literal["light", "dark"]
) -> None:
    for page in gallery.page, by_itself:
        look(page, width, scheme)
        assert ask(page, "faults") == []
        assert serious_violations(page, "body") == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("what", "selector", "colour"),
    [
        ("a faded part of the kitchen", ".lk-kitchen .lk-faded text", "fill"),
        ("a square that is not tried", ".lk-square", "borderTopColor"),
    ],
)
def test_what_stands_back_can_be_seen_all_the_same(
    gallery: Visit,
    what: str,
    selector: str,
    colour: str,
    scheme: Literal["light", "dark"],
) -> None:
    look(gallery.page, WIDTHS[-1], scheme)
    assert ask(gallery.page, "contrastOf", selector, colour) >= 3, what


# ---- nothing is missing ----


def roles() -> set[str]:
    """Return the names by which the page knows how to draw a widget."""
    program = (files("lessonkit.widgets") / "page" / "host.js").read_text("utf-8")
    (listed,) = re.findall(r"const ROLES = \{\n(.*?)\};", program, re.S)
    return {name.strip('"') for name in re.findall(r"^  ([^:]+):", listed, re.M)}


def test_every_kind_of_widget_is_in_the_gallery(shown: dict[str, Exhibit]) -> None:
    assert {exhibit.widget.role for exhibit in shown.values()} == roles()


def test_every_type_of_question_is_in_the_gallery_in_each_state(
    shown: dict[str, Exhibit],
) -> None:
    states = [", not answered", ", answered wrongly", ", answered"]
    for state in states:
        asked = [one.widget for title, one in shown.items() if title.endswith(state)]
        found = {one.kind for one in asked if isinstance(one, Question)}
        assert found == {question.kind for question in QUESTIONS}


def test_every_kind_of_control_is_in_the_gallery(shown: dict[str, Exhibit]) -> None:
    views = [one.widget for one in shown.values() if isinstance(one.widget, Explore)]
    found = {control.kind for view in views for control in view.controls.values()}
    assert found == {*get_args(Kind)}


def test_every_picture_is_in_the_gallery(shown: dict[str, Exhibit]) -> None:
    assert shown.keys() >= {*plot.__all__}
