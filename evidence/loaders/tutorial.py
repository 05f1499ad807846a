"""The loaders of PyTorch's tutorial *Data Loading Optimization in PyTorch*, measured without a GPU.

A sample is a sleep, and so is a step. Each loader runs several times; the run in the middle counts.
"""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from torch.utils.data import DataLoader, Dataset

from evidence.record import Case, Conditions


class Slow(Dataset):
    """Samples that sleep."""

    def __init__(self, count: int, seconds: float) -> None:
        self.count = count
        self.seconds = seconds

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> int:
        time.sleep(self.seconds)
        return index


class SlowByBatch(Slow):
    """The same, with one call for a batch, which sleeps as long as one sample does."""

    def __getitems__(self, indices: list[int]) -> list[int]:
        """Give all samples of a batch."""
        time.sleep(self.seconds)
        return indices


@dataclass
class Training:
    """The seconds of all epochs, and those of starting and of ending the workers of one."""

    seconds: float
    iter: float
    end: float


def measure(cases: Iterable[Case], conditions: Conditions) -> Iterator[Case]:
    """Run each loader and note what its training takes."""
    for case in cases:
        runs = [trained(case, conditions) for _ in range(conditions["runs"])]
        middle = sorted(runs, key=lambda one: one.seconds)[len(runs) // 2]
        yield case | {
            "seconds": round(middle.seconds, 3),
            "iter": round(middle.iter, 4) if case["num_workers"] else 0,
            "end": round(middle.end, 4) if ends_each_epoch(case) else 0,
        }


def ends_each_epoch(case: Case) -> bool:
    """Whether there are workers, and an epoch ends them."""
    return bool(case["num_workers"]) and not case["persistent_workers"]


def loader(case: Case, said: Conditions) -> Any:
    """Make the loader of a case."""
    kind = SlowByBatch if case["getitems"] else Slow
    return DataLoader(
        kind(said["samples"], said["sample_s"]),
        batch_size=said["batch_size"],
        num_workers=case["num_workers"],
        persistent_workers=case["persistent_workers"],
    )


def trained(case: Case, said: Conditions) -> Training:
    """Train, and watch the first epoch: its `iter` starts all workers, and its last `next` ends them."""
    made = loader(case, said)
    began = time.perf_counter()
    first = starts = ends = 0.0
    for epoch in range(said["epochs"]):
        asked = time.perf_counter()
        batches = iter(made)
        first = time.perf_counter() - asked
        for _ in batches:
            time.sleep(said["step_s"])
            asked = time.perf_counter()
        last = time.perf_counter() - asked
        if not epoch:
            starts = first
            ends = last
    return Training(time.perf_counter() - began, starts, ends)
