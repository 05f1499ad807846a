"""What each step of a change saved, as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from lessonkit.pictures.layout import COLOURS
from lessonkit.pictures.panels import Panel, compose, name, say, time_axis
from lessonkit.pictures.style import CARD, PALE, Picture, inches
from lessonkit.words import milliseconds, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STEP = 0.36  # inches


def plot_waterfall(steps: Sequence[tuple[str, float]], *, title: str = "") -> Picture:
    """Draw what each of *steps* saved: pairs of a name and the seconds that it then took.

    >>> plot_waterfall([("naive", 0.42), ("+ prefetch(1)", 0.36), ("+ parallel map", 0.24)])
    waterfall: from 420 ms to 240 ms, 1.8 times as fast
    """
    names, times = [text for text, _ in steps], [seconds for _, seconds in steps]
    if not times or min(times) <= 0:
        raise ValueError("plot_waterfall: no step, or one that takes no time")
    first, last, longest = times[0], times[-1], max(times)
    words = f"from {milliseconds(first)} to {milliseconds(last)}, {number(first / last)} times as fast"

    texts = []
    for before, now in pairwise([first, *times]):
        less = f", {milliseconds(abs(now - before))} {'less' if now < before else 'more'}"
        texts.append(milliseconds(now) + (less if now != before else ""))

    def draw(axes: Axes) -> None:
        scale = time_axis(axes, longest)
        axes.set_xlim(0, longest * scale * (1 + 2.5 / inches()))  # room for the texts
        for row, (before, now) in enumerate(pairwise([first, *times])):
            y, kept, longer = STEP * (row + 0.5), min(before, now) * scale, max(before, now) * scale
            axes.barh(y, kept, 0.27, color=COLOURS["Read"])
            axes.barh(y, longer - kept, 0.27, kept, hatch="////" if now < before else "xxxx", **PALE)
            name(axes, y, names[row])
            say(axes, longer + 0.008 * longest * scale, y, texts[row], bbox=CARD)

    lanes = []
    for row, (before, now) in enumerate(pairwise([first, *times])):
        bar = {"kind": "bar", "points": [(0, 1), (min(before, now), 1)], "say": f"{names[row]}: {texts[row]}"}
        change = {
            "kind": "bar",
            "points": [(min(before, now), 1), (max(before, now), 1)],
            "hatched": True,
            "text": texts[row],
        }
        lanes.append({"name": names[row], "height": 30, "top": 1, "marks": [bar, change]})
    scene = {"title": title, "words": words, "from": 0, "to": longest, "seconds": True, "lanes": lanes}
    panel = Panel(STEP * len(steps), title, words, names, draw)
    return Picture(f"waterfall: {words}", scene, lambda: compose([panel]))
