"""How well costs that `measure` took at one setting of a pipeline foretell real runs at others.

python -m evidence.jobs.pipelines           # a few minutes
python -m evidence.jobs.pipelines --quick   # one pass, and less certain
"""

import sys
import time
import zlib
from collections.abc import Iterator
from statistics import median, quantiles
from typing import Any

import numpy as np

from evidence.jobs import goals
from lessonkit import Dataset, Machine, benchmark
from lessonkit.analysis import knobs, measure, with_knob

ELEMENTS = 40  # in a run
TRAIN = 0.002  # s
MACHINE = Machine(cores=2)
# Goals, in per cent: how far a prediction is off the real time, in the median and for nine settings in ten
MEDIAN = 8
NINE_IN_TEN = 20
PASSES = 5


# ---- real functions, of each kind ----


def fetched(number: int) -> int:
    """Wait, as for a network."""
    time.sleep(0.008)
    return number


def uneven(number: int) -> int:
    """Wait, for some numbers much longer."""
    time.sleep(0.030 if number % 8 == 7 else 0.003 + 0.004 * (number * 7 % 10) / 10)
    return number


def sorted_floats(number: int) -> float:
    """NumPy, which lets go of the interpreter lock."""
    return sum(float(np.sort(FLOATS)[number]) for _ in range(80))


def squeezed(number: int) -> int:
    """The standard library's zlib, which lets go of the lock too."""
    return len(zlib.compress(NOISE[: 250_000 + 1000 * number], 6))


def counted(value: Any) -> int:
    """Python, which holds the lock."""
    return sum(i * i % 7 for i in range(60_000))


def lines(file: int) -> Iterator[int]:
    """A file that takes a while to open and to read."""
    time.sleep(0.020)
    for line in range(6):
        time.sleep(0.006)
        yield 6 * file + line


def opened(file: int) -> Dataset:
    """A file as a data set."""
    return Dataset.from_generator(lines, args=(file,))


FLOATS = np.random.default_rng(0).random(20_000)
NOISE = np.random.default_rng(0).integers(0, 50, 400_000, dtype=np.uint8).tobytes()


# ---- pipelines, measured as they stand here, and run at other settings ----

NUMBERS = Dataset.range(ELEMENTS)
FILES = Dataset.range(8)

Settings = dict[str, int]  # of the knobs of these names

CALLS: list[Settings] = [{"num_parallel_calls": calls} for calls in (1, 2, 4)]
LANES: list[Settings] = [
    {"cycle_length": lanes, "num_parallel_calls": lanes} for lanes in (2, 4)
]
DEPTHS: list[Settings] = [{"buffer_size": depth} for depth in (0, 2, 8)]

PIPELINES: list[tuple[Dataset, list[Settings]]] = [
    (NUMBERS.map(fetched), CALLS),
    (NUMBERS.map(fetched).prefetch(1), DEPTHS),
    (NUMBERS.map(uneven).prefetch(2), CALLS + DEPTHS),
    (NUMBERS.map(sorted_floats).prefetch(1), CALLS),
    (NUMBERS.map(squeezed).batch(4).prefetch(1), CALLS),
    (NUMBERS.map(counted).prefetch(1), CALLS),
    (NUMBERS.map(fetched).map(counted).prefetch(1), CALLS),
    (NUMBERS.map(sorted_floats).map(counted), CALLS),
    (FILES.interleave(opened, 1).prefetch(1), LANES),
    (FILES.interleave(opened, 1).map(counted).filter(fetched), LANES),
]


def turned_all(dataset: Dataset, settings: Settings) -> Dataset:
    """The same pipeline with all knobs of these names at these values."""
    for name, value in settings.items():
        for number, knob in enumerate(knobs(dataset)):
            if knob.name == name:
                dataset = with_knob(dataset, knobs(dataset)[number], value)
    return dataset


def ratios() -> Iterator[float]:
    """Each prediction beside a real run."""
    for dataset, others in PIPELINES:
        priced = measure(dataset).dataset
        for settings in others:
            predicted = benchmark(turned_all(priced, settings), 1, TRAIN, machine=MACHINE)
            real = benchmark(
                turned_all(dataset, settings), 1, TRAIN, clock="real", machine=MACHINE
            )
            yield predicted.duration / real.duration


def rows(quick: bool) -> Iterator[str]:
    """How far predictions are off."""
    passes = [list(ratios()) for _ in range(1 if quick else PASSES)]
    cases = [(dataset, settings) for dataset, others in PIPELINES for settings in others]
    found = [median(of_one) - 1 for of_one in zip(*passes, strict=True)]
    for (dataset, settings), ratio in zip(cases, found, strict=True):
        print(f"{ratio:+6.1%}  {dataset!r}  {settings}", file=sys.stderr, flush=True)
    off = [100 * abs(ratio) for ratio in found]
    what = f"measure: of {len(off)} other settings, off by: median"
    yield goals.at_most(what, median(off), MEDIAN, "%")
    yield goals.at_most(
        "measure: ... the 90th percentile", quantiles(off, n=10)[-1], NINE_IN_TEN, "%"
    )


if __name__ == "__main__":
    for row in rows("--quick" in sys.argv):
        print(row, flush=True)
