"""What a measured pipeline remembers, and what it calls again: counted, whatever it costs."""

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lessonkit import Dataset, benchmark, work
from lessonkit.analysis import advise, measure
from lessonkit.loops import measure as measuring
from lessonkit.loops.remember import Remembered

pytestmark = pytest.mark.usefixtures("every_call_counts")


@pytest.fixture
def every_call_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """However short it is, a call is worth a cost."""
    monkeypatch.setattr("lessonkit.loops.measure.SLIGHT", 0.0)


def counted(function: Callable[..., Any]) -> tuple[Callable[..., Any], Counter[Any]]:
    """A function, and how often it was called with each value."""
    calls: Counter[Any] = Counter()

    def fn(value: Any) -> Any:
        calls[str(value)] += 1
        return function(value)

    return fn, calls


def most_calls(pipeline: Dataset, calls: Counter[Any], runs: int = 3) -> int:
    """How often a function is called with one value while its measured pipeline runs again and again."""
    measured = measure(pipeline).dataset
    calls.clear()
    values = [benchmark(measured, 2, keep=True).epochs[0].elements for _ in range(runs)]
    assert all(one == values[0] for one in values)
    return max(calls.values())


def test_a_function_is_called_once_for_each_element_by_all_runs_of_advise() -> None:
    fn, calls = counted(lambda number: number + 1)
    measured = measure(Dataset.range(6).map(fn).batch(2)).dataset
    calls.clear()
    assert len(advise(measured)) > 5
    assert calls == {str(number): 1 for number in range(6)}


def test_filters_and_maps_of_what_was_remembered_are_too() -> None:
    odd, calls = counted(lambda number: number % 2)
    assert most_calls(Dataset.range(6).filter(odd), calls) == 1
    total, calls = counted(lambda batch: float(batch.sum()))
    assert most_calls(Dataset.range(6).map(lambda n: np.full(9, n)).batch(2).map(total), calls) == 1


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
        assert [array.sum() for array in benchmark(measured, 1, keep=True).epochs[0].elements] == [2, 2, 2]


def test_what_is_made_at_random_is_made_again() -> None:
    draw, calls = counted(lambda number: number)
    assert most_calls(Dataset.range(6).map(draw, random=True), calls, runs=3) == 6


def test_what_a_map_func_makes_may_be_another_each_time_and_is_made_again() -> None:
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

    measured = measure(Dataset.range(5).map(says), elements=2).dataset
    for _ in range(2):
        assert 1.0 < benchmark(measured, 1, train=0).duration < 2.0


def test_what_cannot_be_pickled_is_made_again() -> None:
    lock, calls = counted(lambda number: threading.Lock())
    measured = measure(Dataset.range(2).map(lock)).dataset
    calls.clear()
    benchmark(measured, 1)
    benchmark(measured, 1)
    assert set(calls.values()) == {2}


def test_an_error_is_raised_on_every_run() -> None:
    measured = measure(Dataset.range(3).map(lambda number: 1 // (2 - number)), elements=1).dataset
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            benchmark(measured, 1)


def test_no_more_is_kept_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = Remembered(room=1000)
    monkeypatch.setattr(measuring, "Remembered", lambda: memory)
    fn, calls = counted(lambda number: bytes(300))
    measured = measure(Dataset.range(9).map(fn)).dataset
    calls.clear()
    benchmark(measured, 1)
    benchmark(measured, 1)
    assert sorted(calls.values()) == [1] * 3 + [2] * 6
    assert sum(map(len, memory.kept.values())) + memory.room == 1000


def test_on_the_real_clock_nothing_is_remembered() -> None:
    fn, calls = counted(lambda number: number)
    measured = measure(Dataset.range(2).map(fn)).dataset
    calls.clear()
    assert list(measured) == list(measured) == [0, 1]
    benchmark(measured, 1, clock="real", train=0)
    assert set(calls.values()) == {3}


def test_a_function_keeps_its_name_and_its_text() -> None:
    def decode(number: int) -> int:
        return number + 1

    measured = measure(Dataset.range(2).map(decode)).dataset
    assert "map(decode, cost=" in repr(measured)
    assert "return number + 1" in measured.code()
