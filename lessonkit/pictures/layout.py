"""Arranges a trace as rows, lanes, bars and labels, from which every timeline is drawn."""

import string
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple

from lessonkit.engine.trace import (
    ACCELERATOR,
    AHEAD,
    EMPTY,
    FILL,
    NO_CORE,
    NS,
    QUEUE,
    START,
    TAKE,
    TRAIN,
    WAITS,
    BufferEvent,
    Identity,
    Name,
    Span,
    Trace,
    Wait,
)
from lessonkit.explain.critical_path import idle_stretches
from lessonkit.words import milliseconds

# Each can be seen on white and on a dark page, and black text can be read on it; people who do not
# tell red from green see these as blue, brown or grey, each lighter or darker.
COLOURS = {
    "Open": "#c2478f",
    "Read": "#4580bd",
    "Map": "#a68200",
    "Batch": "#1e9dc0",
    "Load": "#ec626c",
    "Train": "#238a35",
    "Others": "#757c85",  # ranks that are waited for: on a dark page no brighter than work
    "Queue": "#8b949e",  # what is counted, in a row of steps
    "Ready": "#8b949e",
}
# Of stages with other names
OTHERS = [
    "#d1622b",
    "#2a9a75",
    "#878600",
    "#b56bc4",
    "#e06aa6",
    "#8074da",
    "#6aa12e",
    "#ad7850",
]
IDLE = "idle"  # the kind of a bar that says: the accelerator has nothing to do
COUNT = "count"  # of a step, which says how many batches wait for a worker or for the loop
# All bars that are no work, in the order of a legend
NOT_WORK = {
    IDLE: Wait("////", "waits for input", "It waits for {}."),
    **WAITS,
    START: Wait(pattern="oo", legend="starts", sentence=""),
}


class Row(NamedTuple):
    """A stage, the number of its lanes, which are calls side by side, and its colour."""

    stage: str
    lanes: int
    colour: str


class Bar(NamedTuple):
    """A stretch of work or waiting; times in nanoseconds.

    *spans* are its indices in the trace: several for a batch of a worker, and none where the
    accelerator is idle, and of a count. *note* says what a wait waits for.
    *level* is how much of its lane a bar fills.
    """

    row: int
    lane: int
    start: int
    end: int
    kind: str
    label: str = ""
    spans: tuple[int, ...] = ()
    note: str = ""
    level: float = 1

    @property
    def length(self) -> int:
        """Its nanoseconds."""
        return self.end - self.start


class Layout(NamedTuple):
    """The timeline of one run, ready to be drawn."""

    rows: list[Row]
    bars: list[Bar]  # those that work first, then those that wait
    names: list[str]  # what each element is called, by its key


Rows = dict[Name, int]  # the number of the row of each stage that is shown


class WorkerRows(NamedTuple):
    """The stages that are shown of a loader's workers: their queue, themselves, their buffer."""

    queue: Name
    worker: Name
    ready: Name


Workers = dict[Name, WorkerRows]  # by each stage of what they do


def layout(trace: Trace) -> Layout:
    """Arrange what happened in *trace*: the stages from top to bottom, the accelerator last.

    >>> from lessonkit import ArtificialDataset, benchmark
    >>> found = layout(benchmark(ArtificialDataset(2).prefetch(1), num_epochs=1))
    >>> [(row.stage, row.lanes) for row in found.rows]
    [('Open', 1), ('Read', 1), ('Train', 1)]
    >>> [(bar.label, bar.start // 10**6, bar.end // 10**6) for bar in found.bars if bar.row == 1]
    [('0', 30, 45), ('1', 45, 60)]
    """
    names = labels(trace)
    workers = stages_of_workers(trace)
    shown = [part for stage in trace.stages for part in workers.get(stage, (stage,))]
    rows = {stage: row for row, stage in enumerate(dict.fromkeys(shown))}
    work, waits = bars_of_work(trace, workers, rows, names)
    # The calls of these rows keep their lanes, in which their waits are shown too.
    stages = {span.stage for _, span in waits}.union(*workers.values())
    keep = {rows[stage] for stage in stages if stage in rows}
    lanes: list[list[int]] = [[] for _ in rows]  # when the last bar of each lane ends
    bars = [in_lane(bar, lanes[bar.row], bar.row in keep) for bar in work]
    bars += bars_of_waits(trace.spans, waits, rows, bars)
    bars += bars_of_counts(trace, rows)
    bars += bars_of_idle_time(trace, rows)
    titles = ["Ready" if stage.role == AHEAD else stage for stage in rows]
    colours = colours_of_rows(trace, workers, rows, titles)
    shown_rows = [
        Row(title, max(1, len(ends)), colour)
        for title, colour, ends in zip(titles, colours, lanes, strict=True)
    ]
    return Layout(shown_rows, bars, names)


