"""A trace as a file that Perfetto and `chrome://tracing` open."""

import json
from collections import Counter
from os import PathLike
from pathlib import Path
from typing import Any


def write(trace: Any, path: str | PathLike[str]) -> None:
    """Write *trace* to *path*: a row for each lane of each stage, and a counter for each buffer."""
    order = {stage: place for place, stage in enumerate(trace.stages)}  # who only waits comes last
    events: list[dict[str, Any]] = []
    ends: dict[tuple[int, str, int], int] = {}  # of what was last in each row
    for span in sorted(trace.spans, key=lambda span: span.start_ns):
        place, lane = order.get(span.stage, len(order)), span.lane
        while ends.get((place, span.stage, lane), 0) > span.start_ns:  # two at once that have the same name
            lane += 1
        ends[place, span.stage, lane] = span.end_ns
        what: dict[str, Any] = {"name": span.kind, "cat": "wait", "args": {"at": span.place}}
        if not span.is_wait:
            who = {"source": span.instance, "epoch": span.epoch, "sample": span.sample}
            what = {"name": span.stage, "cat": "work", "args": {"kind": span.kind} | who}
        times = {"ts": span.start_ns / 1e3, "dur": (span.end_ns - span.start_ns) / 1e3}  # microseconds
        events.append({"ph": "X", "tid": (place, span.stage, lane)} | times | what)
    rows = {row: number for number, row in enumerate(sorted(ends), 1)}
    for event in events:
        event["tid"] = rows[event["tid"]]
    for (_, stage, lane), number in rows.items():
        named = {"name": "thread_name", "args": {"name": f"{stage} {lane + 1}"}}
        placed = {"name": "thread_sort_index", "args": {"sort_index": number}}
        events += ({"ph": "M", "tid": number} | what for what in (named, placed))
    held = Counter[str]()
    for change in trace.events:
        held[change.buffer] += change.change
        level = {"ts": change.time_ns / 1e3, "args": {"elements": held[change.buffer]}}
        events.append({"ph": "C", "tid": 0, "name": change.buffer} | level)
    whole = {"traceEvents": [event | {"pid": 1} for event in events], "displayTimeUnit": "ms"}
    Path(path).write_text(json.dumps(whole), encoding="utf-8")
