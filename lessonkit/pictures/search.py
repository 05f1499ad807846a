"""What a search tried, as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from lessonkit.improve.search import Step
from lessonkit.pictures.layout import COLOURS
from lessonkit.pictures.panels import Panel, compose, name, say
from lessonkit.pictures.style import DEFAULTS, Picture, look_of
from lessonkit.words import milliseconds


def plot_search(steps: Sequence[Step], *, title: str = "search", **look: bool) -> Picture:
    """What a search tried, one run after another: what was taken is filled, and says what was turned.

    >>> from lessonkit import AUTOTUNE, ArtificialDataset
    >>> from lessonkit.optimize import autotune
    >>> plot_search(autotune(ArtificialDataset(20).prefetch(AUTOTUNE), most_places=4).steps)
    search: 4 runs, from 680 ms to 680 ms, 1 taken
    """
    page = look_of(**DEFAULTS | look)
    if not steps:
        raise ValueError("plot_search: nothing was tried")
    taken = [(place, step) for place, step in enumerate(steps, 1) if step.accepted]
    ends = [milliseconds(step.seconds) for step in (steps[0], taken[-1][1] if taken else steps[0])]
    words = f"{len(steps)} run{'s' * (len(steps) != 1)}, from {ends[0]} to {ends[1]}, {len(taken)} taken"
    height, longest = 1.7 * page.size, max(step.seconds for step in steps) or 1

    def draw(axes: Axes) -> None:
        size = page.size
        ys = [height * (1 - 0.75 * step.seconds / longest) for step in steps]
        axes.set_xlim(0.5, len(steps) + 0.5)
        axes.xaxis.set_major_locator(MaxNLocator(10, integer=True, prune="lower"))
        axes.axhline(height, color=page.quiet, linewidth=0.8)
        name(axes, height, "0 ms", page, size=8.5, color=page.quiet)
        line: dict[str, Any] = {"color": COLOURS["Read"], "linewidth": 1.5 * size, "where": "post"}
        places = [place for place, _ in taken]
        axes.step([*places, len(steps)], [ys[place - 1] for place in (*places, *places[-1:])], **line)
        dot: dict[str, Any] = {"markersize": 6 * size, "color": COLOURS["Read"], "clip_on": False}
        for place, step in enumerate(steps, 1):
            ground = COLOURS["Read"] if step.accepted else page.paper
            axes.plot(place, ys[place - 1], "o", markerfacecolor=ground, **dot)
        for (before, _), (place, step) in zip(taken[:1] + taken, taken, strict=False):
            left = place <= len(steps) / 2
            y, line_y = ys[place - 1], ys[before - 1]
            if y - line_y < 0.34 * size:  # there is no room between the line and the dot
                y = min(y, line_y)
            x, side = (place, "left") if left else (place - 0.1, "right")
            box = {"facecolor": page.paper, "edgecolor": "none", "pad": 1}
            text = f"{step.turns}: {milliseconds(step.seconds)}"
            say(axes, x, y - 0.17 * size, text, page, 8.5, ha=side, bbox=box)

    return compose([Panel(height, title, words, (), draw)], page, f"search: {words}")
