"""The file for Perfetto holds every span, in rows without overlaps, and the level of every buffer."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from lessonkit import ArtificialDataset, Dataset, Trace, benchmark


def written(trace: Trace, path: Path) -> list[dict[str, Any]]:
    trace.to_perfetto(path)
    whole = json.loads(path.read_text())
    assert whole["displayTimeUnit"] == "ms"
    events: list[dict[str, Any]] = whole["traceEvents"]
    return events


def busy_run() -> Trace:
    files = Dataset.range(3).interleave(lambda file: ArtificialDataset(4), 2, 1, 2)
    mapped = files.prefetch(1).map(cost=0.020, kind="python", num_parallel_calls=2)
    return benchmark(mapped.prefetch(2).batch(2))


def test_every_span_is_there_in_microseconds(tmp_path: Path) -> None:
    trace = busy_run()
    spans = [event for event in written(trace, tmp_path / "trace.json") if event["ph"] == "X"]
    assert sorted((event["ts"], event["dur"]) for event in spans) == sorted(
        (span.start_ns / 1e3, (span.end_ns - span.start_ns) / 1e3) for span in trace.spans
    )
    trained = next(event for event in spans if event["name"] == "Train")
    assert trained["cat"] == "work"
    assert trained["args"] == {"kind": "wait", "source": 1, "epoch": 0, "sample": 0}
    waits = {event["name"] for event in spans if event["cat"] == "wait"}
    assert waits == {"buffer empty", "buffer full", "interpreter lock held"}


def test_nothing_overlaps_in_a_row_and_rows_are_named_in_the_order_of_the_stages(tmp_path: Path) -> None:
    events = written(busy_run(), tmp_path / "trace.json")
    rows = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            rows[event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for spans in rows.values():
        assert all(
            end <= start + 1e-6
            for (_, end), (start, _) in zip(sorted(spans), sorted(spans)[1:], strict=False)
        )
    names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    assert set(names) == set(rows)
    order = [names[row].rsplit(" ", 1)[0] for row in sorted(names)]
    assert list(dict.fromkeys(order))[:4] == ["Open", "Read", "Map", "Train"]
    assert {"Prefetch", "Prefetch 2"} < set(order)  # two operators, which wait at the same time


def test_a_counter_says_what_each_buffer_holds(tmp_path: Path) -> None:
    trace = benchmark(ArtificialDataset().prefetch(2), num_epochs=1)
    levels = [event for event in written(trace, tmp_path / "trace.json") if event["ph"] == "C"]
    assert {event["name"] for event in levels} == {"prefetch(2)"}
    assert [event["args"]["elements"] for event in levels] == [1, 0, 1, 0, 1, 0]
