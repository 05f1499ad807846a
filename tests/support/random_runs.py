"""Runs of random pipelines on random machines, recorded: for rules that hold for every run."""

from functools import cache
from typing import Any, NamedTuple

from lessonkit import Dataset, Machine, Trace, benchmark
from support.random_pipelines import loaded, pipeline, seeds, without_storages

COSTS = (0, 0.003, 0.010, 0.050)  # seconds
SHORT = (0, 0.0002, 0.0005, 0.002)  # for runs on the real clock
MS = 1_000_000  # ns


class Run(NamedTuple):
    """A run, and what ran."""

    seed: int
    dataset: Dataset
    machine: Machine
    trace: Trace


@cache
def runs() -> list[Run]:
    """300 of operators and 150 with loaders, by numbers; in some of them nothing happens."""
    found = []
    for seed in seeds(300):
        dataset = pipeline(seed, COSTS)
        machine = Machine((1, 2, 4)[seed % 3])
        load = (0, 0.003)[seed // 3 % 2]
        train = (0.010, 0, 0.003, 0.050)[seed // 6 % 4]
        trace = benchmark(dataset, 1 + seed % 3, train, load, machine=machine)
        found.append(Run(seed, dataset, machine, trace))
    return found + [run_of_loader(seed) for seed in seeds(150)]


def run_of_loader(
    seed: int, costs: tuple[float, ...] = COSTS, clock: str = "virtual"
) -> Run:
    """A run of a pipeline with a loader: some end early, copy ahead, or only launch their steps."""
    dataset = loaded(seed, costs)
    of_loop = costs[:2]
    if clock == "real":
        dataset = without_storages(dataset)
    machine = Machine(
        (1, 2, 4)[seed % 3], (1.0, 1.5, 2.0)[seed // 4 % 3] if seed % 4 == 1 else None
    )
    load = of_loop[seed // 3 % 2]
    train = (costs[2], *costs[:2], costs[3])[seed // 6 % 4]
    early = (None, None, None, 5)[seed // 24 % 4]
    ahead = seed // 96 % 2 == 1
    options: dict[str, Any] = {
        "machine": machine,
        "max_elements": early,
        "ahead": ahead,
        "queue": (0, 0, 1, 3)[seed // 48 % 4],
        "clock": clock,
    }
    trace = benchmark(dataset, 1 + seed % 3, train, load, **options)
    return Run(seed, dataset, machine, trace)
