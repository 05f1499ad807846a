"""Real threads: how near they come to the virtual clock, and what plain iteration costs."""

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from statistics import median, quantiles

from benchmarks.guide import pipelines
from benchmarks.measure import limited, pairs, seconds
from lessonkit import Dataset

ELEMENTS = 20_000
CALLS = 4  # of a parallel map, at once

# %; real time off virtual time: the median, and the 90th percentile
MEDIAN_OFF = 0.5
NINTH_OFF = 2
# For each element
MAP_US = 2
PREFETCH_16_US = 10
PREFETCH_1_US = 90
PARALLEL_US = 60


def accuracy(passes: int) -> Iterator[str]:
    """How far the wall time of a real run is off what the virtual clock says, either way."""
    off = []
    for case in pipelines() * passes:
        expected = case.run().duration
        off.append(abs(seconds(partial(case.run, "real")) / expected - 1) * 100)
    yield limited(
        "guide in real time, off the virtual clock: median",
        median(off),
        MEDIAN_OFF,
        "%",
    )
    yield limited(
        "guide in real time: 90th percentile", quantiles(off, n=10)[-1], NINTH_OFF, "%"
    )


def increment(x: int) -> int:
    """What every map here calls."""
    return x + 1


def mapped() -> Iterator[int]:
    """Python's own map."""
    return map(increment, range(ELEMENTS))


def queued(size: int) -> Iterator[int]:
    """Elements that a thread puts into a queue of *size*."""
    ready: queue.Queue[int | None] = queue.Queue(size)

    def produce() -> None:
        for element in range(ELEMENTS):
            ready.put(element)
        ready.put(None)

    threading.Thread(target=produce, daemon=True).start()
    while (element := ready.get()) is not None:
        yield element


def pooled() -> Iterator[int]:
    """A parallel map by a thread pool, in order, with so many calls in flight at most."""
    with ThreadPoolExecutor(CALLS) as executor:
        flying: deque[Future[int]] = deque()
        for element in range(ELEMENTS):
            if len(flying) == CALLS:
                yield flying.popleft().result()
            flying.append(executor.submit(increment, element))
        while flying:
            yield flying.popleft().result()


def exhaust(elements: Callable[[], Iterable[int]]) -> None:
    """Ask for every element."""
    for _ in elements():
        pass


def iteration(repeats: int) -> Iterator[str]:
    """Plain loops over a data set beside what Python itself offers, for each element."""
    numbers = Dataset.range(ELEMENTS)
    parallel = numbers.map(increment, num_parallel_calls=CALLS)
    loops: list[tuple[str, Dataset, Callable[[], Iterable[int]], float]] = [
        ("map / Python's map", numbers.map(increment), mapped, MAP_US),
        (
            "prefetch(16) / queue.Queue(16)",
            numbers.prefetch(16),
            partial(queued, 16),
            PREFETCH_16_US,
        ),
        (
            "prefetch(1) / queue.Queue(1)",
            numbers.prefetch(1),
            partial(queued, 1),
            PREFETCH_1_US,
        ),
        (
            f"map, {CALLS} calls / ThreadPoolExecutor({CALLS})",
            parallel,
            pooled,
            PARALLEL_US,
        ),
    ]
    scale = 1e6 / ELEMENTS  # from seconds a loop to microseconds an element
    for what, dataset, peer, goal in loops:
        took = pairs(partial(exhaust, dataset.__iter__), partial(exhaust, peer), repeats)
        yield limited(what, took.ours * scale, goal, "us", took, scale)


def rows(quick: bool) -> Iterator[str]:
    """All lines on real threads."""
    yield from accuracy(1 if quick else 2)
    yield from iteration(2 if quick else 7)
