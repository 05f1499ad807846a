import json
import re
from typing import Any

import answers_00
import answers_05
import pytest
from support.pages import Said

from lessonkit import ArtificialDataset, Dataset, benchmark
from lessonkit.widgets import challenge, goals, slider
from lessonkit.widgets.goals import Attempt, Goal
from lessonkit.words import milliseconds


def attempt(dataset: Dataset, **options: Any) -> Attempt:
    return Attempt(benchmark(dataset, **options))


def files(lanes: int) -> Dataset:
    return Dataset.range(8).interleave(
        lambda file: ArtificialDataset(open=0.3),
        cycle_length=lanes,
        num_parallel_calls=lanes,
    )


TASK: Any = challenge(
    "Read faster, with few files open.",
    goals=[
        goals.per_sample(at_most=0.0325),
        goals.open_files(at_most=6),
        goals.calls(at_most=4),
    ],
    hints=["One.", "Two.", "Three."],
)


def test_it_passes_within_every_limit() -> None:
    outcome = TASK.check(lambda: files(2))
    assert outcome.passed
    assert repr(outcome).splitlines() == [
        "Passed: every goal is met.",
        "- met: time per sample: 31.25 ms (at most 32.5 ms)",
        "- met: files open at the same time: 6 (at most 6)",
        "- met: calls at the same time: 2 (at most 4)",
    ]


def test_the_message_says_what_is_missing_and_by_how_much() -> None:
    assert repr(TASK.check(lambda: files(3))).splitlines()[0] == (
        "Not yet. Files open at the same time: 8 (at most 6), over by 2."
    )
    assert repr(TASK.check(lambda: files(1))).splitlines()[0] == (
        "Not yet. Time per sample: 45.6 ms (at most 32.5 ms), over by 13.1 ms."
    )


def some_files() -> Any:
    made: Any = challenge("Read.", goals=[goals.open_files(at_most=6)])
    made.check(lambda: files(3))
    return made


def told(outcome: Any) -> Any:
    return json.loads(outcome.state)


def test_the_code_of_the_lesson_is_no_try_and_what_comes_after_it_is() -> None:
    task: Any = challenge("Read.", goals=[goals.open_files(at_most=6)])
    assert [told(task.check(lambda: files(3)))["tried"] for _ in range(3)] == [
        False,
        True,
        True,
    ]


def test_a_change_that_makes_no_difference_is_told_so() -> None:
    changed = some_files().check(lambda: files(3).prefetch(0))
    assert told(changed)["verdict"]["remark"] == (
        "The same figures as before: this change makes no difference here."
    )
    # Neither is a change that is not seen, as in a function elsewhere, without an answer
    task: Any = challenge("Read.", goals=[goals.open_files(at_most=6)])
    again = [task.check(files_of_three) for _ in range(2)]
    assert told(again[1])["verdict"]["remark"] == "The same figures as before."


@pytest.mark.parametrize(
    "pipeline",
    [
        lambda: files(3).map(cost=0.1),  # other figures
        lambda: files(2),  # and the goal is met
        lambda: files(3).batch(0),  # no figures
    ],
)
def test_what_changes_figures_passes_or_fails_has_its_own_answer(pipeline: Any) -> None:
    assert "remark" not in told(some_files().check(pipeline))["verdict"]


def files_of_three() -> Dataset:
    return files(3)


def loops() -> None:
    while True:
        pass


@pytest.mark.parametrize(
    ("pipeline", "sentence"),
    [
        (lambda: None, "must return a Dataset"),
        (lambda: [1, 2], "must return a Dataset"),
        (lambda: 1 / 0, "ZeroDivisionError: division by zero"),
        (lambda: Dataset.range(3).batch(0), "batch_size=0: must be 1 or more"),
        (lambda: Dataset.range(3).repeat(), "never ends"),
        (
            lambda: (ArtificialDataset(), {"num_epochs": 0}),
            "no element reached the training loop",
        ),
        (lambda: Dataset.range(0), "no element reached the training loop"),
    ],
)
def test_what_can_not_be_judged_is_said(pipeline: Any, sentence: str) -> None:
    outcome = TASK.check(pipeline)
    assert not outcome.passed
    assert sentence in repr(outcome)


def test_what_never_ends_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lessonkit.widgets.sandbox.MOST_SECONDS", 0.2)
    outcome = TASK.check(loops)
    assert not outcome.passed
    assert "loops took longer than 0.2 s and was stopped" in repr(outcome)


def test_with_controls_every_step_is_judged() -> None:
    def pipeline(buffer: int = 0) -> Dataset:
        return ArtificialDataset(20, read=0.005).prefetch(buffer)

    said = Said(
        challenge(
            "Hide it.",
            goals=[goals.busy(at_least=0.8)],
            pipeline=pipeline,
            buffer=slider(0, 4),
        )
    )
    state = json.loads(said.widget.state)
    assert state["task"]["goals"] == ["accelerator busy: at least 80 %"]
    assert not state["scene"]["verdict"]["passed"]
    verdict = said.ask({"do": "show", "id": 1, "values": {"buffer": 1}})[1]["verdict"]
    assert verdict["passed"]


