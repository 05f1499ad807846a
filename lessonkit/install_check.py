"""The install check: whether the lessons can be shown and run here."""

import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

INSTALL = "run `make lab` again, or `pip install --upgrade lessonkit` where lessonkit was installed"
BROWSER = (
    "in a browser, without threads: in real runs waits go on side by side, functions compute "
    "in turn; an endless loop ends when the page is loaded again"
)


class Finding(NamedTuple):
    """What was *found* of *what*; the *advice* is for one that is not *good*."""

    what: str
    found: str
    good: bool
    advice: str = ""


def findings() -> list[Finding]:
    """Return what can be told without a page."""
    version = sys.version.split()[0]  # an older Python reads none of this
    if sys.platform == "emscripten":  # the page came with all that it needs
        return [Finding("Python", f"{version}, {BROWSER}", True)]
    return [Finding("Python", version, True), find_widgets()]


def find_widgets() -> Finding:
    """Look for the parts of JupyterLab that show widgets, in the kernel's own environment."""
    parts = {
        "ipywidgets": "@jupyter-widgets/jupyterlab-manager",
        "anywidget": "anywidget",
    }
    folders: list[str] = []
    with suppress(ImportError):
        from jupyter_core.paths import jupyter_path

        folders = jupyter_path("labextensions")
    lacking = [
        name
        for name, part in parts.items()
        if not any(Path(folder, part).is_dir() for folder in folders)
    ]
    found = f"none for {' and '.join(lacking)}" if lacking else "installed"
    advice = f"JupyterLab would show no sliders: {INSTALL}."
    return Finding("widget manager", found, not lacking, advice)


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
        from lessonkit.widgets.widget import Installation
    except ImportError as error:
        print(f"{in_words(found)}\n!!  {error}: {INSTALL}.")
        return None
    return Installation([finding._asdict() for finding in found])
