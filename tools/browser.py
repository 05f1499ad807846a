"""A browser for tests and benchmarks: pages that are watched, and that cannot hang."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tools.servers import HOST, await_start, process

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
STEP = 60  # s, for anything that a page is waited for
RUN = 120  # s, for all cells of a lesson
LOOK = 200  # ms, from one look at the cells that run to the next
VISIT = 300  # s, for all that is done with one page
OWN = (f"http://{HOST}:", f"ws://{HOST}:", "data:", "blob:", "about:")
# Pixels
WIDE = 1400
NARROW = 480
HEIGHT = 1000

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--no-default-browser-check",
    # No page lives long enough to compile its Python a second time, and better
    "--js-flags=--liftoff-only",
    "--remote-debugging-port=0",  # any that is free; a file then says which
    # What a page asks of another server is seen by us and goes no further.
    f"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE {HOST}",
)

# Errors and warnings alike
COMPLAINTS = "[data-mime-type='application/vnd.jupyter.stderr']"
# The prompt of a cell whose source is hidden is empty.
ALL_RUN = """(complaints) => {
    const prompts = [...document.querySelectorAll(".jp-CodeCell .jp-InputPrompt")];
    return document.querySelector(complaints) || prompts.every(
        ({textContent: text}) => !text || /\\d/.test(text));
}"""

OPEN_NEXT = """async (path) => {
    const before = jupyterapp.shell.currentWidget;
    await before?.context?.sessionContext.shutdown();
    before?.dispose();
    const next = await jupyterapp.commands.execute("docmanager:open", { path });
    await next.sessionContext.ready;
    await next.sessionContext.session.kernel.info;
}"""

AS_IT_WAS = """async () => {
    localStorage.clear();
    await jupyterapp.commands.execute("apputils:change-theme", { theme: "JupyterLab Light" });
    await jupyterapp.shell.expandLeft();
}"""

SERIOUS = ("serious", "critical")
VIEW = ".lk"
LOOKS = """async (selector) => {
    // Experimental, so off by default: who speaks to a page says what is written on a button
    const rules = {"label-content-name-mismatch": {enabled: true}};
    const found = await axe.run(selector, {resultTypes: ["violations"], rules});
    const texts = (nodes) => [...new Set(nodes.map(({html}) => html))].slice(0, 5);
    return found.violations.map(({nodes, impact, id, help}) => ({impact, id, help, html: texts(nodes)}));
}"""


class HungError(Exception):
    """A page did not come to an end."""


def find_browser() -> str:
    """The path of a browser; empty if there is none."""
    wanted = os.environ.get("LESSONKIT_BROWSER")
    names = (wanted,) if wanted else BROWSERS
    return next((path for name in names if (path := shutil.which(name))), "")


@cache
def missing() -> str:
    """What keeps us from opening a page here; empty if nothing does."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "playwright is not installed: pip install 'lessonkit[test]'"
    if find_browser():
        return ""
    if wanted := os.environ.get("LESSONKIT_BROWSER"):
        return f"LESSONKIT_BROWSER names {wanted!r}, and there is no such program"
    return f"there is no browser ({', '.join(BROWSERS)}): install one, or name it in LESSONKIT_BROWSER"


@dataclass
class Visit:
    """A page, what it asked for, and what went wrong in it."""

    page: Page
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def watch(self) -> None:
        """Take down every request and every error from now on."""
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("websocket", lambda socket: self.requests.append(socket.url))
        self.page.on("pageerror", self.note_error)

    def note_error(self, error: Any) -> None:
        """Note an error of a script, but for what JupyterLab says when a kernel ends while it asks it."""
        if "Canceled future for create_subshell_request" not in str(error):
            self.errors.append(str(error))

    def elsewhere(self) -> list[str]:
        """What was asked of any server but our own."""
        return [url for url in self.requests if not url.startswith(OWN)]


