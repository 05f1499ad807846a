"""How long a new user waits: a fresh clone, `make lab`, until the first slider has moved.

    python -m tools.new_user [FOLDER]

The clone goes into FOLDER, which must not exist yet, or into a temporary one. With uv on
PATH it is uv that installs, otherwise pip. A browser opens the page that `make lab` names,
as a person would.
"""

import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/\S+")
KNOB = ".lk input[type=range]:not([aria-label='Time in the run'])"
STEP = 600  # s, for a step: the first one installs everything
TRIES = 20
LATE = 3000  # ms, for a picture


def main(folder: Path) -> None:
    """Clone, set up, open, move; say when each was done."""
    from tools.browser import Browser

    began = perf_counter()

    def done(what: str) -> None:
        print(f"{perf_counter() - began:6.1f} s  {what}", flush=True)

    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
    done("cloned")
    command = ["make", "lab", "ARGS=--no-browser"]
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(command, cwd=folder, start_new_session=True, **pipes) as lab:
        browser = Browser()
        try:
            address = wait_for_address(lab)
            done("JupyterLab is there")
            with browser.visit(STEP) as visit:
                page = visit.page
                page.goto(address)
                page.locator("#jp-main-statusbar").get_by_text("| Idle").wait_for()
                done("the first lesson is open")
                page.get_by_role("menuitem", name="Run", exact=True).click()
                page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
                move(page)
                done("the first slider has moved")
                assert not visit.elsewhere(), visit.elsewhere()
        finally:
            browser.close()
            with suppress(ProcessLookupError):
                os.killpg(lab.pid, signal.SIGTERM)


def move(page: Any) -> None:
    """Scroll down to the first slider that turns a knob, move it, and wait for the new picture."""
    from playwright.sync_api import TimeoutError as LateError

    slider = page.locator(KNOB).first
    for _ in range(TRIES):
        while not slider.count():  # cells that are not on the screen are not in the page
            page.locator(".jp-Notebook").hover()
            page.mouse.wheel(0, 500)
            page.wait_for_timeout(100)
        view = slider.locator(
            "xpath=ancestor::*[contains(concat(' ', @class, ' '), ' lk ')]"
        )
        slider.focus()
        before = view.inner_text()
        page.keyboard.press("ArrowRight")
        # While cells run JupyterLab scrolls to the last one, and what had the focus may lose it.
        with suppress(LateError):
            given = [view.element_handle(), before]
            page.wait_for_function(
                "([view, before]) => view.innerText !== before", arg=given, timeout=LATE
            )
            return
    raise SystemExit("the slider moved, and the picture stayed as it was")


def wait_for_address(lab: "subprocess.Popen[str]") -> str:
    """What `make lab` says is passed on; where to go is returned."""
    assert lab.stdout
    for line in lab.stdout:
        print(f"          {line.rstrip()}", flush=True)
        if found := ADDRESS.search(line):
            return found[0]
    raise SystemExit("make lab ended")


if __name__ == "__main__":
    with TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(temporary, "lessons"))
