"""What a learner on a Hub sees: one kernel at a time, and lessons that stay as they were drawn."""

from collections.abc import Iterator
from typing import Any

import pytest
from support.places import SERVER_OF_HUB as SETTINGS

from tools.browser import STEP, Visit, open_notebook
from tools.servers import LAB, SOCKETS, Server, serve

KERNELS = "async () => (await (await fetch('/api/kernels')).json()).map(({id}) => id)"
OPEN = "(path) => { jupyterapp.commands.execute('docmanager:open', { path }); }"
READY = "() => jupyterapp.shell.currentWidget?.context.path === '{}' && {}"
KERNEL = "jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status === 'idle'"


@pytest.fixture
def hub_lab() -> Iterator[Server]:
    """JupyterLab with the settings that a Hub gives it."""
    with serve(LAB, (*SOCKETS, f"--config={SETTINGS}")) as server:
        yield server


def run_last(visit: Visit, output: str) -> None:
    """Run the last cell of the notebook in front, and wait for its *output*."""
    visit.page.locator(".jp-Notebook:visible .jp-CodeCell .cm-content").last.click()
    visit.page.keyboard.press("Shift+Enter")
    visit.page.locator(".jp-OutputArea-output:visible").get_by_text(
        output, exact=True
    ).wait_for()


def await_front(visit: Visit, name: str, also: str = "true") -> None:
    """Wait until the notebook *name* is in front."""
    visit.page.wait_for_function(READY.format(f"{name}.ipynb", also), timeout=STEP * 1e3)


@pytest.mark.long
def test_another_lesson_takes_the_place_of_the_kernel_and_the_first_goes_on_when_it_is_run(
    hub_lab: Server, visit: Visit
) -> None:
    def kernels() -> list[Any]:
        return list(visit.page.evaluate(KERNELS))

    hub_lab.write("second", "3 * 5")
    open_notebook(visit.page, hub_lab.write("first", "6 * 7"))
    run_last(visit, "42")
    (first,) = kernels()
    visit.page.evaluate(OPEN, "second.ipynb")
    await_front(visit, "second", KERNEL)
    run_last(visit, "15")
    (second,) = kernels()
    assert second != first

    visit.page.evaluate(OPEN, "first.ipynb")
    await_front(visit, "first")
    visit.page.locator(".jp-OutputArea-output:visible").get_by_text(
        "42", exact=True
    ).wait_for()
    assert kernels() == [second]  # to look at a lesson again takes nothing from the other
    run_last(visit, "42")
    visit.page.wait_for_function("() => " + KERNEL)
    (again,) = kernels()
    assert again not in (first, second)

    # With all lessons that were open, a page that is loaded again would start a kernel for each.
    visit.page.keyboard.press("Control+s")
    open_notebook(visit.page, visit.page.url)
    await_front(visit, "first", KERNEL)
    assert kernels() == [again]
    visit.page.get_by_text("| Idle").wait_for()
    assert visit.page.locator(".jp-Notebook").count() == 1
