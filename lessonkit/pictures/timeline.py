"""Runs as timelines: one below the other, against the same time."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from lessonkit.engine.recorder import START
from lessonkit.engine.trace import WAITS, Trace
from lessonkit.explain.critical_path import critical_path
from lessonkit.pictures.layout import IDLE, Bar, ink_on, layout
from lessonkit.pictures.panels import Panel, compose, name, say, time_axis
from lessonkit.pictures.style import CARD, DASHED, INK, PALE, PAPER, QUIET, WAIT, WIDTH, Picture
from lessonkit.words import milliseconds, number, samples

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONGEST_NAME = 24
NARROW = 1  # points: hardly more than a pixel
HATCHES = dict(
    zip(
        (IDLE, *WAITS, START),
        ("////", "////", "\\\\\\\\", "....", "xxxx", "--", "++", "**", "oo"),
        strict=True,
    )
)
LACKING = {
    "////": "waits for input",
    "\\\\\\\\": "waits for room",
    "....": "waits for a core",
    "xxxx": "waits for the interpreter lock",
    "--": "waits for its worker",
    "**": "shares the storage",
    "++": "waits for its turn",
    "oo": "starts",
}
OUTLINE: dict[str, Any] = {"facecolors": "none", "edgecolors": INK, "clip_on": False, "zorder": 3}


def plot_timeline(trace: Trace, *, title: str = "", path: bool = False) -> Picture:
    """Draw what happened when in *trace*; with *path*, what decided the time is outlined.

    >>> from lessonkit import ArtificialDataset, benchmark
    >>> plot_timeline(benchmark(ArtificialDataset(6).prefetch(1), num_epochs=1), path=True)
    timeline: 6 samples in 130 ms, 21.7 ms a sample. Read decides 69 % of your time.
    """
    return plot_timelines({title: trace}, path=path)


def plot_timelines(traces: Mapping[str, Trace], *, path: bool = False) -> Picture:
    """Draw *traces* below each other, each under its title, against the same time.

    With *path*, what decided the time is outlined.
    """
    if not traces:
        raise ValueError("plot_timelines: there is no run to draw")
    longest = max(trace.duration for trace in traces.values())
    drawn = [Timeline(trace, longest, path) for trace in traces.values()]
    panels = [
        Panel(max(one.height, 0.4), title, run_in_words(title, traces, path), one.names, one.draw)
        for one, title in zip(drawn, traces, strict=True)
    ]
    waits = dict.fromkeys(HATCHES[kind] for one in drawn for kind in HATCHES if kind in one.kinds)
    keys = [{"label": LACKING[hatch], "hatch": hatch, **PALE} for hatch in waits]
    if path and longest:
        keys.append(
            {"label": "what decided the time", "facecolor": "none", "edgecolor": INK, "linewidth": 1.8}
        )
    told = [f"{panel.title}: {panel.words}" if panel.title else panel.words for panel in panels]
    scene = {"runs": dict(traces), "path": path, "words": [panel.words for panel in panels]}
    return Picture(f"timeline: {'; '.join(told)}", scene, lambda: compose(panels, keys))


def run_in_words(title: str, traces: Mapping[str, Trace], path: bool) -> str:
    """Put the run called *title* in words, after the first of *traces* with how it compares to that."""
    trace, first = traces[title], next(iter(traces))
    words = f"{samples(trace.samples)} in {milliseconds(trace.duration)}"
    words += f", {milliseconds(trace.per_sample)} a sample" if trace.samples else ""
    words += ", cancelled" if trace.cancelled else ""
    if not trace.duration:
        return f"{words}: nothing took any time"
    if title != first and trace.samples and traces[first].samples:
        words += f", {number(traces[first].per_sample / trace.per_sample)} times as fast as {first}"
    return f"{words}. {critical_path(trace).sentence}" if path else words


class Timeline:
    """The lanes of one run; one artist draws all bars that look alike, since each artist costs time."""

    def __init__(self, trace: Trace, longest: float, path: bool) -> None:
        self.found, self.longest, self.path = layout(trace), longest, path
        end = self.found.duration  # what threads did after a run that was broken off is not shown
        self.bars = [bar._replace(end=min(bar.end, end)) for bar in self.found.bars if bar.start < end]
        self.kinds = {bar.kind for bar in self.bars}
        self.lane = min(0.28, max(0.1, 9 / max(self.found.lanes, 1)))  # inches
        self.several = len(self.found.epochs) > 1
        self.tops, self.height = [], 0.24 if self.several else 0.04
        for row in self.found.rows:
            self.tops.append(self.height)
            self.height += row.lanes * self.lane + 0.09
        self.names = [cut(row.stage) + (f" ×{row.lanes}" if row.lanes > 1 else "") for row in self.found.rows]

    def draw(self, axes: Axes) -> None:
        """Draw bars, names, labels and epochs."""
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        self.scale = time_axis(axes, self.longest) / 1e9  # to a nanosecond
        self.points = axes.get_position().width * WIDTH * 72 / (self.longest * 1e9 or 1)  # to a nanosecond
        work = [bar for bar in self.bars if bar.kind == "work"]
        colours = [self.found.rows[bar.row].colour for bar in work]
        self.boxes(axes, work, 0.9, 0.15, facecolors=colours, edgecolors=PAPER)
        for kind, hatch in HATCHES.items():
            if waits := [bar for bar in self.bars if bar.kind == kind]:
                corners = self.corners(waits, self.lane * 0.22)
                shape = Path.make_compound_path_from_polys(corners)  # hatched as one: much faster
                axes.add_artist(PathPatch(shape, hatch=hatch, **PALE))
        if self.path:
            steps = {step.span for step in self.found.path}
            self.boxes(axes, [bar for bar in work if bar.span in steps], 1.6, 0.3, **OUTLINE)
        for row, text, top in zip(self.found.rows, self.names, self.tops, strict=True):
            name(axes, top + row.lanes * self.lane / 2, text)
        self.draw_labels(axes)
        if self.several:
            self.draw_epochs(axes)

    def corners(self, bars: list[Bar], inset: float) -> Any:
        """Return the four corners of each bar; *inset* keeps it from its neighbours."""
        import numpy as np

        tops = np.array([self.tops[bar.row] + bar.lane * self.lane for bar in bars])
        left = np.array([bar.start for bar in bars]) * self.scale
        right = np.array([bar.end for bar in bars]) * self.scale
        top, low = tops + inset, tops + self.lane - inset
        return np.stack([left, top, right, top, right, low, left, low], axis=1).reshape(-1, 4, 2)

    def boxes(self, axes: Axes, bars: list[Bar], line: float, share: float, **how: Any) -> None:
        """Draw bars with lines around them, thinner around narrow bars, of which they would leave nothing."""
        from matplotlib.collections import PolyCollection

        drawn = PolyCollection(self.corners(bars, 0.015), **how)
        if any(bar.end - bar.start < NARROW / self.points for bar in bars):
            drawn.set_snap(False)  # to whole pixels: some of them would get none, and others a whole one
        lines = [min(line, share * (bar.end - bar.start) * self.points) for bar in bars]
        drawn.set_linewidth(lines)  # not at once, when it would be worked out twice for each bar
        axes.add_collection(drawn, autolim=False)

    def draw_labels(self, axes: Axes) -> None:
        """Say whose bar it is, and whom the accelerator waits for; where it fits."""
        size = min(9.0, self.lane * 45)
        inks = [ink_on(row.colour) for row in self.found.rows]
        for bar in self.bars if size > 6 else ():
            text = bar.label
            how: dict[str, Any] = {"color": inks[bar.row], "size": size}
            if bar.kind == IDLE and bar.note:
                text = f"waits for {bar.note.split(', ')[0]}"
                box = CARD | {"facecolor": WAIT, "pad": 1.2}
                how = {"color": QUIET, "size": size * 0.85, "bbox": box}
            if text and len(text) * how["size"] * 0.64 + 3 < (bar.end - bar.start) * self.points:
                middle = (bar.start + bar.end) / 2 * self.scale
                y = self.tops[bar.row] + (bar.lane + 0.5) * self.lane
                say(axes, middle, y, text, ha="center", va="center_baseline", **how)

    def draw_epochs(self, axes: Axes) -> None:
        """Say where each epoch begins, in full where there is room."""
        for count, (start, end) in enumerate(pairwise([*self.found.epochs, self.found.duration]), 1):
            if count > 1:
                axes.axvline(start * self.scale, color=QUIET, zorder=1, **DASHED)
            room = (end - start) * self.points
            short = f" {count}" if room >= 6 + 6 * len(str(count)) else ""
            text = f" epoch {count}" if room >= 48 else short
            say(axes, start * self.scale, 0.09, text, 8, color=QUIET)


def cut(stage: str) -> str:
    """Cut a learner's name for a stage off where it would leave no room for the bars."""
    return stage if len(stage) <= LONGEST_NAME else f"{stage[: LONGEST_NAME - 1]}…"
