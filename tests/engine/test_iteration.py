"""`for element in dataset:` on threads, and what is left when it is over."""

import contextlib
import gc
import signal
import threading
import time
import traceback
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

import numpy as np
import pytest
from support.both_clocks import outcomes
from support.helpers import eventually, helpers

from lessonkit import (
    ArtificialDataset,
    Dataset,
    StuckError,
    benchmark,
    work,
)
from lessonkit.engine.machine import Machine
from lessonkit.engine.node import NodeStates
from lessonkit.engine.operators.stream import Scope
from lessonkit.engine.run import Gate
from lessonkit.engine.trace import Name
from lessonkit.engine.virtual import Virtual

PARALLEL: list[Any] = [None, 1, 4]


def fails_on_three(x: int) -> int:
    if x == 3:
        raise KeyError("three")
    return x


# ---- elements ----


def test_real_functions_run_on_real_data() -> None:
    images = Dataset.from_list([np.full((2, 2), value) for value in range(5)])
    dataset = (
        images.map(lambda image: image * 2.0, num_parallel_calls=2).batch(2).prefetch(1)
    )
    batches = list(dataset)
    assert [batch.shape for batch in batches] == [(2, 2, 2), (2, 2, 2), (1, 2, 2)]
    assert [batch[0, 0, 0] for batch in batches] == [0.0, 4.0, 8.0]


def test_arrays_of_different_shapes_cannot_be_a_batch() -> None:
    with pytest.raises(ValueError, match="shape"):
        list(Dataset.from_list([np.zeros(2), np.zeros(3)]).batch(2))


def test_a_second_loop_finds_caches_filled() -> None:
    calls: list[int] = []

    def expensive(x: int) -> int:
        calls.append(x)
        return x

    dataset = Dataset.range(3).map(expensive).cache()
    assert list(dataset) == list(dataset.prefetch(1)) == [0, 1, 2]
    assert calls == [0, 1, 2]
    benchmark(dataset, num_epochs=1)
    assert calls == [0, 1, 2] * 2  # a benchmark begins with empty caches


def test_a_shuffle_has_a_new_order_in_each_loop_and_the_same_series_from_the_same_seed() -> (
    None
):
    def series() -> list[list[int]]:
        dataset = Dataset.range(50).shuffle(50, seed=3)
        return [list(dataset) for _ in range(3)]

    first = series()
    assert first == series()
    assert first[0] != first[1] != first[2]
    fixed = Dataset.range(50).shuffle(50, reshuffle_each_iteration=False)
    assert list(fixed) == list(fixed)


def test_a_pipeline_may_run_inside_another_ones_function() -> None:
    dataset = Dataset.range(4).map(
        lambda x: sum(Dataset.range(x).prefetch(1)), num_parallel_calls=2
    )
    assert list(dataset) == [0, 0, 1, 3]


@pytest.mark.parametrize("calls", PARALLEL)
def test_functions_see_the_context_variables_of_the_code_that_asks(calls: Any) -> None:
    colour = ContextVar("colour", default="none")
    inner = Dataset.range(1).map(lambda x: colour.get(), num_parallel_calls=calls)
    nested = Dataset.range(2).interleave(
        lambda x: inner.prefetch(1), 2, num_parallel_calls=calls and 1
    )
    calls_two_deep = nested.map(
        lambda seen: [seen, *inner, colour.get()], num_parallel_calls=calls
    )
    colour.set("red")
    assert list(calls_two_deep.prefetch(1)) == [["red"] * 3] * 2
    assert benchmark(inner, 1, clock="real").epochs[0].elements == ["red"]


def test_numpys_errors_are_raised_beside_the_loop_if_they_are_in_it() -> None:
    dataset = Dataset.range(1).map(lambda x: np.float64(1) / x, num_parallel_calls=2)
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        list(dataset)


# ---- errors ----


@pytest.mark.parametrize("calls", PARALLEL)
def test_an_error_comes_in_the_place_of_its_element_and_iteration_goes_on(
    calls: Any,
) -> None:
    dataset = Dataset.range(6).map(fails_on_three, num_parallel_calls=calls).prefetch(2)
    assert outcomes(dataset) == [0, 1, 2, "KeyError('three')", 4, 5]


@pytest.mark.parametrize("calls", PARALLEL)
@pytest.mark.parametrize("clock", ["virtual", "real"])
def test_an_error_is_the_learners_own_with_the_learners_frames(
    calls: Any, clock: str
) -> None:
    dataset = Dataset.range(6).map(fails_on_three, num_parallel_calls=calls).prefetch(2)
    with pytest.raises(KeyError, match="three") as raised:
        benchmark(dataset, clock=clock)
    frames = [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)]
    assert "fails_on_three" in frames


def test_a_generator_that_raised_has_ended_its_file() -> None:
    def file() -> Iterator[int]:
        yield 0
        raise OSError("broken")

    assert outcomes(Dataset.from_generator(file)) == [0, "OSError('broken')"]


