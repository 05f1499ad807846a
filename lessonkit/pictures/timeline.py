"""Draws runs as timelines, one below the other, against the same time."""

from collections.abc import Iterator, Mapping

from lessonkit.engine.trace import EMPTY, NO_CORE, START, Trace
from lessonkit.explain.critical_path import critical_path
from lessonkit.pictures.drawing import (
    CARD,
    INK,
    PALE,
    PAPER,
    QUIET,
    WAIT,
    Boxes,
    Look,
    Mark,
    Panel,
    Picture,
    Stroke,
    Text,
)
from lessonkit.pictures.layout import IDLE, NOT_WORK, Bar, ink_on, layout
from lessonkit.words import milliseconds, number, samples

LONGEST_NAME = 24  # letters
LOWEST = 0.4  # inches
HATCHES = {  # of what is no work
    IDLE: "////",
    EMPTY: "////",
    "buffer full": "\\\\\\\\",
    NO_CORE: "....",
    "interpreter lock held": "xxxx",
    "in the queue": "--",
    "out of turn": "++",
    "storage busy": "**",
    START: "oo",
}
OUTLINE: Look = {
    "facecolor": "none",
    "edgecolor": INK,
    "clip_on": False,
    "zorder": 3,
}


def plot_timeline(trace: Trace, *, title: str = "", path: bool = False) -> Picture:
    """Draw the timeline of *trace*; with *path*, the work that decided the time is outlined.

    >>> from lessonkit import ArtificialDataset, benchmark
    >>> plot_timeline(benchmark(ArtificialDataset(6).prefetch(1), num_epochs=1), path=True)
    timeline: 6 samples in 130 ms, 21.7 ms a sample. Read decides 69 % of your time.
    """
    return plot_timelines({title: trace}, path=path)


def plot_timelines(traces: Mapping[str, Trace], *, path: bool = False) -> Picture:
    """Draw *traces* below each other, each under its title, against the same time.

    With *path*, the work that decided the time is outlined. Raises ValueError without a trace.
    """
    if not traces:
        raise ValueError("plot_timelines: there is no run to draw")
    longest = max(trace.duration for trace in traces.values())
    drawn = [Timeline(trace, longest, path) for trace in traces.values()]
    told = [run_in_words(title, traces, path) for title in traces]
    ends = (0, longest or 1)
    panels = [
        Panel(max(one.height, LOWEST), title, words, one.names, ends, True, one.marks)
        for title, words, one in zip(traces, told, drawn, strict=True)
    ]
    waits = dict.fromkeys(
        (NOT_WORK[kind].legend, hatch)
        for one in drawn
        for kind, hatch in HATCHES.items()
        if kind in one.kinds
    )
    keys = [{"label": label, "hatch": hatch, **PALE} for label, hatch in waits]
    if path and longest:
        keys.append({"label": "what decided the time", "linewidth": 1.8, **OUTLINE})
    words = "; ".join(
        f"{title}: {words}" if title else words
        for title, words in zip(traces, told, strict=True)
    )
    scene = {"runs": dict(traces), "path": path, "words": told}
    return Picture(f"timeline: {words}", scene, panels, keys)


