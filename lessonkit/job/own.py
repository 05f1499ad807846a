"""Our own `DataLoader` as the subject of short runs: with real processes, and without PyTorch."""

from __future__ import annotations

import random
from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any

from lessonkit.dataset import Dataset
from lessonkit.engine.element import stack, whole
from lessonkit.engine.node import base_of, cardinality, swap, walk
from lessonkit.job.watching import BEGUN, Collated, Subject, Watch
from lessonkit.loader import DataLoader


def noting(*parts: Any) -> Any:
    """Take down that a batch is begun, or that a sample more of it is."""
    if not BEGUN[2]:
        BEGUN[:] = perf_counter(), process_time(), 0
    value = whole(parts)
    BEGUN[2] += len(value) if isinstance(value, list) else 1  # all of a batch, with one call
    return value


class OwnSubject(Subject):
    """A `DataLoader` of ours, with a step. Its first map notes when a batch is begun."""

    batch_size: int

    def __init__(self, loader: DataLoader, step: Callable[[Any], Any]) -> None:
        self.loader, self.step, self.said = loader, step, loader.node.arguments
        inner = loader.node.inputs[0]
        base = base_of(inner)
        self.stream, self.batch_size = base is None, self.said["batch_size"] or 0
        if not self.batch_size:
            raise ValueError("batch_size=None: must be a number, a loader without batches cannot be measured")
        first = base or next(walk(inner))
        self.pipeline = Dataset(swap(inner, first, first.then("map", map_func=noting)))
        self.batches = []
        if base is not None:
            order = list(self.said["sampler"] or range(cardinality(base) or len(list(Dataset(base)))))
            if self.said["shuffle"]:
                random.shuffle(order)
            starts = range(0, len(order), self.batch_size)
            groups = [order[start : start + self.batch_size] for start in starts]
            self.batches = list(self.said["batch_sampler"] or groups)

    @property
    def usual(self) -> dict[str, Any]:
        """The arguments of the loader as it was written that a forecast may change."""
        names = ("num_workers", "prefetch_factor", "persistent_workers")
        return {name: self.said[name] for name in names}

    def go(self, workers: int, limit: float, *, step: bool = False, factor: int = 2, size: int = 1) -> Watch:
        said: dict[str, Any] = {name: self.said[name] for name in ("worker_init_fn", "getitems")}
        said |= {"collate_fn": Collated(self.said["collate_fn"] or stack), "num_workers": workers}
        said |= {"prefetch_factor": factor} if workers else {}
        said |= (
            {"batch_size": self.batch_size * size} if self.stream else {"batch_sampler": self.grouped(size)}
        )
        return self.watch(DataLoader(self.pipeline, **said), workers, limit, self.step if step else None)
