"""Pictures of runs: timelines, buffers and memory, curves, waterfalls. Nothing else uses matplotlib."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Patch, PathPatch
from matplotlib.path import Path
from matplotlib.ticker import MaxNLocator

from lessonkit.analysis.critical_path import critical_path
from lessonkit.analysis.memory import memory
from lessonkit.analysis.what_if import Curve
from lessonkit.layout import COLOURS, IDLE, Bar, colours_of, ink_on, layout
from lessonkit.optimize.search import Step
from lessonkit.trace import WAITS, Trace
from lessonkit.words import milliseconds, number
from lessonkit.words import size as memory_size

LONGEST_NAME = 24
WIDTH, RIGHT, DPI = 10.0, 0.35, 144  # inches, of them free at the right, and dots to an inch
TRACK, STEP = 0.44, 0.36  # inches, for a buffer, and for a step of a waterfall
HATCHES = dict(zip((IDLE, *WAITS), ("////", "////", "\\\\\\\\", "....", "xxxx"), strict=True))
LACKING = ("input", "input", "room", "a core", "the interpreter lock")  # in the same order
HELD = ("", "////", "....", "\\\\\\\\", "xxxx")  # of buffers, one after another
DASHED: dict[str, Any] = {"linewidth": 0.8, "linestyle": (0, (4, 3))}
DEFAULTS = {"dark": False, "large": False}  # of every picture; a classroom makes them large


@dataclass(frozen=True)
class Look:
    """Colours, and how large things are.

    A notebook stores one picture and shows it on light and on dark pages. On a transparent ground
    dark text vanishes on one of them, and greys that can be read on both are weak on each. So a
    picture is an opaque card, and a thin edge closes it on a page that is as light as it is.
    """

    paper: str = "#ffffff"
    edge: str = "#d0d7de"
    ink: str = "#1b1f24"
    quiet: str = "#57606a"  # text that comes second
    grid: str = "#e6eaee"
    wait: str = "#f3f5f7"
    hatch: str = "#a4acb6"
    size: float = 1.0


LIGHT = Look()
DARK = Look("#0f1419", "#30363d", "#f0f3f6", "#a8b1bb", "#262c34", "#1a2028", "#69737f")


def look_of(dark: bool, large: bool) -> Look:
    """For a dark page, for a projector."""
    return replace(DARK if dark else LIGHT, size=1.45 if large else 1.0)


class Picture(Figure):
    """A figure that pyplot does not know: a notebook shows it once, and nobody has to close it."""

    words = ""

    def __repr__(self) -> str:
        return self.words

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """For a notebook: drawn finer than it is shown, so that it is sharp on every screen."""
        width, height = (round(100 * inches) for inches in self.get_size_inches())
        size = {"width": width, "height": height}
        return {"image/png": png(self), "text/plain": self.words}, {"image/png": size}


def png(figure: Figure) -> bytes:
    """A picture as the bytes of a file: the same for the same trace, for it holds no date or version."""
    stream = io.BytesIO()
    with style(), warnings.catch_warnings():
        # A name in letters that the font lacks is drawn as boxes, and nobody can do anything about it.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        quick = {"compress_level": 4}  # packed less than usual: a little larger, and sooner there
        figure.savefig(stream, format="png", dpi=DPI, metadata={"Software": None}, pil_kwargs=quick)
    return stream.getvalue()


@contextmanager
def style() -> Iterator[None]:
    """Draw as matplotlib does by itself, whatever a learner's own settings are."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams["hatch.linewidth"] = 0.8
        yield


def cut(name: str) -> str:
    """A learner's name for a stage, cut off where it would leave no room for the bars."""
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


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
    """An axis for *longest* seconds, with numbers; how many of its units a nanosecond is."""
    unit, scale = ("s", 1) if longest >= 10 else ("ms", 1e3)
    axes.set_xlim(0, longest * scale or 1)
    axes.xaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}" if value else f"0 {unit}")
    return scale / 1e9


# ---- timelines ----


