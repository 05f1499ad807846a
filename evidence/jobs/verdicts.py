"""What `probe` says of loaders that are built to be each case, while another process burns a core.

python -m evidence.jobs.verdicts           # a minute
python -m evidence.jobs.verdicts --quick   # each case once
"""

import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any, NamedTuple

from databound import probe
from evidence.jobs import goals
from lessonkit import Dataset

BATCHES = 22  # that one pass of `probe` needs
RIGHT = 95  # %; of the verdicts, at least
REPEATS = 4
MS = 0.001  # s
BURSTS = "cannot tell"


def nap(ms: float) -> float:
    """Wait, as for a disk."""
    time.sleep(ms * MS)
    return ms


def compute(ms: float) -> float:
    """Compute in Python, for so much time of this thread on a core."""
    end = time.thread_time() + ms * MS
    while time.thread_time() < end:
        pass
    return ms


class Case(NamedTuple):
    """A loader, the milliseconds of a step, what `probe` should say, and what the step does."""

    name: str
    loader: Callable[[], Iterable[Any]]
    ms: float
    kind: str
    step: Callable[[float], float] = nap


def each(work: Callable[[float], float], *times: float) -> Iterator[float]:
    """A batch after each of the times, again and again."""
    while True:
        yield from map(work, times)


def ahead(batches: Iterator[Any], depth: int) -> Iterator[Any]:
    """The same from a thread that is so many batches ahead."""
    ready: queue.Queue[Any] = queue.Queue(depth)
    ended = threading.Event()

    def fill() -> None:
        for batch in batches:
            while not ended.is_set():
                try:
                    ready.put(batch, timeout=0.05)
                    break
                except queue.Full:
                    pass
            if ended.is_set():
                return

    threading.Thread(target=fill, daemon=True).start()
    try:
        while True:
            yield ready.get()
    finally:
        ended.set()


def threads(work: Callable[[float], float], ms: float, workers: int) -> Iterator[float]:
    """Batches from a pool of threads, in order, two for each worker at once."""
    with ThreadPoolExecutor(workers) as pool:
        flying = [pool.submit(work, ms) for _ in range(2 * workers)]
        for _ in range(BATCHES):
            yield flying.pop(0).result()
            flying.append(pool.submit(work, ms))


def processes(work: Callable[[float], float], ms: float, workers: int) -> Iterator[float]:
    """The same from a pool of processes."""
    with get_context("spawn").Pool(workers) as pool:
        flying = [pool.apply_async(work, (ms,)) for _ in range(2 * workers)]
        for _ in range(BATCHES):
            yield flying.pop(0).get()
            flying.append(pool.apply_async(work, (ms,)))


def late() -> Dataset:
    """Batches of four made and taken apart, and only two of their parts ahead."""
    return (
        Dataset.range(99)
        .batch(4)
        .map(lambda batch: nap(40) and batch)
        .unbatch()
        .prefetch(2)
    )


disk = threading.Lock()


def from_disk(ms: float) -> float:
    """Hold for a while what the step wants too."""
    with disk:
        nap(ms)
    return nap(6)


def to_disk(ms: float) -> float:
    """A step that writes all the time."""
    with disk:
        return nap(ms)


CASES = [
    Case("a generator that waits", lambda: each(nap, 10), 6, "they take turns"),
    Case("a generator that computes", lambda: each(compute, 8), 8, "they take turns"),
    Case(
        "one of ours, without prefetch",
        lambda: Dataset.range(99).map(lambda x: nap(8)),
        12,
        "they take turns",
    ),
    Case("a slow thread ahead", lambda: ahead(each(nap, 15), 2), 8, "data-bound"),
    Case("four threads, and still slow", lambda: threads(nap, 60, 4), 6, "data-bound"),
    Case("two processes, and still slow", lambda: processes(nap, 40, 2), 10, "data-bound"),
    Case("a list in memory", lambda: [*range(30)], 8, "step-bound"),
    Case("a quick thread ahead", lambda: ahead(each(nap, 6), 2), 12, "step-bound"),
    Case("two quick processes", lambda: processes(nap, 16, 2), 20, "step-bound"),
    Case(
        "bursts of four behind a shallow buffer",
        lambda: ahead(each(nap, 40, 0, 0, 0), 1),
        10,
        BURSTS,
    ),
    Case(
        "bursts of five behind a buffer of two",
        lambda: ahead(each(nap, 60, 0, 0, 0, 0), 2),
        12,
        BURSTS,
    ),
    Case("one of ours, unbatched late", late, 10, BURSTS),
    Case(
        "a thread ahead on the same disk",
        lambda: ahead(each(from_disk, 8), 1),
        10,
        BURSTS,
        to_disk,
    ),
]


@contextmanager
def burning() -> Iterator[None]:
    """Another process keeps a core busy meanwhile."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as other:
        try:
            yield
        finally:
            other.kill()


def is_right(case: Any) -> bool:
    """Whether the verdict on a *case* is the one that it was made for."""
    return probe(case.loader, lambda batch: case.step(case.ms)).kind == str(case.kind)


def rows(quick: bool) -> Iterator[str]:
    """How many of the verdicts are right."""
    repeats = 1 if quick else REPEATS
    with burning():
        right = [is_right(case) for case in CASES * repeats]
    share = 100 * sum(right) / len(right)
    what = f"probe: of {len(right)} verdicts beside a busy core, right"
    yield goals.at_least(what, share, RIGHT, "%")


if __name__ == "__main__":
    for row in rows("--quick" in sys.argv):
        print(row, flush=True)
