"""Every tool knows every loader: rules that hold for random pipelines with loaders in them.

200 of them run on the virtual clock and 30 on the real one; LESSONKIT_LOADERS and
LESSONKIT_REAL_LOADERS ask for more, for a long run before a release.
"""

import os
import random
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from math import inf
from typing import Any

from support.random_runs import SHORT, Run, run_of_loader

from lessonkit import Dataset, Trace, benchmark
from lessonkit.analysis import critical_path, data_quality, limits, memory
from lessonkit.code import Program
from lessonkit.engine.node import Node, rebuilt
from lessonkit.engine.trace import CACHE
from lessonkit.explain.critical_path import RUNTIME, ended, idle_stretches
from lessonkit.explain.plumbing import plumbing
from lessonkit.optimize import RULES, rewrite
from lessonkit.pictures.layout import layout
from lessonkit.widgets.page_data import packed, page_data

COUNT = int(os.environ.get("LESSONKIT_LOADERS", "200"))
REAL = int(os.environ.get("LESSONKIT_REAL_LOADERS", "30"))
RULE_SETS: list[list[str] | None] = [
    None,
    list(RULES),
    ["noop_elimination", "map_vectorization"],
]


def elements(trace: Trace) -> list[list[Any]]:
    return [epoch.elements for epoch in trace.epochs]


def path_is_as_long_as_the_run(run: Run) -> None:
    path = critical_path(run.trace)
    assert sum(end - start for *_, start, end in path.steps) == ended(run.trace)
    assert all(before.end_ns == after.start_ns for before, after in pairwise(path.steps))
    # Which no span has
    assert RUNTIME not in path.shares or "handling" in repr(run.dataset)


def no_bar_lies_over_another(run: Run) -> None:
    found = layout(run.trace)
    ends = dict[tuple[int, int], int]()
    for bar in sorted(found.bars, key=lambda bar: bar.start):
        assert 0 <= bar.start < bar.end <= ended(run.trace)
        assert bar.lane < found.rows[bar.row].lanes
        assert ends.get((bar.row, bar.lane), 0) <= bar.start
        ends[bar.row, bar.lane] = bar.end


def no_limit_is_above_the_run(run: Run) -> None:
    assert limits(run.trace).bound <= run.trace.duration


def no_order_and_no_more_places_beat_the_limit(run: Run) -> None:
    draw = random.Random(run.seed)

    def turned(_: Node, node: Node) -> Node:
        if not node.arguments.get("num_workers"):
            return node
        return node.replace(
            prefetch_factor=draw.randint(1, 9), in_order=draw.random() < 0.5
        )

    if "cache" in repr(run.dataset) or run.trace.options.max_elements:
        # One that is filled at another time saves work, and other elements take other work
        return
    options = vars(run.trace.options) | {"machine": run.machine, "record": False}
    faster = Dataset(rebuilt(run.dataset.node, {}, turned))
    assert limits(run.trace).bound <= benchmark(faster, **options).duration


def passing_through(name: str, capacity: int) -> int:
    """Parallel calls hold one element more, which is waited for; operators may be several."""
    calls = re.search(r": (\d+) calls?", name)
    return capacity // int(calls[1]) if calls else 0


def buffers_hold_what_they_have_room_for(run: Run) -> None:
    held = memory(run.trace)
    assert sum(steps[-1][2] for steps in held.values() if steps) <= run.trace.max_bytes
    for name, capacity in run.trace.buffers.items():
        counts = [0, *(count for _, count, _ in held[name])]
        assert min(counts) == 0
        assert max(counts) <= (
            inf if capacity is None else capacity + passing_through(name, capacity)
        )
        assert name.role == CACHE or counts[-1] == 0


def every_page_can_be_drawn(run: Run) -> None:
    assert packed(page_data(run.trace))
    assert plumbing(run.trace)
    assert data_quality(run.trace) is not None
    assert str(run.trace)
    idle = sum(gap.end_ns - gap.start_ns for gap in idle_stretches(run.trace))
    assert 0 <= idle <= round(run.trace.duration * 1e9)


def rewriting_keeps_the_elements(run: Run) -> None:
    text = repr(run.dataset)
    if "in_order=False" in text:
        return  # there the order hangs on times, which rules change
    if "shuffle(" in text and "zip(" in text:
        return  # a shuffle that two share gives its orders to the one that comes first
    options: dict[str, Any] = {"num_epochs": 2, "train": 1e-5, "keep": True}
    after = rewrite(run.dataset, RULE_SETS[run.seed % 3]).dataset
    assert elements(benchmark(after, **options)) == elements(
        benchmark(run.dataset, **options)
    )


def the_program_builds_it(run: Run) -> None:
    program = Program()
    text = program.text(run.dataset.node)
    names = dict(program.missing)
    exec(text, names)
    # What is used twice has a cache of its own each
    if "zip" not in text and "concatenate" not in text:
        ours, theirs = (benchmark(one, 1, 0) for one in (run.dataset, names["dataset"]))
        assert (ours.duration, elements(ours)) == (theirs.duration, elements(theirs))
    compile(run.dataset.code("torch"), "a program", "exec")


HOLDS: list[Callable[[Run], None]] = [
    path_is_as_long_as_the_run,
    no_bar_lies_over_another,
    no_limit_is_above_the_run,
    no_order_and_no_more_places_beat_the_limit,
    buffers_hold_what_they_have_room_for,
    every_page_can_be_drawn,
    rewriting_keeps_the_elements,
    the_program_builds_it,
]


def causes_come_before(run: Run) -> None:
    assert all(span.cause < index for index, span in enumerate(run.trace.spans))
    assert sum(end - start for *_, start, end in critical_path(run.trace).steps) == ended(
        run.trace
    )


def elements_are_those_of_the_model(run: Run) -> None:
    text = repr(run.dataset)
    options = run.trace.options
    if "shuffle(" in text and ("zip(" in text or "concatenate(" in text):
        return  # a shuffle that two share gives its orders to the one that comes first
    broken_off = options.max_elements or "take(" in text or "zip(" in text
    if "cache(" in text and broken_off:
        return  # whether it was complete by then hangs on times
    expected = elements(benchmark(run.dataset, **vars(options)))
    found = elements(run.trace)
    if "in_order=False" in text:
        if options.max_elements or run.dataset.node.method != "DataLoader":
            return  # which of them come, or are put together, hangs on times
        expected = [sorted(map(repr, epoch)) for epoch in expected]
        found = [sorted(map(repr, epoch)) for epoch in found]
    assert found == expected


HOLDS_FOR_REAL: list[Callable[[Run], None]] = [
    causes_come_before,
    elements_are_those_of_the_model,
    no_bar_lies_over_another,
    no_limit_is_above_the_run,
    buffers_hold_what_they_have_room_for,
    every_page_can_be_drawn,
]


def violations(
    runs: Iterator[Run], rules: list[Callable[[Run], None]]
) -> Iterator[tuple[int, str]]:
    """Give each rule that does not hold, with the seed for which it does not."""
    for run in runs:
        for rule in rules:
            try:
                rule(run)
            except Exception as error:
                yield (
                    run.seed,
                    f"{rule.__name__}: {type(error).__name__} {str(error)[:200]}",
                )


def test_every_tool_knows_every_loader() -> None:
    assert [*violations(map(run_of_loader, range(COUNT)), HOLDS)] == []


def test_every_tool_knows_every_loader_for_real() -> None:
    found = (run_of_loader(seed, SHORT, "real") for seed in range(REAL))
    assert [*violations(found, HOLDS_FOR_REAL)] == []
