"""Draws charts: what a search tried, the time against a knob, what each change saved.

A chart is a scene of plain data: lanes of bars, or of a line and its dots, on one axis.
`widgets/page/chart.js` draws it on a page; here it is drawn for a notebook.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from lessonkit.improve.autotune import SearchStep
from lessonkit.improve.knobs import Curve
from lessonkit.pictures.drawing import (
    CARD,
    INK,
    PALE,
    PAPER,
    QUIET,
    WIDTH,
    Boxes,
    Look,
    Mark,
    Panel,
    Picture,
    Stroke,
    Text,
)
from lessonkit.pictures.layout import COLOURS
from lessonkit.words import milliseconds, number

PER_INCH = 82  # of a scene's heights
# Inches: above the highest mark; a line of text; a letter of it
HEAD, LINE, LETTER = 0.3, 0.17, 0.062
BLUE = COLOURS["Read"]
LOOKS: dict[str, Look] = {
    "line": {"linewidth": 2},
    "steps": {"linewidth": 1.5, "drawstyle": "steps-post"},
    "dot": {"marker": "o", "linestyle": "none", "markersize": 6, "clip_on": False},
}
FILLED = {"facecolor": BLUE, "linewidth": 0}


def plot_curve(curve: Curve) -> Picture:
    """Draw the time per sample against the values of a knob, and say which value is enough.

    >>> from lessonkit import ArtificialDataset
    >>> from lessonkit.analysis import curve, knobs
    >>> dataset = ArtificialDataset().map(cost=0.030, num_parallel_calls=1)
    >>> plot_curve(curve(dataset, knobs(dataset)[0], values=[1, 2, 3, 4]))
    curve: num_parallel_calls=3 is enough: 38.3 ms a sample, within 2 % of the best
    """
    if not curve.points or not all(curve.samples):
        raise ValueError(
            "plot_curve: no values, or a run in which no element reached the training loop"
        )
    values = [value for value, _ in curve.points]
    times = [
        total / count for (_, total), count in zip(curve.points, curve.samples, strict=True)
    ]
    name, knee = curve.knob.name, values.index(curve.knee)
    setting, time = f"{name}={curve.knee}", f"{milliseconds(times[knee])} a sample"
    words = f"{setting} is enough: {time}, within 2 % of the best"
    if knee == 0:
        words = f"more does not help: {time} with {setting}"
    elif knee == len(values) - 1:
        words = f"more may help still: {time} with {setting}, the last that was tried"

    points = [*zip(values, times, strict=True)]
    dots = [
        dot(value, time, told := milliseconds(time), f"{name}={value}: {told} a sample")
        | {"marked": value == curve.knee}
        for value, time in points
    ]
    line = {"kind": "line", "points": points}
    lane = {"height": 180, "top": max(times), "marks": [line, *dots]}
    title = f"{name} of {curve.knob.node.method}"
    return chart("curve", title, words, (values[0], values[-1]), [lane])


def plot_search(steps: Sequence[SearchStep]) -> Picture:
    """Draw the runs of a search one after another; a dot is filled where its change was kept.

    >>> from lessonkit import AUTOTUNE, ArtificialDataset
    >>> from lessonkit.optimize import autotune
    >>> plot_search(autotune(ArtificialDataset(20).prefetch(AUTOTUNE), most_places=4).steps)
    search: 4 runs from left to right, 680 ms to 680 ms, 1 taken
    """
    if not steps:
        raise ValueError("plot_search: nothing was tried")
    count = len(steps)
    # The first run is always taken.
    taken = [place for place, step in enumerate(steps, 1) if step.accepted]
    first, last = (milliseconds(steps[place - 1].tried.seconds) for place in (1, taken[-1]))
    words = f"{count} run{'s' * (count != 1)} from left to right, {first} to {last}"
    words += f", {len(taken)} taken"

    dots = []
    for place, step in enumerate(steps, 1):
        told = f"{step.change}: {milliseconds(step.tried.seconds)}"
        text, verdict = (told, "taken") if step.accepted else ("", "not taken")
        dots.append(dot(place, step.tried.seconds, text, f"{told}, {verdict}"))
        dots[-1]["hollow"] = not step.accepted
    stairs = [(place, steps[place - 1].tried.seconds) for place in taken]
    line = {"kind": "steps", "points": [*stairs, (count, stairs[-1][1])]}
    longest = max(step.tried.seconds for step in steps) or 1
    lane = {"height": 170, "top": longest, "marks": [line, *dots]}
    return chart("search", "how long each run took", words, (1, count), [lane])


def plot_waterfall(steps: Sequence[tuple[str, float]], *, title: str = "") -> Picture:
    """Draw what each of *steps* saved; a step is a name, and the seconds that a run took after it.

    >>> plot_waterfall([("naive", 0.42), ("+ prefetch(1)", 0.36), ("+ parallel map", 0.24)])
    waterfall: from 420 ms to 240 ms, 1.8 times as fast
    """
    names, times = [text for text, _ in steps], [seconds for _, seconds in steps]
    if not times or min(times) <= 0:
        raise ValueError("plot_waterfall: no step, or one that takes no time")
    first, last = times[0], times[-1]
    words = f"from {milliseconds(first)} to {milliseconds(last)}"
    words += f", {number(first / last)} times as fast"

    lanes = []
    for name, before, now in zip(names, [first, *times], times, strict=False):
        less = f", {milliseconds(abs(now - before))} {'less' if now < before else 'more'}"
        told = milliseconds(now) + (less if now != before else "")
        short, long = sorted((before, now))
        bar = {"kind": "bar", "points": [(0, 1), (short, 1)], "say": f"{name}: {told}"}
        points = [(short, 1), (long, 1)]
        change = {"kind": "bar", "points": points, "hatched": True, "text": told}
        lanes.append({"name": name, "height": 30, "top": 1, "marks": [bar, change]})
    return chart("waterfall", title, words, (0, max(times)), lanes, seconds=True)


def dot(x: float, y: float, text: str, say: str) -> dict[str, Any]:
    """Return a dot of a scene, with *text* above it; the page says *say* of it."""
    return {"kind": "dot", "points": [(x, y)], "text": text, "say": say}


def chart(
    kind: str,
    title: str,
    words: str,
    ends: tuple[float, float],
    lanes: list[dict[str, Any]],
    **more: bool,
) -> Picture:
    """Make a picture of this *kind*, on an axis with two *ends*, in seconds if *seconds* is given.

    A lane has a height in pixels, what its *top* stands for, perhaps a name, and marks:
    each a bar, a dot, a line or steps through *points*, with a *text* beside it.
    """
    (first, last), top, marks = ends, 0.0, list[Mark]()
    width = last - first or 1
    low, high = first - 0.05 * width, last + width / WIDTH
    if more:  # with room for texts after the bars
        low, high = first, last * (1 + 2.5 / WIDTH)
    names: dict[float, str] = {}
    for lane in lanes:
        marks += marks_of(lane, top, low, high)
        height = lane["height"] / PER_INCH
        top += height
        names |= {top - height / 2: lane["name"]} if "name" in lane else {top: "0 ms"}
    scene = {
        "title": title,
        "words": words,
        "from": first,
        "to": last,
        **more,
        "lanes": lanes,
    }
    panel = Panel(top, title, words, names, (low, high), bool(more), lambda _: marks)
    return Picture(f"{kind}: {words}", scene, [panel])


def marks_of(lane: dict[str, Any], top: float, low: float, high: float) -> Iterator[Mark]:
    """Draw a *lane* from *top* down, on an axis from *low* to *high*."""
    height = lane["height"] / PER_INCH
    floor, full = top + height, (height - HEAD) / (lane["top"] or 1)
    texts: list[tuple[float, float, float]] = []  # from, to, and its height
    for mark in lane["marks"]:
        text = mark.get("text")
        if mark["kind"] == "bar":
            (start, _), (end, _) = mark["points"]
            look = {"hatch": "////", **PALE} if mark.get("hatched") else FILLED
            yield Boxes([(start, end, top + height / 8)], 0.75 * height, look)
            if text:
                yield Text(end + 0.008 * high, top + height / 2, text, {"bbox": CARD})
            continue
        points = [(x, floor - full * y) for x, y in mark["points"]]
        fill = PAPER if mark.get("hollow") else BLUE
        look = {"color": BLUE, "markerfacecolor": fill}
        yield Stroke(points, LOOKS[mark["kind"]] | look)
        if mark.get("marked"):
            ring = {"color": INK, "fillstyle": "none", "markersize": 13}
            yield Stroke(points, LOOKS["dot"] | ring)
        if text:
            x, y = points[0]
            wide = LETTER * len(text) * (high - low) / WIDTH
            left = min(max(x - wide / 2, low), high - wide)
            y = free_height(y - LINE, left, left + wide, texts)
            if y >= top:
                texts.append((left, left + wide, y))
                look = {"ha": "center", "bbox": CARD}
                look["weight"] = "bold" if mark.get("marked") else "normal"
                yield Text(left + wide / 2, y, text, look)
    if "name" not in lane:
        yield Stroke([(low, floor), (high, floor)], {"color": QUIET, "linewidth": 0.8})


def free_height(
    y: float, left: float, right: float, texts: list[tuple[float, float, float]]
) -> float:
    """Return *y*, or a height above it where none of *texts* is between *left* and *right*."""
    while any(a < right and left < b and abs(y - there) < LINE for a, b, there in texts):
        y -= LINE
    return y
