"""Random pipelines in which rewriting rules find something."""

import random
from collections.abc import Callable
from typing import Any

from lessonkit import AUTOTUNE, Dataset, per_sample
from support.random_pipelines import STEPS, TINY, mapped, some, source


def rewritable(seed: int) -> Dataset:
    """A pipeline of up to five parts, some of them several operators, whose order is defined."""
    draw = random.Random(seed)
    dataset = source(draw, TINY)
    for _ in range(draw.randint(1, 5)):
        dataset = draw.choice(PARTS)(draw, dataset)
    return dataset


def increased(*parts: Any) -> Any:
    """Each number in an element, or in a batch of them, plus one."""
    value = parts[0] if len(parts) == 1 else parts
    return (
        type(value)(map(increased, value))
        if isinstance(value, (list, tuple))
        else value + 1
    )


def map_twice(draw: random.Random, dataset: Dataset) -> Dataset:
    """Two maps that may become one: with and without a function, with costs of each kind."""
    calls = draw.choice([None, AUTOTUNE, 3])
    for stage in ("Decode", draw.choice(["Decode", "Augment"])):
        cost = draw.choice(TINY)
        dataset = dataset.map(
            draw.choice([None, increased]),
            cost=draw.choice(
                [
                    cost,
                    cost,
                    cost,
                    per_sample(cost),
                    lambda value, cost=cost: cost * (len(repr(value)) % 3),
                ]
            ),
            kind=draw.choice(["wait", "native"]),
            num_parallel_calls=calls,
            stage=stage,
            nbytes=draw.choice([None, None, 5]),
        )
    return dataset


def map_batches(draw: random.Random, dataset: Dataset) -> Dataset:
    """A map that takes batches, and a batch."""
    calls = draw.choice([None, 1, 2, 5])
    size = draw.randint(1, 4)
    done = dataset.map(
        increased,
        cost=draw.choice(TINY),
        num_parallel_calls=calls,
        nbytes=draw.choice([None, None, 7]),
        batches=True,
    )
    return done.batch(size, drop_remainder=draw.random() < 0.3)


def endless(draw: random.Random, dataset: Dataset) -> Dataset:
    """An endless repetition cut short; reading ahead would ask a shuffle before it for one more order."""
    fixed = "shuffle" not in repr(dataset)
    return (
        dataset.shuffle(draw.randint(1, 9), seed=1).repeat().take(some(draw, 20))
        if fixed
        else dataset
    )


def any_step(draw: random.Random, dataset: Dataset) -> Dataset:
    """One of the usual steps; but a shuffle that two iterators share gives its orders to who comes first."""
    longer: Dataset = draw.choice(STEPS)(draw, dataset, TINY)
    shared = len(longer.node.inputs) == 2 and "shuffle" in repr(dataset)
    return dataset if shared else longer


def is_kept(*value: Any) -> int:
    return len(repr(value)) % 3


PARTS: list[Callable[[random.Random, Dataset], Any]] = [
    any_step,
    any_step,
    map_twice,
    map_batches,
    lambda draw, dataset: mapped(draw, dataset, TINY).filter(is_kept),
    lambda draw, dataset: dataset.map(increased).filter(is_kept),
    lambda draw, dataset: dataset.filter(is_kept).filter(
        lambda *value: "6" not in repr(value)
    ),
    lambda draw, dataset: mapped(draw, dataset, TINY).batch(draw.randint(1, 4)),
    lambda draw, dataset: dataset.shuffle(draw.randint(1, 9)).repeat(some(draw, 5)),
    endless,
    lambda draw, dataset: dataset.skip(0).take(-1).repeat(1).prefetch(0).shard(1, 0).map(),
]
