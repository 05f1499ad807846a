"""Where no thread can be started, as in a browser: all that runs for real does so on one thread."""

import gc
import os
import threading
import time
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

import numpy as np
import pytest
from support.both_clocks import both, is_a_race, on_threads, on_virtual
from support.forked_process import forked
from support.random_pipelines import PlannedError, pipeline, seeds
from support.random_runs import COSTS

from databound import probe
from lessonkit import AUTOTUNE, ArtificialDataset, Dataset, Machine, benchmark, work
from lessonkit.analysis import advise, measure
from lessonkit.engine import threads
from lessonkit.optimize import autotune, rewrite

pytestmark = pytest.mark.usefixtures("no_threads")


class Clock:
    """A computer's clock that stands still, unless somebody sleeps or computes."""

    def __init__(self) -> None:
        self.now = 0

    def perf_counter_ns(self) -> int:
        return self.now

    def monotonic(self) -> float:
        return self.now / 1e9

    def sleep(self, seconds: float) -> None:
        self.now += round(seconds * 1e9)

    def compute(self, value: Any) -> Any:
        """Take 5 ms for it."""
        self.sleep(0.005)
        return value


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock that real runs see."""
    stands_still = Clock()
    monkeypatch.setattr("lessonkit.engine.threads.time", stands_still)
    return stands_still


def started(file: list[str]) -> Iterator[int]:
    """A file that notes when it is opened and closed."""
    file.append("opened")
    try:
        yield from range(100)
    finally:
        file.append("closed")


# ---- benchmark ----


def test_waits_go_on_side_by_side_as_the_virtual_clock_foretells(clock: Clock) -> None:
    for seed in seeds(200):
        dataset = pipeline(seed, COSTS)
        if is_a_race(dataset):
            continue
        machine = Machine((1, 2, 4)[seed % 3])
        train = (0.010, 0, 0.003, 0.050)[seed // 3 % 4]
        virtual, real = both(dataset, train=train, machine=machine)
        assert [epoch.elements for epoch in real.epochs] == [
            epoch.elements for epoch in virtual.epochs
        ], seed
        # Who is first among equals for a core may differ, and then the rest.
        assert real.duration == pytest.approx(virtual.duration, rel=0.01), seed


def test_the_computers_own_clock_is_followed() -> None:
    dataset = (
        ArtificialDataset(3).map(lambda x: work(0.010), num_parallel_calls=2).prefetch(1)
    )
    virtual, real = both(dataset)
    assert real.duration >= virtual.duration
    assert real.stages == virtual.stages


def test_functions_that_compute_take_turns_and_waits_go_on_meanwhile(
    clock: Clock,
) -> None:
    images = Dataset.range(8).map(clock.compute, num_parallel_calls=4)
    assert benchmark(images, 1, train=0, clock="real").duration == 0.040
    # The step of 5 ms goes on while the next image is made; only the last one comes after all.
    images = Dataset.range(8).map(clock.compute).prefetch(2)
    assert benchmark(images, 1, train=0.005, clock="real").duration == 0.045
    files = ArtificialDataset(4, open=0, read=0.002).map(cost=0.003).prefetch(1)
    assert benchmark(files, 1, step=clock.compute, clock="real").duration == 0.025


def test_a_computing_function_lets_those_go_first_who_can(clock: Clock) -> None:
    trace = benchmark(
        Dataset.range(100).map(clock.compute).prefetch(50), 1, train=0, clock="real"
    )
    assert trace.epochs[0].arrivals[0] == 0.005
    assert trace.busy("Map") == 1


def test_cancel_is_heard_from_progress() -> None:
    cancel = threading.Event()
    dataset = ArtificialDataset(1000, open=0, read=0.001).prefetch(1)
    trace = benchmark(
        dataset, clock="real", cancel=cancel, progress=lambda *_: cancel.set()
    )
    assert (trace.cancelled, trace.samples) == (True, 1)


def test_helpers_that_got_a_thread_and_others_work_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.undo()  # there are threads again, but only so many for a run
    start = threads.start_thread
    left = 0

    def scarce(*job: Any) -> bool:
        nonlocal left
        left -= 1
        return left >= 0 and start(*job)

    monkeypatch.setattr(threads, "start_thread", scarce)
    for seed in seeds(60):
        dataset = pipeline(seed)
        left = seed % 3 + 1
        if not is_a_race(dataset):
            virtual, real = both(dataset, num_epochs=1, train=1e-5)
            assert real.epochs[0].elements == virtual.epochs[0].elements, seed


# ---- iteration ----


def test_errors_stand_in_their_places() -> None:
    found: list[Any] = []
    for seed in seeds(150):
        dataset = pipeline(seed, failing=True)
        if not is_a_race(dataset):
            found += (elements := on_threads(dataset))
            assert elements == on_virtual(dataset), seed
    assert PlannedError in found


def test_reading_ahead_goes_on_while_the_loop_has_something_else_to_do(
    clock: Clock,
) -> None:
    for _ in ArtificialDataset(4, open=0, read=0.002).map(cost=0.003).prefetch(1):
        clock.compute(None)
    assert clock.now == 25_000_000


def test_nothing_is_read_that_there_was_no_place_for(clock: Clock) -> None:
    iterator = iter(ArtificialDataset(9, open=0, read=0.010).prefetch(2))
    next(iterator)
    clock.sleep(10)
    began = clock.now
    # Two wait, one was begun when there was a place again, and one was not
    for _ in range(4):
        next(iterator)
    assert clock.now - began == 20_000_000


def test_an_element_is_given_before_many_are_made(clock: Clock) -> None:
    iterator = iter(Dataset.range(1000).map(clock.compute).prefetch(500))
    for _ in range(3):
        next(iterator)
        clock.sleep(10)  # so that there was time for all of them
    assert clock.now <= 30_000_000_000 + 6 * 5_000_000


def test_a_loop_that_is_left_closes_what_is_open() -> None:
    closed: list[str] = []
    dataset = (
        Dataset.from_generator(started, args=(closed,))
        .map(lambda x: x, num_parallel_calls=2)
        .prefetch(2)
    )
    with iter(dataset) as iterator:
        assert next(iterator) == 0
    assert closed == ["opened", "closed"]
    assert list(iterator) == []

    class Holder:
        def __init__(self) -> None:
            self.myself = self
            self.iterator = iter(dataset)
            next(self.iterator)

    Holder()
    gc.collect()
    assert closed == ["opened", "closed"] * 2


@pytest.mark.parametrize("calls", [None, 2])
def test_a_function_may_ask_for_its_own_loop_only_that_it_ends(calls: Any) -> None:
    def asks(x: int) -> None:
        with pytest.raises(RuntimeError, match="is being asked"):
            next(iterator)
        iterator.close()

    iterator = iter(Dataset.range(9).map(asks, num_parallel_calls=calls).prefetch(1))
    assert list(iterator) == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_ctrl_c_in_a_function_or_in_a_wait_ends_the_pass(
    error: type[BaseException], clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupts(*_: Any) -> None:
        raise error

    for wait in (False, True):
        closed: list[str] = []
        files = Dataset.from_generator(started, args=(closed,))
        if wait:
            monkeypatch.setattr(clock, "sleep", interrupts)
        iterator = iter(
            files.map(
                None if wait else interrupts, cost=0.001, num_parallel_calls=2
            ).prefetch(1)
        )
        with pytest.raises(error):
            next(iterator)
        assert closed == ["opened", "closed"]
        assert list(iterator) == []


def test_ctrl_c_while_helpers_catch_up_is_heard_at_once(clock: Clock) -> None:
    def interrupts(x: int) -> int:
        if x == 2:
            raise KeyboardInterrupt
        return x

    iterator = iter(Dataset.range(9).map(interrupts, cost=0.001).prefetch(2))
    assert next(iterator) == 0
    clock.sleep(1)
    with pytest.raises(KeyboardInterrupt):  # though there is another element ready
        next(iterator)
    assert list(iterator) == []


def test_a_pipeline_may_run_inside_another_ones_function() -> None:
    dataset = Dataset.range(4).map(
        lambda x: sum(Dataset.range(x).prefetch(1)), num_parallel_calls=2
    )
    assert list(dataset) == [0, 0, 1, 3]
    inner = ArtificialDataset(2).map(cost=0.001, num_parallel_calls=2)
    assert list(
        Dataset.range(2).map(lambda x: benchmark(inner).samples, num_parallel_calls=2)
    ) == [4, 4]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_after_a_fork_a_loop_goes_on_in_both_processes() -> None:
    iterator = iter(Dataset.range(4).map(lambda x: x, num_parallel_calls=2).prefetch(1))
    assert next(iterator) == 0
    assert forked(lambda: list(iterator)) == "[1, 2, 3]"
    assert list(iterator) == [1, 2, 3]


def test_functions_see_the_context_variables_of_the_loop() -> None:
    colour = ContextVar("colour", default="none")
    dataset = Dataset.range(2).map(lambda x: colour.get(), num_parallel_calls=2).prefetch(1)
    colour.set("red")
    assert list(dataset) == ["red", "red"]


# ---- what is built on it ----


def test_functions_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    naps = Dataset.range(9).map(lambda x: time.sleep(0.005))
    assert measure(naps).dataset.node.arguments["kind"] == "wait"
    # All of it on a core
    monkeypatch.setattr("lessonkit.explain.measure.thread_time", time.perf_counter)
    assert measure(naps).dataset.node.arguments["kind"] == "python"


def test_loops_are_probed(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("databound.advise.three_runs.perf_counter", clock.monotonic)
    loader = ArtificialDataset(30, open=0, read=0.004).map(cost=0.002)
    for probed, kind in ((loader, "they take turns"), (loader.prefetch(2), "data-bound")):
        assert probe(probed, clock.compute).kind == kind


def test_pipelines_are_improved() -> None:
    dataset = (
        ArtificialDataset(6).map(cost=0.030, num_parallel_calls=AUTOTUNE).prefetch(AUTOTUNE)
    )
    assert "num_parallel_calls=3" in repr(autotune(dataset).dataset)
    assert advise(ArtificialDataset(6))
    assert rewrite(dataset.map(lambda x: x)).dataset
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        list(Dataset.range(1).map(lambda x: np.float64(1) / 0, num_parallel_calls=2))
