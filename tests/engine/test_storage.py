"""One storage for all who read: true of a real server, and exact where one can reckon."""

from typing import Any

import pytest

from evidence.errors import of_storages
from evidence.many_cases import within
from lessonkit import (
    ArtificialDataset,
    DataLoader,
    Dataset,
    Storage,
    benchmark,
)
from lessonkit.analysis import advise, limits


def test_a_storage_is_true_of_a_real_server() -> None:
    found = of_storages()
    assert within(found.last, 0.01, 0.04)
    assert within(found.each, 0.01, 0.05)


MB = 1e6


def duration(dataset: Dataset, **options: Any) -> float:
    return benchmark(dataset, num_epochs=1, train=0, **options).duration


def test_streams_share_the_bandwidth_and_none_has_more_than_its_cap() -> None:
    shared, capped = Storage(10 * MB), Storage(10 * MB, cap=2 * MB)
    for lanes, alone, with_cap in (
        (1, 8.0, 40.0),
        (2, 8.0, 20.0),
        (4, 8.0, 10.0),
        (8, 8.0, 8.0),
    ):
        for storage, expected in ((shared, alone), (capped, with_cap)):
            files = Dataset.range(8).map(
                cost=storage.read(10 * MB), num_parallel_calls=lanes
            )
            assert duration(files) == pytest.approx(expected, abs=1e-6)


def test_more_lanes_hide_more_of_the_first_byte_while_readers_keep_in_step() -> None:
    storage = Storage(10 * MB, first_byte=0.030)
    for lanes, expected in (
        (1, 40 * 0.040),
        (2, 20 * 0.050),
        (4, 10 * 0.070),
        (8, 5 * 0.110),
    ):
        files = Dataset.range(40).map(cost=storage.read(0.1 * MB), num_parallel_calls=lanes)
        assert duration(files) == pytest.approx(expected)


def test_requests_beyond_the_streams_queue_first_come_first_served() -> None:
    storage = Storage(1 * MB, first_byte=0.010, streams=2)
    trace = benchmark(
        Dataset.range(4).map(cost=storage.read(10_000), num_parallel_calls=4),
        1,
        train=0,
    )
    assert [span.end for span in trace.work if span.stage == "Map"] == pytest.approx(
        [0.03, 0.03, 0.06, 0.06]
    )
    waits = [span for span in trace.spans if span.kind == "storage busy"]
    assert sum(span.end - span.start for span in waits) == pytest.approx(
        4 * 0.010 + 2 * 0.030
    )


def test_files_lanes_and_workers_read_from_one_storage() -> None:
    storage = Storage(1 * MB)
    files = Dataset.range(4).interleave(
        lambda file: ArtificialDataset(
            3, open=storage.read(5_000), read=storage.read(5_000)
        ),
        4,
        num_parallel_calls=4,
    )
    assert duration(files) == pytest.approx(4 * 4 * 0.005)
    for workers in (1, 2, 4):
        loader = DataLoader(
            Dataset.range(16).map(cost=storage.read(5_000)), num_workers=workers
        )
        assert duration(loader) == pytest.approx(16 * 0.005)


def test_a_storage_bounds_the_run_and_advice_knows() -> None:
    storage = Storage(1 * MB, first_byte=0.020)
    trace = benchmark(
        Dataset.range(32).map(cost=storage.read(10_000), num_parallel_calls=8),
        1,
        train=0.001,
    )
    assert limits(trace).bounds[0].name == "storage"
    assert limits(trace).bound == pytest.approx(0.32 + 0.020 + 0.001)
    slow = (
        Dataset.range(32).map(cost=storage.read(10_000), num_parallel_calls=3).prefetch(1)
    )
    more = [
        one for one in advise(slow, num_epochs=1, train=0.001) if "calls=" in one.change
    ]
    assert {one.change: round(one.per_sample, 3) for one in more} == {
        "num_parallel_calls=4 in map": 0.015,
        "num_parallel_calls=6 in map": 0.013,
        "num_parallel_calls=8 in map": 0.012,
    }


def test_on_the_real_clock_streams_share_it_too() -> None:
    storage = Storage(1 * MB, first_byte=0.005)
    files = Dataset.range(8).map(cost=storage.read(5_000), num_parallel_calls=4)
    real = benchmark(files, 1, train=0, clock="real")
    assert real.duration >= 8 * 0.005


def test_a_program_and_the_description_name_it() -> None:
    files = Dataset.range(3).map(cost=Storage(2.0, streams=1).read(4)).prefetch(1)
    expected = "Storage(bandwidth=2.0, first_byte=0, streams=1, cap=None).read(4.0)"
    assert expected in repr(files)
    names: dict[str, Any] = {}
    exec(files.code(), names)
    assert duration(names["dataset"]) == duration(files) == 6.0


@pytest.mark.parametrize(
    "said",
    [
        {"bandwidth": 0},
        {"bandwidth": float("nan")},
        {"bandwidth": 1, "cap": 0},
        {"bandwidth": 1, "first_byte": -1},
        {"bandwidth": 1, "streams": 0},
    ],
)
def test_what_is_no_storage_is_refused(said: dict[str, Any]) -> None:
    allowed = "more than 0" if list(said)[-1] in ("bandwidth", "cap") else "or more"
    with pytest.raises(ValueError, match=f"{list(said)[-1]}.*{allowed}"):
        Storage(**said)


def test_what_are_no_bytes_are_refused() -> None:
    for wrong in (float("nan"), -1):
        with pytest.raises(ValueError, match="nbytes"):
            Storage(1).read(wrong)
        with pytest.raises(ValueError, match="nbytes of 0"):
            duration(Dataset.range(1).map(cost=Storage(1).read({0: wrong}.__getitem__)))
    with pytest.raises(
        TypeError,
        match="bandwidth=None: must be a number of bytes per second, more than 0",
    ):
        Storage()
    with pytest.raises(TypeError, match="bandwidth"):
        Storage("fast")  # type: ignore[arg-type]


def test_each_storage_bounds_what_is_read_from_it() -> None:
    one, other = Storage(1e5), Storage(2e5)
    read = Dataset.range(4).map(cost=one.read(5000), num_parallel_calls=2)
    run = benchmark(read.map(cost=other.read(5000), num_parallel_calls=2), 1, 0)
    assert run.duration == 0.25
    assert limits(run).bound == 0.2