def test_stop_iteration_in_a_function_does_not_end_the_loop_silently() -> None:
    with pytest.raises(RuntimeError, match="StopIteration"):
        list(Dataset.range(3).map(lambda x: next(iter(()))))


@pytest.mark.parametrize("calls", PARALLEL)
def test_exit_and_ctrl_c_in_a_function_end_the_pass(calls: Any) -> None:
    def leave(x: int) -> None:
        raise SystemExit(x)

    iterator = iter(Dataset.range(3).map(leave, num_parallel_calls=calls))
    with pytest.raises(SystemExit):
        next(iterator)
    assert list(iterator) == []


BAD: list[tuple[Any, type[Exception], str]] = [
    (
        Dataset.range(3).map(cost=lambda x: -1.0),
        ValueError,
        "cost of 0=-1.0: must be a number of seconds",
    ),
    (Dataset.range(3).map(cost=lambda x: 1 / x), ZeroDivisionError, "division by zero"),
    (Dataset.range(3).map(cost=lambda x: None), TypeError, "cost of 0=None"),  # type: ignore[arg-type, return-value]
    (
        Dataset.range(3).map(nbytes=lambda x: -5),
        ValueError,
        "nbytes of 0=-5: must be 0 or more",
    ),
    (
        Dataset.range(3).interleave(lambda x: x),
        TypeError,
        "map_func returned 0: must return a Dataset",
    ),
    (
        Dataset.range(3).flat_map(lambda x: [x]),
        TypeError,
        "flat_map: map_func returned [0]",
    ),
    (
        Dataset.from_generator(lambda: None),
        TypeError,
        "returned None: must yield elements",
    ),
    (
        Dataset.from_list([1, 2]).map(lambda x: x).unbatch(),
        TypeError,
        "unbatch: 1 is not a batch",
    ),
    (
        Dataset.range(3).repeat().filter(lambda x: False).take(1),
        StuckError,
        "filter: refused",
    ),
    (
        Dataset.range(3).repeat().flat_map(lambda x: Dataset.range(0)).take(1),
        StuckError,
        "in a row gave nothing",
    ),
    (
        Dataset.range(3).repeat().map(lambda x: []).unbatch().take(1),
        StuckError,
        "unbatch",
    ),
    (
        Dataset.range(3).repeat().interleave(lambda x: Dataset.range(0), 2, 1, 2).take(1),
        StuckError,
        "in a row gave nothing",
    ),
]


def test_a_text_of_numpy_has_the_size_that_it_says() -> None:
    trace = benchmark(Dataset.from_list([np.str_("abc"), "abc", 7]).prefetch(3), 1)
    assert trace.max_bytes == np.str_("abc").nbytes == 12


class Large:
    """As an array of a million numbers, that takes long to be put in words."""

    def __repr__(self) -> str:
        raise AssertionError("nobody had a reason to ask")


@pytest.mark.parametrize("clock", ["virtual", "real"])
def test_an_element_is_put_in_words_only_if_something_of_it_is_refused(
    clock: str,
) -> None:
    dataset = (
        Dataset.from_list([Large()])
        .map(cost=lambda x: 0.001, nbytes=lambda x: 5)
        .prefetch(1)
    )
    trace = benchmark(dataset, 1, train=lambda x: 0.001, load=lambda x: 0, clock=clock)
    assert (trace.samples, trace.max_bytes) == (1, 5)


