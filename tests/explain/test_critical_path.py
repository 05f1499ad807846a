"""What decided how long a run took."""

import threading
from itertools import pairwise

import pytest
from support.random_runs import MS, runs

from lessonkit import ArtificialDataset, Dataset, Trace, benchmark, straggler
from lessonkit.analysis import critical_path
from lessonkit.engine.trace import CAUSE, SPAN_FIELDS
from lessonkit.explain.critical_path import RUNTIME, ended, idle_stretches
from lessonkit.pictures.layout import layout
from lessonkit.widgets.page_data import page_data


def steps(trace: Trace) -> list[tuple[str, float, float]]:
    """Stage, start and end of each step, in milliseconds."""
    return [
        (step.stage, step.start_ns / MS, step.end_ns / MS)
        for step in critical_path(trace).steps
    ]


def test_path_is_as_long_as_the_run_to_the_nanosecond() -> None:
    """Also with loaders; what handling their processes takes is in no span, and so the runtime's."""
    for seed, dataset, _, trace in runs():
        path = critical_path(trace)
        assert sum(end - start for *_, start, end in path.steps) == ended(trace), seed
        assert RUNTIME not in path.shares or "handling" in repr(dataset), seed
        assert all(
            before.end_ns == after.start_ns for before, after in pairwise(path.steps)
        ), seed


def test_work_that_is_hidden_is_not_on_the_path() -> None:
    """A prefetch hides the reading behind the training, all but the first."""
    trace = benchmark(ArtificialDataset(3, read=0.005).prefetch(1), num_epochs=1)
    assert steps(trace) == [
        ("Open", 0, 30),
        ("Read", 30, 35),
        ("Train", 35, 45),
        ("Train", 45, 55),
        ("Train", 55, 65),
    ]


def test_shares_are_of_the_whole_and_the_largest_comes_first() -> None:
    path = critical_path(
        benchmark(ArtificialDataset(4, open=0.005).map(cost=0.020), num_epochs=1)
    )
    assert list(path.shares) == ["Map", "Read", "Train", "Open"]
    assert path.shares == pytest.approx(
        {"Map": 80 / 185, "Read": 60 / 185, "Train": 40 / 185, "Open": 5 / 185}
    )
    assert path.sentence == "Bottleneck: Map (43.2 % of the critical path)."


def test_a_step_knows_its_span() -> None:
    trace = benchmark(ArtificialDataset(2), num_epochs=1)
    samples = [trace.spans[step.span].sample for step in critical_path(trace).steps]
    assert samples == [-1, 0, 0, 1, 1]


def test_one_slow_sample_stalls_all_behind_it() -> None:
    """With an order to keep the path leads through it; without one the others go by."""
    cost = straggler(0.010, every=4, slow=0.200)
    ordered, unordered = (
        benchmark(
            Dataset.range(6).map(cost=cost, num_parallel_calls=2, deterministic=in_order),
            num_epochs=1,
        )
        for in_order in (True, False)
    )
    path = critical_path(ordered)
    longest = max(path.steps, key=lambda step: step.end_ns - step.start_ns)
    assert (longest.stage, ordered.spans[longest.span].sample) == ("Map", 3)
    assert path.sentence == "Bottleneck: Map (84 % of the critical path)."
    assert unordered.epochs[0].elements == [0, 1, 2, 4, 5, 3]
    assert ordered.epochs[0].arrivals == [0.010, 0.020, 0.030, 0.220, 0.230, 0.240]
    assert unordered.epochs[0].arrivals == [0.010, 0.020, 0.030, 0.040, 0.050, 0.220]


def test_a_parallel_map_brings_nothing_where_reading_decides() -> None:
    """Four calls take turns at the file."""
    for calls in (2, 4):
        dataset = ArtificialDataset(20).map(cost=0.015, num_parallel_calls=calls)
        trace = benchmark(dataset, num_epochs=1, train=0.001)
        assert trace.duration == 0.346
        assert (
            critical_path(trace).sentence
            == "Bottleneck: Read (86.7 % of the critical path)."
        )


def test_time_after_the_last_element_is_on_the_path() -> None:
    """The filter reads on to the end and finds nothing."""
    trace = benchmark(
        ArtificialDataset(2, open=0).filter(lambda sample: sample == 0), num_epochs=1
    )
    assert steps(trace) == [("Read", 0, 15), ("Train", 15, 25), ("Read", 25, 40)]


def test_one_element_is_a_path() -> None:
    trace = benchmark(Dataset.range(1), num_epochs=1)
    assert steps(trace) == [("Train", 0, 10)]
    assert (
        critical_path(trace).sentence == "Bottleneck: Train (100 % of the critical path)."
    )


def test_where_nothing_took_time_the_path_is_empty() -> None:
    path = critical_path(benchmark(Dataset.range(0)))
    assert (path.steps, path.shares) == ((), {})
    assert path.sentence == "Nothing took any time."


def test_on_threads_small_gaps_are_the_runtime() -> None:
    dataset = (
        ArtificialDataset(5, read=0.005).map(cost=0.004, num_parallel_calls=2).prefetch(1)
    )
    trace = benchmark(dataset, num_epochs=2, train=0.002, clock="real")
    path = critical_path(trace)
    assert sum(end - start for *_, start, end in path.steps) == ended(trace)
    assert all(before.end_ns == after.start_ns for before, after in pairwise(path.steps))
    assert 0 < path.shares[RUNTIME] < 1


def test_a_cancelled_run_ends_with_the_runtime() -> None:
    stop = threading.Event()

    def stop_at_second(count: int, _: float) -> None:
        if count == 2:
            stop.set()

    trace = benchmark(
        ArtificialDataset(9, open=0.001, read=0.002),
        1,
        0.002,
        clock="real",
        cancel=stop,
        progress=stop_at_second,
    )
    path = critical_path(trace)
    assert trace.cancelled
    assert sum(end - start for *_, start, end in path.steps) == ended(trace)
    assert path.steps[-1].stage == RUNTIME


def test_a_run_that_was_not_recorded_says_what_to_do() -> None:
    with pytest.raises(ValueError, match="run it again without record=False"):
        critical_path(benchmark(ArtificialDataset(), record=False))


@pytest.mark.parametrize("cause", [3, 7])
def test_a_cause_that_is_no_earlier_span_is_refused(cause: int) -> None:
    trace = benchmark(ArtificialDataset(3).prefetch(1), num_epochs=1)
    trace.recorded.flat_spans[SPAN_FIELDS * 3 + CAUSE] = cause
    for explain in (critical_path, idle_stretches, layout, page_data):
        with pytest.raises(ValueError, match="has a later one as its cause"):
            explain(trace)