def plot_timeline(trace: Trace, *, title: str = "", **options: bool) -> Picture:
    """What happened when; *options* are those of `plot_timelines`.

    >>> from lessonkit import ArtificialDataset, benchmark
    >>> plot_timeline(benchmark(ArtificialDataset(6).prefetch(1), num_epochs=1), path=True)
    timeline: 6 samples in 130 ms, 21.7 ms a sample. Read decides 69 % of your time.
    """
    return plot_timelines({title: trace}, **options)


def plot_timelines(
    traces: Mapping[str, Trace], *, path: bool = False, buffers: bool = False, **look: bool
) -> Picture:
    """Runs below each other, against the same time.

    With *path*, what decided the time is outlined; with *buffers*, what was held is shown below.
    *look* is dark=True for a dark page, and large=True for a projector.
    """
    if not traces:
        raise ValueError("plot_timelines: there is no run to draw")
    page, keys = look_of(**DEFAULTS | look), {}
    longest = max(trace.duration for trace in traces.values())
    first, *_ = traces
    panels, told = [], []
    for title, trace in traces.items():
        drawn, words = Timeline(trace, longest, path, page), summary(trace)
        if title != first and trace.duration and trace.samples and traces[first].samples:
            faster = traces[first].per_sample / trace.per_sample
            words += f", {number(faster)} times as fast as {first}"
        if path and drawn.bars:
            words += f". {critical_path(trace).sentence}"
        told.append(f"{title}: {words}" if title else words)
        panels.append(drawn.panel(title, words))
        panels += held_panels(trace, longest, page) if buffers else []
        kinds = {bar.kind for bar in drawn.bars}
        for (kind, hatch), lacking in zip(HATCHES.items(), LACKING, strict=True):
            if kind in kinds:
                keys[f"waits for {lacking}"] = Patch(hatch=hatch, **pale(page))
    if path and longest:
        keys["what decided the time"] = Patch(facecolor="none", edgecolor=page.ink, linewidth=1.8)
    return compose(panels, page, f"timeline: {'; '.join(told)}", keys)


def summary(trace: Trace) -> str:
    """A run in words."""
    words = f"{trace.samples} sample{'s' * (trace.samples != 1)} in {milliseconds(trace.duration)}"
    words += f", {milliseconds(trace.per_sample)} a sample" if trace.samples else ""
    words += ", cancelled" if trace.cancelled else ""
    return words if trace.duration else f"{words}: nothing took any time"


