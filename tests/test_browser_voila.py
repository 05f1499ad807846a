"""Voilà serves the lessons as pages without code."""

from browser import RUN, Visit
from lesson import NOTEBOOKS, WRITTEN
from servers import Server


def test_it_serves_a_lesson(visit: Visit, voila: Server) -> None:
    visit.page.goto(voila.store(NOTEBOOKS / f"{WRITTEN[0]}.ipynb"), timeout=1000 * RUN)
    visit.page.locator("rect.lk-bar").first.wait_for(timeout=1000 * RUN)


def test_the_list_of_lessons_asks_for_nothing_from_elsewhere(visit: Visit, voila: Server) -> None:
    (folder := voila.folder / "notebooks" / "of my own").mkdir()
    voila.write("of my own/a_lesson, 100 %", "1 + 1")
    (folder / "answers.py").touch()
    visit.page.goto(f"{voila.url}/")
    visit.page.get_by_role("link", name="of my own").click()
    assert visit.page.get_by_role("link").all_inner_texts() == ["Back", "a lesson, 100 %"]
    there = visit.page.get_by_role("link", name="100 %").get_attribute("href")
    assert there == "/voila/render/of%20my%20own/a_lesson%2C%20100%20%25.ipynb?"
    assert visit.requests
