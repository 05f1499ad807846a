"""Voilà serves the lessons as pages without code."""

from time import monotonic, sleep

import psutil
import pytest

from tools.browser import RUN, Visit
from tools.lesson import WRITTEN
from tools.lessons import NOTEBOOKS
from tools.servers import VOILA, Server, serve

IDLE = 5  # s without a page, after which a kernel ends here; `make demo` waits longer


def test_it_serves_a_lesson(visit: Visit, voila: Server) -> None:
    visit.page.goto(voila.store(NOTEBOOKS / f"{WRITTEN[0]}.ipynb"), timeout=1000 * RUN)
    visit.page.locator("rect.lk-bar").first.wait_for(timeout=1000 * RUN)
    # A class has neither to do
    for text in "Check your installation", "Shift+Enter runs a cell":
        assert not visit.page.get_by_text(text).first.is_visible()


def test_the_list_of_lessons_asks_for_nothing_from_elsewhere(
    visit: Visit, voila: Server
) -> None:
    (folder := voila.folder / "notebooks" / "of my own").mkdir()
    voila.write("of my own/a_lesson, 100 %", "1 + 1")
    (folder / "answers.py").touch()
    visit.page.goto(f"{voila.url}/")
    visit.page.get_by_role("link", name="of my own").click()
    assert visit.page.get_by_role("link").all_inner_texts() == [
        "Back",
        "a lesson, 100 %",
    ]
    there = visit.page.get_by_role("link", name="100 %").get_attribute("href")
    assert there == "/voila/render/of%20my%20own/a_lesson%2C%20100%20%25.ipynb?"
    assert visit.requests


def kernels() -> set[int]:
    """The kernels of the servers that these tests have started."""
    found = set()
    for process in psutil.Process().children(recursive=True):
        try:
            if any("ipykernel_launcher" in word for word in process.cmdline()):
                found.add(process.pid)
        except psutil.Error:  # it has just ended
            pass
    return found


def ended(wanted: set[int]) -> bool:
    """Wait until these kernels have ended."""
    deadline = monotonic() + RUN
    while wanted & kernels():
        if monotonic() > deadline:
            return False
        sleep(0.1)
    return True


@pytest.mark.long
def test_a_kernel_ends_when_its_page_is_left_and_not_while_it_is_read(
    visit: Visit,
) -> None:
    """Voilà's own request to end it is refused, so a kernel without a page would stay for ever."""
    changed = {"cull_interval": 1, "cull_idle_timeout": IDLE}
    culling = [option for option in VOILA.options if "cull_" in option]
    assert sorted(option.split(".")[-1].split("=")[0] for option in culling) == sorted(
        changed
    )
    others = tuple(option for option in VOILA.options if option not in culling)
    quick = tuple(
        f"--MappingKernelManager.{name}={value}" for name, value in changed.items()
    )
    before = kernels()
    with serve(VOILA._replace(options=others + quick)) as server:
        address = server.write("to read", "print(6 * 7)")
        for _ in range(2):  # the second time is a reload
            visit.page.goto(address)
            visit.page.get_by_text("42").wait_for(timeout=1000 * RUN)
        deadline = monotonic() + RUN
        while len(kernels() - before) > 1 and monotonic() < deadline:
            sleep(0.1)
        (read,) = kernels() - before  # that of the page before the reload has ended
        sleep(IDLE + 2)
        assert read in kernels()
        visit.page.goto("about:blank")
        assert ended({read})
