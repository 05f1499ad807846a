"""What a trace says, exactly, on the virtual clock."""

import gc
import tracemalloc
from collections.abc import Callable
from itertools import pairwise

import pytest
from support.random_pipelines import pipeline, seeds

from lessonkit import (
    ArtificialDataset,
    DataLoader,
    Dataset,
    Machine,
    Trace,
    benchmark,
    per_sample,
)
from lessonkit.engine.trace import Span
from lessonkit.widgets.page_data import page_data

MS = 1_000_000  # ns


def bars(trace: Trace, stage: str) -> list[tuple[float, float]]:
    """The work of a stage, from and to, in milliseconds."""
    spans = [span for span in trace.spans if span.stage == stage and not span.is_wait]
    return [
        (span.start_ns / MS, span.end_ns / MS)
        for span in sorted(spans, key=lambda span: span.start_ns)
    ]


def waits(trace: Trace) -> list[tuple[str, str, float, float, str]]:
    spans = sorted(
        (span for span in trace.spans if span.is_wait), key=lambda span: span.start_ns
    )
    return [
        (span.stage, span.kind, span.start_ns / MS, span.end_ns / MS, span.place)
        for span in spans
    ]


def test_every_piece_of_work_is_a_span() -> None:
    trace = benchmark(ArtificialDataset(2), num_epochs=1)
    assert trace.stages == ["Open", "Read", "Train"]
    assert bars(trace, "Open") == [(0, 30)]
    assert bars(trace, "Read") == [(30, 45), (55, 70)]
    assert bars(trace, "Train") == [(45, 55), (70, 80)]
    assert trace.duration == 0.080
    assert trace.per_sample == 0.040
    assert trace.busy("Train") == 0.25


def test_a_stage_is_busy_while_any_of_its_calls_is_at_work() -> None:
    """Calls at the same time count once, so no share is more than 1."""
    calls = Dataset.range(12).map(cost=0.040, num_parallel_calls=4)
    trace = benchmark(calls, num_epochs=1, train=0.010)
    assert trace.duration == 0.160
    # Some call is at work until the last one ends, and the step after it is all that is left
    assert trace.busy("Map") == 0.150 / 0.160
    assert sum(trace.times("Map")) == 12 * 40 * MS
    assert trace.busy("Train") == 0.120 / 0.160
    assert [line.split()[:4] for line in str(trace).splitlines()[1:3]] == [
        ["Map", "12", "480.000", "93.8"],
        ["Train", "12", "120.000", "75.0"],
    ]


def test_load_is_a_stage_of_its_own_before_each_step() -> None:
    trace = benchmark(ArtificialDataset(2), num_epochs=1, load=0.005)
    assert trace.stages == ["Open", "Read", "Load", "Train"]
    assert bars(trace, "Load") == [(45, 50), (75, 80)]
    assert bars(trace, "Train") == [(50, 60), (80, 90)]


def test_a_map_that_only_costs_time_leaves_the_trace_of_one_that_calls_a_function() -> None:
    def run(function: Callable[[int], int] | None) -> Trace:
        file = ArtificialDataset(4, open=0.010, read=lambda number: 0.002 * (number + 1))
        cheap = file.map(function, cost=0.003)
        costly = cheap.map(
            function, cost=lambda number: 0.001 * number, kind="python", stage="B"
        )
        return benchmark(costly.batch(2).prefetch(1), 2, 0.004)

    waits = run(None)
    calls = run(lambda number: number)
    assert waits.spans == calls.spans
    assert waits.events == calls.events


def test_a_wait_says_who_waited_for_what() -> None:
    trace = benchmark(
        ArtificialDataset(3, open=0, read=0.010).prefetch(1), num_epochs=1, train=0.030
    )
    assert waits(trace) == [
        ("Train", "buffer empty", 0, 10, "prefetch(1)"),
        ("Prefetch", "buffer full", 20, 40, "prefetch(1)"),
        ("Prefetch", "buffer full", 50, 70, "prefetch(1)"),
    ]


def test_a_reader_of_an_interleave_waits_until_its_file_has_room_or_another_needs_it() -> (
    None
):
    """A wait that ends for nothing would be two waits, one right after the other."""
    files = 8
    dataset = Dataset.range(files).interleave(lambda _: ArtificialDataset(3), 2, 1, 2)
    trace = benchmark(dataset, num_epochs=1)
    waits = [span for span in trace.spans if span.kind == "buffer full" and span.lane < 2]
    assert 0 < len(waits) <= files


def test_waits_for_a_core_and_for_the_interpreter_lock_are_told_apart() -> None:
    maps = [
        ("native", "no core", "cores"),
        ("python", "interpreter lock held", "interpreter"),
    ]
    for kind, reason, place in maps:
        dataset = Dataset.range(3).map(cost=0.010, kind=kind, num_parallel_calls=3)
        trace = benchmark(dataset, num_epochs=1, train=0, machine=Machine(1))
        assert bars(trace, "Map") == [(0, 10), (10, 20), (20, 30)]
        held_up = [wait for wait in waits(trace) if wait[1] == reason]
        assert held_up == [
            ("Map", reason, 0, 10, place),
            ("Map", reason, 0, 20, place),
        ]


