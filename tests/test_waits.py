"""Who worked, who waited for what, and for whom the accelerator waited."""

import threading

import pytest
from random_runs import MS, runs

from lessonkit import ArtificialDataset, Dataset, Machine, Trace, benchmark
from lessonkit.analysis import limits, waits
from lessonkit.analysis.waits import Times


def idle(trace: Trace) -> list[tuple[float, float, dict[str, float]]]:
    """The idle stretches of the accelerator and who is to blame, in milliseconds."""
    return [
        (stretch.start / MS, stretch.end / MS, {stage: time / MS for stage, time in stretch.blame.items()})
        for stretch in waits(trace).idle
    ]


def test_blame_adds_up_to_the_idle_time_to_the_nanosecond() -> None:
    for seed, _, _, trace in runs():
        found = waits(trace)
        trained = sum(found.stages[stage].working for stage in ("Load", "Train") if stage in found.stages)
        assert found.idle_time == round(trace.duration * 1e9) - trained, seed
        assert sum(found.blame.values()) == found.idle_time, seed
        assert "runtime" not in found.blame, seed


def test_stages_account_for_every_span() -> None:
    for seed, _, _, trace in runs()[:300]:
        times = waits(trace).stages.values()
        spent = sum(span.end - span.start for span in trace.spans)
        assert sum(time.working + time.waiting for time in times) == spent, seed


def test_stages_tell_work_and_waits_apart() -> None:
    dataset = ArtificialDataset(3, open=0, read=0.010).prefetch(1)
    stages = waits(benchmark(dataset, num_epochs=1, train=0.030)).stages
    assert stages == {
        "Read": Times(working=30 * MS),
        "Train": Times(working=90 * MS, input=10 * MS),
        "Prefetch": Times(place=40 * MS),
    }


def test_the_stage_that_is_late_is_to_blame() -> None:
    """All of the file is waited for: nothing is ready when the training loop asks."""
    trace = benchmark(ArtificialDataset(2).map(cost=0.005), num_epochs=1)
    assert idle(trace) == [(0, 50, {"Open": 30, "Read": 15, "Map": 5}), (60, 80, {"Read": 15, "Map": 5})]
    assert waits(trace).blame == {"Open": 30 * MS, "Read": 30 * MS, "Map": 10 * MS}


def test_what_went_on_before_the_accelerator_was_idle_is_not_to_blame() -> None:
    """The second read began at 45, while the first sample was trained on until 55."""
    trace = benchmark(ArtificialDataset(2).prefetch(1), num_epochs=1)
    assert idle(trace) == [(0, 45, {"Open": 30, "Read": 15}), (55, 60, {"Read": 5})]


def test_time_after_the_last_step_is_idle_too() -> None:
    trace = benchmark(ArtificialDataset(2, open=0).filter(lambda sample: sample == 0), num_epochs=1)
    assert idle(trace) == [(0, 15, {"Read": 15}), (25, 40, {"Read": 15})]


def test_without_a_step_of_the_accelerator_all_time_is_idle() -> None:
    trace = benchmark(ArtificialDataset(1), num_epochs=1, train=0)
    assert idle(trace) == [(0, 45, {"Open": 30, "Read": 15})]


def test_the_first_is_slow_and_then_comes_a_burst() -> None:
    """A shuffle waits for all its places at first, and gives the last ones without any wait."""
    dataset = ArtificialDataset(5, read=0.005).shuffle(4, seed=1)
    trace = benchmark(dataset, num_epochs=1)
    assert idle(trace) == [(0, 50, {"Open": 30, "Read": 20}), (60, 65, {"Read": 5})]
    assert trace.epochs[0].arrivals == [0.050, 0.065, 0.075, 0.085, 0.095]


def test_a_parallel_map_gives_bursts_with_a_wait_before_each() -> None:
    dataset = Dataset.range(4).map(cost=0.030, num_parallel_calls=2)
    trace = benchmark(dataset, num_epochs=1, train=0.005)
    assert trace.epochs[0].arrivals == [0.030, 0.035, 0.060, 0.065]
    assert idle(trace) == [(0, 30, {"Map": 30}), (40, 60, {"Map": 20})]


def test_calls_beyond_the_cores_wait_for_a_core() -> None:
    """Four calls on one core are no faster than one: each sample waits for those before it."""
    dataset = Dataset.range(4).map(cost=0.010, kind="native", num_parallel_calls=4)
    trace = benchmark(dataset, num_epochs=1, train=0, machine=Machine(1))
    found = waits(trace)
    assert trace.duration == 0.040
    assert found.stages["Map"] == Times(working=40 * MS, core=60 * MS)
    assert [times.core / MS for times in found.samples.values()] == [0, 10, 20, 30]
    assert limits(trace, dataset, Machine(1)).bounds[0].name == "cores"


