"""A lesson in JupyterLab by keyboard alone, with the keys that it names."""

import pytest
from support.keys import by_keys

from tools.browser import Visit, open_next
from tools.lesson import WRITTEN, main_path
from tools.servers import Server

# A number, a choice; bars are placed by keys in `test_browser_questions.py`
QUICK = "06_ordering"
UNDERLINED = """() => {
  const links = [...document.querySelectorAll(".jp-RenderedMarkdown :is(p, li) a[href]")];
  return links.every((link) => getComputedStyle(link).textDecorationLine === "underline");
}"""


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.long] * (name != QUICK)) for name in WRITTEN],
)
def test_shift_enter_and_the_keys_of_a_question_lead_through_a_lesson(
    desk: Visit, lab: Server, name: str
) -> None:
    page, found = desk.page, main_path(name)
    page.emulate_media(reduced_motion="reduce")
    lab.store(found.path)
    open_next(page, found.path.name)
    by_keys(page, found.cells, found)
    assert page.evaluate(UNDERLINED), "colour alone does not tell a link from the text"
    assert not desk.errors
