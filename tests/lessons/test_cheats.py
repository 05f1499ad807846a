"""What makes a challenge easier without the work is refused with a sentence."""

from __future__ import annotations

from typing import Any

import pytest

from lessonkit import (
    AUTOTUNE,
    ArtificialDataset,
    Dataset,
    Machine,
    benchmark,
    per_sample,
    work,
)
from lessonkit.widgets import challenge, goals
from lessonkit.widgets.challenges import Challenge
from lessonkit.widgets.goals import job_of
from lessonkit.widgets.sandbox import pipeline_run
from tools.lesson import WRITTEN, lesson, run

WHOLE = ArtificialDataset(20, read=0.005).map(cost=0.020, stage="Slow")
TASK: Any = challenge(
    "Be quick.",
    goals=[
        goals.per_sample(at_most=0.014),
        goals.calls(at_most=2),
        goals.same_job(WHOLE, num_epochs=2),
    ],
)


def source(samples: int = 20, **costs: Any) -> Dataset:
    return ArtificialDataset(samples, **{"read": 0.005} | costs).prefetch(1)


def slow(dataset: Dataset, **changes: Any) -> Dataset:
    wanted: dict[str, Any] = {"cost": 0.020, "stage": "Slow", "num_parallel_calls": 2}
    return dataset.map(**wanted | changes).prefetch(1)


def test_the_work_that_is_asked_for_passes() -> None:
    for pipeline in (
        slow(source()),
        slow(source().batch(5), cost=per_sample(0.020)).unbatch(),
    ):
        said = TASK.check(lambda pipeline=pipeline: pipeline)
        assert "same samples, work and options" in repr(said), repr(said)
    usual = {"num_epochs": 2, "machine": Machine(cores=4)}
    assert TASK.check(lambda: (slow(source()), usual)).passed


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"train": 0}, "train=0, but the task has train=0.01: do not change it"),
        ({"train": lambda element: 0.0}, "train=<function"),
        ({"step": print}, "step=<built-in function print>, but the task has step=None"),
        ({"num_epochs": 1}, "num_epochs=1, but the task has num_epochs=2"),
        ({"num_epochs": 50}, "num_epochs=50"),
        ({"max_elements": 2}, "max_elements=2"),
        ({"machine": Machine(cores=64)}, "machine=Machine(cores=64)"),
        ({"load": 0.001}, "load=0.001"),
    ],
)
def test_how_it_is_run_belongs_to_the_task(options: dict[str, Any], sentence: str) -> None:
    outcome = TASK.check(lambda: (slow(source()), options))
    assert not outcome.passed
    assert sentence in repr(outcome)


def remembered() -> Dataset:
    known: set[int] = set()

    def decode(sample: int) -> int:
        if sample not in known:
            work(0.020, stage="Slow")
        known.add(sample)
        return sample

    return source().map(decode, num_parallel_calls=2).prefetch(1)


@pytest.mark.parametrize(
    ("pipeline", "sentence"),
    [
        (slow(source(10)), "elements that are missing: 10 in an epoch, such as 10"),
        (
            slow(source(40)),
            "elements that are not in the task: 20 in an epoch, such as 20",
        ),
        (
            slow(source()).batch(20),
            "elements that are not in the task: 1 in an epoch, such as [0, 1, 2",
        ),
        (
            slow(source(read=0)),
            "Read (wait) takes 0 ms for all samples, but in the task it takes 100 ms",
        ),
        (slow(source(open=0)), "Open (wait) takes 0 ms"),
        (
            slow(source(), cost=0.001),
            "Slow (wait) takes 20 ms for all samples, but in the task it takes 400 ms",
        ),
        (slow(source(), kind="native"), "Slow (wait) takes 0 ms"),
        (source(), "Slow (wait) takes 0 ms"),
        (Dataset.from_list(list(range(20))), "Open (wait) takes 0 ms"),
        (
            source().map(cost=lambda sample: 0.020 * (sample < 5), stage="Slow"),
            "Slow (wait) takes 100 ms",
        ),
        (remembered(), "Slow (wait) takes 0 ms"),
        (
            Dataset.range(1).flat_map(lambda _: slow(source(), num_parallel_calls=8)),
            "are not counted",
        ),
        (
            slow(source(), num_parallel_calls=AUTOTUNE),
            "calls at the same time: 4 (at most 2)",
        ),
    ],
)
def test_what_is_left_out_or_hidden_is_said(pipeline: Dataset, sentence: str) -> None:
    outcome = TASK.check(lambda: pipeline)
    assert not outcome.passed
    assert sentence in repr(outcome)


@pytest.mark.parametrize("name", WRITTEN)
def test_no_solution_of_a_lesson_may_be_run_in_another_way(name: str) -> None:
    for task, code in lesson(name).solved():
        if isinstance(task, Challenge):
            names = dict(lesson(name).names)
            run(code, names, f"<{name} solution>")
            dataset, options = pipeline_run(names["solution"]())
            for other in (
                {"train": 0},
                {"num_epochs": 9},
                {"max_elements": 3},
                {"machine": Machine(cores=99)},
            ):
                outcome = task.check(lambda: (dataset, options | other))  # noqa: B023
                assert not outcome.passed
                assert "do not change it" in repr(outcome)


def test_the_job_is_that_of_the_moment_at_which_it_was_given() -> None:
    costs = {"slow": 0.020}

    def pipeline() -> Any:
        return Dataset.range(4).map(lambda sample: work(costs["slow"], stage="Slow")), {
            "num_epochs": 1
        }

    dataset, options = pipeline()
    task: Any = challenge("Be quick.", goals=[goals.same_job(dataset, **options)])
    assert task.check(pipeline).passed
    costs["slow"] = 0.001
    assert "Slow (wait) takes 4 ms for all samples, but in the task it takes 80 ms" in repr(
        task.check(pipeline)
    )


def test_a_job_keeps_the_beginnings_of_large_elements_and_tells_them_apart() -> None:
    images = [bytes([number]) * 100_000 + bytes([number]) for number in range(4)]
    _, elements, _ = job_of(benchmark(Dataset.from_list(images)))
    assert len(elements) == 4
    assert max(len(words) for words, _ in elements) < 1000
    task: Any = challenge("Be quick.", goals=[goals.same_job(Dataset.from_list(images))])
    assert task.check(lambda: Dataset.from_list(images).prefetch(1)).passed
    other = [*images[:3], images[3][:-1] + b"x"]
    assert "1 in an epoch, such as b'" in repr(task.check(lambda: Dataset.from_list(other)))