class Timeline:
    """The lanes of one run; one artist draws all bars that look alike, since each artist costs time."""

    def __init__(self, trace: Trace, longest: float, path: bool, look: Look) -> None:
        self.found, self.longest, self.path, self.look = layout(trace), longest, path, look
        end = self.found.duration  # what threads did after a run that was broken off is not shown
        self.bars = [bar._replace(end=min(bar.end, end)) for bar in self.found.bars if bar.start < end]
        self.lane = min(0.28, max(0.1, 9 / max(self.found.lanes, 1))) * look.size
        self.several = len(self.found.epochs) > 1
        self.tops, self.height = [], (0.24 if self.several else 0.04) * look.size
        for row in self.found.rows:
            self.tops.append(self.height)
            self.height += row.lanes * self.lane + 0.09 * look.size
        self.names = [cut(row.stage) + (f" ×{row.lanes}" if row.lanes > 1 else "") for row in self.found.rows]

    def panel(self, title: str, words: str) -> Panel:
        """Where it stands in a picture."""
        return Panel(max(self.height, 0.4), title, words, self.names, self.draw)

    def draw(self, axes: Axes) -> None:
        self.scale = time_axis(axes, self.longest)
        self.points = axes.get_position().width * WIDTH * 72 / (self.longest * 1e9 or 1)  # to a nanosecond
        look, work = self.look, [bar for bar in self.bars if bar.kind == "work"]
        colours = [self.found.rows[bar.row].colour for bar in work]
        self.boxes(axes, work, 0.9, 0.15, facecolors=colours, edgecolors=look.paper)
        for kind, hatch in HATCHES.items():
            if waits := [bar for bar in self.bars if bar.kind == kind]:
                corners = self.corners(waits, self.lane * 0.22)
                shape = Path.make_compound_path_from_polys(corners)  # hatched as one: much faster
                axes.add_artist(PathPatch(shape, hatch=hatch, **pale(look)))
        if self.path:
            steps = {step.span for step in self.found.path}
            decided = [bar for bar in work if bar.span in steps]
            how: dict[str, Any] = {"facecolors": "none", "edgecolors": look.ink, "clip_on": False}
            self.boxes(axes, decided, 1.6 * look.size, 0.3, zorder=3, **how)
        for row, text, top in zip(self.found.rows, self.names, self.tops, strict=True):
            name(axes, top + row.lanes * self.lane / 2, text, look)
        self.draw_labels(axes)
        self.draw_epochs(axes)

    def corners(self, bars: list[Bar], inset: float) -> Any:
        """The four corners of each bar; *inset* keeps it from its neighbours."""
        tops = np.array([self.tops[bar.row] + bar.lane * self.lane for bar in bars])
        left = np.array([bar.start for bar in bars]) * self.scale
        right = np.array([bar.end for bar in bars]) * self.scale
        top, low = tops + inset, tops + self.lane - inset
        return np.stack([left, top, right, top, right, low, left, low], axis=1).reshape(-1, 4, 2)

    def boxes(self, axes: Axes, bars: list[Bar], line: float, share: float, **how: Any) -> None:
        """Bars with lines around them, thinner around narrow bars, of which they would leave nothing."""
        corners = self.corners(bars, 0.015 * self.look.size)
        lines = [min(line, share * (bar.end - bar.start) * self.points) for bar in bars]
        drawn = PolyCollection(corners, **how)
        drawn.set_linewidth(lines)  # not at once, when it would be worked out twice for each bar
        axes.add_collection(drawn, autolim=False)

    def draw_labels(self, axes: Axes) -> None:
        """Whose bar it is, and whom the accelerator waits for; where it fits."""
        look, size = self.look, min(9.0, self.lane * 45 / self.look.size)
        inks = [ink_on(row.colour) for row in self.found.rows]
        for bar in self.bars if size > 6 else ():
            how: dict[str, Any] = {"color": inks[bar.row], "size": size}
            text = bar.label
            if bar.kind == IDLE and bar.note:
                text = f"waits for {bar.note.split(', ')[0]}"
                how = {"color": look.quiet, "size": size * 0.85}
                how["bbox"] = {"facecolor": look.wait, "edgecolor": "none", "pad": 1.2}
            if text and len(text) * how["size"] * 0.64 + 3 < (bar.end - bar.start) * self.points / look.size:
                x, y = (
                    (bar.start + bar.end) / 2 * self.scale,
                    self.tops[bar.row] + (bar.lane + 0.5) * self.lane,
                )
                say(axes, x, y, text, look, ha="center", va="center_baseline", **how)

    def draw_epochs(self, axes: Axes) -> None:
        """Where each begins, if there are several."""
        starts = self.found.epochs if self.several else ()
        for count, (start, end) in enumerate(pairwise([*starts, self.found.duration]), 1):
            if count > 1:
                axes.axvline(start * self.scale, color=self.look.quiet, zorder=1, **DASHED)
            room = (end - start) * self.points / self.look.size
            text = f" epoch {count}" if room >= 48 else f" {count}" if room >= 6 + 6 * len(str(count)) else ""
            say(axes, start * self.scale, 0.09 * self.look.size, text, self.look, 8, color=self.look.quiet)


def pale(look: Look) -> dict[str, Any]:
    """How waiting is drawn, behind its hatch."""
    return {"facecolor": look.wait, "edgecolor": look.hatch, "linewidth": 0.6}


# ---- buffers and memory ----