def bars_of_counts(trace: Trace, rows: Rows) -> Iterator[Bar]:
    """Give the steps of each row that counts: index lists for workers, and batches that are ready."""
    for name, row in rows.items():
        if name.role in (QUEUE, AHEAD):
            events = trace.recorded.queued if name.role == QUEUE else trace.events
            yield from stairs(row, (one for one in events if one.buffer == name))


def bars_of_idle_time(trace: Trace, rows: Rows) -> Iterator[Bar]:
    """Give a bar for each time in which the accelerator waits: it says for what, the longest first."""
    train = next((row for stage, row in rows.items() if stage.role == TRAIN), None)
    if train is None:
        return
    for start, end, blame in idle_stretches(trace):
        long = milliseconds((end - start) / NS)
        yield Bar(train, 0, start, end, IDLE, long, note=", ".join(blame))


def colours_of_rows(
    trace: Trace, workers: Workers, rows: Rows, titles: Sequence[str]
) -> list[str]:
    """Return the colour of each row, by its *titles*; a worker has that of its first work."""
    of_workers = {
        workers[stage].worker: stage
        for stage in reversed(trace.stages)
        if stage in workers and stage.role not in (START, FILL)
    }
    looks = [of_workers.get(row, title) for row, title in zip(rows, titles, strict=True)]
    colours = colours_of(looks)
    return [colours[look] for look in looks]


def stages_of_workers(trace: Trace) -> Workers:
    """Find the stages of what a loader's workers do; return the three shown for each of them."""
    found: Workers = {}
    names = trace.recorded.names
    for loader in (name.position.site for name in names if name.role == QUEUE):
        own = {name.role: name for name in names if name.position.site == loader}
        for stage in names:
            site = stage.position.site
            if site[: len(loader)] == loader and (site, stage.role) != (loader, TAKE):
                found[stage] = WorkerRows(own[QUEUE], own[FILL], own[AHEAD])
    return found


def bars_of_work(
    trace: Trace, workers: Workers, rows: Rows, names: list[str]
) -> tuple[list[Bar], list[tuple[int, Span]]]:
    """Return a bar for each call and worker's batch, and the waits of calls with their numbers.

    A worker has a bar for its start, too. A background task that waits for elements to hand on,
    like a prefetch, holds up nothing. The accelerator's waits are shown as idle time, but for
    those within a step.
    """
    members = trace.recorded.members.items()
    batch_of = {sample: batch for batch, samples in members for sample in samples}
    batches: dict[tuple[int, int, int], list[int]] = {}  # of spans, by row, lane and batch
    bars: list[Bar] = []
    waits: list[tuple[int, Span]] = []
    for index, span in enumerate(trace.spans):
        stage = span.stage
        kind = span.kind
        start = span.start_ns
        end = span.end_ns
        if stage in workers:
            row = rows.get(workers[stage].worker)
            if row is None:  # its workers did no work
                continue
            if stage.role == FILL or (kind in WAITS and kind != NO_CORE):
                continue  # a batch is one bar, with all that it waits for
            if stage.role == START:
                bars.append(Bar(row, span.lane, start, end, START, "", (index,)))
            else:
                batch = batch_of.get(span.element, span.element)
                batches.setdefault((row, span.lane, batch), []).append(index)
        elif kind in WAITS:
            is_seen = kind == NO_CORE or stage.role not in ACCELERATOR
            if is_seen and (kind != EMPTY or stage in rows):
                waits.append((index, span))
        elif end > start:
            label = names[span.element]
            bars.append(Bar(rows[stage], span.lane, start, end, "work", label, (index,)))
    for (row, lane, batch), indices in batches.items():
        start = trace.spans[indices[0]].start_ns
        end = trace.spans[indices[-1]].end_ns
        bars.append(Bar(row, lane, start, end, "work", names[batch], tuple(indices)))
    return sorted(bars, key=attrgetter("start")), waits


