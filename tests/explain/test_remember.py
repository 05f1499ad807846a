"""What was measured is not called again on the virtual clock: counted, whatever it costs."""

import pickle
import random
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lessonkit import DataLoader, Dataset, benchmark, work
from lessonkit.analysis import advise, measure
from lessonkit.explain import measure as measuring
from lessonkit.explain.remembered import Remembered

pytestmark = pytest.mark.usefixtures("every_call_counts")


@pytest.fixture
def every_call_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """However short it is, a call is worth a cost."""
    monkeypatch.setattr("lessonkit.explain.calls.SLIGHT", 0.0)


def counted(function: Callable[..., Any]) -> tuple[Callable[..., Any], Counter[Any]]:
    """A function, and how often it was called with each value."""
    calls: Counter[Any] = Counter()

    def fn(value: Any) -> Any:
        calls[str(value)] += 1
        return function(value)

    return fn, calls


def model(pipeline: Dataset, calls: Counter[Any], elements: int = 32) -> Dataset:
    """The measured *pipeline*; from here on, *calls* are counted."""
    measured: Dataset = measure(pipeline, elements).dataset
    calls.clear()
    return measured


def values(pipeline: Dataset) -> Any:
    return benchmark(pipeline, 1, keep=True).epochs[0].elements


def test_advise_calls_no_function_again() -> None:
    fn, calls = counted(lambda number: number + 1)
    assert len(advise(model(Dataset.range(6).map(fn).batch(2), calls))) > 5
    assert not calls


def test_what_was_measured_stays_what_it_is() -> None:
    odd, calls = counted(lambda number: number % 2)
    assert values(model(Dataset.range(6).filter(odd), calls)) == [1, 3, 5]
    total, more = counted(lambda batch: float(batch.sum()))
    batches = Dataset.range(6).map(lambda n: np.full(9, n)).batch(2).map(total)
    assert values(model(batches, more)) == [9.0, 45.0, 81.0]
    collate, most = counted(sum)
    assert values(model(DataLoader(Dataset.range(6), 3, collate_fn=collate), most)) == [
        3,
        12,
    ]
    assert not calls + more + most


def test_what_was_measured_stands_in_for_what_was_not() -> None:
    fn, calls = counted(lambda number: 10 * number)
    found = values(model(Dataset.range(100).map(fn), calls, elements=4))
    assert found[:4] == [0, 10, 20, 30]
    assert {*found} == {0, 10, 20, 30}
    assert min(Counter(found).values()) > 10
    assert not calls


def test_a_generator_is_asked_again_unless_it_has_ended() -> None:
    lines, calls = counted(lambda file: iter([file, file + 1]))

    def read(file: int) -> Any:
        return Dataset.from_generator(lambda: lines(file))

    whole = model(Dataset.range(3).flat_map(read), calls)
    assert values(whole) == [0, 1, 1, 2, 2, 3]
    assert not calls
    assert len(values(model(Dataset.range(50).interleave(read), calls))) == 100
    assert not calls
    assert values(model(Dataset.from_generator(lambda: lines(7)), calls, elements=1)) == [
        7,
        8,
    ]
    assert calls == {"7": 1}


def test_two_functions_are_told_apart() -> None:
    pipeline = measure(Dataset.range(3).map(lambda n: n + 1).map(lambda n: n * 10)).dataset
    assert benchmark(pipeline, 1, keep=True).epochs[0].elements == [10, 20, 30]
    assert benchmark(pipeline, 1, keep=True).epochs[0].elements == [10, 20, 30]


def test_nobody_can_change_what_is_remembered() -> None:
    def add_one(array: Any) -> Any:
        array += 1
        return array

    measured = measure(Dataset.range(3).map(lambda n: np.zeros(2)).map(add_one)).dataset
    for _ in range(3):
        assert [
            array.sum() for array in benchmark(measured, 1, keep=True).epochs[0].elements
        ] == [2, 2, 2]


@pytest.mark.parametrize("result", [[3, 1, 2], [[3], [1], [2]]])
def test_a_step_may_change_its_batch_and_a_function_what_it_returned(result: Any) -> None:
    def tokens(number: int) -> Any:
        made.append([*result])
        return made[-1]

    def step(batch: Any) -> None:
        seen.append([*batch])
        batch.clear()

    made: list[Any] = []
    seen: list[Any] = []
    measured = measure(Dataset.range(3).map(tokens)).dataset
    for one in made:
        one.clear()
    for _ in range(2):
        benchmark(measured, 1, step=step)
    assert seen == 6 * [result]


def test_what_is_made_at_random_differs_from_epoch_to_epoch() -> None:
    drawn, calls = counted(lambda number: random.random())
    found = model(Dataset.range(6).map(drawn, random=True), calls)
    first, later = (epoch.elements for epoch in benchmark(found, 2, keep=True).epochs)
    assert first != later
    assert not calls


def test_what_a_function_has_captured_tells_its_calls_apart() -> None:
    measured = measure(
        Dataset.range(3).flat_map(lambda file: Dataset.range(2).map(lambda n: (file, n)))
    ).dataset
    pairs = [(file, n) for file in range(3) for n in range(2)]
    for _ in range(2):
        assert benchmark(measured, 1, keep=True).epochs[0].elements == pairs


def test_a_cost_that_a_function_says_is_said_on_every_run() -> None:
    def says(number: int) -> int:
        if number == 4:
            work(1.0)
        return number

    measured = measure(Dataset.range(5).map(says)).dataset
    for _ in range(2):
        assert 1.0 < benchmark(measured, 1, train=0).duration < 2.0


def test_what_cannot_be_pickled_is_made_again() -> None:
    lock, calls = counted(lambda number: threading.Lock())
    measured = measure(Dataset.range(2).map(lock)).dataset
    calls.clear()
    benchmark(measured, 1)
    benchmark(measured, 1)
    assert set(calls.values()) == {2}


def test_no_more_is_kept_than_there_is_room_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    memory = Remembered(room=1000)
    monkeypatch.setattr(measuring, "Remembered", lambda: memory)
    fn, calls = counted(lambda number: bytes([number]) * 300)
    assert {*values(model(Dataset.range(9).map(fn), calls))} == {
        bytes([n]) * 300 for n in range(3)
    }
    assert not calls
    kept = [copy() for copies in memory.kept.values() for copy in copies.values()]
    assert sum(len(pickle.dumps(one)) for one in kept) + memory.room == 1000


def test_on_the_real_clock_nothing_is_remembered() -> None:
    fn, calls = counted(lambda number: number)
    measured = measure(Dataset.range(2).map(fn)).dataset
    calls.clear()
    assert list(measured) == list(measured) == [0, 1]
    benchmark(measured, 1, clock="real", train=0)
    assert set(calls.values()) == {3}


def test_a_function_keeps_its_name() -> None:
    def decode(number: int) -> int:
        return number + 1

    measured = measure(Dataset.range(2).map(decode)).dataset
    assert "map(decode, cost=" in repr(measured)
