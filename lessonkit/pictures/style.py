"""How every picture looks: colours, sizes, and a picture that a notebook shows once.

Only who draws imports matplotlib: a page draws a picture from its scene, and needs none.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# A notebook stores one picture and shows it on light and on dark pages. On a transparent ground
# dark text vanishes on one of them, and greys that can be read on both are weak on each. So a
# picture is an opaque card, and a thin edge closes it on a page that is as light as it is.
PAPER, EDGE, GRID = "#ffffff", "#d0d7de", "#e6eaee"
INK, QUIET = "#1b1f24", "#57606a"  # of text, and of text that comes second
WAIT, HATCH = "#f3f5f7", "#a4acb6"

WIDTH = 10.0  # inches
DOTS, PIXELS = 1440, 1000  # of its width: stored, and shown
# Waiting, with a hatch
PALE: dict[str, Any] = {"facecolor": WAIT, "edgecolor": HATCH, "linewidth": 0.6}
# Of text that hides lines
CARD: dict[str, Any] = {"facecolor": PAPER, "edgecolor": "none", "pad": 1}


@dataclass(repr=False)
class Picture:
    """What is to be seen: in *words*, as a *scene* of plain data, and as a figure that *draw* makes."""

    words: str
    scene: dict[str, Any]
    draw: Callable[[], Figure] = field(compare=False)

    def __repr__(self) -> str:
        return self.words

    @cached_property
    def figure(self) -> Figure:
        """The figure, which pyplot does not know: a notebook shows it once, and nobody has to close it."""
        return self.draw()

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Give a notebook more dots than it shows, so that the picture is sharp on every screen."""
        width, height = self.figure.get_size_inches()
        size = {"width": PIXELS, "height": round(PIXELS * height / width)}
        return {"image/png": png(self), "text/plain": self.words}, {"image/png": size}


def png(picture: Picture) -> bytes:
    """Return *picture* as a file: the same bytes for the same trace, for it holds no date or version."""
    stream = io.BytesIO()
    with style(), warnings.catch_warnings():
        # A name in letters that the font lacks is drawn as boxes, and nobody can do
        # anything about it.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        # Packed less than usual: a little larger, and sooner there
        quick = {"compress_level": 4}
        picture.figure.savefig(
            stream, dpi=DOTS / WIDTH, metadata={"Software": None}, pil_kwargs=quick
        )
    return stream.getvalue()


def style() -> AbstractContextManager[None]:
    """Draw as matplotlib does by itself, whatever a learner's own settings are; a $ is one."""
    from matplotlib.style import context

    return context({"hatch.linewidth": 0.8, "text.parse_math": False}, after_reset=True)
