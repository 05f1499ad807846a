"""Random pipelines, the same for the same seed, for rules that hold for every pipeline."""

import random
from collections.abc import Callable
from typing import Any

from lessonkit import ArtificialDataset, Dataset, work

TINY = (0, 1e-5, 3e-5, 1e-4)  # seconds


def pipeline(seed: int, costs: tuple[float, ...] = TINY, *, failing: bool = False) -> Dataset:
    """A pipeline of up to five operators whose order is defined; if asked, with functions that fail."""
    draw = random.Random(seed)
    dataset = source(draw, costs)
    for _ in range(draw.randint(0, 5)):
        dataset = draw.choice([failed, *STEPS] if failing else STEPS)(draw, dataset, costs)
    return dataset


class PlannedError(Exception):
    """What a function that fails raises."""


def failed(draw: random.Random, dataset: Dataset, costs: tuple[float, ...]) -> Dataset:
    last, usual = draw.choice("0123456789"), draw.choice(costs)

    def fails(*value: Any) -> Any:
        work(usual)
        if last in repr(value):
            raise PlannedError(value)
        return value[0] if len(value) == 1 else value

    return dataset.map(fails, num_parallel_calls=draw.choice([None, 1, 2, 4]))


def some(draw: random.Random, most: int) -> int:
    """Now and then none, but mostly a few: an empty pipeline shows little."""
    return draw.randint(1, most) if draw.random() < 0.95 else 0


def source(draw: random.Random, costs: tuple[float, ...]) -> Dataset:
    if draw.random() < 0.5:
        return ArtificialDataset(some(draw, 12), open=draw.choice(costs), read=draw.choice(costs))
    files, samples = some(draw, 5), some(draw, 5)
    opening, reading = draw.choice(costs), draw.choice(costs)
    cycle = draw.randint(1, 4)
    return Dataset.range(files).interleave(
        lambda x: ArtificialDataset(samples, open=opening, read=reading).map(lambda i: 10 * x + i),
        cycle_length=cycle,
        block_length=draw.randint(1, 3),
        num_parallel_calls=draw.choice([None, draw.randint(1, cycle)]),
    )


def mapped(draw: random.Random, dataset: Dataset, costs: tuple[float, ...]) -> Dataset:
    usual, special = draw.choice(costs), draw.choice(costs)
    return dataset.map(
        cost=lambda value: special if repr(value).endswith("1") else usual,
        kind=draw.choice(["wait", "native", "python"]),
        num_parallel_calls=draw.choice([None, 1, 2, 3, 8]),
    )


def batched(draw: random.Random, dataset: Dataset, costs: tuple[float, ...]) -> Dataset:
    size, drop, calls = draw.randint(1, 4), draw.random() < 0.3, draw.choice([None, 1, 3])
    batch = dataset.batch(size, drop, calls)
    return mapped(draw, batch, costs).unbatch() if draw.random() < 0.5 else batch


STEPS: list[Callable[[random.Random, Dataset, tuple[float, ...]], Any]] = [
    mapped,
    mapped,
    batched,
    lambda draw, dataset, costs: dataset.prefetch(draw.randint(0, 4)),
    lambda draw, dataset, costs: dataset.prefetch(draw.randint(0, 4)),
    lambda draw, dataset, costs: dataset.cache(),
    lambda draw, dataset, costs: dataset.shuffle(draw.randint(1, 5), seed=draw.randint(0, 9)),
    lambda draw, dataset, costs: dataset.repeat(some(draw, 3)),
    lambda draw, dataset, costs: dataset.take(draw.choice([-1, some(draw, 9)])),
    lambda draw, dataset, costs: dataset.skip(draw.choice([0, 1, 2, 3, 3, -1])),
    lambda draw, dataset, costs: dataset.filter(lambda *value: repr(value)[-3] not in "24"),
    lambda draw, dataset, costs: dataset.shard(2, draw.randint(0, 1)),
    lambda draw, dataset, costs: Dataset.zip(dataset, dataset),
    lambda draw, dataset, costs: dataset.concatenate(dataset.take(2)),
    lambda draw, dataset, costs: dataset.enumerate().map(lambda number, value: value),
]
