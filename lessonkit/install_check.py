"""The install check: whether the lessons can be shown and run here."""

import sys
from typing import Any

# A page that shows widgets takes this away; a notebook keeps it.
ADVICE = """\
The packages that show widgets are installed. If this text stays in a notebook that runs, its page
cannot show widgets, and sliders will not work. Start the lessons with `make lab`; or, with a
JupyterLab of your own, run `pip install --upgrade ipywidgets anywidget` where JupyterLab is
installed and where lessonkit is, so that both have the same versions, and load the page again."""


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
    """Print what to do if a page cannot show widgets, and show whether page and kernel talk.

    The page takes the text away when they have heard each other. Whether a page shows widgets,
    only the page can tell: its JupyterLab may be installed elsewhere. If the packages that
    widgets need are not installed here, say so and return None.
    """
    try:
        from lessonkit.widgets.widget import Installation
    except ImportError as error:
        print(f"!! {error}")
        print("In a clone, `make lab` installs all that the lessons need.")
        return None
    print(ADVICE)
    return Installation(python())
