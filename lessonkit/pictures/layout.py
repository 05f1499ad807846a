"""Arranges a trace as rows, lanes, bars and labels, from which every timeline is drawn."""

from __future__ import annotations

import string
import zlib
from bisect import bisect_left
from collections.abc import Container, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

from lessonkit.engine.trace import (
    ACCELERATOR,
    CALL,
    EMPTY,
    FILL,
    NO_CORE,
    QUEUE,
    READY,
    START,
    TRAIN,
    WAITS,
    Identity,
    Name,
    Span,
    Trace,
    Wait,
)
from lessonkit.explain.critical_path import Step, critical_path, ended, idle_stretches

# Paul Tol's bright scheme, which people who do not see all colours can tell apart too.
COLOURS = {
    "Open": "#aa3377",
    "Read": "#4477aa",
    "Map": "#ccbb44",
    "Batch": "#66ccee",
    "Load": "#ee6677",
    "Train": "#228833",
    "Others": "#d0d7de",  # ranks that are waited for
}
OTHERS = (
    "#ee8866",
    "#44bb99",
    "#aaaa00",
    "#99ddff",
    "#ffaabb",
    "#77aadd",
    "#bbcc33",
    "#eedd88",
)
IDLE = "idle"  # the kind of a bar that says: the accelerator has nothing to do
# The words for all bars that are no work
NOT_WORK = WAITS | {
    IDLE: Wait("waits for input", "It waits for {}.", "waits for {}"),
    START: Wait("starts", "", "starts"),
}


class Row(NamedTuple):
    """A stage, the number of its lanes, which are calls side by side, and its colour."""

    stage: str
    lanes: int
    colour: str


class Bar(NamedTuple):
    """A stretch of work or waiting; times in nanoseconds.

    *span* is the index in the trace, -1 where the accelerator is idle. *note* says what a
    wait waits for.
    """

    row: int
    lane: int
    start: int
    end: int
    kind: str
    label: str = ""
    span: int = -1
    note: str = ""


@dataclass(frozen=True)
class Layout:
    """The timeline of one run, ready to be drawn; times in nanoseconds."""

    rows: list[Row]
    bars: list[Bar]  # those that work first, then those that wait
    epochs: list[int]  # when each began
    path: tuple[Step, ...]  # what decided the duration; a step knows its span
    duration: int
    names: list[str]  # what each element is called, by its key

    @property
    def lanes(self) -> int:
        """Count the lanes of all rows."""
        return sum(row.lanes for row in self.rows)


Rows = dict[Name, int]  # the number of the row of each stage that is shown
Workers = dict[Name, tuple[Name, Name, Name]]  # the queue, the worker and the ready batches


def layout(trace: Trace) -> Layout:
    """Arrange what happened in *trace*: the stages from top to bottom, the accelerator last.

    >>> from lessonkit import ArtificialDataset, benchmark
    >>> found = layout(benchmark(ArtificialDataset(2).prefetch(1), num_epochs=1))
    >>> [(row.stage, row.lanes) for row in found.rows]
    [('Open', 1), ('Read', 1), ('Train', 1)]
    >>> [(bar.label, bar.start // 10**6, bar.end // 10**6) for bar in found.bars if bar.row == 1]
    [('0', 30, 45), ('1', 45, 60)]
    """
    names, workers = labels(trace), stages_of_workers(trace)
    shown = [part for stage in trace.stages for part in workers.get(stage, (stage,))]
    rows = {stage: row for row, stage in enumerate(dict.fromkeys(shown))}
    waits = waits_of_calls(trace, rows, workers)
    # The calls of these rows keep their lanes, in which their waits have a place.
    stages = {trace.spans[index].stage for index in waits}.union(*workers.values())
    keep = {rows[stage] for stage in stages if stage in rows}
    work = [*bars_of_calls(trace, workers, rows, names)]
    work += sorted(bars_of_workers(trace, workers, rows, names), key=attrgetter("start"))
    lanes: list[list[int]] = [[] for _ in rows]  # when the last bar of each lane ends
    bars = [*in_lanes(work, lanes, keep)]
    bars += [*bars_of_waits(trace.spans, waits, rows, bars)]
    train = next((row for stage, row in rows.items() if stage.role == TRAIN), None)
    if train is not None:  # it says what it waits for, the longest first
        for start, end, blame in idle_stretches(trace):
            bars.append(Bar(train, 0, start, end, IDLE, note=", ".join(blame)))
    colours = colours_of([*rows])
    return Layout(
        [
            Row(stage, max(1, len(lanes[row])), colours[stage])
            for stage, row in rows.items()
        ],
        bars,
        [round(epoch.start * 1e9) for epoch in trace.epochs],
        critical_path(trace).steps,
        ended(trace),
        names,
    )


