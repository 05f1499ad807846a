"""What a timeline shows, as plain data: rows, lanes, bars and labels. Every picture is drawn from this."""

from __future__ import annotations

import string
import zlib
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

from lessonkit.engine.recorder import (
    ACCELERATOR,
    CALL,
    FILL,
    QUEUE,
    READY,
    START,
    TRAIN,
    Identity,
    Name,
)
from lessonkit.engine.trace import EMPTY, NO_CORE, WAITING, Span, Trace
from lessonkit.explain.critical_path import Step, chain, ended, last_work
from lessonkit.explain.idle import idle_stretches

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


class Row(NamedTuple):
    """A stage, how many of its calls there are side by side, and its colour."""

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
    label: str
    span: int
    note: str


@dataclass(frozen=True)
class Layout:
    """The timeline of one run, ready to be drawn; times in nanoseconds."""

    rows: tuple[Row, ...]
    bars: tuple[Bar, ...]  # those that work first, then those that wait
    epochs: tuple[int, ...]  # when each began
    path: tuple[Step, ...]  # what decided the duration; a step knows its span
    duration: int
    names: list[str]  # what each element is called, by its key

    @property
    def lanes(self) -> int:
        """How many lanes there are in all."""
        return sum(row.lanes for row in self.rows)


def layout(trace: Trace) -> Layout:
    """Arrange what happened in *trace*: the stages from top to bottom, the accelerator last.

    >>> from lessonkit import ArtificialDataset, benchmark
    >>> found = layout(benchmark(ArtificialDataset(2).prefetch(1), num_epochs=1))
    >>> [(row.stage, row.lanes) for row in found.rows]
    [('Open', 1), ('Read', 1), ('Train', 1)]
    >>> [(bar.label, bar.start // 10**6, bar.end // 10**6) for bar in found.bars if bar.row == 1]
    [('0', 30, 45), ('1', 45, 60)]
    """
    spans, end = trace.spans, ended(trace)
    names = labels(trace)
    crew = made_by_workers(trace)
    of_workers = {row for rows in crew.values() for row in rows}
    elsewhere = of_workers | crew.keys()
    shown = dict.fromkeys(
        part for stage in trace.stages for part in crew.get(stage, (stage,))
    )
    stages = {stage: row for row, stage in enumerate(shown)}
    work = [
        Bar(
            stages[span.stage],
            span.lane,
            span.start_ns,
            span.end_ns,
            "work",
            names[span.element],
            index,
            "",
        )
        for index, span in enumerate(spans)
        if span.kind not in WAITING
        and span.stage not in crew
        and span.end_ns > span.start_ns
    ]
    work.sort(key=attrgetter("start", "lane", "span"))
    work += sorted(bars_of_workers(trace, crew, stages, names), key=attrgetter("start"))
    # A helper that waits for elements to hand on, like a prefetch, holds up nobody. The
    # accelerator's waits are shown as idle time, but for those within a step.
    waits = [
        index
        for index, span in enumerate(spans)
        if span.kind in WAITING
        and (span.stage.role not in ACCELERATOR or span.kind == NO_CORE)
        and span.stage not in elsewhere
        and (span.stage in stages or span.kind != EMPTY)
    ]
    # There each call keeps its lane, and its waits have a place in it.
    keeping = {
        stages.get(stage) for stage in {spans[index].stage for index in waits} | of_workers
    }
    lanes: list[list[int]] = [[] for _ in stages]  # when the last bar of each lane ends
    bars = []
    for bar in work:
        ends = lanes[bar.row]
        if bar.row in keeping:
            ends += [0] * (bar.lane + 1 - len(ends))
        lane = free_lane(ends, bar.lane, bar.start)
        ends[lane] = bar.end
        bars.append(bar if lane == bar.lane else bar._replace(lane=lane))
    bars += waiting(spans, waits, stages, bars)
    # A step may name more
    for train in [row for stage, row in stages.items() if stage.role == TRAIN][:1]:
        # Whom it waits for, the longest first
        for start, until, blame in idle_stretches(trace):
            bars.append(Bar(train, 0, start, until, IDLE, "", -1, ", ".join(blame)))
    colours = colours_of(list(stages))
    return Layout(
        tuple(
            Row(stage, max(1, len(lanes[row])), colours[stage])
            for stage, row in stages.items()
        ),
        tuple(bars),
        tuple(round(epoch.start * 1e9) for epoch in trace.epochs),
        tuple(chain(spans, last_work(spans, end), 0, end)),
        end,
        names,
    )


RowsOf = dict[Name, tuple[Name, ...]]


def made_by_workers(trace: Trace) -> RowsOf:
    """Say of each stage that a loader's workers work in which rows stand for it: queue, worker, ready."""
    crew: RowsOf = {}
    names = trace.recorded.names
    for loader in (name.place.site for name in names if name.role == READY):
        rows = {name.role: name for name in names if name.place.site == loader}
        for stage in trace.stages:
            site = stage.place.site
            if site[: len(loader)] == loader and (
                site != loader or stage.role in (START, CALL)
            ):
                crew[stage] = rows[QUEUE], rows[FILL], rows[READY]
    return crew