@pytest.mark.parametrize(
    ("dataset", "error", "message"), BAD, ids=[message for _, _, message in BAD]
)
def test_what_goes_wrong_in_a_run_is_said(
    dataset: Dataset,
    error: type[Exception],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(StuckError, "after", 1000)
    with pytest.raises(error) as raised:
        benchmark(dataset)
    assert message in str(raised.value)


def test_a_repeated_pipeline_that_gives_nothing_ends_as_in_tf_data() -> None:
    assert list(Dataset.range(3).filter(lambda x: False).repeat()) == []


def test_a_run_in_which_everybody_waits_says_who_waits_for_what() -> None:
    run = Virtual(Machine(), NodeStates(fixed_seed=True), None)

    async def main() -> None:
        run.start(never("the other"), Name("Map"))
        await never("one thing")

    async def never(name: str) -> None:
        await run.until(Gate(run, name), lambda: False, "buffer empty")

    with pytest.raises(
        StuckError, match="Train waits for one thing; Map waits for the other"
    ):
        run.complete(main(), Name("Train"))


# ---- what is left ----


def abandon(dataset: Dataset) -> None:
    for _ in dataset:
        break


def let_it_raise(dataset: Dataset, errors: list[Exception]) -> None:
    try:
        for _ in dataset:
            pass
    except KeyError as error:
        errors.append(error)


def test_hundreds_of_broken_loops_leave_no_thread_behind() -> None:
    errors: list[Exception] = []
    for _ in range(250):
        abandon(Dataset.range(100).map(lambda x: x, num_parallel_calls=4).prefetch(2))
        let_it_raise(
            Dataset.range(100).map(fails_on_three, num_parallel_calls=4).prefetch(2),
            errors,
        )
    assert len(errors) == 250  # and though somebody keeps them
    assert eventually(lambda: helpers() == 0)


@pytest.mark.parametrize(
    "dataset",
    [
        Dataset.range(9).map(fails_on_three, num_parallel_calls=2).prefetch(1),
        Dataset.range(9).map(fails_on_three).batch(2, num_parallel_calls=2),
        Dataset.range(9).interleave(fails_on_three, 2, num_parallel_calls=2),
        Dataset.zip(Dataset.range(9).map(fails_on_three).prefetch(1), Dataset.range(9)),
    ],
    ids=repr,
)
def test_helpers_do_not_keep_the_loop_that_an_error_has_left(dataset: Dataset) -> None:
    def leave_at_an_error() -> None:
        iterator = iter(dataset)  # which the frames of the error know
        with contextlib.suppress(KeyError, TypeError):
            for _ in iterator:
                pass

    for _ in range(20):
        leave_at_an_error()
    assert eventually(lambda: helpers() == 0)


def test_closing_ends_helpers_generators_and_files() -> None:
    closed = threading.Event()

    def file() -> Iterator[int]:
        try:
            yield from range(100)
        finally:
            closed.set()

    with iter(Dataset.from_generator(file).prefetch(3)) as iterator:
        assert next(iterator) == 0
    assert eventually(closed.is_set)
    assert list(iterator) == []
    iterator.close()


def test_an_iterator_in_a_cycle_is_collected_with_its_helpers() -> None:
    class Holder:
        def __init__(self) -> None:
            self.myself = self
            self.iterator = iter(Dataset.range(100).prefetch(2))
            next(self.iterator)

    for _ in range(20):
        Holder()
    gc.collect()
    assert eventually(lambda: helpers() == 0)


def test_ctrl_c_ends_a_loop_that_waits() -> None:
    def interrupt_when_it_waits() -> Iterator[int]:
        yield 0
        asked.wait()
        threading.Timer(0.1, signal.raise_signal, [signal.SIGINT]).start()
        over.wait()

    asked = threading.Event()
    over = threading.Event()
    iterator = iter(Dataset.from_generator(interrupt_when_it_waits).prefetch(1))
    assert next(iterator) == 0
    with pytest.raises(KeyboardInterrupt):
        asked.set()
        next(iterator)
    over.set()
    assert list(iterator) == []
    assert eventually(lambda: helpers() == 0)


def test_ctrl_c_ends_a_real_run_and_its_helpers() -> None:
    def interrupt_soon(count: int, _: float) -> None:
        if count == 1:
            threading.Timer(0.05, signal.raise_signal, [signal.SIGINT]).start()

    endless = (
        ArtificialDataset(10, read=0.001).map(cost=0.001, num_parallel_calls=2).repeat()
    )
    with pytest.raises(KeyboardInterrupt):
        benchmark(endless, clock="real", progress=interrupt_soon, max_elements=10**6)
    assert eventually(lambda: helpers() == 0)


def test_ctrl_c_while_an_iterator_waits_for_its_lock_leaves_it_usable() -> None:
    class Interrupted:
        """A lock for which somebody waits when Ctrl+C comes."""

        def __enter__(self) -> None:
            raise KeyboardInterrupt

        def __exit__(self, *error: object) -> None:
            pass

    iterator = iter(Dataset.range(3))
    lock = iterator._pass.run.lock
    iterator._pass.run.lock = Interrupted()  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):
        next(iterator)
    iterator._pass.run.lock = lock
    assert list(iterator) == [0, 1, 2]


def test_an_iterator_serves_one_thread_at_a_time() -> None:
    entered = threading.Event()
    leave = threading.Event()

    def slow(x: int) -> int:
        entered.set()
        leave.wait(60)
        return x

    iterator = iter(Dataset.range(2).map(slow))
    thread = threading.Thread(target=next, args=(iterator,))
    thread.start()
    assert entered.wait(60)
    with pytest.raises(RuntimeError, match="being asked for an element already"):
        next(iterator)
    leave.set()
    thread.join()
    assert next(iterator) == 1


# ---- clocks ----


def test_the_virtual_clock_starts_no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: Any) -> None:
        raise AssertionError("a thread was started")

    # To count them, others would have to stay
    monkeypatch.setattr(threading.Thread, "start", refuse)
    benchmark(Dataset.range(100).map(cost=0.001, num_parallel_calls=8).prefetch(4))


def test_work_outside_a_pipeline_takes_its_time() -> None:
    began = time.perf_counter()
    work(0.01)
    assert time.perf_counter() - began >= 0.01


def test_a_stream_says_its_end_again_when_asked_again() -> None:
    run = Virtual(Machine(), NodeStates(fixed_seed=True), None)

    async def ask() -> list[Any]:
        stream = Scope(run).open(
            ArtificialDataset(1).map(cost=0.1, num_parallel_calls=2).prefetch(1).node
        )
        return [(await stream.next()).value for _ in range(4)]

    assert run.complete(ask(), Name("Test")) == [0, "the end", "the end", "the end"]
