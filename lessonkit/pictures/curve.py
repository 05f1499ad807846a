"""The time of a sample against the values of a knob, as a picture."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from lessonkit.improve.knobs import Curve
from lessonkit.pictures.layout import COLOURS
from lessonkit.pictures.panels import Panel, compose, name, say
from lessonkit.pictures.style import DEFAULTS, Picture, look_of
from lessonkit.words import milliseconds


def plot_curve(curve: Curve, *, title: str = "", **look: bool) -> Picture:
    """The time of a sample against the values of a knob, and from which on more stops helping.

    >>> from lessonkit import ArtificialDataset
    >>> from lessonkit.analysis import curve, knobs
    >>> dataset = ArtificialDataset().map(cost=0.030, num_parallel_calls=1)
    >>> plot_curve(curve(dataset, knobs(dataset)[0], values=[1, 2, 3, 4]))
    curve: num_parallel_calls=3 is enough: 38.3 ms a sample, within 2 % of the best
    """
    page = look_of(**DEFAULTS | look)
    if not curve.points or not all(curve.samples):
        raise ValueError("plot_curve: no values, or a run in which no element reached the training loop")
    values = [value for value, _ in curve.points]
    times = [total / count for (_, total), count in zip(curve.points, curve.samples, strict=True)]
    knee, setting = values.index(curve.knee), f"{curve.knob.name}={curve.knee}"
    time = f"{milliseconds(times[knee])} a sample"
    words = f"{setting} is enough: {time}, within 2 % of the best"
    if knee == 0:
        words = f"more does not help: {time} with {setting}"
    elif knee == len(values) - 1:
        words = f"more may help still: {time} with {setting}, the last that was tried"
    height = 2.3 * page.size

    def draw(axes: Axes) -> None:
        ys = [height * (1 - 0.85 * time / (max(times) or 1)) for time in times]
        size, width = page.size, values[-1] - values[0] or 1
        axes.plot(values, ys, "-o", color=COLOURS["Read"], linewidth=2 * size, markersize=6 * size)
        ring: dict[str, Any] = {"fillstyle": "none", "markersize": 13 * size, "clip_on": False}
        axes.plot(values[knee], ys[knee], "o", color=page.ink, **ring)
        axes.set_xlim(values[0] - 0.05 * width, values[-1] + 0.1 * size * width)
        axes.xaxis.set_major_locator(MaxNLocator(10, integer=True))
        for value, time, y in zip(values, times, ys, strict=True):
            weight = "bold" if value == values[knee] else "normal"
            text = f"  {milliseconds(time)}"
            say(axes, value, y - 0.16 * size, text, page, 8.5, weight=weight)
        axes.axhline(height, color=page.quiet, linewidth=0.8)
        name(axes, height, "0 ms", page, size=8.5, color=page.quiet)

    title = title or f"{curve.knob.name} of {curve.knob.node.method}"
    return compose([Panel(height, title, words, (), draw)], page, f"curve: {words}")
