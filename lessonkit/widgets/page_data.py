"""A run as the page draws it: the layout, the plumbing and the figures, in columns of plain numbers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from lessonkit.engine.trace import BufferEvent, Trace
from lessonkit.explain.critical_path import Step, shares
from lessonkit.explain.data_quality import data_quality
from lessonkit.explain.limits import limits
from lessonkit.explain.plumbing import plumbing
from lessonkit.pictures.layout import Bar, Layout, ink_on, layout
from lessonkit.words import milliseconds, percent, samples, size

MOST_BARS = 5000  # that a page draws well, and anybody can see
LIMITS = {
    "accelerator": "its own work",
    "first element": "first sample",
    "source": "the reader",
    "slowest sample": "the slowest sample",
    "cores": "the cores",
    "interpreter lock": "the interpreter lock",
    "epochs": "epoch by epoch",
}


def page_data(trace: Trace) -> dict[str, Any]:
    """Collect everything that the page shows of a run; times in microseconds."""
    laid = layout(trace)
    decided = note = decides(laid)
    if len(laid.bars) > MOST_BARS:
        note = f"Only the first {MOST_BARS:,} of {len(laid.bars):,} bars are drawn. {note}"
        first = sorted(laid.bars, key=lambda bar: bar.start)[:MOST_BARS]
        laid = replace(laid, bars=tuple(first))
    names = {row.stage: number for number, row in enumerate(laid.rows)}
    places = {bar.span: place for place, bar in enumerate(laid.bars) if bar.span >= 0}
    busy = percent(trace.busy("Train"))
    return {
        "end": micros([laid.duration])[0],
        "samples": trace.samples,
        "rows": [[row.stage, row.lanes, row.colour, ink_on(row.colour)] for row in laid.rows],
        "bars": bars(laid, trace, places),
        "path": path(laid, places),
        "epochs": micros(laid.epochs),
        "parts": [
            [part.name, [names[stage] for stage in part.stages if stage in names], part.calls, part.buffer]
            for part in plumbing(trace)
        ],
        "buffers": [
            [buffer.name, buffer.capacity, most]
            for buffer, most in zip(trace.buffers, most_held(trace), strict=True)
        ],
        "events": events(trace, laid.names),
        "figures": figures(trace, busy),
        "summary": summary(trace, busy, decided),
        "note": note,
        "data": ", ".join(data_quality(trace).words),
        "perSample": trace.per_sample if trace.samples else None,
    }


def most_held(trace: Trace) -> list[int]:
    """Count how many elements each buffer held at most."""
    now = {buffer.name: 0 for buffer in trace.buffers}
    most = dict(now)
    for buffer, _, change, _, _ in trace.events:
        now[buffer] += change
        if now[buffer] > most[buffer]:
            most[buffer] = now[buffer]
    return list(most.values())


def bars(laid: Layout, trace: Trace, places: dict[int, int]) -> dict[str, Sequence[Any]]:
    """The bars; *cause* is the bar that a bar had to wait for, *who* the samples that it is about.

    *places* says of each span which bar it is.
    """
    rows, lanes, starts, ends, kinds, labels, numbers, notes = columns(laid.bars, len(Bar._fields))
    spans = [trace.spans[number] if number >= 0 else None for number in numbers]
    starts, batches = micros(starts), trace.batches
    return {
        "row": rows,
        "lane": lanes,
        "start": starts,
        "length": [end - start for start, end in zip(starts, micros(ends), strict=True)],
        "kind": ["" if kind == "work" else kind for kind in kinds],
        "label": labels,
        "note": notes,
        "cause": [places.get(span.cause, -1) if span else -1 for span in spans],
        "who": [batches.get(span.element, span.element) if span else () for span in spans],
    }


def path(laid: Layout, places: dict[int, int]) -> list[tuple[int, int, int]]:
    """What decided the duration: start, end and bar of each step, -1 for time that no bar accounts for."""
    numbers, _, starts, ends = columns(laid.path, len(Step._fields))
    steps = [places.get(number, -1) for number in numbers]
    return list(zip(micros(starts), micros(ends), steps, strict=True))


def events(trace: Trace, names: list[str]) -> dict[str, Sequence[Any]]:
    """What came into each buffer, and what left it."""
    buffers, times, changes, elements, sizes = columns(trace.events, len(BufferEvent._fields))
    numbers = {buffer.name: number for number, buffer in enumerate(trace.buffers)}
    return {
        "buffer": [numbers[buffer] for buffer in buffers],
        "time": micros(times),
        "change": changes,
        "label": [names[element] for element in elements],
        "element": elements,
        "bytes": sizes if trace.max_bytes else [],
    }


def figures(trace: Trace, busy: str) -> list[tuple[str, str]]:
    """The numbers that matter, each with what it is."""
    if not trace.samples:
        return [(milliseconds(trace.duration), "in all"), ("none", "samples")]
    best, most = limits(trace).bounds[0], trace.max_bytes
    held = (size(most), "memory at most") if most else (str(trace.max_held), "held at most")
    return [
        (milliseconds(trace.per_sample), "per sample"),
        (milliseconds(trace.duration), f"for {samples(trace.samples)}"),
        (busy, "accelerator busy"),
        held,
        (milliseconds(best.seconds / trace.samples), f"limit: {LIMITS[best.name]}"),
    ]


def decides(laid: Layout) -> str:
    """Which stage to look at first, in a sentence."""
    for stage, share in shares(laid.path, laid.duration).items():  # the largest comes first
        return f"{stage} decides {percent(share)} of the time."
    return ""


def summary(trace: Trace, busy: str, decided: str) -> str:
    """The picture in words, for who can not see it."""
    if not trace.samples:
        return f"No samples in {milliseconds(trace.duration)}."
    return (
        f"{samples(trace.samples)} in {milliseconds(trace.duration)}, {milliseconds(trace.per_sample)} each; "
        f"the accelerator is busy {busy} of the time. {decided}" + (" Cancelled." if trace.cancelled else "")
    ).strip()


def packed(content: Any) -> str:
    """As short as JSON can be."""
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False, check_circular=False)


def columns(rows: Sequence[tuple[Any, ...]], width: int) -> list[Sequence[Any]]:
    """The fields of all rows, field by field; there may be no rows."""
    return list(zip(*rows, strict=True)) or [()] * width


def micros(times: Iterable[int]) -> list[int]:
    """Nanoseconds as whole microseconds: finer than any screen."""
    return [(time + 500) // 1000 for time in times]
