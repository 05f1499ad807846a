"""Draws runs: as timelines, one below the other, and several ranks as a strip.

A strip has a row for each rank, with its work and its waits in every step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import ceil, log2
from typing import TYPE_CHECKING, Any

from lessonkit.engine.ranks import Ranks
from lessonkit.engine.trace import NS, Trace
from lessonkit.words import counted, milliseconds, number, percent, worded

from .drawing import (
    CARD,
    INK,
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
from .scene import StripScene

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHARES = {
    "trains": COLOURS["Train"],
    "waits for its own data": "#8074da",
    "waits for other ranks": COLOURS["Others"],
}

# Of a row: they are told apart by more than colours, which paper may not have
HEIGHTS = (1.0, 0.75, 0.5)

LONGEST_NAME = 24  # letters, at the left of a row
LINE = 0.07  # inches, of a wait
NAMED = 0.15  # inches, from the name of a rank to the next
POINT = PIXELS / WIDTH / 72  # pixels on the page
SEEN = 6  # pixels, of a wait in a row of which only an envelope is drawn
OUR_WORDS: Mapping[str, str] = {}
Stretches = list[tuple[int, int, int]]  # rank, start and end in nanoseconds


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
        self.lane = min(0.28, max(0.1, 9 / max(lanes, 1)))  # inches
        self.names: dict[float, str] = {}
        self.tops = []
        height = 0.24 if len(self.epochs) > 1 else 0.04
        for row in self.rows:
            self.tops.append(height)
            text = cut(row.stage) + (f" ×{row.lanes}" if row.lanes > 1 else "")
            self.names[height + row.lanes * self.lane / 2] = text
            height += row.lanes * self.lane + 0.09
        self.height = max(height, 0.4)  # inches

    def draw(self, axes: Axes) -> None:
        """Draw bars, labels and epochs; in place of too many bars of a row, an envelope."""
        points = axes.bbox.width / axes.figure.dpi * 72 / axes.get_xlim()[1]  # of a second
        scale = points * POINT / NS  # pixels of a nanosecond
        dense = self.draw_envelopes(axes, scale)
        bars = [bar for bar in self.bars if bar.row not in dense]
        work = [bar for bar in bars if bar.kind == "work"]
        # Lines around a bar are no thicker than a share of it, and not at whole pixels: a
        # narrow bar would get none, or one that is too much.
        lines = [min(0.9, 0.15 * (bar.end - bar.start) / NS * points) for bar in work]
        colours = [self.rows[bar.row].colour for bar in work]
        outlined = {"edgecolor": PAPER, "linewidth": lines, "snap": False}
        self.draw_bars(axes, work, 0.015, facecolor=colours, **outlined)
        for kind, wait in NOT_WORK.items():
            waits = [
                bar
                for bar in self.bars
                if bar.kind == kind
                and (bar.row not in dense or (bar.end - bar.start) * scale >= SEEN)
            ]
            if waits:  # a line, so that work stands out
                line = PALE | {"linewidth": 0}
                self.draw_bars(
                    axes, waits, (self.lane - LINE) / 2, hatch=wait.pattern, **line
                )
        if counts := [bar for bar in self.bars if bar.kind == COUNT]:
            self.draw_bars(axes, counts, 0.015, facecolor=COLOURS["Ready"], linewidth=0)
        self.write_labels(axes, bars, points)
        if len(self.epochs) > 1:
            self.draw_epochs(axes, points)

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
            full = row.lanes * self.lane - 0.03
            floor = self.tops[index] + 0.015 + full
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
        size = min(9.0, self.lane * 45)
        if size <= 6:
            return

        def wide(text: str) -> float:
            return (len(text) * size * 0.64 + 3) * POINT

        scale = points * POINT / NS
        for index, row in enumerate(self.rows):
            named = [
                bar for bar in bars if bar.row == index and bar.label and bar.kind == "work"
            ]
            named.sort(key=lambda bar: bar.start)
            places = [
                Labelled(
                    bar.lane,
                    bar.label,
                    (bar.start + bar.end) / 2 * scale,
                    (bar.end - bar.start) * scale,
                )
                for bar in named
            ]
            # A number may be wider than its bar: behind it is the colour of that.
            plate = CARD | {"facecolor": row.colour, "pad": 0.5}
            for at in written(places, wide) if places else ():
                self.write(axes, named[at], named[at].label, size, plate)
        for bar in bars:
            if bar.kind not in (IDLE, COUNT):
                continue
            room = (bar.end - bar.start) * scale
            texts = waits_in_words(bar) if bar.kind == IDLE else [bar.label]
            if text := next((one for one in texts if wide(one) <= room), ""):
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


# ---- several ranks ----


def plot_ranks(ranks: Ranks) -> Picture:
    """Draw *ranks* as a strip; a mark at the end of a step is at the rank that was waited for.

    >>> from lessonkit import Dataset, benchmark
    >>> def pipeline(rank):
    ...     return Dataset.range(4).shard(2, rank).map(cost=0.030)
    >>> plot_ranks(benchmark(pipeline, 1, ranks=2))
    2 ranks, 2 steps in 80 ms: 25 % training, 75 % waiting for data, 0 % waiting for others.
    """
    count = len(ranks.traces)
    row = min(0.25, 2.4 / count)  # inches: of a row, and of the strip

    def draw(axes: Axes) -> None:
        drawn = zip(SHARES.values(), HEIGHTS, times_of_ranks(ranks), strict=True)
        for colour, share, stretches in drawn:
            boxes = [
                (start / NS, end / NS, (rank + 1 - share) * row, share * row)
                for rank, start, end in stretches
            ]
            draw_boxes(axes, boxes, facecolor=colour, linewidth=0)
        for rank, end in late_ranks(ranks):
            x = end / NS
            top = rank * row
            axes.plot([x, x], [top, top + row], color=INK, solid_capstyle="butt")

    every = 2 ** max(0, ceil(log2(NAMED / row)))  # thin rows have no room for all names
    names = {(rank + 0.5) * row: f"rank {rank}" for rank in range(0, count, every)}
    words = ranks_in_words(ranks)
    panel = Panel(row * count, names, draw, words=words)
    keys = [{"label": label, "facecolor": colour} for label, colour in SHARES.items()]
    keys.append({"label": "was waited for", "facecolor": INK})
    scene = {"strip": strip_scene(ranks, ranks.traces[0])}
    return Picture(words, scene, [panel], (0, ranks.duration or 1), keys)


def times_of_ranks(ranks: Ranks) -> tuple[Stretches, Stretches, Stretches]:
    """Return when each rank works, waits for its own data, and waits for others."""
    works = Stretches()
    own = Stretches()
    others = Stretches()
    for rank, all_times in enumerate(ranks.times):
        for times, step in zip(all_times, ranks.steps, strict=False):
            own.append((rank, times.asked, times.got))
            works.append((rank, times.got, times.trained))
            others.append((rank, times.trained, step.end_ns))
    return works, own, others


def late_ranks(ranks: Ranks) -> list[tuple[int, int]]:
    """Return which rank was waited for, and until when, in each step in which others waited."""
    return [
        (step.slowest, step.end_ns)
        for step, *all_times in zip(ranks.steps, *ranks.times, strict=False)
        if len({times.trained for times in all_times}) > 1
    ]


def strip_scene(ranks: Ranks, trace: Trace) -> StripScene:
    """Return what a page draws of *ranks*, above the timeline of *trace*."""
    return {
        "ranks": len(ranks.traces),
        "rank": ranks.traces.index(trace),
        "colours": [{"text": text, "colour": colour} for text, colour in SHARES.items()],
        "late": [{"rank": rank, "time": end // 1000} for rank, end in late_ranks(ranks)],
        "times": [
            [time // 1000 for step in steps for time in step] for steps in ranks.times
        ],
        "ends": [step.end_ns // 1000 for step in ranks.steps],
        "words": ranks_in_words(ranks),
    }


def ranks_in_words(ranks: Ranks) -> str:
    """Put in words how the time is shared, which rank was waited for most, and an uneven end."""
    count = len(ranks.traces)
    whole = count * ranks.duration * NS or 1
    shares = []
    for stretches in times_of_ranks(ranks):
        time = sum(end - start for _, start, end in stretches)
        shares.append(percent(time / whole))
    words = f"{counted(count, 'ranks')}, {counted(len(ranks.steps), 'steps')} "
    words += f"in {milliseconds(ranks.duration)}: "
    words += "{} training, {} waiting for data, {} waiting for others.".format(*shares)
    for rank, often in Counter(rank for rank, _ in late_ranks(ranks)).most_common(1):
        words += (
            f" The others waited most often for rank {rank}, in {counted(often, 'steps')}."
        )
    return " ".join(filter(None, (words, ranks.uneven)))
