"""Random pipelines, the same for the same seed, for rules that hold for every pipeline.

LESSONKIT_TIMES=10 tries ten times as many of them, for a long run before a release.
"""

import os
import random
from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

from lessonkit import ArtificialDataset, DataLoader, Dataset, Handling, Storage, work
from lessonkit.engine.node import Node, base_of, cardinality, rebuilt
from lessonkit.engine.storage import Read

TINY = (0, 1e-5, 3e-5, 1e-4)  # seconds
TIMES = int(os.environ.get("LESSONKIT_TIMES", "1"))


def seeds(usual: int) -> range:
    """The seeds of *usual* random cases, or of LESSONKIT_TIMES as many."""
    return range(usual * TIMES)


def pipeline(
    seed: int, costs: tuple[float, ...] = TINY, *, failing: bool = False
) -> Dataset:
    """A pipeline of up to five operators with a defined order; if asked, with failing functions."""
    draw = random.Random(seed)
    dataset = source(draw, costs)
    for _ in range(draw.randint(0, 5)):
        dataset = draw.choice([failed, *STEPS] if failing else STEPS)(draw, dataset, costs)
    return dataset


class PlannedError(Exception):
    """What a function that fails raises."""


def failed(draw: random.Random, dataset: Dataset, costs: tuple[float, ...]) -> Dataset:
    last = draw.choice("0123456789")
    usual = draw.choice(costs)

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
    """Files that are slow on purpose, one or several, or now and then values that are there."""
    opening = draw.choice(costs)
    reading = draw.choice(costs)
    if draw.random() < 0.5:
        return ArtificialDataset(some(draw, 12), open=opening, read=reading)
    if draw.random() < 0.3:
        return draw.choice(VALUES)(some(draw, 12), reading)
    files = some(draw, 5)
    samples = some(draw, 5)

    def file(x: int) -> Dataset:
        return ArtificialDataset(samples, open=opening, read=reading).map(
            lambda i: 10 * x + i
        )

    if draw.random() < 0.1:
        return Dataset.range(files).flat_map(file)
    cycle = draw.randint(1, 4)
    return Dataset.range(files).interleave(
        file,
        cycle_length=cycle,
        block_length=draw.randint(1, 3),
        num_parallel_calls=draw.choice([None, draw.randint(1, cycle)]),
    )


def generated(samples: int, cost: float) -> Dataset:
    def numbers() -> Iterator[int]:
        for number in range(samples):
            work(cost)
            yield number

    return Dataset.from_generator(numbers)


VALUES: list[Callable[[int, float], Dataset]] = [
    lambda samples, cost: Dataset.range(samples).map(cost=cost),
    lambda samples, cost: Dataset.from_list([*range(samples)]).map(cost=cost),
    lambda samples, cost: Dataset.from_tensor_slices([*range(samples)]).map(cost=cost),
    generated,
]


def mapped(draw: random.Random, dataset: Dataset, costs: tuple[float, ...]) -> Dataset:
    usual = draw.choice(costs)
    special = draw.choice(costs)
    return dataset.map(
        cost=lambda value: special if repr(value).endswith("1") else usual,
        kind=draw.choice(["wait", "native", "python"]),
        num_parallel_calls=draw.choice([None, 1, 2, 3, 8]),
    )


def batched(draw: random.Random, dataset: Dataset, costs: tuple[float, ...]) -> Dataset:
    size = draw.randint(1, 4)
    drop = draw.random() < 0.3
    calls = draw.choice([None, 1, 3])
    batch = dataset.batch(size, drop, calls)
    return mapped(draw, batch, costs).unbatch() if draw.random() < 0.5 else batch


def mapped_in_batches(
    draw: random.Random, dataset: Dataset, costs: tuple[float, ...]
) -> Dataset:
    usual = draw.choice(costs)
    special = draw.choice(costs)
    batches = dataset.map_and_batch(
        draw.choice([None, first_part]),
        draw.randint(1, 4),
        drop_remainder=draw.random() < 0.3,
        num_parallel_calls=draw.choice([1, 2, 3, 8]),
        cost=lambda value: special if repr(value).endswith("1") else usual,
        kind=draw.choice(["wait", "native", "python"]),
    )
    return batches.unbatch() if draw.random() < 0.7 else batches


def mapped_and_kept(
    draw: random.Random, dataset: Dataset, costs: tuple[float, ...]
) -> Dataset:
    return dataset.map_and_filter(
        draw.choice([None, first_part]),
        lambda *value: repr(value)[-3] not in "35",
        cost=draw.choice(costs),
    )


STEPS: list[Callable[[random.Random, Dataset, tuple[float, ...]], Any]] = [
    mapped,
    mapped,
    batched,
    lambda draw, dataset, costs: dataset.prefetch(draw.randint(0, 4)),
    lambda draw, dataset, costs: dataset.prefetch(draw.randint(0, 4)),
    lambda draw, dataset, costs: dataset.cache(),
    lambda draw, dataset, costs: dataset.shuffle(
        draw.randint(1, 5), seed=draw.randint(0, 9)
    ),
    lambda draw, dataset, costs: dataset.repeat(some(draw, 3)),
    lambda draw, dataset, costs: dataset.take(draw.choice([-1, some(draw, 9)])),
    lambda draw, dataset, costs: dataset.skip(draw.choice([0, 1, 2, 3, 3, -1])),
    lambda draw, dataset, costs: dataset.filter(lambda *value: repr(value)[-3] not in "24"),
    lambda draw, dataset, costs: dataset.shard(2, draw.randint(0, 1)),
    lambda draw, dataset, costs: Dataset.zip(dataset, dataset),
    lambda draw, dataset, costs: dataset.concatenate(dataset.take(some(draw, 3))),
    lambda draw, dataset, costs: dataset.enumerate(draw.randint(-1, 3)),
    lambda draw, dataset, costs: dataset.take_while(lambda *value: "7" not in repr(value)),
    lambda draw, dataset, costs: dataset.shuffle_and_repeat(
        draw.randint(1, 5), draw.randint(1, 3), seed=draw.randint(0, 9)
    ),
    mapped_in_batches,
    mapped_and_kept,
]


