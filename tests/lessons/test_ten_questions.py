"""The right answers of the test for before and after are what a run gives."""

import re
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from lessonkit import DataLoader, Dataset, benchmark, per_sample

TEXT = (Path(__file__).parents[2] / "docs" / "ten_questions.md").read_text(encoding="utf-8")
KEYS = dict(re.findall(r"^\| (\d+) \| ([A-D]) \|", TEXT, re.M))
CHOICES = {
    number: dict(re.findall(r"([A-D]): (.+?)\.(?= [A-D]:|\n|$)", answers))
    for number, answers in re.findall(r"^\*\*(\d+)\.\*\* .+\n\n(A: .+)$", TEXT, re.M)
}
LOADED = Dataset.range(100).map(cost=0.030, nbytes=1000)
ONE, AHEAD, FAR = LOADED, LOADED.prefetch(1), LOADED.prefetch(100)
WORKERS = DataLoader(Dataset.range(160).map(cost=0.020), batch_size=4, num_workers=4)


def took(dataset: Any) -> float:
    return benchmark(dataset, 1).duration


def every(dataset: Any) -> float:
    """How many milliseconds lie between batches, on average, once it runs."""
    arrivals = benchmark(dataset, 1).epochs[0].arrivals[7:]
    return 1000 * sum(b - a for a, b in pairwise(arrivals)) / (len(arrivals) - 1)


def slow_steps() -> float:
    """The share of steps in which one machine of eight or more is slow."""

    def machine(rank: int) -> Dataset:
        draw = Random(rank)
        loads = [0.050 if draw.random() < 1 / 20 else 0 for _ in range(2000)]
        return Dataset.range(2000).map(cost=loads.__getitem__)

    steps = benchmark(machine, 1, ranks=8).steps
    return sum(b.end_ns - a.end_ns > 20e6 for a, b in pairwise(steps)) / (len(steps) - 1)


def per_call(size: int) -> float:
    """Milliseconds that a sample costs in calls of so many."""
    batches = (
        Dataset.range(800).batch(size).map(cost=lambda batch: 0.002 + 0.001 * len(batch))
    )
    return 1000 * benchmark(batches, 1, train=0).duration / 800


MEASURED = {
    "1": lambda: 10 * took(ONE),
    "2": lambda: took(ONE) / benchmark(Dataset.range(100), 1).duration,
    "3": lambda: every(AHEAD),
    "5": lambda: every(WORKERS),
    "6": lambda: 1000 * benchmark(WORKERS, 1).epochs[0].arrivals[0],
    "9": lambda: per_call(8),
}


def test_there_are_ten_and_each_has_four_answers_and_a_key() -> None:
    assert list(KEYS) == list(CHOICES) == [str(number) for number in range(1, 11)]
    assert all(list(choices) == list("ABCD") for choices in CHOICES.values())


@pytest.mark.parametrize("number", MEASURED)
def test_a_number_is_what_a_run_gives(number: str) -> None:
    right = re.search(r"[\d.]+", CHOICES[number][KEYS[number]])
    assert right
    assert MEASURED[number]() == pytest.approx(float(right[0]), rel=0.02)


def test_a_deeper_buffer_changes_nothing() -> None:
    near, far = (benchmark(dataset, 1) for dataset in (AHEAD, FAR))
    assert (far.duration, far.max_bytes) == (near.duration, near.max_bytes)
    assert "neither the time nor the memory" in CHOICES["4"][KEYS["4"]]


def test_eight_machines_are_slow_in_a_third_of_the_steps() -> None:
    assert slow_steps() == pytest.approx(1 - 0.95**8, abs=0.03)
    assert "1 in 3" in CHOICES["10"][KEYS["10"]]


def test_threads_gain_nothing_under_the_lock() -> None:
    work: dict[str, Any] = {"cost": per_sample(0.010), "kind": "python"}
    one, four = (
        benchmark(Dataset.range(40).map(num_parallel_calls=n, **work), 1, train=0)
        for n in (1, 4)
    )
    assert four.duration == pytest.approx(one.duration)
    assert KEYS["7"] == "A"


def test_a_cache_after_what_is_random_freezes_it() -> None:
    draw = Random(0)
    found = benchmark(Dataset.range(5).map(lambda _: draw.random()).cache(), 2, keep=True)
    first, second = (epoch.elements for epoch in found.epochs)
    assert first == second
    assert CHOICES["8"][KEYS["8"]].startswith("the same")
