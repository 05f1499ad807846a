"""`DataLoader` with real processes: the same batches, errors in their places, and nothing left."""

import gc
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from support.both_clocks import outcomes
from support.places import ROOT

from lessonkit import ArtificialDataset, DataLoader, Dataset, Machine, Trace, benchmark
from lessonkit.analysis import critical_path
from lessonkit.engine.trace import START
from lessonkit.engine.workers import forked, main_process
from lessonkit.explain.critical_path import ended

pytestmark = pytest.mark.skipif(
    not forked.CAN_FORK, reason="this system cannot fork safely"
)


@pytest.fixture(autouse=True)
def nothing_left(workers_gone: Callable[[], None]) -> Iterator[None]:
    """No test leaves a process or an open pipe behind."""
    before = len(os.listdir("/proc/self/fd"))
    yield
    workers_gone()
    assert multiprocessing.active_children() == []
    deadline = time.monotonic() + 60  # of threads that let go of what they hold
    while len(os.listdir("/proc/self/fd")) > before + 2 and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.01)
    # The resource tracker's, and one of a test's own
    assert len(os.listdir("/proc/self/fd")) <= before + 2


def first_line(error: Exception) -> tuple[type, str]:
    """What kind of error it is, and how it begins: its traceback has addresses in it."""
    return type(error), str(error).split("\n")[0]


def where(sample: int) -> tuple[int, int]:
    return sample, os.getpid()


def test_batches_are_made_in_other_processes() -> None:
    batches = list(DataLoader(Dataset.range(8).map(where), 2, num_workers=2))
    assert [samples for samples, _ in batches] == [[0, 1], [2, 3], [4, 5], [6, 7]]
    first, second = (
        {pid for _, pids in batches[turn::2] for pid in pids} for turn in (0, 1)
    )
    assert len(first) == len(second) == 1
    assert len({os.getpid()} | first | second) == 3


@pytest.mark.parametrize(("stay", "processes"), [(True, 2), (False, 4)])
def test_persistent_workers_stay_from_epoch_to_epoch(stay: bool, processes: int) -> None:
    dataset = DataLoader(
        Dataset.range(8).map(where), 2, num_workers=2, persistent_workers=stay
    )
    pids = {pid for _ in range(2) for _, pids in dataset for pid in pids}
    assert len(pids) == processes
    trace = benchmark(dataset, 2, 0, clock="real", keep=True)
    assert (
        len({pid for epoch in trace.epochs for _, pids in epoch.elements for pid in pids})
        == processes
    )


def test_an_error_comes_in_the_place_of_its_batch() -> None:
    def fail(sample: int) -> int:
        if sample == 3:
            raise KeyError("no such sample")
        return sample

    dataset = DataLoader(Dataset.range(8).map(fail), 2, num_workers=2)
    error = (KeyError, "Caught KeyError in DataLoader worker process 1.")
    assert outcomes(dataset, first_line) == [[0, 1], error, [4, 5], [6, 7]]


def test_a_worker_that_dies_is_an_error_after_all_that_came_before() -> None:
    def die(sample: int) -> int:
        if sample == 5:
            os._exit(3)
        return sample

    found = outcomes(DataLoader(Dataset.range(12).map(die), 2, num_workers=2), first_line)
    assert found[:2] == [[0, 1], [2, 3]]
    kind, said = found[2]
    assert kind is RuntimeError
    assert said.endswith("exited unexpectedly")
    assert found[3:] == [[6, 7], [10, 11]]


def test_a_worker_that_is_killed_is_an_error_and_no_hang() -> None:
    iterator = iter(DataLoader(Dataset.range(100).map(where), 2, num_workers=1))
    _, pids = next(iterator)
    os.kill(pids[0], signal.SIGKILL)
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        list(iterator)


def test_what_cannot_travel_is_a_sentence_in_its_place() -> None:
    def made(sample: int) -> Any:
        return (lambda: sample) if sample == 2 else sample

    found = outcomes(DataLoader(Dataset.range(6).map(made), 2, num_workers=2), first_line)
    assert found[0] == [0, 1]
    assert found[1] == (TypeError, "Caught TypeError in DataLoader worker process 1.")
    assert found[2] == [4, 5]


def test_functions_that_only_this_process_knows_reach_the_workers() -> None:
    secret = 7
    assert list(
        DataLoader(Dataset.range(2).map(lambda x: x * secret), 2, num_workers=1)
    ) == [[0, 7]]


