"""For whom the accelerator waited, exactly."""

from support.random_runs import MS, runs

from lessonkit import (
    ArtificialDataset,
    DataLoader,
    Dataset,
    Machine,
    Trace,
    benchmark,
    work,
)
from lessonkit.engine.trace import ACCELERATOR, NO_CORE, WAITS, Span
from lessonkit.explain.critical_path import idle_stretches


def idle(trace: Trace) -> list[tuple[float, float, dict[str, float]]]:
    """The idle stretches of the accelerator and what it waited for, in milliseconds."""
    return [
        (
            gap.start_ns / MS,
            gap.end_ns / MS,
            {stage: time / MS for stage, time in gap.blame.items()},
        )
        for gap in idle_stretches(trace)
    ]


def in_a_step(span: Span) -> bool:
    """Whether the accelerator had something to do, though it may have waited for a core."""
    return span.role in ACCELERATOR and (span.kind == NO_CORE or span.kind not in WAITS)


def test_blame_adds_up_to_the_idle_time_to_the_nanosecond() -> None:
    for seed, dataset, _, trace in runs():
        gaps = idle_stretches(trace)
        time = sum(gap.end_ns - gap.start_ns for gap in gaps)
        trained = sum(
            span.end_ns - span.start_ns for span in trace.spans if in_a_step(span)
        )
        assert time == round(trace.duration * 1e9) - trained, seed
        assert sum(sum(gap.blame.values()) for gap in gaps) == time, seed
        assert all("runtime" not in gap.blame for gap in gaps) or "handling" in repr(
            dataset
        ), seed


def test_a_step_that_waits_for_a_core_is_not_idle() -> None:
    """Two workers and the step share one core: from then on steps take longer, and nobody waits for data."""
    machine = Machine(cores=1, step_cores=1)
    loader = DataLoader(Dataset.range(8).map(cost=0.010, kind="native"), num_workers=2)
    trace = benchmark(loader, 1, step=lambda _: work(0.010, kind="native"), machine=machine)
    waits = [
        span for span in trace.spans if span.role in ACCELERATOR and span.kind == NO_CORE
    ]
    gaps = idle_stretches(trace)
    assert waits
    assert not any(
        gap.start_ns < wait.end_ns and wait.start_ns < gap.end_ns
        for gap in gaps
        for wait in waits
    )


def test_the_stage_that_is_late_is_to_blame() -> None:
    """All of the file is waited for: nothing is ready when the training loop asks."""
    trace = benchmark(ArtificialDataset(2).map(cost=0.005), num_epochs=1)
    assert idle(trace) == [
        (0, 50, {"Open": 30, "Read": 15, "Map": 5}),
        (60, 80, {"Read": 15, "Map": 5}),
    ]


def test_what_went_on_before_the_accelerator_was_idle_is_not_to_blame() -> None:
    """The second read began at 45, while the first sample was trained on until 55."""
    trace = benchmark(ArtificialDataset(2).prefetch(1), num_epochs=1)
    assert idle(trace) == [(0, 45, {"Open": 30, "Read": 15}), (55, 60, {"Read": 5})]


def test_time_after_the_last_step_is_idle_too() -> None:
    trace = benchmark(
        ArtificialDataset(2, open=0).filter(lambda sample: sample == 0), num_epochs=1
    )
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
