"""Draws charts: what a search tried, the time against a knob, what each change saved.

A chart is a scene of plain data: rows of bars, or of a line and its dots, on one axis.
`widgets/page/pictures/chart.js` draws it on a page; here it is drawn for a notebook.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import log10
from typing import TYPE_CHECKING, Any, NamedTuple

from lessonkit.improve.autotune import SearchStep
from lessonkit.improve.knobs import Curve
from lessonkit.words import counted, milliseconds, number

from .drawing import (
    CARD,
    INK,
    PAPER,
    QUIET,
    WIDTH,
    Look,
    Panel,
    Picture,
    draw_boxes,
    write_text,
)
from .layout import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PER_INCH = 82  # of the pixels in which a scene has heights
# In such pixels:
OF_A_ROW = 30
OF_A_CURVE = 180
OF_A_SEARCH = 170

# In inches:
ROW = OF_A_ROW / PER_INCH
HEAD = 0.45  # above the highest mark, for its text and the title of the axis
LINE = 0.17  # of a line of text
LETTER = 0.062  # of a letter, in the mean
RANGE_HIGH = 0.08  # of a line that is the range of a forecast
UNDER = 0.34  # below the floor, to the title of the axis that is under its numbers
OVER = 0.06  # below the upper edge, to the title of the other one

# Of the axis:
BEFORE = 0.05  # free before the first mark,
AFTER = 0.1  # and after the last one;
TOLD = 0.25  # after bars and forecasts, for their texts
BESIDE = 0.02  # between a mark and the text beside it,
AFTER_A_BAR = 0.008  # or after a bar

RING = 13  # points, around a dot that is marked
BLUE = COLOURS["Read"]
RANGE = "#b6c2cf"
CHANGES: dict[str, Look] = {
    "less": {"facecolor": "#d3ead6", "edgecolor": "#1b7d2c", "linewidth": 0.8},
    "more": {
        "facecolor": "#f8d9d6",
        "edgecolor": "#c62828",
        "linewidth": 0.8,
        "linestyle": "--",
    },
}
LOOKS: dict[str, Look] = {
    "line": {"linewidth": 2},
    "steps": {"linewidth": 1.5, "drawstyle": "steps-post"},
    "dot": {"marker": "o", "linestyle": "none", "markersize": 6, "clip_on": False},
}

Data = dict[str, Any]  # of a scene, as JSON can say it


class TimedSetting(NamedTuple):
    """A setting of a job, and how long an epoch takes with it, in seconds.

    The *forecast* may be off by the share *within*. *measured* is what a real run took, if there
    was one, and *saves* says in words what the setting saves.
    """

    name: str
    forecast: float
    within: float
    measured: float | None
    saves: str

    @property
    def slowest(self) -> float:
        """The seconds that it takes if the forecast is too short by as much as it may be."""
        return self.forecast * (1 + self.within)

    @property
    def fastest(self) -> float:
        """The seconds that it takes if the forecast is too long by as much as it may be."""
        return self.forecast * (1 - self.within)


def plot_curve(curve: Curve) -> Picture:
    """Draw the time per sample against the values of a knob, and say which value is enough.

    >>> from lessonkit import ArtificialDataset
    >>> from lessonkit.analysis import curve, knobs
    >>> dataset = ArtificialDataset().map(cost=0.030, num_parallel_calls=1)
    >>> plot_curve(curve(dataset, knobs(dataset)[0], values=[1, 2, 3, 4]))
    curve: num_parallel_calls=3 is enough: 38.3 ms per sample, within 2 % of the best
    """
    if not curve.points:
        raise ValueError("plot_curve: the curve has no values")
    values, times = zip(*curve.points, strict=True)
    name = curve.knob.name
    knee = values.index(curve.knee)
    setting = f"{name}={curve.knee}"
    time = f"{milliseconds(times[knee])} per sample"
    words = f"{setting} is enough: {time}, within 2 % of the best"
    if knee == 0:
        words = f"a larger number does not help: {time} with {setting}"
    elif knee == len(values) - 1:
        words = (
            f"a larger number may help: {time} with {setting}, the largest that was tried"
        )

    dots = []
    for value, seconds in curve.points:
        told = milliseconds(seconds)
        say = f"{name}={value}: {told} per sample"
        dots.append(dot(value, seconds, told, say, marked=value == curve.knee))
    title = f"{name} of {curve.knob.node.method}"
    line = {"kind": "line", "points": curve.points}
    axes = Titles(across=name, up="ms per sample")
    return dotted("curve", title, words, OF_A_CURVE, [line, *dots], axes)


def plot_search(steps: Sequence[SearchStep]) -> Picture:
    """Draw the runs of a search one after another; a dot is filled where its change was kept.

    >>> from lessonkit import AUTOTUNE, ArtificialDataset
    >>> from lessonkit.optimize import autotune
    >>> plot_search(autotune(ArtificialDataset(20).prefetch(AUTOTUNE), most_slots=4).steps)
    search: 4 runs from left to right, 680 ms to 680 ms, 1 kept
    """
    if not steps:
        raise ValueError("plot_search: nothing was tried")
    dots: list[Data] = []
    stairs: list[tuple[int, float]] = []
    for index, step in enumerate(steps, 1):
        seconds = step.tried.seconds
        taken = step.accepted
        told = f"{step.change}: {milliseconds(seconds)}"
        say = f"{told}, {'kept' if taken else 'not kept'}"
        dots.append(dot(index, seconds, told if taken else "", say, hollow=not taken))
        if taken:  # as the first one always is
            stairs.append((index, seconds))
    count = len(steps)
    (_, first), (_, last) = stairs[0], stairs[-1]
    words = f"{counted(count, 'runs')} from left to right"
    words += f", {milliseconds(first)} to {milliseconds(last)}, {len(stairs)} kept"
    line = {"kind": "steps", "points": [*stairs, (count, last)]}
    axes = Titles(across="runs, in their order", up="ms of a run")
    title = "how long each run took"
    return dotted("search", title, words, OF_A_SEARCH, [line, *dots], axes)


def plot_waterfall(steps: Sequence[tuple[str, float]], *, title: str = "") -> Picture:
    """Draw what each of *steps* saved; a step is a name, and the seconds that a run took after it.

    >>> plot_waterfall([("naive", 0.42), ("+ prefetch(1)", 0.36), ("+ parallel map", 0.24)])
    waterfall: from 420 ms to 240 ms, 1.75 times as fast
    """
    times = [seconds for _, seconds in steps]
    if min(times, default=0) <= 0:
        raise ValueError("plot_waterfall: there is no step, or a step takes no time")
    first = times[0]
    last = times[-1]
    # All in one unit, to compare them
    in_words = partial(milliseconds, long=max(times) >= 10)
    words = f"from {in_words(first)} to {in_words(last)}"
    words += f", {number(first / last)} times as fast"

    rows: list[Data] = []
    before = first
    for name, now in steps:
        told = in_words(now)
        if now != before:
            told += f", {in_words(abs(now - before))} {change_of(before, now)}"
        short, long = sorted((before, now))
        bar = {"kind": "bar", "points": [(0, 1), (short, 1)], "say": f"{name}: {told}"}
        change = {"kind": "bar", "points": [(short, 1), (long, 1)], "text": told}
        marks = [bar, change | {"change": change_of(before, now)}]
        rows.append({"name": name, "height": OF_A_ROW, "top": 1, "marks": marks})
        before = now
    names = {(index + 0.5) * ROW: name for index, (name, _) in enumerate(steps)}
    panel = Panel(len(rows) * ROW, names, partial(draw_bars, rows), title, words)
    axes = Titles(across="time of the whole run")
    return chart("waterfall", panel, rows, axes, in_seconds=True)


def change_of(before: float, now: float) -> str:
    """Return whether something has become less or more; what stays is neither, but has no length."""
    return "less" if now <= before else "more"


def plot_settings(settings: Sequence[TimedSetting], least: float) -> Picture:
    """Draw how long an epoch takes with each of *settings*; no loader gets below *least* seconds.

    >>> as_it_is = TimedSetting("as it is", 1.44, within=0.05, measured=None, saves="0 %")
    >>> plot_settings([as_it_is], 0.62)
    settings: how long an epoch takes. as it is: 1,440 ms. Least: 620 ms
    """
    most = max(setting.slowest for setting in settings)
    # Above the first setting the line has its name
    names = {(index + 1) * ROW: setting.name for index, setting in enumerate(settings)}

    after = (1 + BESIDE) * most

    def draw(axes: Axes) -> None:
        axes.axvline(least, color=COLOURS["Train"], linestyle="--")
        write_text(axes, least, ROW / 4, f" no loader gets below {milliseconds(least)}")
        write_text(axes, after, ROW / 4, "saves")
        for y, setting in zip(names, settings, strict=True):
            top = y - RANGE_HIGH / 2
            may_be = (setting.fastest, setting.slowest, top, RANGE_HIGH)
            draw_boxes(axes, [may_be], facecolor=RANGE, linewidth=0)
            draw_dot(axes, setting.forecast, y, fill=PAPER)
            if setting.measured is not None:
                draw_dot(axes, setting.measured, y, fill=BLUE)
            write_text(axes, after, y, setting.saves)

    told = []
    for setting in settings:
        seconds = setting.forecast if setting.measured is None else setting.measured
        told.append(f"{setting.name}: {milliseconds(seconds)}")
    words = f"how long an epoch takes. {'; '.join(told)}. Least: {milliseconds(least)}"
    panel = Panel((len(settings) + 0.5) * ROW, names, draw)
    legend: list[Look] = [{"label": "forecast, with its range", "facecolor": RANGE}]
    if any(setting.measured is not None for setting in settings):
        legend.append({"label": "real run", "facecolor": BLUE})
    return Picture(f"settings: {words}", {}, [panel], (0, (1 + TOLD) * most), legend)


def dot(x: float, y: float, text: str, say: str, **look: bool) -> Data:
    """Return a dot of a scene, with *text* above it; the page says *say* of it."""
    return {"kind": "dot", "points": [(x, y)], "text": text, "say": say, **look}


class Titles(NamedTuple):
    """What the axes of a chart have; a vertical one there is only where rows have no names."""

    across: str
    up: str = ""


def dotted(
    kind: str, title: str, words: str, height: int, marks: list[Data], axes: Titles
) -> Picture:
    """Make a picture of this *kind* of *marks*, a line and its dots; *height* is in pixels."""
    top = max(y for mark in marks for _, y in mark["points"])
    row = {"height": height, "top": top, "marks": marks}
    floor = height / PER_INCH
    full = (floor - HEAD) / (top or 1)
    draw = partial(draw_dots, marks, floor, full)
    heights = {floor - full * at / 1e3: number(at) for at in heights_of(top * 1e3)}
    return chart(kind, Panel(floor, heights, draw, title, words), [row], axes)


def heights_of(most: float) -> list[float]:
    """Return three or four round numbers from 0 to *most*, for an axis."""
    least = most / 3 or 1
    power = 10.0 ** (log10(least) // 1)
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least)
    return [step * count for count in range(int(most / step + 1e-9) + 1)]


def chart(
    kind: str, panel: Panel, rows: list[Data], axes: Titles, in_seconds: bool = False
) -> Picture:
    """Make a picture of this *kind* of *rows*, on an axis as long as they are.

    A row has a height in pixels, what its *top* stands for, perhaps a name, and marks:
    each a bar, a dot, a line or steps through *points*, with a *text* beside it.
    """
    values = [x for row in rows for mark in row["marks"] for x, _ in mark["points"]]
    first = min(values)
    last = max(values)
    width = last - first or 1
    ends = first - BEFORE * width, last + AFTER * width
    if in_seconds:
        ends = first, last + TOLD * width
    scene = {
        "title": panel.title,
        "words": panel.words,
        **axes._asdict(),
        "from": first,
        "to": last,
        "seconds": in_seconds,
        "rows": rows,
    }
    drawn = panel._replace(draw=partial(draw_titled, panel, axes))
    return Picture(f"{kind}: {panel.words}", scene, [drawn], ends, in_seconds=in_seconds)


def draw_titled(panel: Panel, titles: Titles, axes: Axes) -> None:
    """Draw a *panel* with the *titles* of its axes: one below the numbers, one above them."""
    panel.draw(axes)
    low, high = axes.get_xlim()
    write_text(axes, high, panel.height + UNDER, titles.across, ha="right", color=QUIET)
    write_text(axes, low, OVER, f" {titles.up}", color=QUIET)


def draw_dot(axes: Axes, x: float, y: float, *, fill: str) -> None:
    """Draw one dot, with this *fill*."""
    axes.plot([x], [y], color=BLUE, markerfacecolor=fill, **LOOKS["dot"])


def draw_bars(rows: list[Data], axes: Axes) -> None:
    """Draw *rows* below each other, with a text after the bars of each."""
    for index, row in enumerate(rows):
        top = index * ROW
        for mark in row["marks"]:
            (start, _), (end, _) = mark["points"]
            look = CHANGES.get(mark.get("change", ""), {"facecolor": BLUE, "linewidth": 0})
            draw_boxes(axes, [(start, end, top + ROW / 8, 0.75 * ROW)], **look)
        x = end + AFTER_A_BAR * axes.get_xlim()[1]
        write_text(axes, x, top + ROW / 2, mark["text"], bbox=CARD)


def draw_dots(marks: list[Data], floor: float, full: float, axes: Axes) -> None:
    """Draw *marks* above the *floor*, of which one second is *full* inches away."""
    low, _ = axes.get_xlim()
    # A line with steps comes down to its dots from above
    has_steps = marks[0]["kind"] == "steps"
    free = low  # where the last text ends
    above = floor  # and its height
    for mark in marks:
        is_marked = mark.get("marked", False)
        xs = [x for x, _ in mark["points"]]
        ys = [floor - full * y for _, y in mark["points"]]
        fill = PAPER if mark.get("hollow") else BLUE
        axes.plot(xs, ys, color=BLUE, markerfacecolor=fill, **LOOKS[mark["kind"]])
        if is_marked:
            ring = {"color": INK, "fillstyle": "none", "markersize": RING}
            axes.plot(xs, ys, **LOOKS["dot"] | ring)
        text = mark.get("text")
        if not text:
            continue
        place = place_of_text(
            axes, text, xs[0], ys[0], has_steps and ys[0] + 2 * LINE < floor
        )
        if place.left < free and abs(place.y - above) < LINE:
            continue  # it would lie on the text before
        free = place.left + place.wide
        above = place.y
        middle = place.left + place.wide / 2
        weight = "bold" if is_marked else "normal"
        look: Look = {"ha": "center", "bbox": CARD, "weight": weight}
        write_text(axes, middle, place.y, text, **look)
    axes.axhline(floor, color=QUIET, linewidth=0.8)


class TextPlace(NamedTuple):
    """Where a text stands: from *left* on the horizontal axis, so *wide* there, at *y* inches."""

    left: float
    wide: float
    y: float


def place_of_text(axes: Axes, text: str, x: float, y: float, is_step: bool) -> TextPlace:
    """Return where the *text* of a dot stands: above it, or *is_step*, below it and to the right.

    Nothing of it is outside the axes.
    """
    low, high = axes.get_xlim()
    wide = LETTER * len(text) * (high - low) / WIDTH
    begin = x + BESIDE * (high - low) if is_step else x - wide / 2
    left = min(max(begin, low), high - wide)
    return TextPlace(left, wide, y + (LINE if is_step else -LINE))
