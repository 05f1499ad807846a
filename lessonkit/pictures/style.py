"""How every picture looks: colours, sizes, and a figure that a notebook shows once."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

DPI = 144  # dots to an inch
DEFAULTS = {"dark": False, "large": False}  # of every picture; a classroom makes them large
DASHED: dict[str, Any] = {"linewidth": 0.8, "linestyle": (0, (4, 3))}


@dataclass(frozen=True)
class Look:
    """Colours, and how large things are.

    A notebook stores one picture and shows it on light and on dark pages. On a transparent ground
    dark text vanishes on one of them, and greys that can be read on both are weak on each. So a
    picture is an opaque card, and a thin edge closes it on a page that is as light as it is.
    """

    paper: str = "#ffffff"
    edge: str = "#d0d7de"
    ink: str = "#1b1f24"
    quiet: str = "#57606a"  # text that comes second
    grid: str = "#e6eaee"
    wait: str = "#f3f5f7"
    hatch: str = "#a4acb6"
    size: float = 1.0


LIGHT = Look()
DARK = Look("#0f1419", "#30363d", "#f0f3f6", "#a8b1bb", "#262c34", "#1a2028", "#69737f")


def look_of(dark: bool, large: bool) -> Look:
    """For a dark page, for a projector."""
    return replace(DARK if dark else LIGHT, size=1.45 if large else 1.0)


def pale(look: Look) -> dict[str, Any]:
    """How waiting is drawn, behind its hatch."""
    return {"facecolor": look.wait, "edgecolor": look.hatch, "linewidth": 0.6}


class Picture(Figure):
    """A figure that pyplot does not know: a notebook shows it once, and nobody has to close it."""

    words = ""

    def __repr__(self) -> str:
        return self.words

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """For a notebook: drawn finer than it is shown, so that it is sharp on every screen."""
        width, height = (round(100 * inches) for inches in self.get_size_inches())
        size = {"width": width, "height": height}
        return {"image/png": png(self), "text/plain": self.words}, {"image/png": size}


def png(figure: Figure) -> bytes:
    """A picture as the bytes of a file: the same for the same trace, for it holds no date or version."""
    stream = io.BytesIO()
    with style(), warnings.catch_warnings():
        # A name in letters that the font lacks is drawn as boxes, and nobody can do anything about it.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        quick = {"compress_level": 4}  # packed less than usual: a little larger, and sooner there
        figure.savefig(stream, format="png", dpi=DPI, metadata={"Software": None}, pil_kwargs=quick)
    return stream.getvalue()


@contextmanager
def style() -> Iterator[None]:
    """Draw as matplotlib does by itself, whatever a learner's own settings are."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams["hatch.linewidth"] = 0.8
        yield
