"""Real threads: how near they come to the virtual clock, and what plain iteration costs."""

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from statistics import median

from benchmarks.guide import pipelines
from benchmarks.measure import number, pairs, row, seconds
from lessonkit import Dataset

ELEMENTS = 20_000
CALLS = 4  # of a parallel map, at once

MEDIAN_OFF, NINTH_OFF = 0.5, 2.0  # %; real time off virtual time, at the median and the 90th percentile
MAP_US, PREFETCH_US, PREFETCH_1_US, PARALLEL_US = 2, 10, 90, 60  # for each element


def accuracy(passes: int) -> Iterator[str]:
    """How far the wall time of a real run is off what the virtual clock says, in per cent."""
    off = []
    for _ in range(passes):
        for case in pipelines():
            expected = case.run().duration
            took = seconds(lambda case=case: case.run("real"))  # type: ignore[misc]
            off.append(abs(took - expected) / expected * 100)
    off.sort()
    ninth = off[int(0.9 * (len(off) - 1))]
    what = "guide, wall time off the virtual clock"
    for at, value, goal in (("median", median(off), MEDIAN_OFF), ("90th percentile", ninth, NINTH_OFF)):
        yield row(f"{what}: {at}", number(value, "%"), "-", None, f"< {goal:g} %", value < goal)


def increment(x: int) -> int:
    """What every map here calls."""
    return x + 1


def exhaust(elements: Iterable[int]) -> None:
    """Ask for every element."""
    for _ in elements:
        pass


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


def iteration(repeats: int) -> Iterator[str]:
    """Plain loops over a data set beside what Python itself offers, for each element."""
    numbers = Dataset.range(ELEMENTS)
    parallel = numbers.map(increment, num_parallel_calls=CALLS)
    loops: list[tuple[str, Dataset, Callable[[], Iterable[int]], float]] = [
        ("map, sequential / built-in map", numbers.map(increment), lambda: map(increment, range(ELEMENTS)), MAP_US),
        ("prefetch(16) / queue.Queue(16)", numbers.prefetch(16), lambda: queued(16), PREFETCH_US),
        ("prefetch(1) / queue.Queue(1)", numbers.prefetch(1), lambda: queued(1), PREFETCH_1_US),
        (f"map, {CALLS} calls / ThreadPoolExecutor({CALLS})", parallel, pooled, PARALLEL_US),
    ]
    for what, dataset, peer, goal in loops:
        took = pairs(lambda dataset=dataset: exhaust(dataset), lambda peer=peer: exhaust(peer()), repeats)  # type: ignore[misc]
        mine, theirs = took.ours / ELEMENTS * 1e6, took.peer / ELEMENTS * 1e6
        yield row(what, number(mine, "us"), number(theirs, "us"), took.ratio, f"< {goal} us", mine < goal)


def rows(quick: bool) -> Iterator[str]:
    """All lines on real threads."""
    yield from accuracy(1 if quick else 2)
    yield from iteration(2 if quick else 7)