def run_in_words(title: str, traces: Mapping[str, Trace], path: bool) -> str:
    """Put the run called *title* in words, and compare it to the first of *traces*."""
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
    """The lanes of one run, on an axis of *longest* seconds; no bar goes beyond the run's end."""

    def __init__(self, trace: Trace, longest: float, path: bool) -> None:
        self.found, self.longest = layout(trace), longest
        # What threads did after a run that was broken off is not shown.
        end = self.found.duration
        self.bars = [
            bar._replace(end=min(bar.end, end))
            for bar in self.found.bars
            if bar.start < end
        ]
        self.kinds = {bar.kind for bar in self.bars}
        self.path = {step.span for step in self.found.path} if path else set()
        self.lane = min(0.28, max(0.1, 9 / max(self.found.lanes, 1)))  # inches
        several = len(self.found.epochs) > 1
        self.names: dict[float, str] = {}
        self.tops, self.height = [], 0.24 if several else 0.04
        for row in self.found.rows:
            self.tops.append(self.height)
            text = cut(row.stage) + (f" ×{row.lanes}" if row.lanes > 1 else "")
            self.names[self.height + row.lanes * self.lane / 2] = text
            self.height += row.lanes * self.lane + 0.09

    def marks(self, width: float) -> Iterator[Mark]:
        """Draw bars, labels and epochs on an axis of *width* inches."""
        self.points = width * 72 / (self.longest * 1e9 or 1)  # of a nanosecond
        work = [bar for bar in self.bars if bar.kind == "work"]
        colours = [self.found.rows[bar.row].colour for bar in work]
        fill = {"facecolor": colours, "edgecolor": PAPER}
        yield self.outlined(work, 0.9, 0.15, fill)
        for kind, hatch in HATCHES.items():
            if waits := [bar for bar in self.bars if bar.kind == kind]:
                yield self.boxes(waits, self.lane * 0.22, {"hatch": hatch, **PALE})
        if self.path:
            decisive = [bar for bar in work if bar.span in self.path]
            yield self.outlined(decisive, 1.6, 0.3, OUTLINE)
        yield from self.labels()
        if len(self.found.epochs) > 1:
            yield from self.epochs()

    def boxes(self, bars: list[Bar], inset: float, look: Look) -> Boxes:
        """Return the boxes of *bars*; *inset* keeps each from its neighbours."""
        sides = [(bar.start / 1e9, bar.end / 1e9, self.top(bar) + inset) for bar in bars]
        return Boxes(sides, self.lane - 2 * inset, look)

    def top(self, bar: Bar) -> float:
        """Return where the lane of *bar* begins."""
        return self.tops[bar.row] + bar.lane * self.lane

    def outlined(self, bars: list[Bar], line: float, share: float, look: Look) -> Boxes:
        """Return *bars* with lines around them, no thicker than a *share* of the bar."""
        lines = [min(line, share * (bar.end - bar.start) * self.points) for bar in bars]
        # Not at whole pixels: a narrow bar would get none, or one that is too much.
        return self.boxes(bars, 0.015, {"linewidth": lines, "snap": False} | look)

    def labels(self) -> Iterator[Text]:
        """Name each bar's element, and what the accelerator waits for, where there is room."""
        size = min(9.0, self.lane * 45)
        inks = [ink_on(row.colour) for row in self.found.rows]
        middle: Look = {"ha": "center", "va": "center_baseline"}
        for bar in self.bars if size > 6 else ():
            text, look = bar.label, Look(color=inks[bar.row], size=size)
            if bar.kind == IDLE and bar.note:
                text = f"waits for {bar.note.split(', ')[0]}"
                card = CARD | {"facecolor": WAIT, "pad": 1.2}
                look = Look(color=QUIET, size=size * 0.85, bbox=card)
            room = (bar.end - bar.start) * self.points
            if text and len(text) * look["size"] * 0.64 + 3 < room:
                x, y = (bar.start + bar.end) / 2e9, self.top(bar) + self.lane / 2
                yield Text(x, y, text, middle | look)

    def epochs(self) -> Iterator[Mark]:
        """Draw the beginning of each epoch, and its name, in full where there is room."""
        ends = [*self.found.epochs[1:], self.found.duration]
        for count, (start, end) in enumerate(zip(self.found.epochs, ends, strict=True), 1):
            x = start / 1e9
            if count > 1:
                dashed = {"color": QUIET, "zorder": 1, "linewidth": 0.8, "linestyle": "--"}
                yield Stroke([(x, max(self.height, LOWEST)), (x, 0)], dashed)
            letters = (end - start) * self.points / 6
            texts = f" epoch {count}", f" {count}", ""
            text = next(text for text in texts if not text or len(text) <= letters)
            yield Text(x, 0.09, text, {"size": 8, "color": QUIET})


def cut(stage: str) -> str:
    """Cut a learner's name for a stage off where it would leave no room for the bars."""
    return stage if len(stage) <= LONGEST_NAME else f"{stage[: LONGEST_NAME - 1]}…"
