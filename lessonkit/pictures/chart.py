"""Charts: lanes of bars, or of a line and its dots, on one axis.

A chart is a scene of plain data. `widgets/page/chart.js` draws it on a page, and matplotlib
does here.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from lessonkit.pictures.layout import COLOURS
from lessonkit.pictures.panels import Panel, compose, say, time_axis
from lessonkit.pictures.style import CARD, INK, PALE, PAPER, QUIET, WIDTH, Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Scene = dict[str, Any]
PER_INCH = 82  # of a scene in an inch
# Inches: above the highest mark; a line of text; a letter of it
HEAD, LINE, LETTER = 0.3, 0.17, 0.062
BLUE = COLOURS["Read"]


def chart(kind: str, scene: Scene) -> Picture:
    """Make a picture of this *kind* of a *scene*.

    A scene has a title and words, an axis *from* a number *to* another, in *seconds* if it
    says so, and *lanes*. A lane has a height in pixels, what its *top* stands for, perhaps
    a name, and marks: each a bar, a dot, a line or steps through *points*, with a *text*
    beside it.
    """
    floor, names = 0.0, dict[float, str]()
    for lane in scene["lanes"]:
        height = lane["height"] / PER_INCH
        floor += height
        names |= {floor - height / 2: lane["name"]} if "name" in lane else {floor: "0 ms"}
    panel = Panel(floor, scene["title"], scene["words"], names, partial(draw, scene=scene))
    return Picture(f"{kind}: {scene['words']}", scene, lambda: compose([panel]))


def dot(x: float, y: float, text: str, say: str) -> dict[str, Any]:
    """Return a point of a scene, with *text* beside it, and what is said where one points at it."""
    return {"kind": "dot", "points": [(x, y)], "text": text, "say": say}


def draw(axes: Axes, scene: Scene) -> None:
    """Draw the lanes of *scene*, from top to bottom."""
    scale, first, last = 1.0, scene["from"], scene["to"]
    if scene.get("seconds"):
        scale = time_axis(axes, last)
        # Room for texts after the bars
        axes.set_xlim(first, last * scale * (1 + 2.5 / WIDTH))
    else:
        axes.locator_params("x", nbins=10, integer=True)
        width = last - first or 1
        axes.set_xlim(first - 0.05 * width, last + width / WIDTH)
    top = 0.0
    for lane in scene["lanes"]:
        top = Lane(axes, scale, top, lane).draw()


class Lane:
    """One *lane* of a chart, from *top* on, in inches."""

    def __init__(self, axes: Axes, scale: float, top: float, lane: dict[str, Any]) -> None:
        self.axes, self.scale, self.top, self.lane = axes, scale, top, lane
        self.height = lane["height"] / PER_INCH
        self.floor: float = top + self.height
        # Where there is one: from, to, and its height
        self.texts: list[tuple[float, float, float]] = []

    def draw(self) -> float:
        """Draw the marks of the lane; return where it ends."""
        for mark in self.lane["marks"]:
            if mark["kind"] == "bar":
                self.bar(mark)
            else:
                self.line(mark)
        if "name" not in self.lane:
            self.axes.axhline(self.floor, color=QUIET, linewidth=0.8)
        return self.floor

    def bar(self, mark: dict[str, Any]) -> None:
        """Draw a bar through the middle of the lane, hatched or filled, and its text after it."""
        (start, _), (end, _) = ((x * self.scale, y) for x, y in mark["points"])
        how = {"hatch": "////", **PALE} if mark.get("hatched") else {"color": BLUE}
        middle = self.top + self.height / 2
        self.axes.barh(middle, end - start, 0.75 * self.height, start, **how)
        if mark.get("text"):
            say(
                self.axes,
                end + 0.008 * self.axes.get_xlim()[1],
                middle,
                mark["text"],
                bbox=CARD,
            )

    def line(self, mark: dict[str, Any]) -> None:
        """Draw a line, steps or a dot, and its text above it, where no other is."""
        xs = [x * self.scale for x, _ in mark["points"]]
        full = (self.height - HEAD) / (self.lane["top"] or 1)
        ys = [self.floor - full * y for _, y in mark["points"]]
        if mark["kind"] == "steps":
            self.axes.step(xs, ys, color=BLUE, linewidth=1.5, where="post")
        elif mark["kind"] == "line":
            self.axes.plot(xs, ys, color=BLUE, linewidth=2)
        else:
            fill = PAPER if mark.get("hollow") else BLUE
            self.axes.plot(
                xs, ys, "o", color=BLUE, markerfacecolor=fill, markersize=6, clip_on=False
            )
            if mark.get("marked"):
                self.axes.plot(
                    xs, ys, "o", color=INK, fillstyle="none", markersize=13, clip_on=False
                )
        if mark.get("text"):
            self.say(xs[0], ys[0] - LINE, mark)

    def say(self, x: float, y: float, mark: dict[str, Any]) -> None:
        """Write the text of *mark* above *x*, and higher as long as another is there; not above the lane."""
        low, high = self.axes.get_xlim()
        wide = LETTER * len(mark["text"]) * (high - low) / WIDTH
        left = min(max(x - wide / 2, low), high - wide)
        while any(
            a < left + wide and left < b and abs(y - there) < LINE
            for a, b, there in self.texts
        ):
            y -= LINE
        if y < self.top:
            return
        self.texts.append((left, left + wide, y))
        weight = "bold" if mark.get("marked") else "normal"
        say(
            self.axes,
            left + wide / 2,
            y,
            mark["text"],
            ha="center",
            weight=weight,
            bbox=CARD,
        )