def test_a_page_is_told_in_microseconds_when_each_epoch_begins() -> None:
    trace = benchmark(ArtificialDataset(2), num_epochs=3)
    assert [epoch.start for epoch in trace.epochs] == [0, 0.080, 0.160]
    assert page_data(trace)["epochs"] == [0, 80_000, 160_000]


def test_python_work_needs_a_core_too() -> None:
    dataset = (
        Dataset.range(2)
        .map(cost=0.010, kind="native", num_parallel_calls=1)
        .map(cost=0.010, kind="python")
    )
    assert benchmark(dataset, num_epochs=1, train=0, machine=Machine(1)).duration == 0.040
    assert benchmark(dataset, num_epochs=1, train=0, machine=Machine(2)).duration == 0.030


def critical_path(trace: Trace) -> list[Span]:
    """The chain of causes back from the last span of work."""
    spans = trace.spans
    last = max((span for span in spans if not span.is_wait), key=lambda span: span.end_ns)
    path = [last]
    while path[-1].cause >= 0:
        path.append(spans[path[-1].cause])
    return path[::-1]


def test_causes_lead_back_to_the_start_without_a_gap() -> None:
    checked = 0
    for seed in seeds(200):
        trace = benchmark(
            pipeline(seed, costs=(0, 0.003, 0.010, 0.050)), machine=Machine(2)
        )
        if not any(not span.is_wait for span in trace.spans):
            continue
        path = critical_path(trace)
        assert path[0].start_ns == 0, seed
        assert all(before.end_ns == after.start_ns for before, after in pairwise(path)), (
            seed
        )
        assert path[-1].end_ns == round(trace.duration * 1e9), seed
        checked += 1
    assert checked > 0.8 * len(seeds(200))


def test_spans_say_which_sample_of_which_file_in_which_epoch() -> None:
    files = Dataset.range(2).interleave(lambda x: ArtificialDataset(2), cycle_length=2)
    trace = benchmark(files.batch(2), num_epochs=2)
    reads = [
        (span.instance, span.epoch, span.sample)
        for span in trace.spans
        if span.stage == "Read"
    ]
    assert reads == [
        (1, 0, 0),
        (2, 0, 0),
        (1, 0, 1),
        (2, 0, 1),
        (1, 1, 0),
        (2, 1, 0),
        (1, 1, 1),
        (2, 1, 1),
    ]
    trained = next(span for span in trace.spans if span.stage == "Train")
    members = [trace.identities[member][:3] for member in trace.members(trained.element)]
    assert members == [(1, 0, 0), (2, 0, 0)]


def test_an_element_keeps_its_identity_through_every_operator() -> None:
    dataset = (
        ArtificialDataset(4)
        .cache()
        .shuffle(3)
        .map(cost=0.001, num_parallel_calls=2)
        .batch(2)
        .unbatch()
    )
    trace = benchmark(dataset.prefetch(2), num_epochs=2)
    trained = [
        span.sample for span in trace.spans if span.stage == "Train" and not span.is_wait
    ]
    assert trained == trace.epochs[0].elements + trace.epochs[1].elements


def test_buffers_say_what_comes_and_goes() -> None:
    trace = benchmark(ArtificialDataset(2, nbytes=100).prefetch(1), num_epochs=1)
    assert [*trace.buffers] == ["prefetch(1)"]
    events = [(event.time_ns / MS, event.change, event.nbytes) for event in trace.events]
    assert events == [(45, 1, 100), (45, -1, 100), (60, 1, 100), (60, -1, 100)]


def test_every_buffer_is_empty_in_the_end_but_for_a_complete_cache() -> None:
    for seed in seeds(100):
        trace = benchmark(pipeline(seed), num_epochs=2, max_elements=7)
        held: dict[str, int] = {}
        for event in trace.events:
            name = event.buffer
            held[name] = held.get(name, 0) + event.change
            assert held[name] >= 0, (seed, name)
        assert all(held[name] == 0 for name in held if not name.startswith("cache")), seed


def test_memory_counts_what_all_buffers_hold_together() -> None:
    dataset = ArtificialDataset(4, nbytes=100)
    assert benchmark(dataset.cache()).max_bytes == 400
    assert benchmark(dataset.shuffle(3)).max_bytes == 300
    assert (
        benchmark(dataset.shuffle(3).map(nbytes=lambda value: 1000 + value)).max_bytes
        == 300
    )
    assert (
        benchmark(dataset.map(nbytes=1000).shuffle(2).prefetch(2), train=0.1).max_bytes
        == 3000
    )
    assert benchmark(Dataset.from_list([b"abc", b"de"]).cache()).max_bytes == 5


def test_files_are_open_from_the_start_of_the_open_to_the_end_of_the_file() -> None:
    trace = benchmark(ArtificialDataset(2), num_epochs=1)
    assert [(event.time_ns / MS, event.change) for event in trace.files] == [
        (0, 1),
        (80, -1),
    ]
    assert trace.max_open_files == 1
    broken_off = benchmark(ArtificialDataset(5).take(1), num_epochs=3)
    assert [event.change for event in broken_off.files] == [1, -1] * 3