def test_a_trace_shows_what_each_worker_did() -> None:
    trace = benchmark(
        DataLoader(Dataset.range(12).map(cost=0.004), 2, num_workers=2),
        1,
        0,
        clock="real",
    )
    maps = [span for span in trace.work if span.stage == "Map"]
    assert sorted(span.sample for span in maps) == list(range(12))
    assert {span.sample for span in maps if span.lane == 1} == {2, 3, 6, 7, 10, 11}
    assert all(span.end <= trace.duration for span in maps)
    assert [
        span.sample
        for key in trace.epochs[0].keys
        for span in maps
        if span.element in trace.members(key)
    ] == list(range(12))


def test_the_transfer_of_a_batch_is_paid_once() -> None:
    trace = benchmark(
        DataLoader(Dataset.range(4), 2, num_workers=2, transfer=0.001), 1, clock="real"
    )
    assert sum(span.stage == "Transfer" for span in trace.work) == 2


def test_python_work_runs_side_by_side() -> None:
    both = multiprocessing.get_context("fork").Barrier(2)

    def meet(sample: int) -> int:
        # Until the other worker is in its function, too; else an error takes the batch's
        # place
        both.wait(60)
        return sample

    dataset = DataLoader(Dataset.range(4).map(meet), 1, num_workers=2)
    trace = benchmark(dataset, 1, 0, clock="real", machine=Machine(2))
    assert {span.lane for span in trace.work if span.stage == "Map"} == {0, 1}


def test_abandoned_loops_leave_nothing() -> None:
    dataset = DataLoader(Dataset.range(100), 2, num_workers=2)
    for _ in range(10):
        assert next(iter(dataset)) == [0, 1]


def test_persistent_workers_end_with_their_loader() -> None:
    dataset = DataLoader(Dataset.range(4), 2, num_workers=2, persistent_workers=True)
    assert list(dataset) == list(dataset)
    assert len(multiprocessing.active_children()) == 2


def test_persistent_workers_end_with_their_loader_before_any_collection() -> None:
    gc.disable()
    try:
        for _ in range(3):
            loader = DataLoader(Dataset.range(4), num_workers=1, persistent_workers=True)
            assert next(iter(loader)) == [0]
        del loader
        deadline = time.monotonic() + 60
        while multiprocessing.active_children() and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not multiprocessing.active_children()
    finally:
        gc.enable()


def test_ctrl_c_ends_the_workers() -> None:
    program = """
import multiprocessing, time
from lessonkit import DataLoader, Dataset
try:
    for batch in DataLoader(Dataset.range(1000).map(cost=0.01), 2, num_workers=2):
        print(batch, flush=True)
except KeyboardInterrupt:
    print(multiprocessing.active_children())
"""
    command = [sys.executable, "-c", program]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "[0, 1]\n"
        os.killpg(running.pid, signal.SIGINT)
        assert running.stdout.read().splitlines()[-1] == "[]"
    assert running.returncode == 0


def test_without_fork_the_workers_are_threads_and_a_sentence_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(main_process, "CAN_FORK", False)
    dataset = DataLoader(
        Dataset.range(8).map(where), 2, num_workers=2, persistent_workers=True
    )
    with pytest.warns(UserWarning, match="cannot fork safely: the workers are threads"):
        batches = list(dataset)
    assert [samples for samples, _ in batches] == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert {pid for _, pids in batches for pid in pids} == {os.getpid()}


def who(trace: Trace) -> list[list[tuple[int, int]]]:
    """The pass and the number of each sample, by batches."""
    return [
        [trace.identities[sample][1:] for sample in trace.members(key)]
        for epoch in trace.epochs
        for key in epoch.keys
    ]


def test_samples_that_a_cache_kept_before_the_fork_stay_who_they_are() -> None:
    loader = DataLoader(Dataset.range(6).cache().map(where), 3, num_workers=2)
    real, virtual = (benchmark(loader, 2, 0, clock=clock) for clock in ("real", "virtual"))
    assert who(real) == who(virtual)
    assert [sample for _, sample in who(real)[1]] == [3, 4, 5]


def test_indices_may_be_numpys() -> None:
    batches: Any = [np.array([3, 1]), np.array([2])]
    for clock in ("virtual", "real"):
        loader = DataLoader(Dataset.range(5), batch_sampler=batches, num_workers=1)
        assert benchmark(loader, 1, 0, clock=clock).epochs[0].elements == [[3, 1], [2]]
        loader = DataLoader(
            Dataset.range(5), None, sampler=np.array([4, 0, 2]), num_workers=1
        )
        assert benchmark(loader, 1, 0, clock=clock).epochs[0].elements == [4, 0, 2]


class Endings:
    """A sampler with nothing but an order."""

    def __iter__(self) -> Iterator[int]:
        return iter([4, 0, 2])


