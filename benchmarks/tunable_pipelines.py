"""Random pipelines with numbers to be found, on machines whose limits bind."""

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product, repeat
from time import perf_counter
from typing import Any, NamedTuple

from lessonkit import (
    AUTOTUNE,
    ArtificialDataset,
    Dataset,
    Machine,
    benchmark,
    straggler,
)
from lessonkit.engine.node import walk
from lessonkit.optimize import autotune

COSTS = (0.002, 0.005, 0.010, 0.015, 0.030, 0.060, 0.100)  # seconds
PLACES = 8  # of a prefetch, at most


class Verdict(NamedTuple):
    """A tuned pipeline beside all others."""

    ratio: float  # of its time to the shortest that fits
    extra: int  # calls more than the fewest within 3 % of the shortest time
    fits: bool
    seconds: float  # that tuning took
    all_seconds: float  # that running all others took

    @property
    def good(self) -> bool:
        return self.fits and self.ratio <= 1.03 and self.extra <= 1


@dataclass
class Tunable:
    """A pipeline with up to three numbers open, and what limits them."""

    seed: int
    machine: Machine
    train: float
    memory: int | None = None

    def dataset(self, numbers: Iterable[int] = repeat(AUTOTUNE)) -> Dataset:
        """The pipeline with these numbers."""
        return pipeline(random.Random(self.seed), iter(numbers))

    def knobs(self) -> list[tuple[int, str]]:
        """Of each open number the position of its node, and its name."""
        return [
            (position, name)
            for position, node in enumerate(walk(self.dataset().node))
            for name, value in node.arguments.items()
            if value == AUTOTUNE and name in ("num_parallel_calls", "buffer_size")
        ]

    def run(self, numbers: Iterable[int]) -> tuple[float, int]:
        """Seconds and bytes with these numbers."""
        trace = benchmark(self.dataset(numbers), 1, self.train, machine=self.machine)
        return trace.duration, trace.max_bytes

    def verdict(self) -> Verdict:
        """Tune it, and compare that with all settings."""
        knobs = self.knobs()
        began = perf_counter()
        tuned = autotune(
            self.dataset(), self.machine, self.memory, self.train, num_epochs=1
        ).dataset
        middle = perf_counter()
        most = {"num_parallel_calls": self.machine.cores, "buffer_size": PLACES}
        grid = product(*(range(1, most[name] + 1) for _, name in knobs))
        results = {numbers: self.run(numbers) for numbers in grid}
        took = perf_counter() - middle
        nodes = list(walk(tuned.node))
        ours = tuple(nodes[position].arguments[name] for position, name in knobs)
        room = (
            self.memory
            if self.memory is not None
            else max(size for _, size in results.values())
        )
        best = min(seconds for seconds, size in results.values() if size <= room)
        near = [
            numbers
            for numbers, (time, size) in results.items()
            if size <= room and time <= 1.03 * best
        ]

        def calls(numbers: tuple[int, ...]) -> int:
            return sum(
                n
                for n, (_, name) in zip(numbers, knobs, strict=True)
                if name == "num_parallel_calls"
            )

        seconds, size = results[ours]
        extra = calls(ours) - min(map(calls, near))
        return Verdict(seconds / best, extra, size <= room, middle - began, took)


def tunable(seed: int) -> Tunable:
    """A random pipeline on a random machine; mostly with less memory than it could take."""
    draw = random.Random(-seed)
    case = Tunable(
        seed,
        Machine(draw.choice([1, 2, 3, 4, 5, 6, 7, 8, 8, 8])),
        draw.choice(COSTS[:5]),
    )
    if draw.random() < 0.8:
        sizes = [case.run(repeat(number))[1] for number in (1, case.machine.cores)]
        case.memory = draw.randint(min(sizes), max(sizes))
    return case


def pipeline(draw: random.Random, numbers: Iterator[int]) -> Dataset:
    """A source and a few operators; *numbers* are for those that are open."""
    samples = draw.randint(8, 20)
    opening = draw.choice(COSTS)
    reading = draw.choice(COSTS[:4])
    files = draw.randint(2, 8)
    interleaved = draw.random() < 0.3
    wanted = draw.choice([1, 2, 3, 3, 3])
    dataset: Dataset = ArtificialDataset(samples, open=opening, read=reading, nbytes=1000)
    if interleaved:
        wanted -= 1
        dataset = Dataset.range(files).interleave(
            lambda x: ArtificialDataset(
                samples // 4, open=opening, read=reading, nbytes=1000
            ),
            cycle_length=8,
            num_parallel_calls=next(numbers),
        )
    while wanted:
        is_open = draw.random() < 0.6
        wanted -= is_open
        dataset = draw.choice(STEPS)(draw, dataset, next(numbers) if is_open else 2)
    return dataset


def mapped(draw: random.Random, dataset: Dataset, number: int) -> Dataset:
    usual = draw.choice(COSTS)
    kind = draw.choice(["wait", "native", "python"])
    cost: Any = draw.choice(
        [
            usual,
            usual,
            straggler(usual, every=3, slow=2 * usual),
            straggler(usual, every=5, slow=4 * usual),
        ]
    )
    return dataset.map(cost=cost, kind=kind, num_parallel_calls=number)


def mapped_in_batches(draw: random.Random, dataset: Dataset, number: int) -> Dataset:
    return dataset.map_and_batch(
        None, draw.randint(2, 4), num_parallel_calls=number, cost=draw.choice(COSTS)
    )


STEPS: list[Any] = [
    mapped,
    mapped,
    mapped_in_batches,
    lambda draw, dataset, number: dataset.prefetch(number),
    lambda draw, dataset, number: dataset.batch(draw.randint(2, 4)).prefetch(number),
]
