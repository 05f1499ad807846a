"""What buffers and caches held, and which files were open."""

import pytest
from random_runs import runs

from lessonkit import ArtificialDataset, Dataset, Trace, benchmark
from lessonkit.analysis import memory
from lessonkit.engine.trace import CACHE


def held(trace: Trace, name: str) -> list[tuple[float, int]]:
    """Milliseconds, and elements in this buffer from then on."""
    return [
        (round(time * 1e3, 6), count) for time, count in memory(trace).elements.steps[name]
    ]


def test_peaks_are_those_of_the_trace() -> None:
    for seed, _, _, trace in runs():
        kept = memory(trace)
        peaks = (kept.bytes.peak, kept.elements.peak, kept.files.peak)
        assert peaks == (trace.max_bytes, trace.max_held, trace.max_open_files), seed


def test_no_buffer_holds_less_than_nothing_and_only_caches_hold_something_at_the_end() -> (
    None
):
    for seed, _, _, trace in runs():
        for name, _ in trace.buffers:
            steps = memory(trace).elements.steps[name]
            assert all(count >= 0 for _, count in steps), (seed, name)
            assert not steps or name.role == CACHE or steps[-1][1] == 0, (seed, name)


def test_no_buffer_holds_more_than_there_is_room_for() -> None:
    """Parallel calls one more: the element that somebody waits for passes through."""
    for seed, _, _, trace in runs():
        for name, room in trace.buffers:
            most = max(
                (count for _, count in memory(trace).elements.steps[name]), default=0
            )
            assert room is None or most <= room + ("calls" in name), (seed, name)


def test_each_change_is_a_step() -> None:
    trace = benchmark(ArtificialDataset(2, open=0, nbytes=100).prefetch(1), num_epochs=1)
    assert held(trace, "prefetch(1)") == [(15, 1), (15, 0), (30, 1), (30, 0)]
    assert memory(trace).bytes.steps["prefetch(1)"] == [
        (0.015, 100),
        (0.015, 0),
        (0.030, 100),
        (0.030, 0),
    ]


def test_a_buffer_fills_only_if_reading_is_faster_than_training() -> None:
    """Its size is what it may hold: a slow file leaves eight places empty, a fast one fills them."""
    slow, fast = (
        ArtificialDataset(20, open=0, read=read).prefetch(8) for read in (0.015, 0.002)
    )
    assert memory(benchmark(slow, num_epochs=1)).elements.peak == 1
    assert memory(benchmark(fast, num_epochs=1)).elements.peak == 8
    assert held(benchmark(fast, num_epochs=1), "prefetch(8)")[:4] == [
        (2, 1),
        (2, 0),
        (4, 1),
        (6, 2),
    ]


def test_the_peak_says_when_and_who() -> None:
    images = ArtificialDataset(4, open=0, nbytes=100)
    kept = memory(benchmark(images.map(nbytes=1000).cache().shuffle(3), num_epochs=1))
    assert (kept.bytes.peak, kept.bytes.at, kept.bytes.fullest) == (7000, 0.070, "cache")
    kept = memory(benchmark(images.shuffle(3).map(nbytes=1000).prefetch(1), num_epochs=1))
    assert (kept.bytes.peak, kept.bytes.at, kept.bytes.fullest) == (
        1200,
        0.045,
        "prefetch(1)",
    )
    assert (kept.elements.peak, kept.elements.fullest) == (3, "shuffle(3)")


def test_a_cache_keeps_what_it_has_and_in_front_of_a_growing_map_it_keeps_less() -> None:
    images = ArtificialDataset(3, nbytes=100)
    before, behind = images.cache().map(nbytes=800), images.map(nbytes=800).cache()
    for dataset, nbytes in ((before, 300), (behind, 2400)):
        kept = memory(benchmark(dataset, num_epochs=3))
        assert kept.bytes.steps["cache"][-1] == (0.095, nbytes)
        assert (kept.bytes.peak, kept.bytes.fullest) == (nbytes, "cache")


def test_files_are_counted_while_they_are_open() -> None:
    files = Dataset.range(3).interleave(
        lambda _: ArtificialDataset(1, open=0.010), cycle_length=2
    )
    found = memory(benchmark(files, num_epochs=1, train=0)).files
    assert found.steps["files"] == [
        (0, 1),
        (0.025, 2),
        (0.050, 1),
        (0.050, 0),
        (0.050, 1),
        (0.075, 0),
    ]
    assert (found.peak, found.at) == (2, 0.025)


def test_without_buffers_nothing_is_held() -> None:
    kept = memory(benchmark(Dataset.range(1), num_epochs=1))
    assert kept.bytes.steps == {}
    assert (kept.bytes.peak, kept.bytes.at, kept.bytes.fullest) == (0, 0, None)
    assert kept.files.steps == {"files": []}


def test_buffers_of_a_run_in_which_nothing_happened_are_empty() -> None:
    kept = memory(benchmark(Dataset.range(0).prefetch(2), num_epochs=1))
    assert kept.elements.steps == {"prefetch(2)": []}


def test_a_cancelled_run_has_given_back_its_buffers(cancelled: Trace) -> None:
    assert cancelled.cancelled
    assert memory(cancelled).elements.steps["prefetch(2)"][-1][1] == 0
    assert memory(cancelled).files.steps["files"][-1][1] == 0


def test_a_run_that_was_not_recorded_says_what_to_do() -> None:
    with pytest.raises(ValueError, match="run it again without record=False"):
        memory(benchmark(ArtificialDataset(), record=False))
