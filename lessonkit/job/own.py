"""Our own `DataLoader` as the subject of short runs: with real processes, and without PyTorch."""

from __future__ import annotations

import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from lessonkit.dataset import Dataset
from lessonkit.engine.element import stack, whole
from lessonkit.engine.node import base_of, cardinality, one_call, swap, walk
from lessonkit.engine.workers.main_process import groups
from lessonkit.job.watching import Subject, begin
from lessonkit.loader import DataLoader


def noting(*parts: Any) -> Any:
    """Take down that a batch is begun, or that a sample more of it is."""
    begin(1)
    return whole(parts)


def noting_all(values: list[Any]) -> list[Any]:
    """Take down that a batch is begun, all of which is fetched with one call."""
    begin(len(values))
    return values


class OwnSubject(Subject):
    """A `DataLoader` of ours, with a step. Its first map notes when a batch is begun."""

    passed = ("worker_init_fn", "getitems", "in_order")

    def __init__(self, loader: DataLoader, step: Callable[[Any], Any]) -> None:
        options = loader.node.arguments
        batches, order, size = (
            options["batch_sampler"],
            options["sampler"],
            options["batch_size"],
        )
        if size is None:
            raise ValueError(
                "batch_size=None: must be a number, a loader without batches cannot be measured"
            )
        self.kind, self.step = DataLoader, step
        self.loader = SimpleNamespace(
            **options | {"collate_fn": options["collate_fn"] or stack}
        )
        self.batch_size = size if batches is None else 0
        inner = loader.node.inputs[0]
        base = base_of(inner)
        self.stream, self.has_batches = base is None, True
        first = base or next(walk(inner))
        note = noting_all if one_call(loader.node) else noting
        self.dataset = Dataset(swap(inner, first, first.then("map", map_func=note)))
        if base is None:
            batches = ()
        elif batches is None:
            if order is None:
                order = range(cardinality(base) or len(list(Dataset(base))))
            if options["shuffle"]:
                order = random.sample(order, len(order))
            batches = groups(iter(order), size, options["drop_last"])
        self.ask(batches)
        if self.count is None:
            self.count = cardinality(loader.node)

    def for_workers(self, workers: int) -> dict[str, Any]:
        return {}
