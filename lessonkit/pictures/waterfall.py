"""What each step of a change saved, as a picture."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from lessonkit.pictures.layout import COLOURS
from lessonkit.pictures.panels import Panel, compose, name, say, time_axis
from lessonkit.pictures.style import DEFAULTS, Picture, look_of, pale
from lessonkit.words import milliseconds, number

STEP = 0.36  # inches


def plot_waterfall(steps: Sequence[tuple[str, float]], *, title: str = "", **look: bool) -> Picture:
    """What each step brought: pairs of a name and the seconds that it then took.

    >>> plot_waterfall([("naive", 0.42), ("+ prefetch(1)", 0.36), ("+ parallel map", 0.24)])
    waterfall: from 420 ms to 240 ms, 1.8 times as fast
    """
    page = look_of(**DEFAULTS | look)
    if not steps or min(seconds for _, seconds in steps) <= 0:
        raise ValueError("plot_waterfall: no step, or one that takes no time")
    first, last, size = steps[0][1], steps[-1][1], page.size
    words = f"from {milliseconds(first)} to {milliseconds(last)}, {number(first / last)} times as fast"

    def draw(axes: Axes) -> None:
        longest = max(seconds for _, seconds in steps)
        scale = time_axis(axes, longest)
        axes.set_xlim(0, longest * scale * (1 + 0.25 * size))  # room for the texts
        before = first
        for row, (text, seconds) in enumerate(steps):
            y, high = STEP * size * (row + 0.5), 0.27 * size
            left, right = sorted((before * scale, seconds * scale))
            axes.barh(y, left, high, color=COLOURS["Read"])
            axes.barh(y, right - left, high, left, hatch="////" if seconds < before else "xxxx", **pale(page))
            change = f", {milliseconds(abs(seconds - before))} {'less' if seconds < before else 'more'}"
            name(axes, y, text, page)
            x, how = (
                right + 0.008 * longest * scale,
                {"facecolor": page.paper, "edgecolor": "none", "pad": 1},
            )
            say(axes, x, y, milliseconds(seconds) + change * (seconds != before), page, 8.5, bbox=how)
            before = seconds

    names = [text for text, _ in steps]
    return compose([Panel(STEP * size * len(steps), title, words, names, draw)], page, f"waterfall: {words}")
