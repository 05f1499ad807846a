"""What buffers and caches held, and which files were open."""

import pytest
from support.random_runs import runs

from lessonkit import ArtificialDataset, Dataset, Trace, benchmark
from lessonkit.analysis import memory
from lessonkit.engine.trace import CACHE


def held(trace: Trace, name: str) -> list[tuple[float, int]]:
    """Milliseconds, and elements in this buffer from then on."""
    return [(round(time * 1e3, 6), count) for time, count, _ in memory(trace)[name]]


def most_bytes(trace: Trace, name: str) -> int:
    return max(nbytes for _, _, nbytes in memory(trace)[name])


def test_what_all_hold_together_is_at_most_the_peak_of_the_trace() -> None:
    for seed, _, _, trace in runs():
        peaks = [(0, 0)] + [
            (max(count for _, count, _ in steps), max(size for *_, size in steps))
            for steps in memory(trace).values()
            if steps
        ]
        counts, sizes = zip(*peaks, strict=True)
        assert max(counts) <= trace.max_held <= sum(counts), seed
        assert max(sizes) <= trace.max_bytes <= sum(sizes), seed


def test_no_buffer_holds_less_than_nothing_and_only_caches_hold_something_at_the_end() -> (
    None
):
    for seed, _, _, trace in runs():
        for name in trace.buffers:
            steps = memory(trace)[name]
            assert all(count >= 0 for _, count, _ in steps), (seed, name)
            assert not steps or name.role == CACHE or steps[-1][1] == 0, (seed, name)


def test_no_buffer_holds_more_than_there_is_room_for() -> None:
    """Parallel calls one more: the element that somebody waits for passes through."""
    for seed, _, _, trace in runs():
        for name, room in trace.buffers.items():
            most = max((count for _, count, _ in memory(trace)[name]), default=0)
            assert room is None or most <= room + ("call" in name), (seed, name)


def test_each_change_is_a_step() -> None:
    trace = benchmark(ArtificialDataset(2, open=0, nbytes=100).prefetch(1), num_epochs=1)
    assert held(trace, "prefetch(1)") == [(15, 1), (15, 0), (30, 1), (30, 0)]
    assert [nbytes for *_, nbytes in memory(trace)["prefetch(1)"]] == [100, 0, 100, 0]


def test_a_buffer_fills_only_if_reading_is_faster_than_training() -> None:
    """Its size is what it may hold: a slow file leaves eight places empty, a fast one fills them."""
    slow, fast = (
        ArtificialDataset(20, open=0, read=read).prefetch(8) for read in (0.015, 0.002)
    )
    assert benchmark(slow, num_epochs=1).max_held == 1
    assert benchmark(fast, num_epochs=1).max_held == 8
    assert held(benchmark(fast, num_epochs=1), "prefetch(8)")[:4] == [
        (2, 1),
        (2, 0),
        (4, 1),
        (6, 2),
    ]


def test_each_buffer_says_how_much_it_holds() -> None:
    images = ArtificialDataset(4, open=0, nbytes=100)
    trace = benchmark(images.map(nbytes=1000).cache().shuffle(3), num_epochs=1)
    assert (most_bytes(trace, "cache"), most_bytes(trace, "shuffle(3)")) == (4000, 3000)
    assert trace.max_bytes == 7000


def test_a_cache_keeps_what_it_has_and_in_front_of_a_growing_map_it_keeps_less() -> None:
    images = ArtificialDataset(3, nbytes=100)
    before = images.cache().map(nbytes=800)
    behind = images.map(nbytes=800).cache()
    for dataset, nbytes in ((before, 300), (behind, 2400)):
        trace = benchmark(dataset, num_epochs=3)
        assert memory(trace)["cache"][-1] == (0.095, 3, nbytes)
        assert trace.max_bytes == nbytes


def test_files_are_counted_while_they_are_open() -> None:
    files = Dataset.range(3).interleave(
        lambda _: ArtificialDataset(1, open=0.010), cycle_length=2
    )
    found = benchmark(files, num_epochs=1, train=0)
    assert [(event.time, event.change) for event in found.files] == [
        (0, 1),
        (0.025, 1),
        (0.050, -1),
        (0.050, -1),
        (0.050, 1),
        (0.075, -1),
    ]
    assert found.max_open_files == 2


def test_without_buffers_nothing_is_held() -> None:
    trace = benchmark(Dataset.range(1), num_epochs=1)
    assert (memory(trace), trace.max_bytes, trace.files) == ({}, 0, [])


def test_buffers_of_a_run_in_which_nothing_happened_are_empty() -> None:
    trace = benchmark(Dataset.range(0).prefetch(2), num_epochs=1)
    assert memory(trace) == {"prefetch(2)": []}


def test_a_cancelled_run_has_given_back_its_buffers(cancelled: Trace) -> None:
    assert cancelled.cancelled
    assert memory(cancelled)["prefetch(2)"][-1][1:] == (0, 0)
    assert sum(event.change for event in cancelled.files) == 0


def test_a_run_that_was_not_recorded_says_what_to_do() -> None:
    with pytest.raises(ValueError, match="run it again without record=False"):
        memory(benchmark(ArtificialDataset(), record=False))