def bar_of(row: int, index: int, span: Span, kind: str = "work", label: str = "") -> Bar:
    """Return the bar of a whole *span*, of which *index* is the number."""
    start, end = span.start_ns, span.end_ns
    return Bar(row, span.lane, start, end, kind, label, index, span.place)


def bars_of_calls(
    trace: Trace, workers: Workers, rows: Rows, names: list[str]
) -> list[Bar]:
    """Return the work that no loader's worker does, in the order in which it began."""
    bars = [
        bar_of(rows[span.stage], index, span, label=names[span.element])
        for index, span in enumerate(trace.spans)
        if span.kind not in WAITS
        and span.stage not in workers
        and span.end_ns > span.start_ns
    ]
    return sorted(bars, key=attrgetter("start", "lane", "span"))


def stages_of_workers(trace: Trace) -> Workers:
    """Find the stages in which a loader's workers work; return the three shown for each of them."""
    found: Workers = {}
    names = trace.recorded.names
    for loader in (name.place.site for name in names if name.role == READY):
        own = {name.role: name for name in names if name.place.site == loader}
        for stage in trace.stages:
            site, is_work = stage.place.site, stage.role in (START, CALL)
            if site[: len(loader)] == loader and (site != loader or is_work):
                found[stage] = own[QUEUE], own[FILL], own[READY]
    return found


def bars_of_workers(
    trace: Trace, workers: Workers, rows: Rows, names: list[str]
) -> Iterator[Bar]:
    """Give a bar for each batch in the lane of its worker, for its waits and for each start."""
    members = trace.recorded.members.items()
    batch_of = {sample: batch for batch, samples in members for sample in samples}
    batches: dict[tuple[int, int, int], list[int]] = {}  # of spans, by row, lane and batch
    for index, span in enumerate(trace.spans):
        # Not where its workers did no work
        if span.role in (QUEUE, READY) and span.stage in rows:
            bar = bar_of(rows[span.stage], index, span, span.kind, names[span.element])
            yield bar._replace(lane=0)
        elif span.stage in workers and (span.kind == NO_CORE or span.kind not in WAITS):
            row = rows[workers[span.stage][1]]
            if span.role == START:
                yield bar_of(row, index, span, START)
                continue
            batch = batch_of.get(span.element, span.element)
            batches.setdefault((row, span.lane, batch), []).append(index)
    for (row, _, batch), indices in batches.items():
        first, last = trace.spans[indices[0]], trace.spans[indices[-1]]
        bar = bar_of(row, indices[-1], last, label=names[batch])
        yield bar._replace(start=first.start_ns, note="")


def in_lanes(
    bars: list[Bar], lanes: list[list[int]], keep: Container[int]
) -> Iterator[Bar]:
    """Give each of *bars* in a lane that is free; rows to *keep* have all lanes that they name.

    *lanes* of each row have the time at which the last bar in a lane ends.
    """
    for bar in bars:
        ends = lanes[bar.row]
        if bar.row in keep:
            ends += [0] * (bar.lane + 1 - len(ends))
        lane = bar.lane
        if lane >= len(ends) or ends[lane] > bar.start:
            free = (lane for lane, end in enumerate(ends) if end <= bar.start)
            lane = next(free, len(ends))
        ends[lane : lane + 1] = [bar.end]
        yield bar if lane == bar.lane else bar._replace(lane=lane)


