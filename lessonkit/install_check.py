"""The install check: whether the lessons can be shown and run here."""

import sys
from typing import Any


def python() -> str:
    """Return the version of this Python, and what it cannot do if it runs in a browser."""
    version = sys.version.split()[0]  # an older Python reads none of this
    if sys.platform != "emscripten":
        return version
    return (
        f"{version}, in a browser, without threads: in real runs waits go on side by side, "
        "functions compute in turn; an endless loop ends when the page is loaded again"
    )


def check() -> Any:
    """Show in a notebook whether its page and its kernel hear each other.

    Print what to do, and return None, if the packages that widgets need are not installed.
    Whether a page shows widgets, only the page can tell: its JupyterLab may be installed elsewhere.
    """
    try:
        from lessonkit.widgets.widget import Installation
    except ImportError as error:
        advice = "`pip install --upgrade lessonkit` where lessonkit was installed"
        print(f"!! {error}: run `make lab` again, or {advice}.")
        return None
    return Installation(python())
