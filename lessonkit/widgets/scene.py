"""A run as the page draws it: the layout, the plumbing and the figures, in columns of plain numbers."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from lessonkit.analysis.critical_path import shares
from lessonkit.analysis.limits import limits
from lessonkit.analysis.seen import seen
from lessonkit.dataset import Dataset
from lessonkit.layout import Layout, ink_on, layout
from lessonkit.plumbing import plumbing
from lessonkit.trace import Trace
from lessonkit.words import milliseconds, percent, samples, size
from lessonkit.work import Machine

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


def scene(trace: Trace, dataset: Dataset, machine: Machine | None = None) -> dict[str, Any]:
    """Everything that the page shows of a run; times in microseconds."""
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
        "end": micros(laid.duration),
        "samples": trace.samples,
        "rows": [[row.stage, row.lanes, row.colour, ink_on(row.colour)] for row in laid.rows],
        "bars": bars(laid, trace, places),
        "path": path(laid, places),
        "epochs": [micros(start) for start in laid.epochs],
        "parts": [
            [part.name, [names[stage] for stage in part.stages if stage in names], part.calls, part.buffer]
            for part in plumbing(dataset, trace)
        ],
        "buffers": [
            [buffer.name, buffer.capacity, most]
            for buffer, most in zip(trace.buffers, most_held(trace), strict=True)
        ],
        "events": events(trace, laid.names),
        "figures": figures(trace, busy, dataset, machine),
        "summary": summary(trace, busy, decided),
        "note": note,
        "data": ", ".join(seen(trace, dataset).words),
        "perSample": trace.per_sample if trace.samples else None,
    }


def most_held(trace: Trace) -> list[int]:
    """How many elements each buffer held at most; two may have the same name."""
    now = [0] * len(trace.buffers)
    most = list(now)
    for event in trace.events:
        now[event.buffer] += event.change
        most[event.buffer] = max(most[event.buffer], now[event.buffer])
    return most


def bars(laid: Layout, trace: Trace, places: dict[int, int]) -> dict[str, list[Any]]:
    """The bars; *cause* is the bar that a bar had to wait for, *who* the samples that it is about.

    *places* says of each span which bar it is.
    """
    spans = [trace.spans[bar.span] if bar.span >= 0 else None for bar in laid.bars]
    return {
        "row": [bar.row for bar in laid.bars],
        "lane": [bar.lane for bar in laid.bars],
        "start": [micros(bar.start) for bar in laid.bars],
        "length": [micros(bar.end) - micros(bar.start) for bar in laid.bars],
        "kind": ["" if bar.kind == "work" else bar.kind for bar in laid.bars],
        "label": [bar.label for bar in laid.bars],
        "note": [bar.note for bar in laid.bars],
        "cause": [places.get(span.cause, -1) if span else -1 for span in spans],
        "who": [trace.batches.get(span.element, span.element) if span else () for span in spans],
    }


def path(laid: Layout, places: dict[int, int]) -> list[tuple[int, int, int]]:
    """What decided the duration: start, end and bar of each step, -1 for time that no bar accounts for."""
    return [(micros(step.start), micros(step.end), places.get(step.span, -1)) for step in laid.path]


def events(trace: Trace, names: list[str]) -> dict[str, list[Any]]:
    """What came into each buffer, and what left it."""
    shown, most = trace.events, trace.max_bytes
    return {
        "buffer": [event.buffer for event in shown],
        "time": [micros(event.time) for event in shown],
        "change": [event.change for event in shown],
        "label": [names[event.element] for event in shown],
        "element": [event.element for event in shown],
        "bytes": [event.nbytes for event in shown] if most else [],
    }


def figures(trace: Trace, busy: str, dataset: Dataset, machine: Machine | None) -> list[tuple[str, str]]:
    """The numbers that matter, each with what it is."""
    if not trace.samples:
        return [(milliseconds(trace.duration), "in all"), ("none", "samples")]
    best, most = limits(trace, dataset, machine).bounds[0], trace.max_bytes
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
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False)


def micros(nanoseconds: int) -> int:
    """Nanoseconds as whole microseconds: finer than any screen."""
    return round(nanoseconds / 1000)
