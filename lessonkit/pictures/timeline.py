"""Draws runs as timelines, one below the other: rows of stages, lanes of calls, bars of work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lessonkit.engine.trace import NS, Trace
from lessonkit.words import OUR_WORDS, number, worded

from .drawing import (
    CARD,
    PALE,
    PAPER,
    PIXELS,
    QUIET,
    WIDTH,
    Look,
    Panel,
    Picture,
    draw_boxes,
    write_text,
)
from .envelope import Work, envelope_of, is_dense
from .labels import Labelled, written
from .layout import COLOURS, COUNT, IDLE, NOT_WORK, Bar, layout

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONGEST_NAME = 24  # letters, at the left of a row
POINT = PIXELS / WIDTH / 72  # pixels on the page
SEEN = 6  # pixels, of a wait in a row of which only an envelope is drawn

# In inches:
THICKEST = 0.28  # of a lane, where there are few,
THINNEST = 0.1  # and where there are many
OF_ALL_LANES = 9.0  # in between they share so much
NAMED = 0.24  # above the first row, for the names of epochs,
UNNAMED = 0.04  # and without them
BETWEEN = 0.09  # two rows
LOWEST = 0.4  # of a run with next to nothing in it
INSET = 0.015  # between a bar and the edge of its lane
LINE = 0.07  # of a wait

# Of labels:
LARGEST = 9.0  # points
OF_A_LANE = 45  # points for each inch of its height
SMALLEST = 6.0  # points; in lower lanes nobody could read them
LETTER = 0.64  # of its size, how wide a letter is at most
PADDING = 3  # points, of a text

THICK = 0.9  # points, of the line around a bar,
OF_A_BAR = 0.15  # and no more than so much of a narrow one


def plot_timelines(
    traces: Mapping[str, Trace], words: Mapping[str, str] = OUR_WORDS
) -> Picture:
    """Draw *traces* below each other, each under its title, against the same time.

    It is told in the *words* of a page, as in `explore`. Raises ValueError without a trace.

    >>> from lessonkit import ArtificialDataset, benchmark
    >>> plot_timelines({"": benchmark(ArtificialDataset(6).prefetch(1), num_epochs=1)})
    timeline: 6 samples in 130 ms, 21.7 ms per sample
    """
    if not traces:
        raise ValueError("plot_timelines: there is no run to draw")
    runs = [Timeline(trace, words) for trace in traces.values()]
    told = [worded(run_in_words(title, traces), words) for title in traces]
    panels = [
        Panel(run.height, run.names, run.draw, title, heading)
        for run, title, heading in zip(runs, traces, told, strict=True)
    ]
    kinds = {bar.kind for run in runs for bar in run.bars}
    shown = [wait for kind, wait in NOT_WORK.items() if kind in kinds]
    patterns = {wait.legend: wait.pattern for wait in shown}  # some look alike
    keys = [{"label": label, "hatch": hatch, **PALE} for label, hatch in patterns.items()]
    whole = "; ".join(
        f"{title}: {heading}" if title else heading
        for title, heading in zip(traces, told, strict=True)
    )
    longest = max(trace.duration for trace in traces.values())
    scene = {"runs": [*zip(traces, told, traces.values(), strict=True)]}
    return Picture(f"timeline: {whole}", scene, panels, (0, longest or 1), keys)


def run_in_words(title: str, traces: Mapping[str, Trace]) -> str:
    """Put the run called *title* in words, and compare it to the first of *traces*."""
    trace = traces[title]
    first = next(iter(traces))
    words = trace.rate + (", cancelled" if trace.cancelled else "")
    if not trace.duration:
        return f"{words}: nothing took any time"
    if title != first and trace.samples and traces[first].samples:
        times = f"{number(traces[first].per_sample / trace.per_sample)} times "
        words += f", {times.removeprefix('1 times ')}as fast as {first}"
    return words


class Timeline:
    """The lanes of one run, from top to bottom: a row begins at its top, and all fit the height."""

    def __init__(self, trace: Trace, words: Mapping[str, str] = OUR_WORDS) -> None:
        found = layout(trace)
        self.rows = [row._replace(stage=worded(row.stage, words)) for row in found.rows]
        self.bars = [bar._replace(note=worded(bar.note, words)) for bar in found.bars]
        self.epochs = [epoch.start for epoch in trace.epochs]
        self.duration = trace.duration
        lanes = sum(row.lanes for row in self.rows)
        self.lane = min(THICKEST, max(THINNEST, OF_ALL_LANES / max(lanes, 1)))
        self.names: dict[float, str] = {}  # by the middles of their rows
        self.tops: list[float] = []
        height = NAMED if len(self.epochs) > 1 else UNNAMED
        for row in self.rows:
            self.tops.append(height)
            text = cut(row.stage) + (f" ×{row.lanes}" if row.lanes > 1 else "")
            self.names[height + row.lanes * self.lane / 2] = text
            height += row.lanes * self.lane + BETWEEN
        self.height = max(height, LOWEST)

    def draw(self, axes: Axes) -> None:
        """Draw bars, labels and epochs; in place of too many bars of a row, an envelope."""
        points = axes.bbox.width / axes.figure.dpi * 72 / axes.get_xlim()[1]  # of a second
        scale = points * POINT / NS  # pixels of a nanosecond
        dense = self.draw_envelopes(axes, scale)
        bars = [bar for bar in self.bars if bar.row not in dense]
        self.draw_work(axes, [bar for bar in bars if bar.kind == "work"], points)
        for kind, wait in NOT_WORK.items():
            waits = [bar for bar in self.bars if bar.kind == kind]
            shown = [
                bar for bar in waits if bar.row not in dense or bar.length * scale >= SEEN
            ]
            self.draw_waits(axes, shown, wait.pattern)
        if counts := [bar for bar in self.bars if bar.kind == COUNT]:
            self.draw_bars(axes, counts, INSET, facecolor=COLOURS["Ready"], linewidth=0)
        self.write_labels(axes, bars, points)
        if len(self.epochs) > 1:
            self.draw_epochs(axes, points)

    def draw_work(self, axes: Axes, bars: list[Bar], points: float) -> None:
        """Draw *bars* of work, each with a line around it."""
        # A line is no thicker than a share of its bar, and not at whole pixels: a narrow bar would
        # get none, or one that is too much.
        lines = [min(THICK, OF_A_BAR * bar.length / NS * points) for bar in bars]
        colours = [self.rows[bar.row].colour for bar in bars]
        outlined = {"edgecolor": PAPER, "linewidth": lines, "snap": False}
        self.draw_bars(axes, bars, INSET, facecolor=colours, **outlined)

    def draw_waits(self, axes: Axes, bars: list[Bar], pattern: str) -> None:
        """Draw *bars* of one kind of wait as lines with this *pattern*, so that work stands out."""
        if bars:
            look = PALE | {"linewidth": 0}
            self.draw_bars(axes, bars, (self.lane - LINE) / 2, hatch=pattern, **look)

    def draw_bars(self, axes: Axes, bars: list[Bar], inset: float, **look: Any) -> None:
        """Draw the boxes of *bars*; *inset* keeps each from its neighbours."""
        full = self.lane - 2 * inset
        boxes = []
        for bar in bars:
            top = self.top(bar) + inset + full * (1 - bar.level)
            boxes.append((bar.start / NS, bar.end / NS, top, full * bar.level))
        draw_boxes(axes, boxes, **look)

    def draw_envelopes(self, axes: Axes, scale: float) -> set[int]:
        """Draw the rows that have too many bars; return which they are.

        A nanosecond has *scale* pixels.
        """
        rows: list[list[Work]] = [[] for _ in self.rows]
        for bar in self.bars:
            if bar.kind == "work":
                rows[bar.row].append(Work(bar.lane, bar.start * scale, bar.end * scale))
        dense = {index for index, work in enumerate(rows) if is_dense(work)}
        for index in dense:
            row = self.rows[index]
            start, step, shares = envelope_of(rows[index], row.lanes)
            full = row.lanes * self.lane - 2 * INSET
            floor = self.tops[index] + INSET + full
            boxes = []
            for at, share in enumerate(shares):
                begin = (start + at * step) / scale / NS
                end = (start + (at + 1) * step) / scale / NS
                boxes.append((begin, end, floor - share * full, share * full))
            draw_boxes(axes, boxes, facecolor=row.colour, linewidth=0, antialiased=False)
        return dense

    def top(self, bar: Bar) -> float:
        """Return where the lane of *bar* begins."""
        return self.tops[bar.row] + bar.lane * self.lane

    def write_labels(self, axes: Axes, bars: list[Bar], points: float) -> None:
        """Name the elements of *bars*, row by row, count, and say how long the accelerator waits."""
        size = min(LARGEST, self.lane * OF_A_LANE)
        if size <= SMALLEST:
            return

        def wide(text: str) -> float:
            return (len(text) * size * LETTER + PADDING) * POINT

        scale = points * POINT / NS
        for index, row in enumerate(self.rows):
            named = [
                bar for bar in bars if bar.row == index and bar.label and bar.kind == "work"
            ]
            named.sort(key=lambda bar: bar.start)
            places = [
                Labelled(
                    lane=bar.lane,
                    label=bar.label,
                    middle=(bar.start + bar.end) / 2 * scale,
                    width=bar.length * scale,
                )
                for bar in named
            ]
            # A number may be wider than its bar: behind it is the colour of that.
            plate = CARD | {"facecolor": row.colour, "pad": 0.5}
            for at in written(places, wide) if places else ():
                self.write(axes, named[at], named[at].label, size, plate)
        for bar in bars:
            texts = waits_in_words(bar) if bar.kind == IDLE else [bar.label]
            text = next((one for one in texts if wide(one) <= bar.length * scale), "")
            if text and bar.kind in (IDLE, COUNT):
                self.write(axes, bar, text, size, CARD if bar.kind == IDLE else None)

    def write(
        self, axes: Axes, bar: Bar, text: str, size: float, plate: Look | None
    ) -> None:
        """Write *text* in the middle of *bar*, on a *plate* if there is one."""
        x = (bar.start + bar.end) / NS / 2
        y = self.top(bar) + self.lane / 2
        middle: Look = {"ha": "center", "va": "center_baseline", "clip_on": True}
        write_text(axes, x, y, text, color="#000000", size=size, bbox=plate, **middle)

    def draw_epochs(self, axes: Axes, points: float) -> None:
        """Draw the beginning of each epoch, and its name, in full where there is room."""
        ends = [*self.epochs[1:], self.duration]
        for count, (start, end) in enumerate(zip(self.epochs, ends, strict=True), 1):
            if count > 1:
                axes.axvline(start, color=QUIET, linewidth=0.8, linestyle="--", zorder=1)
            letters = (end - start) * points / 6
            texts = f" epoch {count}", f" {count}", ""
            text = next(text for text in texts if not text or len(text) <= letters)
            write_text(axes, start, 0.09, text, size=8, color=QUIET)


def waits_in_words(bar: Bar) -> list[str]:
    """Return what may be written on a *bar* that says how long the accelerator waits.

    The longest text comes first.
    """
    words = f"waits {bar.label}"
    cause = bar.note.split(",")[0]
    return [*([f"{words} for {cause}"] if cause else []), words, bar.label]


def cut(stage: str) -> str:
    """Cut off a long name, which would leave no room for the bars."""
    return stage if len(stage) <= LONGEST_NAME else f"{stage[: LONGEST_NAME - 1]}…"
