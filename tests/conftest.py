"""What several tests share: a browser and servers, started with the first test that asks, and once."""

import _thread
import functools
import gc
import http.server
import importlib
import importlib.util
import multiprocessing
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from time import monotonic, sleep
from typing import Any, NoReturn

import pytest
from hypothesis import HealthCheck, settings
from support import stand_in_torch
from support.places import ROOT
from support.school import MOST, Site, served

from lessonkit import ArtificialDataset, benchmark
from lessonkit.engine.trace import Trace
from lessonkit.engine.workers.forked import CAN_FORK
from lessonkit.widgets import sandbox
from tools.browser import Browser, Visit, missing
from tools.servers import LAB, SOCKETS, VOILA, Server, serve

WATCHED = "browser"  # the fixture that every test in a browser uses, directly or not
LEFT_OUT = pytest.StashKey[int]()

# A computer that is slow for a moment is no fault in what is tested.
settings.register_profile(
    "patient", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("patient")
# A shell that runs us with `&` has it ignored
signal.signal(signal.SIGINT, signal.default_int_handler)
sandbox.MOST_SECONDS = 60.0  # on a busy machine what is quick may take long


def pytest_addoption(parser: pytest.Parser) -> None:
    """The tests in a browser and the others can be run side by side: tools/tests.py."""
    parser.addoption("--browser", choices=("with", "only", "without"), default="with")


def in_browser(item: pytest.Item) -> bool:
    """True if it opens pages."""
    return WATCHED in getattr(item, "fixturenames", ())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests in a browser come last: they are the slowest, and playwright keeps an event loop running."""
    items.sort(key=in_browser)
    if (chosen := config.getoption("browser")) != "with":
        items[:] = [item for item in items if in_browser(item) == (chosen == "only")]
    if missing():
        watched = [item for item in items if in_browser(item)]
        config.stash[LEFT_OUT] = len(watched)
        for item in watched:
            item.add_marker(pytest.mark.skip(reason=missing()))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say at the end, where nobody overlooks it, what was not tested."""
    if count := config.stash.get(LEFT_OUT, 0):
        terminalreporter.section("NOT TESTED", sep="!", red=True)
        terminalreporter.line(f"{count} tests in a browser were left out: {missing()}")


@pytest.fixture(autouse=True)
def nobody_hears_instead() -> None:
    """Hypothesis times the clearing of memory by a function of Python, where an interrupt would be lost."""
    theirs = [
        one
        for one in gc.callbacks
        if getattr(one, "__module__", "").startswith("hypothesis")
    ]
    for one in theirs:
        gc.callbacks.remove(one)


@pytest.fixture(scope="session")
def lab() -> Iterator[Server]:
    """JupyterLab."""
    with serve(LAB, SOCKETS) as server:
        yield server


@pytest.fixture(scope="session")
def voila() -> Iterator[Server]:
    """Voilà, with the template that asks nobody else for anything."""
    with serve(VOILA, SOCKETS) as server:
        yield server


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The browser that all pages are opened in."""
    shared = Browser()
    yield shared
    shared.close()


@pytest.fixture(scope="module")
def desk(browser: Browser, lab: Server, request: pytest.FixtureRequest) -> Iterator[Visit]:
    """JupyterLab, in which no script fails: one page for all modules, each with notebooks of its own."""
    failed = request.session.testsfailed
    with browser.lab(lab.write("first", "1 + 1")) as visited:
        yield visited
    if request.session.testsfailed > failed or visited.errors:  # and may have left anything
        browser.leave_lab()
    assert not visited.elsewhere()
    assert not visited.errors


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """A page of our own that asks for nothing from elsewhere, and in which no script fails."""
    with browser.visit() as visited:
        yield visited
    assert not visited.elsewhere()
    assert not visited.errors


@pytest.fixture(scope="session")
def site(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The site, built if it is not there yet, in a folder of a school's server."""
    built = subprocess.run(
        [sys.executable, "-m", "delivery.site"], cwd=ROOT, capture_output=True, text=True
    )
    if "cannot be reached" in built.stderr:
        pytest.skip(f"the site cannot be built: {built.stderr.strip()}")
    assert not built.returncode, built.stderr
    folder = tmp_path_factory.mktemp("school")
    (folder / "lessons").symlink_to(ROOT / "build" / "site")
    with served(folder) as found:
        yield found


@pytest.fixture
def learner(site: Site, browser: Browser) -> Iterator[Visit]:
    """A page for the site, where Python takes its time."""
    with browser.visit(MOST) as visit:
        yield visit
        assert visit.errors == []
        assert visit.elsewhere() == []


@pytest.fixture(scope="session")
def start_page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a site that has the first page and those of symptoms, without the lessons."""
    from delivery.site import __main__ as command
    from delivery.site import pages, symptoms

    folder = tmp_path_factory.mktemp("site")
    (folder / "index.html").write_text(pages.first_page(), encoding="utf-8")
    symptoms.write_pages(folder)
    pages.picture_of_workers(folder)
    pages.write_report(folder)
    pages.write_widgets(folder)
    pages.write_look(folder)
    for path in (pages.HERE / "page").iterdir():
        if path.suffix in (".js", ".css"):
            shutil.copy(path, folder)
    handler = functools.partial(command.Files, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """No thread can be started, as in a browser."""

    def refuse(*_: object, **__: object) -> NoReturn:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    monkeypatch.setattr(_thread, "start_new_thread", refuse)


@pytest.fixture
def workers_gone() -> Callable[[], None]:
    """Wait until workers of the tests before have ended: an error keeps them as long as a thread waits.

    A test gets what waits, to do so once more at its end.
    """

    def wait() -> None:
        deadline = monotonic() + 60
        while multiprocessing.active_children() and monotonic() < deadline:
            gc.collect()
            sleep(0.01)

    wait()
    return wait


@pytest.fixture
def cancelled() -> Trace:
    """A real run that was broken off after its first element."""
    stop = threading.Event()

    def stop_at_once(_: int, __: float) -> None:
        stop.set()

    dataset = ArtificialDataset(9, open=0, read=0.001).prefetch(2)
    return benchmark(dataset, 1, 0.005, clock="real", cancel=stop, progress=stop_at_once)


NO_TORCH = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="PyTorch is not installed"
)


@pytest.fixture(params=["stand-in", pytest.param("PyTorch", marks=NO_TORCH)])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What `import torch` gives: PyTorch, where it is installed, and in any case a stand-in for it."""
    if not CAN_FORK:
        pytest.skip("data sets of tests cannot be sent to processes that are not forked")
    if request.param == "PyTorch":
        return importlib.import_module("torch")
    made = stand_in_torch.library()
    monkeypatch.setitem(sys.modules, "torch", made)
    return made
