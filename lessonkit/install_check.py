"""The install check: whether everything is here that the lessons need, and how well time is kept here."""

import re
import sys
import threading
from importlib import metadata
from pathlib import Path
from statistics import median
from subprocess import DEVNULL
from time import perf_counter, sleep
from typing import Any, NamedTuple

NAP, NAPS = 0.010, 20  # s, and how many
LATE = 0.012  # s: a nap that takes longer shows in every real run
ANSWERS = 60  # s, for a kernel
MANAGERS = {"ipywidgets": "@jupyter-widgets/jupyterlab-manager", "anywidget": "anywidget"}

AGAIN = "say `make lab` again, or `pip install --upgrade lessonkit` where lessonkit was installed"
NO_THREADS = "none, as in a browser: in real runs waits go on side by side, functions compute in turn"
LATE_NAPS = "Real runs will take longer than predicted here: close what else is running, and look at ratios."
NO_KERNEL = "No kernel starts here: say `python -m ipykernel --version` to see why."


class Finding(NamedTuple):
    """One thing that was looked at."""

    what: str
    found: str
    good: bool
    advice: str = ""  # what to do if it is not good


def findings() -> list[Finding]:
    """Look at everything that can be told without starting a kernel."""
    python = Finding("Python", sys.version.split()[0], True)  # an older one reads none of this
    return [python, *packages(), widgets(), threads(), naps()]


def packages() -> list[Finding]:
    """Look at lessonkit, and at the packages that it needs."""
    try:
        asked = [text for text in metadata.requires("lessonkit") or [] if "extra ==" not in text]
    except metadata.PackageNotFoundError:
        asked = []
    return [package(text) for text in ("lessonkit", *asked)]


def package(requirement: str) -> Finding:
    """Hold a package against its *requirement*, as in `numpy>=2.0`."""
    name, _, least = requirement.partition(">=")
    try:
        found = metadata.version(name)
    except metadata.PackageNotFoundError:
        return Finding(name, "missing", False, f"To install it, {AGAIN}.")
    return Finding(name, found, numbers(found) >= numbers(least), f"{least} or newer is needed: {AGAIN}.")


def numbers(version: str) -> tuple[int, ...]:
    """Return a version as numbers.

    >>> numbers("4.10.0rc1") > numbers("4.2")
    True
    """
    return tuple(int(text) for text in re.findall(r"\d+", version))


def widgets() -> Finding:
    """Look for the parts of JupyterLab that show widgets, in the kernel's own environment."""
    try:
        from jupyter_core.paths import jupyter_path
    except ImportError:
        places = []
    else:
        places = [Path(place) for place in jupyter_path("labextensions")]
    lacking = [name for name, folder in MANAGERS.items() if not any((at / folder).is_dir() for at in places)]
    found = f"none for {' and '.join(lacking)}" if lacking else "installed"
    return Finding("widget manager", found, not lacking, f"JupyterLab would show no sliders: {AGAIN}.")


def threads() -> Finding:
    """Whether a thread can be started: a kernel in a browser cannot."""
    try:
        thread = threading.Thread(target=lambda: None)
        thread.start()
        thread.join()
    except RuntimeError:
        return Finding("threads", NO_THREADS, True)
    return Finding("threads", "available", True)


def naps() -> Finding:
    """Measure how long a short sleep really takes."""
    taken = []
    for _ in range(NAPS):
        began = perf_counter()
        sleep(NAP)
        taken.append(perf_counter() - began)
    middle = median(taken)
    found = f"takes {1e3 * middle:.2f} ms, at most {1e3 * max(taken):.2f}"
    return Finding(f"a sleep of {1e3 * NAP:.0f} ms", found, middle <= LATE, LATE_NAPS)


def kernel() -> Finding:
    """Start a kernel as JupyterLab would, and wait for its answer."""
    began = perf_counter()
    try:
        from jupyter_client.manager import start_new_kernel

        manager, client = start_new_kernel(startup_timeout=ANSWERS, stderr=DEVNULL)
    except Exception as error:
        return Finding("kernel", f"{type(error).__name__}: {error}", False, NO_KERNEL)
    took = perf_counter() - began
    client.stop_channels()
    manager.shutdown_kernel(now=True)
    return Finding("kernel", f"answers after {took:.1f} s", True)


def in_words(found: list[Finding]) -> str:
    """Return the findings as lines, with advice under each that is not good."""
    width = max(len(finding.what) for finding in found)
    lines = []
    for what, text, good, advice in found:
        lines.append(f"{'ok' if good else '!!'}  {what:{width}}  {text}")
        lines += [] if good else [f"    {advice}"]
    return "\n".join(lines)


def check() -> Any:
    """Show in a notebook what was found, and whether the page and the kernel hear each other."""
    found = findings()
    try:
        from lessonkit.widgets.install_page import Installation
    except ImportError:  # one of the findings says what is missing
        print(in_words(found))
        return None
    return Installation([finding._asdict() for finding in found])