# ---- loaders ----


def loaded(seed: int, costs: tuple[float, ...] = TINY, *, failing: bool = False) -> Dataset:
    """A pipeline with a loader of 0 to 3 workers, and up to two operators after it."""
    draw = random.Random(-1 - seed)
    samples = (
        with_random_access(draw, costs) if draw.random() < 0.6 else pipeline(seed, costs)
    )
    if failing and draw.random() < 0.7:
        samples = (
            failed(draw, samples, costs)
            if base_of(samples.node) is None
            else one_by_one(draw, samples)
        )
    dataset: Dataset = loader(draw, samples, costs)
    for _ in range(draw.choice([0, 0, 0, 1, 2])):
        dataset = draw.choice(STEPS)(draw, dataset, costs)
    return dataset


def loader(draw: random.Random, samples: Dataset, costs: tuple[float, ...]) -> DataLoader:
    """A loader over *samples*, with arguments that PyTorch allows together."""
    workers = draw.randint(0, 3)
    size = draw.choice([None, 1, 2, 3, 4])
    count = cardinality(samples.node)
    given: dict[str, Any] = {"batch_size": size, "num_workers": workers}
    given["drop_last"] = size is not None and draw.random() < 0.3
    if workers:
        given |= {
            "prefetch_factor": draw.choice([None, 1, 2, 3]),
            "persistent_workers": draw.random() < 0.3,
        }
        given |= {
            "in_order": draw.random() < 0.8,
            "start": (draw.choice(costs), draw.choice(costs)),
        }
    given["pin_memory"] = draw.random() < 0.3
    given |= {name: draw.choice((0, *costs)) for name in ("collate", "transfer")}
    if draw.random() < 0.2:
        names = [field.name for field in fields(Handling)]
        given["handling"] = Handling(**{name: draw.choice(costs) for name in names})
    if isinstance(count, int) and count and base_of(samples.node) is not None:
        order = draw.sample(range(count), draw.randint(1, count))
        ways: list[dict[str, Any]] = [
            {},
            {"shuffle": True, "generator": draw.randint(0, 9)},
            {"sampler": order},
        ]
        given |= draw.choice(ways)
        if draw.random() < 0.1:
            given |= {
                "batch_size": 1,
                "drop_last": False,
                "shuffle": None,
                "sampler": None,
            }
            given["batch_sampler"] = [order[:2], order]
    return DataLoader(samples, **given)


READ = Storage(1e6, first_byte=0.002, streams=2, cap=7e5).read(3000)


def without_storages(dataset: Dataset) -> Dataset:
    """The same without reads from a storage, which real worker processes refuse."""

    def change(_: Node, node: Node) -> Node:
        reads = isinstance(node.arguments.get("cost"), Read)
        return node.replace(cost=0.002) if reads else node

    return Dataset(rebuilt(dataset.node, {}, change))


def with_random_access(draw: random.Random, costs: tuple[float, ...]) -> Dataset:
    """Lists, ranges and shares of them, and up to three maps; some have numbers or a cache."""
    dataset = listed(draw)
    if draw.random() < 0.2:
        dataset = dataset.enumerate().concatenate(listed(draw).enumerate(3))
    for _ in range(draw.randint(0, 3)):
        if draw.random() < 0.15:
            dataset = dataset.cache()
        if draw.random() < 0.15:
            dataset = dataset.enumerate(draw.randint(0, 2))
        dataset = dataset.map(
            draw.choice([None, first_part]),
            cost=by_value(draw.choice(costs), draw.choice(costs))
            if draw.random() < 0.8
            else READ,
            kind=draw.choice(["wait", "native", "python"]),
        )
    return dataset


def listed(draw: random.Random) -> Dataset:
    """A range, or a list of texts, or a share of one."""
    dataset = draw.choice(
        [
            Dataset.range(some(draw, 12)),
            Dataset.range(some(draw, 12)),
            Dataset.from_list([*"abcdefgh"]),
            Dataset.from_tensor_slices([*"ijk"]),
        ]
    )
    if draw.random() < 0.2:
        dataset = dataset.shard(ranks := draw.randint(1, 3), draw.randrange(ranks))
    return dataset


def by_value(usual: float, special: float) -> Callable[[Any], float]:
    return lambda value: special if repr(value)[-1] in "1'" else usual


def first_part(*value: Any) -> Any:
    return value[0]


def one_by_one(draw: random.Random, samples: Dataset) -> Dataset:
    """A function that fails for some of *samples*, called for one after another."""
    last = draw.choice("0123456789abc")

    def fails(*value: Any) -> Any:
        if last in repr(value):
            raise PlannedError(value)
        return value[0] if len(value) == 1 else value

    return samples.map(fails)
