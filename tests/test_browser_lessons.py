"""Every lesson in a browser: no page loads anything from elsewhere, no cell complains, no script fails."""

import pytest
from browser import COMPLAINTS, Visit, open_notebook
from lesson import NOTEBOOKS, WRITTEN
from servers import Server

SECONDS = 60  # for a lesson on a busy machine
LEAST = 3  # views, before anything is unfolded
# Cells that wait for their turn have a star; folded ones cannot be asked for more than that.
ALL_RUN = """(least) => document.querySelectorAll(".lk").length >= least
    && document.querySelector("#jp-main-statusbar").textContent.includes("| Idle")
    && ![...document.querySelectorAll(".jp-InputPrompt")].some((shown) => shown.textContent.includes("*"))"""


def address(server: Server, name: str) -> str:
    path = server.folder / "notebooks" / f"{name}.ipynb"
    path.write_bytes((NOTEBOOKS / path.name).read_bytes())
    return server.url + server.program.page.format(path.name)


@pytest.mark.parametrize("name", WRITTEN)
def test_in_jupyterlab_a_lesson_asks_for_nothing_from_elsewhere(visit: Visit, lab: Server, name: str) -> None:
    page = visit.page
    open_notebook(page, address(lab, name))
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    page.wait_for_function(ALL_RUN, arg=LEAST, timeout=SECONDS * 1e3)
    assert not page.locator(COMPLAINTS).all_inner_texts()
    assert len(visit.requests) > 10
    assert not visit.elsewhere()


# The same cells and the same scripts: one lesson shows what Voilà adds.
def test_in_voila_a_lesson_asks_for_nothing_from_elsewhere(visit: Visit, voila: Server) -> None:
    visit.page.goto(address(voila, WRITTEN[0]), timeout=SECONDS * 1e3)
    visit.page.locator(".lk").nth(LEAST - 1).wait_for(timeout=SECONDS * 1e3)
    assert not visit.elsewhere()


def test_the_list_of_lessons_in_voila_asks_for_nothing_from_elsewhere(visit: Visit, voila: Server) -> None:
    voila.write("listed", "1 + 1")
    visit.page.goto(f"{voila.url}/")
    visit.page.get_by_text("listed.ipynb").wait_for()
    assert visit.requests
