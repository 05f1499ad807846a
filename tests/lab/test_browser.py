"""The helpers for tests in a browser see what they are to see, and so do learners in JupyterLab."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from support.cells import INSTALL_CHECK

from tools.browser import (
    Browser,
    HungError,
    Visit,
    open_next,
    open_notebook,
    run_all,
    serious_violations,
)
from tools.servers import Server

SHOWN = """
from lessonkit import ArtificialDataset
from lessonkit.widgets import explore
explore(lambda samples=3: ArtificialDataset(samples), samples=(1, 9))
"""
END_KERNELS = """async () => {
    const [, token] = document.cookie.match(/_xsrf=([^;]+)/);
    for (const { id } of await (await fetch("/api/sessions")).json())
        await fetch(`/api/sessions/${id}`, { method: "DELETE", headers: { "X-XSRFToken": token } });
}"""

NOTIFICATIONS = "@jupyterlab/apputils-extension:notification"
ON_TOP = ".Toastify__toast, .jp-Dialog"

# A page whose script never ends cannot be asked for anything, not even to be closed.
FOR_EVER = "() => { for (;;); }"


@pytest.mark.long
def test_a_page_that_hangs_ends_with_a_sentence(browser: Browser) -> None:
    with (
        pytest.raises(HungError, match="not done after 2 s"),
        browser.visit(seconds=2) as hanging,
    ):
        hanging.page.evaluate(FOR_EVER)
    with browser.visit() as fresh:
        assert fresh.page.evaluate("1 + 1") == 2


def test_a_request_to_elsewhere_is_seen(browser: Browser) -> None:
    with browser.visit() as other:
        other.page.set_content("<img src='https://example.org/picture.png'>")
        assert other.elsewhere() == ["https://example.org/picture.png"]


def test_a_slider_without_a_name_is_a_serious_violation(visit: Visit) -> None:
    visit.page.set_content(
        "<p><input type=range></p><div><input type=range aria-label=buffer></div>"
    )
    assert [found["id"] for found in serious_violations(visit.page, "p")] == ["label"]
    assert not serious_violations(visit.page, "div")


def test_a_button_that_is_not_called_what_is_written_on_it_is_a_serious_violation(
    visit: Visit,
) -> None:
    visit.page.set_content(
        "<p><button aria-label='Go to the end'>on</button></p>"
        "<div><button aria-label='on: Go to the end'>on</button></div>"
    )
    [found] = serious_violations(visit.page, "p")
    assert found["id"] == "label-content-name-mismatch"
    assert not serious_violations(visit.page, "div")


def test_jupyterlab_asks_nothing_and_looks_for_no_news(desk: Visit) -> None:
    told = desk.page.evaluate(
        "(name) => jupyterapp.serviceManager.settings.fetch(name)", NOTIFICATIONS
    )
    chosen = {
        name: value["default"] for name, value in told["schema"]["properties"].items()
    }
    assert (chosen["fetchNews"], chosen["checkForUpdates"]) == ("false", False)
    assert not desk.page.locator(ON_TOP).all_inner_texts()
    assert not [
        url for url in desk.requests if re.search("/lab/api/(news|update|build)", url)
    ]


def test_a_cell_that_fails_is_told(desk: Visit, lab: Server) -> None:
    lab.write("failing", "1 / 0", "1 + 1")
    open_next(desk.page, "failing.ipynb")
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        run_all(desk.page)


def save(page: Any) -> None:
    """Save as a learner does, and wait until it is done; how the windows stand is stored by a PUT too."""
    with page.expect_response(
        lambda response: (
            response.request.method == "PUT" and "/api/contents/" in response.url
        )
    ):
        page.get_by_role("button", name="Save and create checkpoint").first.click()


GONE = ".jupyter-widgets-disconnected"  # a widget without its kernel
MISSED = ".jupyter-widgets:text('model not found')"


def come_back(page: Any, opening: Callable[[], None]) -> None:
    """Open a lesson on another day, and once more where JupyterLab has missed its widgets.

    An output looks for its widget for two seconds, every tenth of a second. One that comes
    after the last look and before the end is not found for good: so it is where a kernel
    starts in just that time.
    """
    for _ in range(3):
        opening()
        page.locator(f"{GONE}, {MISSED}").first.wait_for()
        if page.locator(GONE).count():
            return
    raise AssertionError("there are no pictures")


@pytest.mark.long
def test_a_saved_lesson_shows_its_pictures_on_every_day_after(
    desk: Visit, lab: Server
) -> None:
    address, path, page = (
        lab.write("saved", SHOWN),
        lab.folder / "notebooks" / "saved.ipynb",
        desk.page,
    )
    bar, gone = page.locator("rect.lk-bar").first, page.locator(GONE)
    open_next(page, path.name)
    run_all(page)
    bar.wait_for()
    save(page)
    page.evaluate(END_KERNELS)
    come_back(page, lambda: open_notebook(page, address))
    save(page)  # by itself, after two minutes, if nobody does
    come_back(page, lambda: open_next(page, path.name))
    bar.wait_for()
    run_all(page)
    gone.wait_for(state="detached")
    bar.wait_for()
    save(page)
    states = json.loads(path.read_text())["metadata"]["widgets"].popitem()[1]["state"]
    assert len(states) == 4, (
        "what no output shows any more, beside the widget and its host with their layouts"
    )


def test_the_check_of_an_installation_shows_findings_and_that_it_is_heard(
    desk: Visit, lab: Server
) -> None:
    lab.write("check", INSTALL_CHECK)
    open_next(desk.page, "check.ipynb")
    run_all(desk.page)
    desk.page.get_by_text("page and kernel: hear each other within").wait_for()
    desk.page.locator(".lk li").get_by_text("Python: ").wait_for()
    # What was printed for a page that shows no widgets
    desk.page.get_by_text("If this text stays").wait_for(state="hidden")