class Browser:
    """One browser for many pages; it starts with the first, and again when a page had hung."""

    def __init__(self) -> None:
        self._open = ExitStack()
        self._flags: tuple[str, ...] = FLAGS
        self._end: Callable[[], None] = lambda: None
        self._context: BrowserContext | None = None
        self._lab: Visit | None = None

    @property
    def context(self) -> BrowserContext:
        """The browser's window, where files that many pages need are loaded once."""
        if self._context is None:
            self._context = self._start()
        return self._context

    def _start(self) -> BrowserContext:
        from playwright.sync_api import sync_playwright

        profile = self._open.enter_context(
            TemporaryDirectory(prefix="lessonkit-browser-", ignore_cleanup_errors=True)
        )
        told = Path(profile, "DevToolsActivePort")
        log = Path(profile, "log")
        command = [
            find_browser(),
            *self._flags,
            f"--user-data-dir={profile}",
            "about:blank",
        ]
        # What it keeps elsewhere stays if it is killed.
        child = self._open.enter_context(
            process(command, {**os.environ, "TMPDIR": profile}, log)
        )
        await_start(
            "the browser",
            child,
            log,
            lambda: told.exists() and "\n" in told.read_text(),
        )
        self._end = child.kill
        playwright = self._open.enter_context(sync_playwright())
        address = f"http://{HOST}:{told.read_text().split()[0]}"
        context = playwright.chromium.connect_over_cdp(
            address, timeout=STEP * 1e3
        ).contexts[0]
        context.set_default_timeout(STEP * 1e3)
        return context

    def close(self) -> None:
        """End it."""
        self._context = self._lab = None
        self._open.close()

    @contextmanager
    def started_with(self, *flags: str) -> Iterator[None]:
        """Start anew with other flags, too, for as long as this lasts."""
        self.close()
        self._flags = (*FLAGS, *flags)
        try:
            yield
        finally:
            self.close()
            self._flags = FLAGS

    @contextmanager
    def visit(self, seconds: float = VISIT, width: int = WIDE) -> Iterator[Visit]:
        """A new page, for so many *seconds* at most."""
        page = self.context.new_page()
        with self._limited(page, seconds):
            page.set_viewport_size({"width": width, "height": HEIGHT})
            visit = Visit(page)
            visit.watch()
            yield visit
            page.close()

    @contextmanager
    def lab(self, address: str, seconds: float = VISIT) -> Iterator[Visit]:
        """The one page with JupyterLab, in which nobody has done anything; see `open_next`.

        To load it takes as long as many tests. At its first *address* is some notebook.
        """
        if is_new := self._lab is None:
            self._lab = Visit(self.context.new_page())
            self._lab.watch()
        visit: Visit = self._lab
        with self._limited(visit.page, seconds):
            visit.page.set_viewport_size({"width": WIDE, "height": HEIGHT})
            visit.page.emulate_media(color_scheme="null", reduced_motion="null")
            if is_new:
                open_notebook(visit.page, address)
            visit.page.evaluate(AS_IT_WAS)
            yield visit

    def leave_lab(self) -> None:
        """Close the page with JupyterLab: the next one who wants it gets a new one."""
        if self._lab:
            self._lab.page.close()
            self._lab = None

    @contextmanager
    def _limited(self, page: Page, seconds: float) -> Iterator[None]:
        """After *seconds* the browser ends, whatever the *page* does, and HungError is raised."""
        hung = threading.Event()

        def end() -> None:
            hung.set()
            self._end()

        timer = threading.Timer(seconds, end)
        timer.start()
        try:
            yield
        except Exception as error:
            if not hung.is_set():
                with suppress(Exception):
                    page.close()
                raise
            with suppress(Exception):
                self.close()
            raise HungError(
                f"the page at {page.url} was not done after {seconds} s"
            ) from error
        finally:
            timer.cancel()


def open_notebook(page: Page, address: str) -> None:
    """Open a notebook in JupyterLab, in which nobody has done anything; it can be run then."""
    page.goto(address)
    page.locator(".jp-Notebook .jp-CodeCell").first.wait_for()
    # What another test did there; not sooner, for JupyterLab may go to a workspace of its own
    page.evaluate("() => localStorage.clear()")
    # Run All is lost without a sound while the kernel is not connected.
    page.locator("#jp-main-statusbar").get_by_text("| Idle").wait_for()


def open_next(page: Page, name: str) -> None:
    """Close the notebook that is open in JupyterLab, and open another: quicker than a new page."""
    page.evaluate(OPEN_NEXT, name)
    page.locator(".jp-Notebook .jp-CodeCell").first.wait_for()


def run_all(page: Page, seconds: float = STEP) -> None:
    """Run all cells of an open notebook and wait for the end; what a cell complains about is raised here."""
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    # To look at each frame, as is usual, has the browser draw frames all the time.
    page.wait_for_function(ALL_RUN, arg=COMPLAINTS, timeout=seconds * 1e3, polling=LOOK)
    complaints = page.locator(COMPLAINTS).all_inner_texts()
    assert not complaints, complaints[0]


def serious_violations(page: Page, selector: str = VIEW) -> list[dict[str, Any]]:
    """What axe-core finds that keeps somebody from using our part of the page."""
    if not page.evaluate("() => Boolean(window.axe)"):  # it is long, and once is enough
        page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text())
    return [found for found in page.evaluate(LOOKS, selector) if found["impact"] in SERIOUS]
