"""A run as the page draws it: layout, plumbing and figures, as plain numbers and texts."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from lessonkit.engine.trace import Trace
from lessonkit.explain.critical_path import critical_path, ended
from lessonkit.explain.data_quality import data_quality
from lessonkit.explain.limits import Limits, limits
from lessonkit.explain.plumbing import plumbing
from lessonkit.pictures.layout import NOT_WORK, Layout, Row, batch_label, layout
from lessonkit.pictures.roofs import roofs_scene
from lessonkit.pictures.scene import (
    BarColumns,
    EventColumns,
    PartScene,
    RowScene,
    Scene,
    WaitScene,
)
from lessonkit.pictures.strip import strip_scene
from lessonkit.words import OUR_WORDS, counted, milliseconds, percent, size, worded

Json = dict[str, Any]  # an object as the page gets it


def page_data(
    trace: Trace,
    most: int = 5000,
    words: Mapping[str, str] = OUR_WORDS,
    *,
    roofs: bool = False,
) -> Scene:
    """Collect everything that the page shows of *trace*, in the *words* of that page.

    It draws at most *most* bars, because more cannot be told apart, and its *roofs* if they are asked for.
    """
    laid = layout(trace)
    path = critical_path(trace)
    note = path.sentence
    found = limits(trace)
    figures, summary, limit = figures_and_words(trace, note, found)
    if len(laid.bars) > most:
        note = f"Only the first {most:,} of {len(laid.bars):,} bars are drawn. {note}"
        first = sorted(laid.bars, key=lambda bar: bar.start)[:most]
        laid = laid._replace(bars=first)
    bar_of = {span: number for number, bar in enumerate(laid.bars) for span in bar.spans}
    drawn: Scene = {
        "end": micros(ended(trace)),
        "unit": trace.counts[1],
        "rows": rows_of(laid.rows),
        "bars": bars(laid, trace, bar_of),
        "path": sorted({bar_of[step.span] for step in path.steps if step.span in bar_of}),
        "epochs": [round(epoch.start * 1e6) for epoch in trace.epochs],
        "waits": waits({bar.kind for bar in laid.bars}),
        "parts": parts(laid, trace),
        "buffers": [
            {"name": name, "capacity": room} for name, room in trace.buffers.items()
        ],
        "events": events(trace, laid.names),
        "figures": figures,
        "summary": summary,
        "note": note,
        "data": ", ".join(data_quality(trace)),
        "perSample": trace.per_sample if trace.samples else None,
        "limit": limit,
        "words": dict(words),
        "strip": strip_scene(trace.ranks, trace) if trace.ranks else None,
    }
    if roofs and trace.samples and found.bound:
        drawn["roofs"] = roofs_scene(found.roofs)
    if words:
        say_in(words, drawn)
    return drawn


def say_in(words: Mapping[str, str], drawn: Scene) -> None:
    """Put what is *drawn* into the *words* of its page."""
    for row in drawn["rows"]:
        row["stage"] = worded(row["stage"], words)
    for part in drawn["parts"]:
        part["name"] = worded(part["name"], words)
    for wait in drawn["waits"].values():
        wait["legend"] = worded(wait["legend"], words)
        wait["sentence"] = worded(wait["sentence"], words)
    drawn["figures"] = [
        (worded(value, words), worded(what, words)) for value, what in drawn["figures"]
    ]
    drawn["bars"]["note"] = [worded(note, words) for note in drawn["bars"]["note"]]
    drawn["summary"] = worded(drawn["summary"], words)
    drawn["note"] = worded(drawn["note"], words)
    drawn["data"] = worded(drawn["data"], words)


def rows_of(rows: Sequence[Row]) -> list[RowScene]:
    """Describe the *rows* of a picture."""
    return [{"stage": row.stage, "lanes": row.lanes, "colour": row.colour} for row in rows]


def bars(laid: Layout, trace: Trace, bar_of: dict[int, int]) -> BarColumns:
    """Turn the bars of a picture into columns. *bar_of* has the number of a bar by that of its span.

    Of a loader's batch, which is called by its number, the note names the samples.
    """
    batches = trace.recorded.members
    known = trace.identities
    found: BarColumns = {
        "row": [bar.row for bar in laid.bars],
        "lane": [bar.lane for bar in laid.bars],
        "start": [micros(bar.start) for bar in laid.bars],
        "length": [micros(bar.end) - micros(bar.start) for bar in laid.bars],
        "kind": ["" if bar.kind == "work" else bar.kind for bar in laid.bars],
        "label": [bar.label for bar in laid.bars],
        "note": [bar.note for bar in laid.bars],
        "level": [round(bar.level, 3) for bar in laid.bars],
        "cause": [-1] * len(laid.bars),
        "who": [()] * len(laid.bars),
    }
    for number, bar in enumerate(laid.bars):
        if not bar.spans:
            continue
        first = trace.spans[bar.spans[0]]
        last = trace.spans[bar.spans[-1]]
        members = batches.get(last.element)
        found["cause"][number] = bar_of.get(first.cause, -1)
        found["who"][number] = members or last.element
        if members and last.element in trace.recorded.numbers:
            samples = [(known[one], laid.names[one]) for one in members]
            found["note"][number] = batch_label(samples)
    return found


def waits(kinds: Collection[str]) -> dict[str, WaitScene]:
    """Describe those of *kinds* that are no work, in the order of a legend."""
    return {
        kind: {"mark": wait.pattern[0], "legend": wait.legend, "sentence": wait.sentence}
        for kind, wait in NOT_WORK.items()
        if kind in kinds
    }


def parts(laid: Layout, trace: Trace) -> list[PartScene]:
    """Describe each part of the pipeline."""
    rows = {row.stage: number for number, row in enumerate(laid.rows)}
    return [
        {
            "name": part.name,
            "rows": [rows[stage] for stage in part.stages if stage in rows],
            "calls": part.calls,
            "buffer": part.buffer,
        }
        for part in plumbing(trace)
    ]


def events(trace: Trace, names: Sequence[str]) -> EventColumns:
    """Turn what came into buffers, and left them, into columns; *names* are those of elements."""
    numbers = {name: number for number, name in enumerate(trace.buffers)}
    return {
        "buffer": [numbers[event.buffer] for event in trace.events],
        "time": [micros(event.time_ns) for event in trace.events],
        "change": [event.change for event in trace.events],
        "label": [names[event.element] for event in trace.events],
        "element": [event.element for event in trace.events],
        "bytes": [event.nbytes for event in trace.events] if trace.max_bytes else [],
    }


def figures_and_words(
    trace: Trace, decided: str, found: Limits | None = None
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
    seconds, what = limit_of(trace, found)
    figures = [
        (milliseconds(trace.duration / count), f"per {unit[:-1]}"),
        (total, f"for {counted(count, unit)}"),
        (busy, "accelerator busy"),
        (held, "in buffers at most"),
        (milliseconds(seconds * trace.samples / count), f"limit: {what}"),
    ]
    words = f"{trace.rate}; the accelerator is busy {busy} of the time. {decided}"
    return figures, words, seconds


def limit_of(trace: Trace, found: Limits | None = None) -> tuple[float, str]:
    """Return the least seconds that a sample of this run can take, and what sets that limit.

    Its limits are worked out where they are not yet *found*.
    """
    best = (found or limits(trace)).bounds[0]
    return best.seconds / trace.samples, best.what


def packed(content: object) -> str:
    """Write JSON as short as it can be."""
    return json.dumps(
        content, separators=(",", ":"), ensure_ascii=False, check_circular=False
    )


def micros(nanoseconds: int) -> int:
    """Round to whole microseconds: finer than any screen."""
    return (nanoseconds + 500) // 1000
