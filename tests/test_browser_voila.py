"""Voilà serves the lessons as pages without code."""

from browser import RUN, Visit
from lesson import NOTEBOOKS, WRITTEN
from servers import Server


def test_it_serves_a_lesson(visit: Visit, voila: Server) -> None:
    visit.page.goto(voila.store(NOTEBOOKS / f"{WRITTEN[0]}.ipynb"), timeout=1000 * RUN)
    visit.page.locator("rect.lk-bar").first.wait_for(timeout=1000 * RUN)


def test_the_list_of_lessons_asks_for_nothing_from_elsewhere(visit: Visit, voila: Server) -> None:
    voila.write("listed", "1 + 1")
    visit.page.goto(f"{voila.url}/")
    visit.page.get_by_text("listed.ipynb").wait_for()
    assert visit.requests
