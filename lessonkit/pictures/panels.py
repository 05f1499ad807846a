"""Pictures made of panels: one below the other, against one horizontal axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from lessonkit.pictures.style import Look, Picture, style

WIDTH, RIGHT = 10.0, 0.35  # inches, of them free at the right


class Panel(NamedTuple):
    """One of the parts below each other: how high, the words above, and who draws it.

    Its vertical axis counts inches from the top, so that a bar is as high in every picture.
    """

    height: float
    title: str
    words: str
    names: Sequence[str]  # at the left
    draw: Callable[[Axes], None]


def compose(panels: list[Panel], look: Look, words: str, keys: Mapping[str, Patch] | None = None) -> Picture:
    """Put panels below each other, against one horizontal axis; *words* are for who can not see it."""
    size = look.size
    left = size * (0.28 + 0.074 * max((len(name) for panel in panels for name in panel.names), default=6))
    head, foot = 0.42 * size, (0.68 if keys else 0.42) * size
    high = top = sum(panel.height + head for panel in panels) + foot
    axes: Axes | None = None
    with style():
        picture = Picture((WIDTH, high), facecolor=look.paper, edgecolor=look.edge, linewidth=1.5)
        picture.words = words
        for panel in panels:
            top -= head + panel.height
            place = (left / WIDTH, top / high, 1 - (left + RIGHT) / WIDTH, panel.height / high)
            axes = picture.add_axes(place, sharex=axes, facecolor="none")
            axes.set_ylim(panel.height, 0)
            axes.set_yticks([])
            axes.spines[:].set_visible(False)
            lowest = panel is panels[-1]
            axes.tick_params(length=0, colors=look.quiet, labelsize=8.5 * size, labelbottom=lowest)
            axes.grid(axis="x", color=look.grid, linewidth=0.8)
            axes.set_axisbelow(True)
            heading(axes, panel, WIDTH - left - 0.1, look)
            panel.draw(axes)
        for text, key in (keys or {}).items():
            key.set_label(text)
        if keys:
            how: dict[str, Any] = {
                "loc": "lower left",
                "bbox_to_anchor": (left / WIDTH, 0.1 * size / high),
                "ncols": 9,
            }
            how |= {"frameon": False, "borderaxespad": 0, "borderpad": 0, "labelcolor": look.quiet}
            picture.legend(handles=list(keys.values()), fontsize=8.5 * size, **how)
    return picture


def heading(axes: Axes, panel: Panel, room: float, look: Look) -> None:
    """The title, and beside it the words, smaller if they need more than *room* inches."""
    size = 9.5 * look.size
    above: dict[str, Any] = {"textcoords": "offset points", "va": "bottom", "parse_math": False}
    left: dict[str, Any] = {"xy": (0, 1), "xycoords": "axes fraction", "xytext": (0, 0.6 * size)}
    if panel.title:
        title = axes.annotate(panel.title, size=size, weight="bold", color=look.ink, **left, **above)
        left = {"xy": (1, 0), "xycoords": title, "xytext": (0.8 * size, 0)}
        room -= 0.077 * look.size * len(panel.title)
    fit = room / (0.072 * look.size * len(panel.words) or room)
    axes.annotate(panel.words, size=size * max(0.6, min(1, fit)), color=look.quiet, **left, **above)


def say(axes: Axes, x: float, y: float, text: str, look: Look, size: float = 9.5, **how: Any) -> None:
    """Text in the axes."""
    axes.text(
        x, y, text, parse_math=False, size=size * look.size, **{"color": look.ink, "va": "center"} | how
    )


def name(axes: Axes, y: float, text: str, look: Look, **how: Any) -> None:
    """Text at the left of the axes."""
    say(axes, -0.012, y, text, look, ha="right", transform=axes.get_yaxis_transform(), **how)


def time_axis(axes: Axes, longest: float) -> float:
    """Set up an axis for *longest* seconds, with numbers; return how many of its units a second is."""
    unit, scale = ("s", 1) if longest >= 10 else ("ms", 1e3)
    axes.set_xlim(0, longest * scale or 1)
    axes.xaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}" if value else f"0 {unit}")
    return scale
