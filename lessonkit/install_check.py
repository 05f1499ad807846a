"""The install check: whether the lessons can be shown and run here, and how well time is kept."""

import sys
from contextlib import suppress
from pathlib import Path
from subprocess import DEVNULL
from time import perf_counter, sleep
from typing import Any, NamedTuple

# S, and how many; one that takes longer shows in every real run
NAP, NAPS, LATE_NAP = 0.010, 20, 0.012
ANSWERS = 60  # s, for a kernel
MANAGERS = {"ipywidgets": "@jupyter-widgets/jupyterlab-manager", "anywidget": "anywidget"}

INSTALL = "run `make lab` again, or `pip install --upgrade lessonkit` where lessonkit was installed"
BROWSER = (
    "in a browser, without threads: in real runs waits go on side by side, functions compute "
    "in turn; an endless loop ends when the page is loaded again"
)
LATE_NAPS = "Real runs will take longer than predicted here: close other programs, and compare ratios."
NO_KERNEL = "No kernel starts here: run `python -m ipykernel --version` to see why."


class Finding(NamedTuple):
    """What was found of *what*; if it is not *good*, the *advice* says what to do."""

    what: str
    found: str
    good: bool
    advice: str = ""


def findings() -> list[Finding]:
    """Look at everything that can be told without starting a kernel."""
    version = sys.version.split()[0]  # an older Python reads none of this
    if sys.platform == "emscripten":  # the page came with all that it needs
        return [Finding("Python", f"{version}, {BROWSER}", True)]
    return [Finding("Python", version, True), find_widgets(), find_naps()]


def find_widgets() -> Finding:
    """Look for the parts of JupyterLab that show widgets, in the kernel's own environment."""
    places: list[str] = []
    with suppress(ImportError):
        from jupyter_core.paths import jupyter_path

        places = jupyter_path("labextensions")
    there = [
        name
        for name, folder in MANAGERS.items()
        if any(Path(at, folder).is_dir() for at in places)
    ]
    lacking = [name for name in MANAGERS if name not in there]
    found = f"none for {' and '.join(lacking)}" if lacking else "installed"
    return Finding(
        "widget manager",
        found,
        not lacking,
        f"JupyterLab would show no sliders: {INSTALL}.",
    )


def find_naps() -> Finding:
    """Measure how long a short sleep really takes, on average."""
    began = perf_counter()
    for _ in range(NAPS):
        sleep(NAP)
    took = (perf_counter() - began) / NAPS
    nap, found = f"a sleep of {1e3 * NAP:.0f} ms", f"takes {1e3 * took:.2f} ms"
    return Finding(nap, found, took <= LATE_NAP, LATE_NAPS)


def find_kernel() -> Finding:
    """Start a kernel as JupyterLab would, and wait for its answer."""
    began = perf_counter()
    try:
        from jupyter_client.manager import run_kernel

        with run_kernel(startup_timeout=ANSWERS, stderr=DEVNULL):
            return Finding("kernel", f"answers after {perf_counter() - began:.1f} s", True)
    except Exception as error:
        return Finding("kernel", f"{type(error).__name__}: {error}", False, NO_KERNEL)


def in_words(checks: list[Finding]) -> str:
    """Return the findings as lines, with advice under each that is not good."""
    width = max(len(finding.what) for finding in checks)
    lines = []
    for what, text, good, advice in checks:
        lines.append(f"{'ok' if good else '!!'}  {what:{width}}  {text}")
        lines += [] if good else [f"    {advice}"]
    return "\n".join(lines)


def check() -> Any:
    """Show in a notebook what was found, and whether the page and the kernel hear each other."""
    found = findings()
    try:
        from lessonkit.widgets.install_page import Installation
    except ImportError as error:
        print(f"{in_words(found)}\n!!  {error}: {INSTALL}.")
        return None
    return Installation([finding._asdict() for finding in found])
