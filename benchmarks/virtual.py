"""The virtual clock: its rate beside SimPy's, how it grows, what a trace weighs."""

import gc
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import simpy

from benchmarks.guide import pipelines
from benchmarks.measure import number, pairs, row, seconds
from lessonkit import ArtificialDataset, Trace, benchmark

ROOT = Path(__file__).parent.parent
ELEMENTS = 10_000
FEW, MANY = 1_000, 100_000  # elements, to see how the cost of one grows
OPEN, READ, MAP, TRAIN = 30_000_000, 15_000_000, 5_000_000, 10_000_000  # ns, simulated

RATES = {False: 2.5, True: 1.3}  # times SimPy's rate, at least; by whether it is recorded
GROWTH = {False: 1.2, True: 1.5}  # cost of an element among many to that among few, at most
GUIDE_MS = 1.0  # for each of the guide's pipelines
SPAN_BYTES = 400
IMPORT_MS = 100


def ours(elements: int, record: bool) -> Trace:
    """Source, two maps, prefetch(1) and training, in one epoch."""
    dataset = ArtificialDataset(elements, open=OPEN / 1e9, read=READ / 1e9)
    dataset = dataset.map(cost=MAP / 1e9).map(cost=MAP / 1e9).prefetch(1)
    return benchmark(dataset, 1, TRAIN / 1e9, record=record)


def simpys(elements: int) -> int:
    """The same in SimPy; the time at which it ends, in nanoseconds."""
    env = simpy.Environment()
    places = simpy.Container(env, capacity=1, init=1)
    ready = simpy.Store(env)

    def produce() -> Iterator[Any]:
        yield places.get(1)  # a place must be free before the next element is even begun
        yield env.timeout(OPEN)
        for element in range(elements):
            yield env.timeout(READ)
            yield env.timeout(MAP)
            yield env.timeout(MAP)
            ready.put(element)  # there is room: no need to wait for it
            yield places.get(1)
        ready.put(None)

    def train() -> Iterator[Any]:
        while (yield ready.get()) is not None:
            places.put(1)
            yield env.timeout(TRAIN)

    env.process(produce())  # type: ignore[arg-type]
    env.process(train())  # type: ignore[arg-type]
    env.run()
    return int(env.now)


def named(record: bool) -> str:
    """How the table calls the two ways to run."""
    return "recorded" if record else "unrecorded"


def rates(repeats: int) -> Iterator[str]:
    """Elements per second beside SimPy's."""
    for record, goal in RATES.items():
        assert round(ours(ELEMENTS, record).duration * 1e9) == simpys(ELEMENTS)
        took = pairs(lambda record=record: ours(ELEMENTS, record), lambda: simpys(ELEMENTS), repeats)  # type: ignore[misc]
        mine, theirs = (number(ELEMENTS / time / 1e3, "k/s") for time in (took.ours, took.peer))
        what = f"virtual clock, {named(record)}: elements / SimPy"
        yield row(what, mine, theirs, 1 / took.ratio, f">= {goal} x", 1 / took.ratio >= goal)


def growth(repeats: int) -> Iterator[str]:
    """The cost of an element in a long run beside that in a short one."""
    for record, goal in GROWTH.items():
        took = pairs(
            lambda record=record: ours(MANY, record),  # type: ignore[misc]
            lambda record=record: ours(FEW, record),  # type: ignore[misc]
            repeats,
            peer_calls=20,
        )
        ratio = took.ratio * FEW / MANY
        mine, theirs = number(took.ours / MANY * 1e6, "us"), number(took.peer / FEW * 1e6, "us")
        what = f"one element of {MANY:,}, {named(record)} / of {FEW:,}"
        yield row(what, mine, theirs, ratio, f"<= {goal} x", ratio <= goal)


def guide(repeats: int) -> Iterator[str]:
    """The slowest of the guide's pipelines."""
    times = {case.name: median(seconds(case.run) for _ in range(repeats)) * 1e3 for case in pipelines()}
    slowest = max(times, key=lambda name: times[name])
    what = f"slowest of the guide's {len(times)}: {slowest}"
    what = what if len(what) <= 52 else what[:49] + "..."
    yield row(what, number(times[slowest], "ms"), "-", None, f"< {GUIDE_MS:g} ms", times[slowest] < GUIDE_MS)


def weight() -> Iterator[str]:
    """The bytes of a whole trace, for each of its spans."""
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    trace = ours(ELEMENTS, record=True)
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    size = (after - before) / len(trace.spans)
    what = "a span and its buffer events in memory"
    yield row(what, number(size, "bytes"), "-", None, f"< {SPAN_BYTES} bytes", size < SPAN_BYTES)


def importing(repeats: int) -> Iterator[str]:
    """A fresh interpreter that imports the package, less one that does nothing."""

    def start(code: str) -> None:
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)

    took = pairs(lambda: start("import lessonkit"), lambda: start("pass"), repeats)
    more = (took.ours - took.peer) * 1e3
    yield row("import lessonkit, in a fresh interpreter", number(more, "ms"), "-", None, f"< {IMPORT_MS} ms", more < IMPORT_MS)


def rows(quick: bool) -> Iterator[str]:
    """All lines on the virtual clock."""
    yield from rates(5 if quick else 15)
    yield from growth(1 if quick else 5)
    yield from guide(5 if quick else 25)
    yield from weight()
    yield from importing(5 if quick else 15)