def bars_of_workers(
    trace: Trace, crew: RowsOf, rows: dict[Name, int], names: list[str]
) -> Iterator[Bar]:
    """Draw a batch as one bar, in the lane of its worker; where it waited, and where a worker starts."""
    batch_of = {
        sample: batch
        for batch, samples in trace.recorded.members.items()
        for sample in samples
    }
    batches: dict[tuple[Name, int, int], list[int]] = {}
    for index, span in enumerate(trace.spans):
        # Not where its workers did no work
        if span.role in (QUEUE, READY) and span.stage in rows:
            row, label = rows[span.stage], names[span.element]
            yield Bar(
                row, 0, span.start_ns, span.end_ns, span.kind, label, index, span.place
            )
        elif span.stage in crew and (span.kind == NO_CORE or span.kind not in WAITING):
            row = rows[crew[span.stage][1]]
            if span.role == START:
                yield Bar(row, span.lane, span.start_ns, span.end_ns, START, "", index, "")
            else:
                who = batch_of.get(span.element, span.element)
                batches.setdefault((crew[span.stage][1], span.lane, who), []).append(index)
    for (stage, lane, who), indices in batches.items():
        first, last = trace.spans[indices[0]], trace.spans[indices[-1]]
        yield Bar(
            rows[stage],
            lane,
            first.start_ns,
            last.end_ns,
            "work",
            names[who],
            indices[-1],
            "",
        )


def free_lane(ends: list[int], wanted: int, start: int) -> int:
    """The lane that is *wanted* if nothing is on it any more at *start*, or else the first such."""
    if wanted < len(ends) and ends[wanted] <= start:
        return wanted
    for lane, end in enumerate(ends):
        if end <= start:
            return lane
    ends.append(0)
    return len(ends) - 1


def waiting(
    spans: list[Span], waits: list[int], stages: dict[Name, int], work: list[Bar]
) -> list[Bar]:
    """The waits that can be seen as a stage's: of its calls, and of a helper before work that it held up."""
    # The bars of a lane, in order
    reached: dict[tuple[int, int], list[tuple[int, int]]] = {}
    held_up = {}
    for bar in work:
        reached.setdefault((bar.row, bar.lane), []).append((bar.start, bar.end))
        span = spans[bar.span]
        if span.stage.role not in ACCELERATOR:
            held_up[span.start_ns, span.cause, span.lane] = (bar.row, bar.lane)
    waited: dict[tuple[int, int], int] = {}  # until when, in a lane
    bars = []
    for index in waits:
        span = spans[index]
        place = (stages.get(span.stage, -1), span.lane)
        if span.stage not in stages:
            place = held_up.get((span.end_ns, span.cause, span.lane), place)
        if place in reached:
            before = bisect_left(reached[place], (span.end_ns, 0))
            worked = reached[place][before - 1][1] if before else 0
            start = max(span.start_ns, worked, waited.get(place, 0))
            if start < span.end_ns:
                bars.append(
                    Bar(*place, start, span.end_ns, span.kind, "", index, span.place)
                )
                waited[place] = span.end_ns
    return bars


def labels(trace: Trace) -> list[str]:
    """What to call each element, by its key: its sample's number, and a letter if there are several files."""
    everybody = trace.identities
    worked_on = {span.element for span in trace.work if span.element}
    files = sorted(
        {everybody[sample].instance for who in worked_on for sample in trace.members(who)}
    )
    letters = {
        file: letter_of(place) if len(files) > 1 else "" for place, file in enumerate(files)
    }
    names = [
        letters.get(instance, "") + (str(sample) if sample >= 0 else "")
        for instance, _, sample in everybody
    ]
    for batch, members in trace.recorded.members.items():
        names[batch] = batch_label(
            [(everybody[sample], names[sample]) for sample in members]
        )
    return names


def batch_label(members: list[tuple[Identity, str]]) -> str:
    """The samples of a batch, from the first to the last; if others stand between them, one by one."""
    (first, name), (last, _) = members[0], members[-1]
    if len(members) == 1:
        return name
    if all(
        who == first._replace(sample=first.sample + place)
        for place, (who, _) in enumerate(members)
    ):
        return f"{name}-{last.sample}"
    return " ".join([name for _, name in members[:4]] + ["..."] * (len(members) > 4))


def letter_of(place: int) -> str:
    """A letter for a file; behind the last letter its number."""
    return string.ascii_uppercase[place] if place < 26 else f"{place}."


def colours_of(stages: list[str]) -> dict[str, str]:
    """A colour for each stage: the same in every picture, and no two alike as long as they last."""
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
    """Black or white, whichever is easier to read on *colour*."""
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return "#000000" if 0.3 * red + 0.59 * green + 0.11 * blue > 128 else "#ffffff"