def in_lane(bar: Bar, ends: list[int], is_kept: bool) -> Bar:
    """Return *bar* in a lane that is free; *ends* has when the last bar of each lane ends.

    A row whose lanes are kept has all that its bars name.
    """
    if is_kept:
        ends += [0] * (bar.lane + 1 - len(ends))
    lane = bar.lane
    if lane >= len(ends) or ends[lane] > bar.start:
        free = (lane for lane, end in enumerate(ends) if end <= bar.start)
        lane = next(free, len(ends))
    ends[lane : lane + 1] = [bar.end]
    return bar if lane == bar.lane else bar._replace(lane=lane)


def bars_of_waits(
    spans: list[Span], waits: list[tuple[int, Span]], rows: Rows, work: list[Bar]
) -> Iterator[Bar]:
    """Give a bar for each wait of a call, and of a background task that held up a bar of *work*."""
    # The starts and ends of the bars in a lane, in order
    taken: dict[tuple[int, int], list[tuple[int, int]]] = {}
    # The row and lane of the bar that a span with this start, cause and lane has begun
    held_up: dict[tuple[int, int, int], tuple[int, int]] = {}
    for bar in work:
        taken.setdefault((bar.row, bar.lane), []).append((bar.start, bar.end))
        span = spans[bar.spans[-1]]
        if span.stage.role not in ACCELERATOR:
            held_up[span.start_ns, span.cause, span.lane] = bar.row, bar.lane
    for index, span in waits:
        end = span.end_ns
        at: tuple[int, int] | None  # its row and lane
        if span.stage in rows:
            at = rows[span.stage], span.lane
        else:
            at = held_up.get((end, span.cause, span.lane))
        if at is not None and (bars := taken.get(at)):
            before = bisect_left(bars, (end, 0))
            start = max(span.start_ns, bars[before - 1][1] if before else 0)
            if start < end:
                bars.insert(before, (start, end))
                yield Bar(*at, start, end, span.kind, "", (index,), span.place)


def stairs(row: int, events: Iterable[BufferEvent]) -> list[Bar]:
    """Return a step for each time in which as many elements had come as had not left yet."""
    count = 0
    steps: list[tuple[int, int, int]] = []  # from when, until when, and how many
    for event, after in pairwise(sorted(events, key=attrgetter("time_ns"))):
        count += event.change
        if count and event.time_ns < after.time_ns:
            steps.append((event.time_ns, after.time_ns, count))
    most = max((count for *_, count in steps), default=0)
    return [
        Bar(row, 0, start, end, COUNT, str(count), level=count / most)
        for start, end, count in steps
    ]


def labels(trace: Trace) -> list[str]:
    """Name each element by its sample's number, after a letter if there are several files.

    A batch of a loader has its number in the epoch, any other batch those of its samples.
    """
    known = trace.identities
    batches = trace.recorded.members
    worked_on = {span.element for span in trace.work}
    samples = worked_on.union(*(batches[one] for one in worked_on if one in batches))
    files = sorted({known[sample].instance for sample in samples - {0}})
    letters = {file: letter_of(number) for number, file in enumerate(files)}
    if len(files) == 1:
        letters = {}
    names = [
        letters.get(instance, "") + (str(sample) if sample >= 0 else "")
        for instance, _, sample in known
    ]
    numbers = trace.recorded.numbers
    for batch, members in batches.items():
        parts = [(known[sample], names[sample]) for sample in members]
        names[batch] = str(numbers.get(batch, "")) or batch_label(parts)
    return names


def batch_label(members: list[tuple[Identity, str]]) -> str:
    """Name a batch by its first and last sample; if others stand between them, by each."""
    (first, name), (last, _) = members[0], members[-1]
    if len(members) == 1:
        return name
    if all(
        one == (first.instance, first.epoch, first.sample + index)
        for index, (one, _) in enumerate(members)
    ):
        return f"{name}-{last.sample}"
    more = ["..."] if len(members) > 4 else []
    return " ".join([name for _, name in members[:4]] + more)


def letter_of(number: int) -> str:
    """Return the letter of a file by its *number*; after the last letter the number itself."""
    return string.ascii_uppercase[number] if number < 26 else f"{number}."


def colours_of(stages: Sequence[str]) -> dict[str, str]:
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
