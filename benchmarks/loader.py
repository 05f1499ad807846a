"""`DataLoader`: its rate on the virtual clock beside SimPy, and what abandoned loops leave behind."""

import multiprocessing
import os
from collections.abc import Generator, Iterator
from functools import partial
from typing import Any

import simpy

from benchmarks.measure import compared, limited, number, pairs
from lessonkit import DataLoader, Dataset, Trace, benchmark

BATCHES = 10_000
WORKERS = 4
FACTOR = 2
COST = 5_000_000  # ns, simulated, of a sample
TRAIN = 1_000_000  # ns, simulated, of a training step
RATE = 2.5  # times SimPy's, at least
LOOPS = 1_000  # that are abandoned


def ours(size: int) -> Trace:
    """Batches of so many samples, in one epoch."""
    samples = Dataset.range(BATCHES * size).map(cost=COST / 1e9)
    loader = DataLoader(samples, size, num_workers=WORKERS, prefetch_factor=FACTOR)
    return benchmark(loader, 1, TRAIN / 1e9, record=False)


def simpys(size: int) -> int:
    """The same in SimPy; the time at which it ends, in nanoseconds."""
    env = simpy.Environment()
    queues = [simpy.Store(env) for _ in range(WORKERS)]
    results = simpy.Store(env)

    def work(tasks: simpy.Store) -> Generator[simpy.Event, Any, None]:
        while True:
            number, indices = yield tasks.get()
            for _ in indices:
                yield env.timeout(COST)
            results.put((number, indices))

    def train() -> Generator[simpy.Event, Any, None]:
        sent = 0
        ready: dict[int, list[int]] = {}

        def send() -> None:
            nonlocal sent
            if sent < BATCHES:
                queues[sent % WORKERS].put(
                    (sent, list(range(sent * size, (sent + 1) * size)))
                )
                sent += 1

        for _ in range(WORKERS * FACTOR):
            send()
        for turn in range(BATCHES):
            while turn not in ready:
                number, batch = yield results.get()
                ready[number] = batch
            del ready[turn]
            send()
            yield env.timeout(TRAIN)

    for tasks in queues:
        env.process(work(tasks))
    env.run(until=env.process(train()))
    return int(env.now)


def abandoned(loops: int) -> str:
    """What is left of loops that somebody leaves after a batch: processes and open files."""
    dataset = DataLoader(Dataset.range(100), 2, num_workers=2)
    next(iter(dataset))
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(loops):
        next(iter(dataset))
    left = len(multiprocessing.active_children()) + max(
        0, len(os.listdir("/proc/self/fd")) - before
    )
    return limited(f"left of {loops:,} abandoned loops", left, 1, "")


def rows(quick: bool) -> Iterator[str]:
    """The rate with batches of one sample, and of eight; what abandoned loops leave."""
    for size in (1, 8):
        assert round(ours(size).duration * 1e9) == simpys(size)
        took = pairs(partial(ours, size), partial(simpys, size), 3 if quick else 9)
        mine, theirs = (
            number(BATCHES / time / 1e3, "k/s") for time in (took.ours, took.peer)
        )
        ratio = 1 / took.ratio
        yield compared(
            f"batches of {size}, {WORKERS} workers / SimPy",
            mine,
            theirs,
            ratio,
            f">= {RATE}",
            ratio >= RATE,
        )
    yield abandoned(LOOPS // 10 if quick else LOOPS)
