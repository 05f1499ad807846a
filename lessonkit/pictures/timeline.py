"""Runs as timelines: one below the other, against the same time."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.patches import Patch, PathPatch
from matplotlib.path import Path

from lessonkit.engine.trace import WAITS, Trace
from lessonkit.explain.critical_path import critical_path
from lessonkit.pictures.layout import IDLE, Bar, ink_on, layout
from lessonkit.pictures.memory import held_panels
from lessonkit.pictures.panels import WIDTH, Panel, compose, name, say, time_axis
from lessonkit.pictures.style import DASHED, DEFAULTS, Look, Picture, look_of, pale
from lessonkit.words import milliseconds, number

LONGEST_NAME = 24
HATCHES = dict(zip((IDLE, *WAITS), ("////", "////", "\\\\\\\\", "....", "xxxx"), strict=True))
LACKING = ("input", "input", "room", "a core", "the interpreter lock")  # in the same order


def cut(name: str) -> str:
    """A learner's name for a stage, cut off where it would leave no room for the bars."""
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


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
        self.scale = time_axis(axes, self.longest) / 1e9  # to a nanosecond
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
