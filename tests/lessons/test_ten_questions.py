"""The right answers of the ten questions are what a run gives; `tools.numbers` computes their numbers."""

import re
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from lessonkit import Dataset, benchmark, per_sample
from tools.comments import comments

TEXT = (Path(__file__).parents[2] / "docs" / "ten_questions.md").read_text(encoding="utf-8")
KEYS = dict(re.findall(r"^\| (\d+) \| ([A-D]) \|", TEXT, re.M))
CHOICES = {
    number: dict(re.findall(r"([A-D]): (.+?)\.(?= [A-D]:|\n|$)", answers))
    for number, answers in re.findall(r"^\*\*(\d+)\.\*\* .+\n\n(A: .+)$", TEXT, re.M)
}
LOADED = Dataset.range(100).map(cost=0.030, nbytes=1000)
AHEAD = LOADED.prefetch(1)
FAR = LOADED.prefetch(100)


def slow_steps() -> float:
    """The share of steps in which one machine of eight or more is slow."""

    def machine(rank: int) -> Dataset:
        draw = Random(rank)
        loads = [0.050 if draw.random() < 1 / 20 else 0 for _ in range(2000)]
        return Dataset.range(2000).map(cost=loads.__getitem__)

    steps = benchmark(machine, 1, ranks=8).steps
    return sum(b.end_ns - a.end_ns > 20e6 for a, b in pairwise(steps)) / (len(steps) - 1)


def test_there_are_ten_and_each_has_four_answers_and_a_key() -> None:
    assert list(KEYS) == list(CHOICES) == [str(number) for number in range(1, 11)]
    assert all(list(choices) == list("ABCD") for choices in CHOICES.values())


def test_the_answers_that_are_computed_are_the_right_ones() -> None:
    computed = {
        number: [letter for letter, text in choices.items() if any(comments(text))]
        for number, choices in CHOICES.items()
    }
    found = {number: letters for number, letters in computed.items() if letters}
    assert found == {number: [KEYS[number]] for number in ("1", "2", "3", "5", "6", "9")}


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
