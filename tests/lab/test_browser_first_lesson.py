"""The first lesson in JupyterLab, from its first cell to its challenge."""

import pytest
from support.walk import Walk, walk_through

from lessonkit.widgets.widget import Page
from tools.browser import RUN, Visit, open_notebook, run_all
from tools.lesson import WRITTEN, lesson
from tools.servers import Server

PICTURES = "() => [...document.querySelectorAll('.jp-OutputArea img')].map((one) => one.naturalWidth)"


@pytest.mark.long
def test_the_main_path_in_jupyterlab(visit: Visit, lab: Server) -> None:
    page, found = visit.page, lesson(WRITTEN[0])
    page.emulate_media(reduced_motion="reduce")
    open_notebook(page, lab.store(found.path))
    assert all(page.evaluate(PICTURES)), "a picture that is kept does not show"
    run_all(page, RUN)
    widgets = sum(isinstance(one, Page) for one in found.values.values())
    page.locator(".lk:not(.lk-note)").nth(widgets - 1).wait_for(state="attached")
    walk_through(Walk(found, page), visit)
