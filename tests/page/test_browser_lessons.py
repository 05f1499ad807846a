"""The main path of every lesson, as a learner goes it; this process is the kernel.

In JupyterLab that takes four times as long, and all that differs is the same in each
lesson: there `test_browser_first_lesson.py` walks one. The walks through the site open all
of them in Jupyter's own page. What all lessons have is tested by itself as well, and so are
the mystery loaders and the strip of ranks: so each time only one is walked.
"""

import pytest
from support.alone import show_cells
from support.walk import Walk, walk_through

from lessonkit.widgets.widget import Page
from tools.browser import Visit
from tools.lesson import WRITTEN, main_path

QUICK = "07_optimisers"  # the heat map is a lab of its own


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.long] * (name != QUICK)) for name in WRITTEN],
)
def test_the_main_path_of_a_lesson(name: str, visit: Visit) -> None:
    found = main_path(name)
    places = [cell.id for cell in found.cells]
    walk = Walk(found, visit.page)
    shown = {places.index(cell): found.values.get(cell) for cell in walk.main}
    visit.page.emulate_media(reduced_motion="reduce")
    show_cells(
        visit,
        found.cells,
        {place: one for place, one in shown.items() if isinstance(one, Page)},
    )
    walk_through(walk, visit)
