"""A run as the page draws it: layout, plumbing and figures, as plain numbers and texts."""

import json
from collections.abc import Sequence
from typing import Any

from lessonkit.engine.trace import Trace
from lessonkit.explain.critical_path import critical_path, ended
from lessonkit.explain.data_quality import data_quality
from lessonkit.explain.limits import limits
from lessonkit.explain.plumbing import plumbing
from lessonkit.pictures.layout import NOT_WORK, Layout, batch_label, layout
from lessonkit.pictures.timeline import strip_scene
from lessonkit.words import counted, milliseconds, percent, size

Json = dict[str, Any]  # an object as the page gets it


def page_data(trace: Trace, most: int = 5000) -> Json:
    """Collect everything that the page shows of *trace*; times in microseconds.

    It draws at most *most* bars, because more cannot be told apart.
    """
    laid = layout(trace)
    path = critical_path(trace)
    note = path.sentence
    figures, words, limit = figures_and_words(trace, note)
    if len(laid.bars) > most:
        note = f"Only the first {most:,} of {len(laid.bars):,} bars are drawn. {note}"
        first = sorted(laid.bars, key=lambda bar: bar.start)[:most]
        laid = laid._replace(bars=first)
    kinds = {bar.kind for bar in laid.bars}
    bar_of = {span: number for number, bar in enumerate(laid.bars) for span in bar.spans}
    return {
        "end": micros(ended(trace)),
        "unit": trace.counts[1],
        "rows": laid.rows,
        "bars": bars(laid, trace, bar_of),
        "path": sorted({bar_of[step.span] for step in path.steps if step.span in bar_of}),
        "epochs": [round(epoch.start * 1e6) for epoch in trace.epochs],
        "waits": {kind: wait for kind, wait in NOT_WORK.items() if kind in kinds},
        "parts": parts(laid, trace),
        "buffers": [*trace.buffers.items()],
        "events": events(trace, laid.names),
        "figures": figures,
        "summary": words,
        "note": note,
        "data": ", ".join(data_quality(trace)),
        "perSample": trace.per_sample if trace.samples else None,
        "limit": limit,
        "strip": strip_scene(trace.ranks, trace) if trace.ranks else None,
    }


def bars(laid: Layout, trace: Trace, bar_of: dict[int, int]) -> dict[str, Sequence[Any]]:
    """Turn bars into columns; *cause* is the bar that a bar had to wait for, *who* its samples.

    *bar_of* has the number of a bar by that of its span. Of a loader's batch, which is called by
    its number, the *note* names the samples.
    """
    batches = trace.recorded.members
    known = trace.identities
    rows = []
    for bar in laid.bars:
        start = micros(bar.start)
        where = bar.row, bar.lane, start, micros(bar.end) - start
        kind = "" if bar.kind == "work" else bar.kind
        works: tuple[Any, Any] = -1, ()
        note = bar.note
        if bar.spans:
            first = trace.spans[bar.spans[0]]
            last = trace.spans[bar.spans[-1]]
            members = batches.get(last.element)
            works = bar_of.get(first.cause, -1), members or last.element
            if members and last.element in trace.recorded.numbers:
                note = batch_label([(known[one], laid.names[one]) for one in members])
        rows.append((*where, kind, bar.label, note, round(bar.level, 3), *works))
    return columns("row lane start length kind label note level cause who", rows)


def columns(names: str, rows: Sequence[tuple[Any, ...]]) -> dict[str, Sequence[Any]]:
    """Return a column for each of *names*, of which each of *rows* has a value."""
    return {name: [row[at] for row in rows] for at, name in enumerate(names.split())}


def parts(laid: Layout, trace: Trace) -> list[list[Any]]:
    """List of each part of the pipeline: its name, rows, calls at a time, and buffer after it."""
    rows = {row.stage: number for number, row in enumerate(laid.rows)}
    listed = []
    for part in plumbing(trace):
        own = [rows[stage] for stage in part.stages if stage in rows]
        buffer = -1 if part.buffer is None else part.buffer  # as the page has it
        listed.append([part.name, own, part.calls, buffer])
    return listed


def events(trace: Trace, names: list[str]) -> dict[str, Sequence[Any]]:
    """Turn what came into buffers, and left them, into columns; *names* are those of elements."""
    numbers = {name: number for number, name in enumerate(trace.buffers)}
    rows = []
    for event in trace.events:
        buffer = numbers[event.buffer]
        time = micros(event.time_ns)
        label = names[event.element]
        rows.append((buffer, time, event.change, label, event.element, event.nbytes))
    found = columns("buffer time change label element bytes", rows)
    return found if trace.max_bytes else found | {"bytes": []}


def figures_and_words(
    trace: Trace, decided: str
) -> tuple[list[tuple[str, str]], str, float]:
    """Return the numbers that matter with their names, the run in words, and its limit.

    The words are for readers that cannot see the picture, and end with what *decided*. The
    limit is in seconds per sample.
    """
    total = milliseconds(trace.duration)
    if not trace.samples:
        return [(total, "in all"), ("none", "samples")], f"No sample in {total}.", 0
    count, unit = trace.counts
    busy = percent(trace.busy("Train"))
    most = trace.max_bytes
    held = size(most) if most else counted(trace.max_held, "elements")
    seconds, what = limit_of(trace)
    figures = [
        (milliseconds(trace.duration / count), f"per {unit[:-1]}"),
        (total, f"for {counted(count, unit)}"),
        (busy, "accelerator busy"),
        (held, "in buffers at most"),
        (milliseconds(seconds * trace.samples / count), f"limit: {what}"),
    ]
    words = f"{trace.rate}; the accelerator is busy {busy} of the time. {decided}"
    return figures, words, seconds


def limit_of(trace: Trace) -> tuple[float, str]:
    """Return the least seconds that a sample of this run can take, and what sets that limit."""
    best = limits(trace).bounds[0]
    return best.seconds / trace.samples, best.what


def packed(content: Any) -> str:
    """Write JSON as short as it can be."""
    return json.dumps(
        content, separators=(",", ":"), ensure_ascii=False, check_circular=False
    )


def micros(nanoseconds: int) -> int:
    """Round to whole microseconds: finer than any screen."""
    return (nanoseconds + 500) // 1000