def test_epochs_say_what_arrived_and_when() -> None:
    first, second = benchmark(ArtificialDataset(2).map(lambda x: 10 * x)).epochs
    assert first.elements == second.elements == [0, 10]
    assert first.arrivals == pytest.approx([0.045, 0.070])
    assert second.arrivals == pytest.approx([0.045, 0.070])
    assert (second.start, second.duration) == pytest.approx((0.080, 0.080))


def test_a_trace_keeps_no_data_unless_asked() -> None:
    class Data:
        pass

    dataset = Dataset.from_list([Data(), Data()]).batch(2)
    (epoch,) = benchmark(dataset, num_epochs=1).epochs
    assert epoch.elements == [["<Data>", "<Data>"]]
    (epoch,) = benchmark(dataset, num_epochs=1, keep=True).epochs
    assert isinstance(epoch.elements[0][0], Data)


def test_training_may_be_charged_per_sample_of_a_batch() -> None:
    dataset = Dataset.range(5).batch(2)
    trace = benchmark(dataset, num_epochs=1, train=per_sample(0.001, per_call=0.010))
    assert bars(trace, "Train") == [(0, 12), (12, 24), (24, 35)]
    assert trace.samples == 5
    assert trace.per_sample == pytest.approx(0.007)


def test_a_run_may_be_measured_without_being_recorded() -> None:
    recorded, bare = (
        benchmark(ArtificialDataset(), record=record) for record in (True, False)
    )
    assert bare.duration == recorded.duration
    assert bare.per_sample == recorded.per_sample
    assert [epoch.count for epoch in bare.epochs] == [3, 3]
    for ask in (
        lambda: bare.spans,
        lambda: bare.busy("Train"),
        lambda: bare.max_bytes,
        lambda: bare.stages,
    ):
        with pytest.raises(ValueError, match="not recorded"):
            ask()


def test_without_an_element_there_is_no_time_per_sample() -> None:
    trace = benchmark(Dataset.range(0))
    assert (trace.duration, trace.samples) == (0, 0)
    with pytest.raises(ValueError, match="no element reached the training loop"):
        _ = trace.per_sample


def test_the_table_is_for_people() -> None:
    assert str(benchmark(ArtificialDataset().prefetch(1))) == "\n".join(
        [
            "stage           count     busy ms share %   waiting ms",
            "Open                2      60.000    35.3        0.000",
            "Read                6      90.000    52.9        0.000",
            "Train               6      60.000    35.3      110.000",
            "total 170.000 ms, 28.333 ms per sample",
        ]
    )


def test_two_parts_of_a_pipeline_do_not_share_a_name() -> None:
    dataset = (
        ArtificialDataset(1)
        .map(cost=0.001)
        .map(cost=0.002)
        .map(cost=0.003, stage="Decode")
        .prefetch(1)
        .prefetch(1)
    )
    trace = benchmark(dataset, num_epochs=1)
    assert trace.stages == ["Open", "Read", "Map", "Map 2", "Decode", "Train"]
    assert [*trace.buffers] == ["prefetch(1)", "prefetch(1) 2"]


def test_a_span_with_its_buffer_events_is_small() -> None:
    dataset = ArtificialDataset(5000).map(cost=0.001).prefetch(1)
    benchmark(dataset.take(10))
    gc.collect()
    tracemalloc.start()
    trace = benchmark(dataset, num_epochs=1)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size / len(trace.spans) < 400


def test_the_times_of_a_stage_are_those_of_its_work_or_of_its_waits() -> None:
    trace = benchmark(
        ArtificialDataset(2, open=0.030, read=0.015).prefetch(1), 1, train=0.010
    )
    assert (trace.times("Open"), trace.times("Train")) == (
        [30_000_000],
        [10_000_000] * 2,
    )
    assert trace.times("Train", waits=True) == [45_000_000, 5_000_000]
    assert trace.times("nobody") == []


def test_a_run_of_several_ranks_and_one_of_whole_batches_count_steps() -> None:
    eight = benchmark(lambda rank: Dataset.range(16).batch(8), 1, 0.010, ranks=8)
    assert (eight.traces[0].samples, eight.traces[0].counts) == (16, (2, "steps"))
    assert eight.traces[0].rate == "2 steps in 20 ms, 10 ms per step"
    whole = DataLoader(Dataset.range(4).map(cost=0.030), batch_size=None)
    alone = benchmark(whole, 1, 0.010)
    assert alone.rate == "4 steps in 160 ms, 40 ms per step"
    assert str(alone).endswith("total 160.000 ms, 40.000 ms per step")
    assert page_data(alone)["figures"][:2] == [
        ("40 ms", "per step"),
        ("160 ms", "for 4 steps"),
    ]
    batches = benchmark(
        DataLoader(Dataset.range(4).map(cost=0.030), batch_size=2), 1, 0.010
    )
    assert batches.rate == "4 samples in 140 ms, 35 ms per sample"