def judged(goal: Goal, tried: Attempt) -> str:
    return goal.judge(tried)[1]


def test_goals_measure_what_their_names_say() -> None:
    naive = attempt(ArtificialDataset(), num_epochs=2)
    assert (
        judged(goals.total(at_most=0.2), naive)
        == "total: 210 ms (at most 200 ms), over by 10 ms"
    )
    assert (
        judged(answers_05.first_element(at_most=0.045), naive)
        == "first element after: 45 ms (at most 45 ms)"
    )
    assert (
        judged(goals.busy(at_least=0.5), naive)
        == "accelerator busy: 28.6 % (at least 50 %), short by 21.4 points"
    )
    cached = attempt(ArtificialDataset(3, nbytes=100).cache().prefetch(2))
    assert (
        judged(goals.cached(at_most=200), cached)
        == "cached: 300 B (at most 200 B), over by 100 B"
    )
    assert (
        judged(goals.buffered(at_most=1), cached)
        == "prefetch slots: 2 (at most 1), over by 1"
    )
    assert judged(goals.in_memory(at_most=500), cached) == "memory: 500 B (at most 500 B)"


def test_the_first_element_is_the_first_of_all_epochs() -> None:
    passes: list[int] = []

    def empty_at_first() -> Any:
        passes.append(1)
        return iter(range(3) if len(passes) > 1 else ())

    late = Dataset.from_generator(empty_at_first).map(cost=0.020)
    tried = attempt(late, num_epochs=2)
    assert [epoch.samples for epoch in tried.trace.epochs] == [0, 3]
    assert (
        judged(answers_05.first_element(at_most=0.02), tried)
        == "first element after: 20 ms (at most 20 ms)"
    )


def test_a_first_element_that_never_comes_is_late() -> None:
    goal = answers_05.first_element(at_most=0.02)
    assert not goal.judge(attempt(Dataset.range(3).filter(lambda number: False)))[0]


def test_what_was_measured_and_by_how_much_are_written_as_in_the_figures() -> None:
    for measured in (0.01096, 0.02525, 0.025255, 0.010284, 0.1023, 1.354675, 13.354675):
        goal = goals.goal(
            "time",
            lambda tried: tried.values["took"],
            milliseconds,
            at_most=0.0102,
        )
        tried = attempt(ArtificialDataset())._replace(values={"took": measured})
        said = re.fullmatch(
            r"time: (.+) \(at most 10.2 ms\), over by (.+)", judged(goal, tried)
        )
        assert said
        assert said[1] == milliseconds(measured)
        assert said[2] == milliseconds(measured - 0.0102)


def test_a_total_is_written_in_the_unit_of_its_target() -> None:
    tried = attempt(ArtificialDataset(300, open=0, read=0.03), num_epochs=1)
    assert judged(goals.total(at_most=2.95), tried) == (
        "total: 12 s (at most 2.95 s), over by 9.05 s"
    )
    assert judged(goals.total(at_most=0.8), tried) == (
        "total: 12,000 ms (at most 800 ms), over by 11,200 ms"
    )
    assert goals.total(at_most=4.3).asked() == "total: at most 4.3 s"


def test_a_goal_that_allows_none_is_a_sentence() -> None:
    assert judged(goals.calls(at_most=0), attempt(Dataset.range(3))) == "no parallel calls"
    assert goals.calls(at_most=1).asked() == "calls at the same time: at most 1"


def test_changes_of_controls_are_counted() -> None:
    tried = attempt(ArtificialDataset())._replace(
        values={"a": 1, "b": 2}, start={"a": 1, "b": 1}
    )
    assert (
        judged(answers_00.changed(at_most=0), tried)
        == "controls changed: 1 (at most 0), over by 1"
    )


def test_faults_in_the_data_are_counted() -> None:
    def augmented(data: Dataset) -> Dataset:
        return data.map(cost=0.001, random=True)

    data = Dataset.range(8)
    good = augmented(data.cache().shuffle(8)).repeat(3)
    bad = augmented(data.shuffle(8)).cache().repeat(3)
    assert goals.good_data().judge(attempt(good, num_epochs=1))[0]
    said = "problems in the data: the same order in every epoch, the augmentation is frozen"
    assert judged(goals.good_data(), attempt(bad, num_epochs=1)) == said


def test_threads_are_calls_and_a_helper_for_each_prefetch() -> None:
    counted = goals.threads(at_most=4)
    assert counted.measure(attempt(files(2).prefetch(1).map(cost=0.01).prefetch(8))) == 4
    assert counted.measure(attempt(ArtificialDataset().map(cost=0.01))) == 0


def test_a_goal_has_one_limit() -> None:
    with pytest.raises(ValueError, match="either at_most= or at_least="):
        goals.goal("x", lambda tried: 1)
    with pytest.raises(ValueError, match="either at_most= or at_least="):
        goals.goal("x", lambda tried: 1, at_most=1, at_least=1)