def plot_memory(trace: Trace, *, title: str = "bytes held", **look: bool) -> Picture:
    """What buffers and caches held: elements in each, and the bytes of all.

    >>> from lessonkit import ArtificialDataset, benchmark
    >>> plot_memory(benchmark(ArtificialDataset(3, nbytes=1000).cache().prefetch(2), num_epochs=1))
    memory: 4 kB at most, at 75 ms, most of it in cache
    """
    page = look_of(**DEFAULTS | look)
    panels = held_panels(trace, trace.duration, page)
    panels[-1] = panels[-1]._replace(title=title)
    return compose(panels, page, f"memory: {panels[-1].words}")


def held_panels(trace: Trace, longest: float, look: Look) -> list[Panel]:
    """A track for each buffer, and one for the bytes of all of them, on top of each other."""
    kept, end = memory(trace), round(trace.duration * 1e9)
    rooms = {buffer.name: buffer.capacity for buffer in trace.buffers}
    colours, peak = colours_of(list(rooms)), kept.bytes.peak
    paints: dict[str, dict[str, Any]] = {
        name: {"facecolor": colours[name], "edgecolor": look.paper, "hatch": HELD[row % len(HELD)]}
        for row, name in enumerate(rooms)
    }

    def draw_fills(axes: Axes) -> None:
        scale = time_axis(axes, longest)
        for row, (text, room) in enumerate(rooms.items()):
            steps = [(0, 0), *kept.elements.steps[text]]
            steps.append((end, steps[-1][1]))
            most = max(count for _, count in steps)
            floor, full = TRACK * look.size * (row + 0.9), 0.7 * TRACK * look.size / max(room or 0, most, 1)
            times, tops = [time * scale for time, _ in steps], [floor - count * full for _, count in steps]
            axes.fill_between(times, tops, floor, step="post", linewidth=0, **paints[text])
            axes.step(times, tops, where="post", color=look.quiet, linewidth=0.7)  # also what is over at once
            if room:
                axes.plot([0, end * scale], [floor - room * full] * 2, color=look.quiet, **DASHED)
            name(axes, floor - 0.55 * TRACK * look.size, text, look)
            of = f"at most {most} of {room}" if room else f"at most {most}"
            name(axes, floor - 0.14 * TRACK * look.size, of, look, size=7.5, color=look.quiet)

    def draw_bytes(axes: Axes) -> None:
        scale, floor = time_axis(axes, longest), axes.get_ylim()[0]
        levels = {text: {0: 0} | dict(steps) for text, steps in kept.bytes.steps.items() if peak}
        times = sorted({time for steps in levels.values() for time in steps if time <= end} | {0, end})
        xs, low, full = [time * scale for time in times], [floor] * len(times), 0.85 * floor / (peak or 1)
        for text, steps in levels.items():
            now, high = 0, []
            for time, below in zip(times, low, strict=True):
                now = steps.get(time, now)
                high.append(below - now * full)
            axes.fill_between(xs, high, low, step="post", linewidth=0, **paints[text])
            low = high
        if peak:
            top, at = floor - peak * full, kept.bytes.at * scale
            axes.plot([0, end * scale], [top] * 2, color=look.quiet, **DASHED)
            axes.plot([at, at], [floor, top], color=look.ink, linewidth=0.8)  # it may last for no time at all
            axes.plot([at], [top], "v", color=look.ink, markersize=5 * look.size)
            name(axes, top, memory_size(peak), look, size=8.5, color=look.quiet)
            name(axes, floor, "0", look, size=8.5, color=look.quiet)

    words = "nobody said how many bytes an element has" if rooms else "there is no buffer and no cache"
    if peak:
        at = milliseconds(kept.bytes.at / 1e9)
        words = f"{memory_size(peak)} at most, at {at}, most of it in {kept.bytes.fullest}"
    found = [Panel((1.2 if peak else 0.2) * look.size, "bytes held", words, (), draw_bytes)]
    if rooms:
        height, dashed = TRACK * look.size * len(rooms), "dashed: as many as there is room for"
        found.insert(0, Panel(height, "elements held", dashed, list(rooms), draw_fills))
    return found


# ---- what helps ----


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
        scale = time_axis(axes, longest) * 1e9
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
