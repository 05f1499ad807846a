"""The right answers of the ten questions are what a run gives; `tools.numbers` computes their numbers."""

import re
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from databound.advise.three_runs import ThreeRuns
from lessonkit import (
    AUTOTUNE,
    ArtificialDataset,
    DataLoader,
    Dataset,
    Storage,
    benchmark,
    per_sample,
)
from lessonkit.optimize import autotune
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


def test_there_are_twice_ten_and_each_has_four_answers_and_a_key() -> None:
    assert list(KEYS) == list(CHOICES) == [str(number) for number in range(1, 21)]
    assert all(list(choices) == list("ABCD") for choices in CHOICES.values())


def test_the_answers_that_are_computed_are_the_right_ones() -> None:
    computed = {
        number: [letter for letter, text in choices.items() if any(comments(text))]
        for number, choices in CHOICES.items()
    }
    found = {number: letters for number, letters in computed.items() if letters}
    computed_ones = ["1", "2", "3", "5", "6", "9", "11", "13", "14", "16", "19", "20"]
    assert found == {number: [KEYS[number]] for number in computed_ones}


def test_every_lesson_but_the_last_two_has_a_question_and_says_what_is_wrong() -> None:
    rows = re.findall(r"^\| (\d+) \| ([A-D]) \| (.+) \| (\d\d) \|$", TEXT, re.M)
    assert {lesson for *_, lesson in rows} >= {f"{number:02}" for number in range(12)}
    for _, right, told, _ in rows:
        for letter in sorted({*"ABCD"} - {right}):
            assert re.search(rf"(^|[ ,]){letter}[:,]", told), (letter, told)


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


# ---- ten more ----


def steady(dataset: Dataset, train: float = 0) -> float:
    """Seconds between two elements in the second half of an epoch."""
    arrivals = benchmark(dataset, 1, train=train).epochs[0].arrivals
    middle = len(arrivals) // 2
    return (arrivals[-1] - arrivals[middle]) / (len(arrivals) - 1 - middle)


def test_fifteen_requests_under_way_give_500_files_per_second_and_one_less_does_not() -> (
    None
):
    def every(requests: int) -> float:
        files = Dataset.range(40 * requests).map(cost=0.030, num_parallel_calls=requests)
        return benchmark(files, 1, train=0).duration / (40 * requests)

    assert every(15) == pytest.approx(1 / 500)
    assert every(14) > 1 / 500


def test_four_readers_get_no_more_from_a_disk_than_one() -> None:
    disk = Storage(200e6)

    def epoch(readers: int) -> float:
        each = disk.read(100_000_000)
        files = Dataset.range(8).map(cost=each, num_parallel_calls=readers)
        return benchmark(files, 1, train=0).duration

    assert epoch(1) == pytest.approx(epoch(4))
    assert CHOICES["12"][KEYS["12"]] == "it takes as long as before"


def test_what_a_tuner_sets_are_numbers_so_a_cache_is_left() -> None:
    decoded = ArtificialDataset(20).map(cost=0.020, num_parallel_calls=AUTOTUNE)
    tuned = autotune(decoded.prefetch(AUTOTUNE)).dataset

    def operators(dataset: Dataset) -> list[str]:
        return re.findall(r"\.(\w+)\(", dataset.code("tf.data"))

    assert operators(tuned) == operators(decoded.prefetch(1))
    assert "cache" in CHOICES["15"][KEYS["15"]]
    with_cache = decoded.cache().prefetch(AUTOTUNE)
    assert benchmark(with_cache, 5).duration < 0.7 * benchmark(tuned, 5).duration


def test_two_maps_side_by_side_take_10_ms_before_they_are_fused() -> None:
    apart = Dataset.range(100)
    for _ in range(2):
        apart = apart.map(cost=0.010, num_parallel_calls=1)
    assert steady(apart) == pytest.approx(0.010)


def test_a_loader_that_is_faster_than_the_step_leaves_the_step() -> None:
    runs = ThreeRuns(0.012, 0.030, 0.031, 1)
    assert (runs.kind, CHOICES["17"][KEYS["17"]]) == ("step-bound", "the step")


def test_two_changes_save_less_or_more_than_what_they_save_alone() -> None:
    def epoch(*calls: int, ahead: bool = False) -> float:
        made = Dataset.range(200)
        for count in calls:
            made = made.map(cost=0.020, num_parallel_calls=count)
        return benchmark(made.prefetch(1) if ahead else made, 1, train=0.005).duration

    before = epoch(1, 1)
    first, second = before - epoch(2, 1), before - epoch(1, 2)
    assert first + second < 0.05 * before  # nothing alone
    assert before - epoch(2, 2) > 0.40 * before
    # And a prefetch saves nothing where a parallel map works ahead already
    assert epoch(2, 2) == pytest.approx(epoch(2, 2, ahead=True), rel=0.02)
    assert CHOICES["18"][KEYS["18"]].startswith("only a run")


def test_eight_workers_keep_up_with_the_step_and_seven_do_not() -> None:
    def every(workers: int) -> float:
        batches = Dataset.range(240).map(cost=0.240)
        loader = DataLoader(batches, batch_size=None, num_workers=workers)
        arrivals = benchmark(loader, 1, train=0.030).epochs[0].arrivals
        return (arrivals[-1] - arrivals[120]) / 119

    assert every(8) == pytest.approx(0.030, rel=0.02)
    assert every(7) > 0.033
    assert every(16) == pytest.approx(0.030, rel=0.02)
