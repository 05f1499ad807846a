"""`benchmark`: what its arguments mean, and when it ends."""

import sys
import threading
import traceback
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from lessonkit import ArtificialDataset, Dataset, benchmark, work

CLOCKS = pytest.mark.parametrize("clock", ["virtual", "real"])


# ---- train, step and load ----


def test_train_and_load_are_seconds_or_functions_that_give_them() -> None:
    assert benchmark(Dataset.range(2), 1).duration == 0.020
    assert (
        benchmark(
            Dataset.range(2), 1, train=lambda x: 0.001 * x + 0.010, load=lambda x: x
        ).duration
        == 1.021
    )
    small = np.float32(0.25)
    assert benchmark(Dataset.range(2), 1, train=lambda x: small, load=small).duration == 1


@CLOCKS
def test_step_is_called_with_each_element_as_it_is_and_what_it_returns_means_nothing(
    clock: str,
) -> None:
    trained: list[Any] = []

    def step(element: Any) -> float:
        trained.append(element)
        return 5.0  # a loss

    trace = benchmark(
        Dataset.zip(Dataset.range(2), Dataset.range(2)), 1, clock=clock, step=step
    )
    assert trained == [(0, 0), (1, 1)]
    assert trace.duration < 5


def test_a_step_may_say_its_work() -> None:
    trace = benchmark(Dataset.range(2), 1, step=lambda x: work(0.010, kind="python"))
    assert trace.duration == 0.020
    assert {span.stage for span in trace.spans} == {"Train"}


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"train": lambda x: None},
            TypeError,
            "train of 0=None: must be a number of seconds, 0 or more; a function to call is step=",
        ),
        (
            {"load": lambda x: "1"},
            TypeError,
            "load of 0='1': must be a number of seconds, 0 or more; a function to call is step=",
        ),
        (
            {"train": lambda x: -x - 1},
            ValueError,
            "train of 0=-1: must be a number of seconds, 0 or more",
        ),
        (
            {"train": lambda x: work(1)},
            ValueError,
            "called work(): it can only return a number",
        ),
        ({"train": -1}, ValueError, "train=-1: must be a number of seconds"),
        ({"load": "1"}, TypeError, "load='1': must be a number of seconds"),
        (
            {"train": 0.01, "step": print},
            TypeError,
            "train=0.01, step=<built-in function print>: must be a cost",
        ),
        ({"step": 0.01}, TypeError, "step=0.01: must be a function"),
        ({"record": "no"}, TypeError, "record='no': must be True or False"),
        ({"keep": 1}, TypeError, "keep=1: must be True or False"),
    ],
)
def test_an_option_that_would_mean_nothing_is_refused(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as raised:
        benchmark(Dataset.range(3), **options)
    assert message in str(raised.value)


# ---- functions that only tell something ----


def test_costs_and_sizes_are_told_beside_each_other() -> None:
    for option in ("cost", "nbytes"):
        both = threading.Barrier(2)

        def told(x: int, both: threading.Barrier = both) -> int:
            both.wait(60)  # a call that has to wait for the end of the other one breaks it
            return 0

        asked: dict[str, Any] = {option: told}
        benchmark(
            Dataset.range(2).map(lambda x: x, num_parallel_calls=2, **asked),
            1,
            0,
            clock="real",
        )


@CLOCKS
def test_no_work_is_done_where_something_is_only_told(clock: str) -> None:
    def works(*_: Any) -> int:
        work(100)
        return 0

    asking: list[dict[str, Any]] = [{"cost": works}, {"cost": 0.001, "nbytes": works}]
    pipelines = [
        Dataset.range(1).map(**options, num_parallel_calls=calls)
        for options in asking
        for calls in (None, 2)
    ]
    for dataset in [
        *pipelines,
        ArtificialDataset(1, read=works),
        Dataset.from_list([1], nbytes=works),
    ]:
        with pytest.raises(ValueError, match=r"called work\(\)"):
            benchmark(dataset, 1, clock=clock)
    with pytest.raises(ValueError, match=r"called work\(\)"):
        benchmark(Dataset.range(1), clock=clock, progress=works)


def test_work_takes_every_kind_of_number() -> None:
    work(np.float32(0.001))  # type: ignore[arg-type]


# ---- progress, and the end ----


@CLOCKS
def test_progress_counts_elements_over_all_epochs(clock: str) -> None:
    seen: list[tuple[int, float]] = []
    benchmark(
        Dataset.range(2), train=0, clock=clock, progress=lambda *news: seen.append(news)
    )
    assert [count for count, _ in seen] == [1, 2, 3, 4]
    assert sorted(seen) == seen


@CLOCKS
def test_a_progress_that_raises_ends_the_run_and_its_helpers(clock: str) -> None:
    closed = threading.Event()

    def file() -> Iterator[int]:
        try:
            yield from range(100)
        finally:
            closed.set()

    def raises(*_: Any) -> None:
        raise KeyError("progress")

    with pytest.raises(KeyError, match="progress") as raised:
        benchmark(Dataset.from_generator(file).prefetch(1), clock=clock, progress=raises)
    assert closed.wait(60), raised


@CLOCKS
def test_a_run_can_be_cancelled_and_keeps_what_it_has(clock: str) -> None:
    cancel = threading.Event()

    def stop_after_three(count: int, elapsed: float) -> None:
        if count == 3:
            cancel.set()

    dataset = ArtificialDataset(1000, open=0, read=0.001).prefetch(1)
    trace = benchmark(
        dataset, train=0.001, clock=clock, progress=stop_after_three, cancel=cancel
    )
    assert trace.cancelled
    assert trace.samples == 3
    assert "(cancelled)" in str(trace)


@CLOCKS
def test_a_run_that_never_waits_hears_that_it_is_cancelled(clock: str) -> None:
    cancel = threading.Event()
    cancel.set()
    trace = benchmark(Dataset.range(1000), train=0, clock=clock, cancel=cancel)
    assert trace.cancelled
    assert trace.samples <= 1


def test_ctrl_c_on_the_virtual_clock_closes_generators_at_once() -> None:
    closed: list[bool] = []

    def file() -> Iterator[int]:
        try:
            yield from range(100)
        finally:
            closed.append(True)

    def interrupts(x: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as raised:
        benchmark(Dataset.from_generator(file).map(interrupts, num_parallel_calls=2))
    # Though somebody keeps the error, and its frames
    assert closed == [True], traceback.format_tb(raised.tb)


def forever() -> Iterator[int]:
    while True:
        yield 1


def test_what_never_ends_is_noticed_without_knowing_its_length(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys.modules["lessonkit.engine.training"], "MOST_ELEMENTS", 1000)
    with pytest.raises(
        ValueError, match="gave 1000 elements and did not end: set max_elements"
    ):
        benchmark(Dataset.from_generator(forever))
    assert benchmark(Dataset.from_generator(forever), max_elements=5).samples == 5


def test_what_is_known_to_end_is_never_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["lessonkit.engine.training"], "MOST_ELEMENTS", 10)
    assert benchmark(Dataset.range(6)).samples == 12
    assert benchmark(Dataset.range(11), 1).samples == 11
    # As many, and no more
    assert benchmark(Dataset.from_generator(lambda: range(5))).samples == 10


@pytest.mark.parametrize(
    ("name", "allowed"), [("cancel", "a threading.Event"), ("progress", "a function")]
)
def test_what_is_told_of_a_run_is_checked_by_name(name: str, allowed: str) -> None:
    with pytest.raises(TypeError, match=f"{name}=True: must be {allowed}"):
        benchmark(Dataset.range(3), 1, **{name: True})  # type: ignore[call-overload]
