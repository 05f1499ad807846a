"""Pipelines in a process that was forked, where the threads of its parent are not."""

import os
import time

import pytest
from support.forked_process import forked

from lessonkit import DataLoader, Dataset, work

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork"),
    # It has threads: that is the test
    pytest.mark.filterwarnings("ignore:This process:DeprecationWarning"),
]

HELPED = Dataset.range(5).map(lambda x: x, num_parallel_calls=2).prefetch(1)


def test_a_forked_process_runs_pipelines_of_its_own() -> None:
    assert list(HELPED) == [0, 1, 2, 3, 4]  # its threads are idle now
    assert forked(lambda: list(HELPED)) == "[0, 1, 2, 3, 4]"


def test_an_iterator_whose_helpers_stayed_in_the_other_process_says_so() -> None:
    with iter(HELPED) as iterator:
        assert next(iterator) == 0
        assert "began before the fork" in forked(lambda: list(iterator))
        assert forked(iterator.close) == "None"
        assert list(iterator) == [1, 2, 3, 4]


def test_a_lock_that_is_held_at_the_fork_keeps_nobody_waiting() -> None:
    with iter(HELPED) as iterator:
        assert next(iterator) == 0
        with iterator._pass.lock():  # as a helper may
            assert "began before the fork" in forked(lambda: list(iterator))
            assert forked(iterator.close) == "None"
        assert list(iterator) == [1, 2, 3, 4]


def test_an_iterator_without_helpers_goes_on_in_both_processes() -> None:
    iterator = iter(Dataset.range(3))
    assert next(iterator) == 0
    assert forked(lambda: list(iterator)) == "[1, 2]"
    assert list(iterator) == [1, 2]


def test_a_process_that_a_function_forks_is_outside_the_pipeline() -> None:
    def worked() -> bool:
        began = time.perf_counter()
        work(0.01)
        return time.perf_counter() - began >= 0.01

    for calls in (None, 2):
        assert list(
            Dataset.range(1).map(lambda x: forked(worked), num_parallel_calls=calls)
        ) == ["True"]


def test_a_child_that_ends_leaves_the_workers_of_its_parent_alone() -> None:
    iterator = iter(DataLoader(Dataset.range(8), 2, num_workers=2))
    assert next(iterator) == [0, 1]
    assert forked(lambda: iterator.close()) == "None"
    assert list(iterator) == [[2, 3], [4, 5], [6, 7]]