def test_calls_in_python_wait_for_the_lock_however_many_cores_there_are() -> None:
    dataset = Dataset.range(4).map(cost=0.010, kind="python", num_parallel_calls=4)
    trace = benchmark(dataset, num_epochs=1, train=0, machine=Machine(4))
    found = waits(trace)
    assert trace.duration == 0.040
    assert found.stages["Map"] == Times(working=40 * MS, lock=60 * MS)
    assert [times.lock / MS for times in found.samples.values()] == [0, 10, 20, 30]
    assert limits(trace, dataset).bounds[0].name == "interpreter lock"


def test_calls_wait_for_a_place_where_the_training_loop_is_slower() -> None:
    """The window is full: more calls only wait more."""
    waiting = {}
    for calls in (2, 4):
        dataset = Dataset.range(8).map(cost=0.010, num_parallel_calls=calls)
        trace = benchmark(dataset, num_epochs=1, train=0.020)
        assert trace.duration == 0.170
        waiting[calls] = waits(trace).stages["Map"].place / MS
    assert waiting == {2: 170, 4: 190}


@pytest.mark.parametrize("size", [1, 8])
def test_the_size_of_a_buffer_changes_nothing_while_costs_do_not_vary(size: int) -> None:
    """Who waits tells whether it is always full, for reading is faster, or always empty."""
    full = benchmark(ArtificialDataset(40, open=0, read=0.005).prefetch(size), 1, 0.010)
    assert full.duration == 0.405
    assert waits(full).stages["Train"].input == 5 * MS
    assert waits(full).stages["Prefetch"].place > 0
    empty = benchmark(ArtificialDataset(40, open=0, read=0.010).prefetch(size), 1, 0.005)
    assert empty.duration == 0.405
    assert waits(empty).stages["Train"].input == 205 * MS
    assert "Prefetch" not in waits(empty).stages


def test_a_sample_waits_while_those_wait_who_go_on_with_it() -> None:
    """The prefetch stands still with sample 1 in its place before it begins sample 2."""
    dataset = ArtificialDataset(3, open=0, read=0.010).prefetch(1)
    samples = waits(benchmark(dataset, num_epochs=1, train=0.030)).samples
    assert {who.sample: times for who, times in samples.items()} == {
        0: Times(working=40 * MS, input=10 * MS),
        1: Times(working=40 * MS),
        2: Times(working=40 * MS, place=20 * MS),
    }


def test_work_on_a_batch_is_work_on_each_of_its_samples() -> None:
    dataset = ArtificialDataset(2, open=0.005).batch(2).map(cost=0.020)
    samples = waits(benchmark(dataset, num_epochs=1)).samples
    assert {who.sample: times.working / MS for who, times in samples.items()} == {-1: 5, 0: 45, 1: 45}


def test_one_element_has_its_times() -> None:
    found = waits(benchmark(Dataset.range(1), num_epochs=1))
    assert found.stages == {"Train": Times(working=10 * MS)}
    assert list(found.samples.values()) == [Times(working=10 * MS)]
    assert (found.idle, found.blame) == ((), {})


def test_where_nothing_happened_nobody_waited() -> None:
    found = waits(benchmark(Dataset.range(0)))
    assert (found.stages, found.samples, found.idle_time, found.blame) == ({}, {}, 0, {})


def test_on_threads_the_runtime_has_its_share_of_the_blame() -> None:
    dataset = ArtificialDataset(5, read=0.005).map(cost=0.004, kind="python", num_parallel_calls=2)
    trace = benchmark(dataset.prefetch(1), num_epochs=1, train=0.002, clock="real")
    found = waits(trace)
    assert sum(found.blame.values()) == found.idle_time
    assert found.idle_time == round(trace.duration * 1e9) - found.stages["Train"].working
    assert found.blame["runtime"] > 0
    assert found.blame["Open"] > 25 * MS


def test_a_cancelled_run_has_waited_until_it_was_cancelled() -> None:
    stop = threading.Event()

    def stop_at_once(_: int, __: float) -> None:
        stop.set()

    trace = benchmark(
        ArtificialDataset(9, open=0.001), 1, 0.002, clock="real", cancel=stop, progress=stop_at_once
    )
    found = waits(trace)
    assert trace.cancelled
    assert sum(found.blame.values()) == found.idle_time


def test_a_run_that_was_not_recorded_says_what_to_do() -> None:
    with pytest.raises(ValueError, match="run it again without record=False"):
        waits(benchmark(ArtificialDataset(), record=False))