def test_a_sampler_need_not_have_a_length() -> None:
    for workers in (0, 1):
        loader = DataLoader(Dataset.range(5), 2, sampler=Endings(), num_workers=workers)
        assert list(loader) == [[4, 0], [2]]
        assert benchmark(loader, 2).epochs[1].elements == [[4, 0], [2]]
        with pytest.raises(TypeError, match="has no length that is known"):
            len(loader)


def drawn(loader: DataLoader) -> list[tuple[float, float]]:
    return [
        pair
        for epoch in benchmark(loader, 2, 0, clock="real", keep=True).epochs
        for pair in epoch.elements
    ]


def test_each_worker_draws_numbers_of_its_own_and_the_same_from_the_same_seed() -> None:
    np.random.seed(0)

    def draw(_: int) -> tuple[float, float]:
        return random.random(), float(np.random.random())

    loader = DataLoader(Dataset.range(4).map(draw), None, num_workers=2, generator=1)
    pairs = drawn(loader)
    assert len({one for one, _ in pairs}) == len({other for _, other in pairs}) == 8
    assert drawn(loader) == pairs
    assert (
        drawn(DataLoader(Dataset.range(4).map(draw), None, num_workers=2, generator=2))
        != pairs
    )


def test_what_a_worker_prints_is_there_when_it_has_ended() -> None:
    program = """
from lessonkit import DataLoader, Dataset
print("before")
print(list(DataLoader(Dataset.range(2).map(print), None, num_workers=1)))
"""
    buffered = os.environ | {"PYTHONUNBUFFERED": ""}
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, cwd=ROOT, env=buffered, capture_output=True, text=True, check=True
    )
    assert sorted(done.stdout.split("\n")) == ["", "0", "1", "[None, None]", "before"]


def test_a_real_run_shows_what_it_takes_to_put_arrays_together() -> None:
    arrays = Dataset.range(4).map(lambda _: np.zeros(500_000))
    trace = benchmark(arrays.batch(2), 1, 0, clock="real")
    assert {span.stage for span in trace.work} >= {"Map", "Batch"}
    trace = benchmark(DataLoader(arrays, 2, num_workers=1), 1, 0, clock="real")
    assert "Collate" in {span.stage for span in trace.work}


def test_a_process_whose_end_another_thread_was_told_ends_quietly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A start of a process asks for the ends of all: a join at that moment is not told of it."""

    def still_running(process: Any) -> None:
        raise ValueError("Cannot close a process while it is still running")

    iterator = iter(DataLoader(Dataset.range(8), 2, num_workers=2))
    assert next(iterator) == [0, 1]
    with monkeypatch.context() as patched:
        patched.setattr(multiprocessing.process.BaseProcess, "close", still_running)
        iterator.close()


STREAM = ArtificialDataset(12, open=0.001, read=0.0005)


@pytest.mark.parametrize(
    "samples",
    [
        STREAM.prefetch(2),
        STREAM.map(cost=0.0005, num_parallel_calls=2),
        Dataset.range(3).interleave(
            lambda _: ArtificialDataset(4, read=0.0005), num_parallel_calls=2
        ),
    ],
    ids=["prefetch", "parallel map", "parallel interleave"],
)
@pytest.mark.parametrize("workers", [1, 2])
def test_work_of_a_helper_in_a_worker_is_no_cause_of_what_was_before(
    samples: Dataset, workers: int
) -> None:
    for stay in (False, True):
        loader = DataLoader(samples, 2, num_workers=workers, persistent_workers=stay)
        trace = benchmark(loader, 2, 0.0005, clock="real")
        assert all(span.cause < index for index, span in enumerate(trace.spans))
        assert sum(end - start for *_, start, end in critical_path(trace).steps) == ended(
            trace
        )
        for span in trace.work:
            if span.stage == "Read" and span.cause >= 0:
                cause = trace.spans[span.cause]
                assert cause.role == START or cause.end_ns <= span.start_ns


@pytest.mark.parametrize("drop_last", [False, True])
def test_samples_that_end_without_a_batch_do_not_change_who_the_next_are(
    drop_last: bool,
) -> None:
    few = ArtificialDataset(7, open=0, read=0).filter(lambda sample: sample < 5)
    options: dict[str, Any] = {"num_workers": 2, "persistent_workers": True}
    loader = DataLoader(few, 2, drop_last=drop_last, **options)
    real, virtual = (benchmark(loader, 3, 0, clock=clock) for clock in ("real", "virtual"))
    assert who(real) == who(virtual)
    assert [epoch.elements for epoch in real.epochs] == [
        epoch.elements for epoch in virtual.epochs
    ]
