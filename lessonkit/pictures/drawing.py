"""Draws every picture: panels below each other, above a legend, in one look.

A timeline, a strip or a chart says what its panels are, and draws in the axes that each gets.
matplotlib is imported when a figure is made: a page draws a picture from its scene.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# A notebook stores one picture and shows it on light and on dark pages. On a transparent
# ground dark text vanishes on one of them, and greys that can be read on both are weak on
# each. So a picture is an opaque card, and a thin edge closes it on a page that is as light.
PAPER = "#ffffff"
INK = "#1b1f24"  # of text
QUIET = "#57606a"  # of text that comes second

WIDTH = 10.0  # inches
DOTS = 1440  # of the width, in the file
PIXELS = 1000  # of the width, on the page: fewer, so that it is sharp on every screen
ABOVE = 0.42  # inches above each panel
RIGHT = 0.35  # inches that are free at the right
SIZE = 9.5  # points, of titles and names
SMALL = 8.5  # points, of all other text

Look = dict[str, Any]  # keywords of matplotlib
# Of waits
PALE: Look = {"facecolor": "#f3f5f7", "edgecolor": "#a4acb6", "linewidth": 0.6}
# Of text that hides lines
CARD: Look = {"facecolor": PAPER, "edgecolor": "none", "pad": 1}


class Drawing(Protocol):
    """What a page can show: it is told in *words*, and a page draws it from its *scene*."""

    @property
    def words(self) -> str:
        """What it shows, for readers that cannot see it."""

    @property
    def scene(self) -> dict[str, Any]:
        """What a page needs to draw it."""

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what a notebook stores and shows."""


class Panel(NamedTuple):
    """A part of a picture: its height, the names of its rows, the words above, and what it shows.

    Its vertical axis counts inches from the top, so that a bar is as high in every picture.
    """

    height: float
    names: dict[float, str]  # at the left, by their height on the vertical axis
    draw: Callable[[Axes], None]
    title: str = ""
    words: str = ""


@dataclass(eq=False, repr=False)
class Picture:
    """A picture three times: in *words*, as the *scene* of a page, as *panels* with a legend."""

    words: str
    scene: dict[str, Any]
    panels: list[Panel]
    ends: tuple[float, float]  # of the horizontal axis of all panels
    keys: Sequence[Look] = ()  # of the legend
    in_seconds: bool = True  # is the horizontal axis

    def __repr__(self) -> str:
        return self.words

    @cached_property
    def figure(self) -> Figure:
        """Return the figure. pyplot does not know it, so it need not be closed."""
        with style():
            return compose(self)

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return more dots than a notebook shows, so that the picture is sharp on every screen."""
        width, height = self.figure.get_size_inches()
        size = {"width": PIXELS, "height": round(PIXELS * height / width)}
        return {"image/png": png(self), "text/plain": self.words}, {"image/png": size}


def png(picture: Picture) -> bytes:
    """Return *picture* as a file: the same bytes for the same trace, without date or version."""
    stream = io.BytesIO()
    with style(), warnings.catch_warnings():
        # A name in letters that the font lacks is drawn as boxes.
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


def compose(picture: Picture) -> Figure:
    """Draw the panels of *picture* below each other, against one axis, above its legend."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    panels = picture.panels
    keys = picture.keys
    names = [name for panel in panels for name in panel.names.values()]
    left = 0.28 + 0.074 * max(map(len, names), default=6)
    width = WIDTH - left - RIGHT
    below = 0.68 if keys else 0.42  # inches, of the axis and the legend
    high = below + sum(panel.height + ABOVE for panel in panels)
    top = high
    figure = Figure((WIDTH, high), facecolor=PAPER, edgecolor="#d0d7de", linewidth=1.5)
    for panel in panels:
        top -= ABOVE + panel.height
        box = (left / WIDTH, top / high, width / WIDTH, panel.height / high)
        axes = figure.add_axes(box, frameon=False)
        set_axes(axes, picture, panel)
        axes.tick_params(labelbottom=panel is panels[-1])
        write_heading(axes, panel, width + RIGHT - 0.1)
        panel.draw(axes)
    if keys:
        figure.legend(
            handles=[Patch(**key) for key in keys],
            loc="lower left",
            bbox_to_anchor=(left / WIDTH, 0.1 / high),
            ncols=9,
            frameon=False,
            borderaxespad=0,
            borderpad=0,
            fontsize=SMALL,
            labelcolor=QUIET,
        )
    return figure


def set_axes(axes: Axes, picture: Picture, panel: Panel) -> None:
    """Set up the horizontal axis of *picture* and the vertical one of *panel*."""
    axes.set_xlim(picture.ends)
    if picture.in_seconds:
        unit, scale = ("s", 1) if picture.ends[1] >= 10 else ("ms", 1e3)
        axes.locator_params("x", nbins=8, steps=[1, 2, 5, 10])
        axes.xaxis.set_major_formatter(
            lambda time, _: f"{time * scale:,g}" if time else f"0 {unit}"
        )
    else:
        axes.locator_params("x", nbins=10, integer=True)
    axes.set_ylim(panel.height, 0)
    axes.set_yticks([*panel.names], [*panel.names.values()])
    axes.tick_params(length=0, colors=QUIET, labelsize=SMALL)
    axes.tick_params("y", colors=INK, labelsize=SIZE, pad=7)
    axes.grid(axis="x", color="#e6eaee", linewidth=0.8)
    axes.set_axisbelow(True)


def write_heading(axes: Axes, panel: Panel, room: float) -> None:
    """Write the title and the words, which are smaller if both need more than *room* inches."""
    room -= 0.077 * len(panel.title)
    fit = room / (0.072 * len(panel.words) or room)
    size = SIZE * max(0.6, min(1, fit))
    side: Any = "right" if panel.title else "left"
    axes.set_title(panel.title, loc="left", size=SIZE, weight="bold", color=INK)
    axes.set_title(panel.words, loc=side, size=size, color=QUIET)


def draw_boxes(axes: Axes, boxes: Sequence[tuple[float, ...]], **look: Any) -> None:
    """Draw *boxes* as one artist of matplotlib, since each takes time.

    Each has a left and a right side, an upper edge and a height.
    """
    import numpy as np
    from matplotlib.collections import PolyCollection
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    corners = []
    for left, right, top, height in boxes:
        bottom = top + height
        corners.append([(left, top), (right, top), (right, bottom), (left, bottom)])
    if "hatch" in look:  # hatched as one: much faster
        shape = Path.make_compound_path_from_polys(np.array(corners))
        axes.add_artist(PathPatch(shape, **look))
    else:
        axes.add_collection(PolyCollection(corners, **look), autolim=False)


def write_text(axes: Axes, x: float, y: float, text: str, **look: Any) -> None:
    """Write *text* at a point: it begins there if its *look* says nothing else."""
    usual: Look = {"color": INK, "va": "center", "size": SMALL}
    axes.text(x, y, text, **usual | look)
