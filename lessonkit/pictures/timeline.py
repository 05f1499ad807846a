"""Runs as timelines: one below the other, against the same time."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from lessonkit.engine.recorder import START
from lessonkit.engine.trace import EMPTY, NO_CORE, Trace
from lessonkit.explain.critical_path import critical_path
from lessonkit.pictures.layout import IDLE, Bar, ink_on, layout
from lessonkit.pictures.panels import Panel, boxes, compose, say, time_axis
from lessonkit.pictures.style import CARD, INK, PALE, PAPER, QUIET, WAIT, WIDTH, Picture
from lessonkit.words import milliseconds, number, samples

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONGEST_NAME = 24
HATCHES = {  # of what is no work, and what it says
    IDLE: ("////", "waits for input"),
    EMPTY: ("////", "waits for input"),
    "buffer full": ("\\\\\\\\", "waits for room"),
    NO_CORE: ("....", "waits for a core"),
    "interpreter lock held": ("xxxx", "waits for the interpreter lock"),
    "in the queue": ("--", "waits for its worker"),
    "out of turn": ("++", "waits for its turn"),
    "storage busy": ("**", "shares the storage"),
    START: ("oo", "starts"),
}
OUTLINE: dict[str, Any] = {
    "facecolor": "none",
    "edgecolor": INK,
    "clip_on": False,
    "zorder": 3,
}


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
        Panel(
            max(one.height, 0.4),
            title,
            run_in_words(title, traces, path),
            one.names,
            one.draw,
        )
        for one, title in zip(drawn, traces, strict=True)
    ]
    waits = dict.fromkeys(
        HATCHES[kind] for one in drawn for kind in HATCHES if kind in one.kinds
    )
    keys = [{"label": label, "hatch": hatch, **PALE} for hatch, label in waits]
    if path and longest:
        keys.append({"label": "what decided the time", "linewidth": 1.8, **OUTLINE})
    told = [
        f"{panel.title}: {panel.words}" if panel.title else panel.words for panel in panels
    ]
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
        # What threads did after a run that was broken off is not shown
        end = self.found.duration
        self.bars = [
            bar._replace(end=min(bar.end, end))
            for bar in self.found.bars
            if bar.start < end
        ]
        self.kinds = {bar.kind for bar in self.bars}
        self.lane = min(0.28, max(0.1, 9 / max(self.found.lanes, 1)))  # inches
        self.several = len(self.found.epochs) > 1
        self.names: dict[float, str] = {}
        self.tops, self.height = [], 0.24 if self.several else 0.04
        for row in self.found.rows:
            self.tops.append(self.height)
            text = cut(row.stage) + (f" ×{row.lanes}" if row.lanes > 1 else "")
            self.names[self.height + row.lanes * self.lane / 2] = text
            self.height += row.lanes * self.lane + 0.09

    def draw(self, axes: Axes) -> None:
        """Draw bars, labels and epochs."""
        import numpy as np
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        self.scale = time_axis(axes, self.longest) / 1e9  # to a nanosecond
        # To a nanosecond
        self.points = axes.get_position().width * WIDTH * 72 / (self.longest * 1e9 or 1)
        work = [bar for bar in self.bars if bar.kind == "work"]
        colours = [self.found.rows[bar.row].colour for bar in work]
        self.outlined(axes, work, 0.9, 0.15, facecolor=colours, edgecolor=PAPER)
        for kind, (hatch, _) in HATCHES.items():
            if waits := [bar for bar in self.bars if bar.kind == kind]:
                corners = np.array(self.boxes(waits, self.lane * 0.22))
                # Hatched as one: much faster
                shape = Path.make_compound_path_from_polys(corners)
                axes.add_artist(PathPatch(shape, hatch=hatch, **PALE))
        if self.path:
            steps = {step.span for step in self.found.path}
            self.outlined(
                axes, [bar for bar in work if bar.span in steps], 1.6, 0.3, **OUTLINE
            )
        self.draw_labels(axes)
        if self.several:
            self.draw_epochs(axes)

    def boxes(self, bars: list[Bar], inset: float) -> Any:
        """Return the corners of *bars*; *inset* keeps each from its neighbours."""
        tops = [self.tops[bar.row] + bar.lane * self.lane + inset for bar in bars]
        times = [(bar.start * self.scale, bar.end * self.scale) for bar in bars]
        sides = [(*time, top) for time, top in zip(times, tops, strict=True)]
        return boxes(sides, self.lane - 2 * inset)

    def outlined(
        self, axes: Axes, bars: list[Bar], line: float, share: float, **how: Any
    ) -> None:
        """Draw bars with lines around them, thinner around narrow bars, of which they would leave nothing."""
        from matplotlib.collections import PolyCollection

        lines = [min(line, share * (bar.end - bar.start) * self.points) for bar in bars]
        # Not at whole pixels: a narrow bar would get none, or one that is too much.
        drawn = PolyCollection(self.boxes(bars, 0.015), linewidth=lines, snap=False, **how)
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
            if (
                text
                and len(text) * how["size"] * 0.64 + 3 < (bar.end - bar.start) * self.points
            ):
                middle = (bar.start + bar.end) / 2 * self.scale
                y = self.tops[bar.row] + (bar.lane + 0.5) * self.lane
                say(axes, middle, y, text, ha="center", va="center_baseline", **how)

    def draw_epochs(self, axes: Axes) -> None:
        """Say where each epoch begins, in full where there is room."""
        for count, (start, end) in enumerate(
            pairwise([*self.found.epochs, self.found.duration]), 1
        ):
            if count > 1:
                axes.axvline(
                    start * self.scale, color=QUIET, zorder=1, linewidth=0.8, linestyle="--"
                )
            room = (end - start) * self.points / 6  # letters
            text = next(
                (text for text in (f" epoch {count}", f" {count}") if len(text) <= room), ""
            )
            say(axes, start * self.scale, 0.09, text, size=8, color=QUIET)


def cut(stage: str) -> str:
    """Cut a learner's name for a stage off where it would leave no room for the bars."""
    return stage if len(stage) <= LONGEST_NAME else f"{stage[: LONGEST_NAME - 1]}…"
