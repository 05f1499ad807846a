"""Pictures made of panels: one below the other, against one horizontal axis."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from lessonkit.pictures.style import EDGE, GRID, INK, PAPER, QUIET, WIDTH, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ABOVE, RIGHT = 0.42, 0.35  # inches: above each panel, and free at the right
SIZE = 9.5  # points, of a title, and of words if there is room


class Panel(NamedTuple):
    """One of the parts below each other: how high, the words above, and who draws it.

    Its vertical axis counts inches from the top, so that a bar is as high in every picture.
    """

    height: float
    title: str
    words: str
    names: dict[float, str]  # at the left, by their place on the vertical axis
    draw: Callable[[Axes], None]


def compose(panels: list[Panel], keys: Sequence[dict[str, Any]] = ()) -> Figure:
    """Put *panels* below each other, against one horizontal axis, and a legend of *keys* below them."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    left = 0.28 + 0.074 * max(
        (len(name) for panel in panels for name in panel.names.values()), default=6
    )
    high = top = sum(panel.height + ABOVE for panel in panels) + (0.68 if keys else 0.42)
    axes: Axes | None = None
    with style():
        picture = Figure((WIDTH, high), facecolor=PAPER, edgecolor=EDGE, linewidth=1.5)
        for panel in panels:
            top -= ABOVE + panel.height
            place = (
                left / WIDTH,
                top / high,
                1 - (left + RIGHT) / WIDTH,
                panel.height / high,
            )
            axes = picture.add_axes(place, sharex=axes, facecolor="none")
            axes.set_ylim(panel.height, 0)
            axes.set_yticks([*panel.names], [*panel.names.values()])
            axes.spines[:].set_visible(False)
            axes.tick_params(
                length=0, colors=QUIET, labelsize=8.5, labelbottom=panel is panels[-1]
            )
            axes.tick_params("y", colors=INK, labelsize=SIZE, pad=7)
            axes.grid(axis="x", color=GRID, linewidth=0.8)
            axes.set_axisbelow(True)
            heading(axes, panel, WIDTH - left - 0.1)
            panel.draw(axes)
        if keys:
            how: dict[str, Any] = {
                "loc": "lower left",
                "bbox_to_anchor": (left / WIDTH, 0.1 / high),
            }
            how |= {"ncols": 9, "frameon": False, "borderaxespad": 0, "borderpad": 0}
            picture.legend(
                handles=[Patch(**key) for key in keys],
                fontsize=8.5,
                labelcolor=QUIET,
                **how,
            )
    return picture


def heading(axes: Axes, panel: Panel, room: float) -> None:
    """Write the title and the words, which are smaller if both need more than *room* inches."""
    room -= 0.077 * len(panel.title)
    fit = room / (0.072 * len(panel.words) or room)
    size = SIZE * max(0.6, min(1, fit))
    place: Any = "right" if panel.title else "left"
    axes.set_title(panel.title, loc="left", size=SIZE, weight="bold", color=INK)
    axes.set_title(panel.words, loc=place, size=size, color=QUIET)


def say(axes: Axes, x: float, y: float, text: str, **how: Any) -> None:
    """Write *text* in the axes."""
    axes.text(x, y, text, **{"color": INK, "va": "center", "size": 8.5, **how})


def boxes(
    sides: Iterable[tuple[float, float, float]], high: float
) -> list[list[tuple[float, float]]]:
    """Return the corners of boxes so *high*, each given by its left, right and upper side."""
    return [[(x, y), (to, y), (to, y + high), (x, y + high)] for x, to, y in sides]


def time_axis(axes: Axes, longest: float) -> float:
    """Set up an axis for *longest* seconds, with numbers; return how many of its units a second is."""
    unit, scale = ("s", 1) if longest >= 10 else ("ms", 1e3)
    axes.set_xlim(0, longest * scale or 1)
    axes.locator_params("x", nbins=8, steps=[1, 2, 5, 10])
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}" if value else f"0 {unit}")
    return scale