def waits_of_calls(trace: Trace, rows: Rows, workers: Workers) -> list[int]:
    """Return the numbers of the waits that may be shown, but for those of a loader's workers.

    A helper that waits for elements to hand on, like a prefetch, holds up nobody. The
    accelerator's waits are shown as idle time, but for those within a step.
    """
    elsewhere = {*workers}.union(*workers.values())
    return [
        index
        for index, span in enumerate(trace.spans)
        if span.kind in WAITS
        and (span.stage.role not in ACCELERATOR or span.kind == NO_CORE)
        and span.stage not in elsewhere
        and (span.stage in rows or span.kind != EMPTY)
    ]


def bars_of_waits(
    spans: list[Span], waits: list[int], rows: Rows, work: list[Bar]
) -> Iterator[Bar]:
    """Give a bar for each wait of a call, and of a helper that held up a bar of *work*."""
    # The bars of a lane, in order
    reached: dict[tuple[int, int], list[tuple[int, int]]] = {}
    held_up = {}
    for bar in work:
        reached.setdefault((bar.row, bar.lane), []).append((bar.start, bar.end))
        span = spans[bar.span]
        if span.stage.role not in ACCELERATOR:
            held_up[span.start_ns, span.cause, span.lane] = bar.row, bar.lane
    waited: dict[tuple[int, int], int] = {}  # until when, in a lane
    for index in waits:
        span = spans[index]
        lane = rows.get(span.stage, -1), span.lane
        if span.stage not in rows:
            lane = held_up.get((span.end_ns, span.cause, span.lane), lane)
        if lane in reached:
            before = bisect_left(reached[lane], (span.end_ns, 0))
            worked = reached[lane][before - 1][1] if before else 0
            start = max(span.start_ns, worked, waited.get(lane, 0))
            if start < span.end_ns:
                bar = bar_of(lane[0], index, span, span.kind)
                yield bar._replace(lane=lane[1], start=start)
                waited[lane] = span.end_ns


def labels(trace: Trace) -> list[str]:
    """Name each element by its sample's number, after a letter if there are several files."""
    known = trace.identities
    worked_on = {span.element for span in trace.work if span.element}
    samples = {sample for element in worked_on for sample in trace.members(element)}
    files = sorted({known[sample].instance for sample in samples})
    letters = {file: letter_of(number) for number, file in enumerate(files)}
    if len(files) == 1:
        letters = {}
    names = [
        letters.get(instance, "") + (str(sample) if sample >= 0 else "")
        for instance, _, sample in known
    ]
    for batch, members in trace.recorded.members.items():
        names[batch] = batch_label([(known[sample], names[sample]) for sample in members])
    return names


def batch_label(members: list[tuple[Identity, str]]) -> str:
    """Name a batch by its first and last sample; if others stand between them, by each."""
    (first, name), (last, _) = members[0], members[-1]
    if len(members) == 1:
        return name
    identities = [identity for identity, _ in members]
    row = [first._replace(sample=first.sample + number) for number in range(len(members))]
    if identities == row:
        return f"{name}-{last.sample}"
    return " ".join([name for _, name in members[:4]] + ["..."] * (len(members) > 4))


def letter_of(number: int) -> str:
    """Return the letter of a file by its *number*; after the last letter the number itself."""
    return string.ascii_uppercase[number] if number < 26 else f"{number}."


def colours_of(stages: list[str]) -> dict[str, str]:
    """Choose a colour for each stage: the same in every picture, and no two alike if possible."""
    colours = {stage: COLOURS[stage] for stage in stages if stage in COLOURS}
    for stage in stages:
        if stage not in colours:
            first = zlib.crc32(stage.encode()) % len(OTHERS)
            order = OTHERS[first:] + OTHERS[:first]
            colours[stage] = next(
                (one for one in order if one not in colours.values()), order[0]
            )
    return colours


def ink_on(colour: str) -> str:
    """Return black or white, the one that is easier to read on *colour*."""
    red, green, blue = bytes.fromhex(colour[1:])
    return "#000000" if 0.3 * red + 0.59 * green + 0.11 * blue > 128 else "#ffffff"
