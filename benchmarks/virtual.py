"""The virtual clock: its rate beside SimPy's, how its cost grows, what a trace weighs."""

import gc
import subprocess
import sys
import tracemalloc
from collections.abc import Generator, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import simpy

from benchmarks.guide import pipelines
from benchmarks.measure import compared, limited, number, pairs, seconds
from lessonkit import ArtificialDataset, Trace, benchmark

ROOT = Path(__file__).parent.parent
ELEMENTS = 10_000
# Elements, to see how the cost of one grows
FEW = 1_000
MANY = 100_000
# ns, simulated
OPEN = 30_000_000
READ = 15_000_000
MAP = 5_000_000
TRAIN = 10_000_000

MODES = {"unrecorded": False, "recorded": True}
RATES = {"unrecorded": 2.5, "recorded": 1.3}  # times SimPy's rate, at least
# An element's cost among many to that among few, at most
GROWTH = {"unrecorded": 1.2, "recorded": 1.5}
GUIDE_MS = 1  # for each of the guide's pipelines
SPAN_BYTES = 400
IMPORT_MS = 100


def ours(elements: int, record: bool) -> Trace:
    """Source, two maps, prefetch(1) and training, in one epoch."""
    files = ArtificialDataset(elements, open=OPEN / 1e9, read=READ / 1e9)
    dataset = files.map(cost=MAP / 1e9).map(cost=MAP / 1e9).prefetch(1)
    return benchmark(dataset, 1, TRAIN / 1e9, record=record)


def simpys(elements: int) -> int:
    """The same in SimPy; the time at which it ends, in nanoseconds."""
    env = simpy.Environment()
    places = simpy.Container(env, capacity=1, init=1)
    ready = simpy.Store(env)

    def produce() -> Generator[simpy.Event, Any, None]:
        yield places.get(1)  # a place must be free before the next element is even begun
        yield env.timeout(OPEN)
        for element in range(elements):
            yield env.timeout(READ)
            yield env.timeout(MAP)
            yield env.timeout(MAP)
            ready.put(element)  # there is room: no need to wait for it
            yield places.get(1)
        ready.put(None)

    def train() -> Generator[simpy.Event, Any, None]:
        while (yield ready.get()) is not None:
            places.put(1)
            yield env.timeout(TRAIN)

    env.process(produce())
    env.process(train())
    env.run()
    return int(env.now)


def rates(repeats: int) -> Iterator[str]:
    """Elements per second beside SimPy's."""
    for mode, record in MODES.items():
        assert round(ours(ELEMENTS, record).duration * 1e9) == simpys(ELEMENTS)
        took = pairs(partial(ours, ELEMENTS, record), partial(simpys, ELEMENTS), repeats)
        mine, theirs = (
            number(ELEMENTS / time / 1e3, "k/s") for time in (took.ours, took.peer)
        )
        ratio = 1 / took.ratio
        goal = RATES[mode]
        yield compared(
            f"elements, {mode} / SimPy",
            mine,
            theirs,
            ratio,
            f">= {goal}",
            ratio >= goal,
        )


def growth(repeats: int) -> Iterator[str]:
    """The cost of an element in a long run beside that in a short one."""
    for mode, record in MODES.items():
        took = pairs(
            partial(ours, MANY, record),
            partial(ours, FEW, record),
            repeats,
            peer_calls=20,
        )
        mine = number(took.ours / MANY * 1e6, "us")
        theirs = number(took.peer / FEW * 1e6, "us")
        ratio = took.ratio * FEW / MANY
        goal = GROWTH[mode]
        what = f"one element of {MANY:,}, {mode} / of {FEW:,}"
        yield compared(what, mine, theirs, ratio, f"<= {goal}", ratio <= goal)


def guide(repeats: int) -> str:
    """The slowest of the guide's pipelines."""
    times = [
        (median(seconds(case.run) for _ in range(repeats)), case.name)
        for case in pipelines()
    ]
    slowest, name = max(times)
    return limited(
        f"guide's slowest of {len(times)}: {name}", slowest * 1e3, GUIDE_MS, "ms"
    )


def weight() -> str:
    """The bytes of a whole trace, for each of its spans."""
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    trace = ours(ELEMENTS, record=True)
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    size = (after - before) / len(trace.spans)
    return limited("a recorded span with its buffer events", size, SPAN_BYTES, "bytes")


def importing(repeats: int) -> str:
    """A fresh interpreter that imports the package, less one that does nothing."""
    start = partial(subprocess.run, cwd=ROOT, check=True)
    full, bare = ([sys.executable, "-c", code] for code in ("import lessonkit", "pass"))
    took = pairs(partial(start, full), partial(start, bare), repeats)
    return limited("import lessonkit", (took.ours - took.peer) * 1e3, IMPORT_MS, "ms")


def rows(quick: bool) -> Iterator[str]:
    """All lines on the virtual clock."""
    yield from rates(5 if quick else 15)
    yield from growth(1 if quick else 5)
    yield guide(5 if quick else 25)
    yield weight()
    yield importing(5 if quick else 15)
