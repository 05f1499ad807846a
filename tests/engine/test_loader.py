"""`DataLoader`: what PyTorch's cases do not hold, on the virtual clock."""

import gc
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lessonkit import (
    ArtificialDataset,
    DataLoader,
    Dataset,
    Handling,
    Machine,
    Storage,
    Trace,
    benchmark,
    get_worker_info,
    per_sample,
    straggler,
    work,
)
from lessonkit.analysis import critical_path, limits
from lessonkit.explain.critical_path import ended
from lessonkit.explain.plumbing import plumbing
from lessonkit.improve.advise import advise
from lessonkit.pictures.layout import COLOURS, COUNT, layout
from lessonkit.widgets.page_data import page_data

SAMPLES = Dataset.range(24).map(cost=0.010)
MS = 10**6


def arrivals(loader: Dataset, **options: Any) -> list[float]:
    return [
        round(time * 1e3, 6) for time in benchmark(loader, 1, **options).epochs[0].arrivals
    ]


def test_a_worker_makes_a_whole_batch() -> None:
    for workers in (1, 2, 4):
        assert arrivals(DataLoader(SAMPLES, 4, num_workers=workers), train=0)[0] == 40


def test_the_error_of_a_start_comes_once_also_after_an_epoch_without_its_worker() -> None:
    class Growing:
        """A sampler with one sample in the first epoch, two in the second, and so on."""

        count = 0

        def __iter__(self) -> Iterator[int]:
            self.count += 1
            return iter(range(self.count))

        def __len__(self) -> int:
            return self.count

    def fails(worker: int) -> None:
        if worker == 1:
            raise OSError("no disk")

    def growing() -> DataLoader:
        said: dict[str, Any] = {
            "num_workers": 2,
            "persistent_workers": True,
            "worker_init_fn": fails,
        }
        return DataLoader(SAMPLES, 1, sampler=Growing(), **said)

    with pytest.raises(OSError, match="no disk"):
        benchmark(growing(), 2, record=False)
    loader = growing()
    passes = iter(loader), iter(loader), iter(loader)
    assert list(passes[0]) == [[0]]
    assert next(passes[1]) == [0]
    with pytest.raises(OSError, match="no disk"):
        next(passes[1])
    passes[1].close()  # or the next one would have workers of its own
    assert list(passes[2]) == [[0], [1], [2]]


def test_each_process_has_an_interpreter_lock_of_its_own_and_cores_are_shared() -> None:
    def in_python(sample: int) -> int:
        work(0.010, kind="python")
        return sample

    loader = DataLoader(Dataset.range(16).map(in_python), 2, num_workers=2)
    assert benchmark(loader, 1, 0).duration == 0.080
    assert benchmark(loader, 1, 0, machine=Machine(1)).duration == 0.160
    threads = Dataset.range(16).map(in_python, num_parallel_calls=2)
    assert benchmark(threads, 1, 0).duration == 0.160


def test_workers_start_one_after_another_and_get_ready_side_by_side() -> None:
    loader = DataLoader(SAMPLES, 4, num_workers=3, start=(0.014, 0.007))
    assert arrivals(loader, train=0)[:3] == [14 * 3 + 40, 14 * 3 + 40, 14 * 3 + 7 + 40]
    trace = benchmark(loader, 2, 0)
    stays = benchmark(
        DataLoader(
            SAMPLES, 4, num_workers=3, start=(0.014, 0.007), persistent_workers=True
        ),
        2,
        0,
    )
    assert trace.duration - stays.duration == pytest.approx(0.049)


def test_start_may_depend_on_epoch_and_worker() -> None:
    loader = DataLoader(
        SAMPLES,
        4,
        num_workers=2,
        start=(lambda epoch, worker: 0.1 * epoch, lambda *_: 0.0),
    )
    first, second = benchmark(loader, 2, 0).epochs
    assert second.duration - first.duration == pytest.approx(0.2)


def test_a_cache_is_filled_before_the_workers_start() -> None:
    loader = DataLoader(SAMPLES.cache(), 4, num_workers=2)
    first, second = benchmark(loader, 2, 0.001).epochs
    assert (round(first.duration, 6), round(second.duration, 6)) == (0.246, 0.006)
    assert (
        first.elements
        == second.elements
        == [[*range(at, at + 4)] for at in range(0, 24, 4)]
    )


def test_an_iterable_is_read_by_every_worker_unless_it_asks_which_it_is() -> None:
    def mine(sample: int) -> bool:
        info = get_worker_info()
        return info is None or sample % info.num_workers == info.id

    files = ArtificialDataset(4)
    assert benchmark(DataLoader(files, 2, num_workers=2), 1).epochs[0].elements == [
        [0, 1],
        [0, 1],
        [2, 3],
        [2, 3],
    ]
    assert benchmark(DataLoader(files.filter(mine), 2, num_workers=2), 1).epochs[
        0
    ].elements == [
        [0, 2],
        [1, 3],
    ]
    assert get_worker_info() is None


@pytest.mark.parametrize("stay", [False, True])
@pytest.mark.parametrize("most", [1, None])
def test_workers_close_what_they_opened(stay: bool, most: int | None) -> None:
    files = DataLoader(
        ArtificialDataset(6).prefetch(1), 2, num_workers=2, persistent_workers=stay
    )
    trace = benchmark(files, 2, max_elements=most)
    assert [event.change for event in trace.files].count(1) > 0
    assert sum(event.change for event in trace.files) == 0


def test_transfer_and_collate_may_depend_on_bytes_recorded_or_not() -> None:
    samples = Dataset.range(8).map(cost=0.001, nbytes=1000)
    loader = DataLoader(
        samples,
        4,
        num_workers=1,
        transfer=lambda size: size * 1e-6,
        collate=lambda size: size * 2e-6,
    )
    recorded, plain = (benchmark(loader, 1, 0, record=record) for record in (True, False))
    assert recorded.duration == plain.duration == pytest.approx(2 * (0.004 + 0.004 + 0.008))


@pytest.mark.parametrize("pinned", [False, True])
def test_a_copy_on_a_second_stream_needs_pinned_memory(pinned: bool) -> None:
    loader = DataLoader(Dataset.range(6), 1, num_workers=1, pin_memory=pinned)
    trace = benchmark(loader, 1, 0.010, load=0.004, ahead=True)
    assert trace.duration == (0.064 if pinned else 0.084)
    assert limits(trace).bound <= trace.duration
    assert limits(trace).bound == trace.duration


@pytest.mark.parametrize("clock", ["virtual", "real"])
@pytest.mark.filterwarnings("error")
def test_a_copy_that_nobody_waits_for_any_more_ends_with_the_run(clock: str) -> None:
    def fails(sample: int) -> int:
        if sample == 2:
            raise OSError("no disk")
        return sample

    loader = DataLoader(Dataset.range(6), 1, num_workers=1, pin_memory=True)
    options: dict[str, Any] = {"load": 0.001, "ahead": True, "clock": clock}
    assert benchmark(loader, 1, 0.001, max_elements=2, **options).samples == 2
    with pytest.raises(OSError, match="no disk"):
        benchmark(
            DataLoader(Dataset.range(6).map(fails), 1, pin_memory=True),
            1,
            0.001,
            **options,
        )
    assert benchmark(Dataset.range(3).prefetch(1), 2, 0.001, **options).samples == 6
    gc.collect()


def test_two_loops_at_once_over_workers_that_stay_have_workers_each() -> None:
    loader = DataLoader(SAMPLES, 4, num_workers=2, persistent_workers=True)
    pairs = benchmark(Dataset.zip(loader, loader), 2).epochs[1].elements
    assert pairs == [(batch, batch) for batch in benchmark(loader, 1).epochs[0].elements]
    one = iter(loader)
    first = next(one)
    assert [first, *one] == [*loader]
    one = iter(loader)
    first = next(one)
    other = [*loader]  # from the first to the last, between two of the other's
    assert [first, *one] == other


def test_pictures_have_a_lane_for_each_worker_and_a_bar_for_each_batch() -> None:
    def cost(sample: int) -> float:
        return 0.070 if sample == 9 else 0.010

    loader = DataLoader(
        Dataset.range(24).map(cost=cost), 4, num_workers=3, start=(0.014, 0.007)
    )
    trace = benchmark(loader, 1)
    found = layout(trace)
    rows = {row.stage: number for number, row in enumerate(found.rows)}
    assert list(rows) == ["Queue", "Worker", "Ready", "Train"]
    assert found.rows[rows["Worker"]].lanes == 3
    batches = [
        bar for bar in found.bars if bar.row == rows["Worker"] and bar.kind == "work"
    ]
    lanes = {bar.label: bar.lane for bar in batches}  # of each batch, by its number
    assert lanes == {"0": 0, "1": 1, "2": 2, "3": 0, "4": 1, "5": 2}
    starts = [bar for bar in found.bars if bar.kind == "start"]
    assert len(starts) == 6  # in iter(), and until it is ready
    assert page_data(trace)["parts"][:2] == [
        {"name": "queues", "rows": [0], "calls": 0, "buffer": None},
        {"name": "3 workers", "rows": [1], "calls": 3, "buffer": 0},
    ]


def steps_of(trace: Trace, stage: str) -> list[tuple[int, int, int, float]]:
    """When a row of counts has which step, in milliseconds."""
    found = layout(trace)
    row = [row.stage for row in found.rows].index(stage)
    bars = [bar for bar in found.bars if bar.row == row]
    assert all(bar.kind == COUNT for bar in bars)
    assert found.rows[row].colour == COLOURS[stage]
    return [(bar.start // MS, bar.end // MS, int(bar.label), bar.level) for bar in bars]


def test_index_lists_in_queues_and_batches_that_are_ready_are_one_staircase_each() -> None:
    # Batch 0 takes 70 ms, each other one 20 ms
    data = Dataset.range(8).map(cost=lambda sample: 0.060 if sample == 0 else 0.010)
    trace = benchmark(DataLoader(data, 2, num_workers=2, start=(0.0, 0.0)), 1, 0.010)
    assert steps_of(trace, "Queue") == [
        (0, 20, 2, 1),
        (20, 70, 1, 0.5),
    ]
    assert steps_of(trace, "Ready") == [
        (20, 40, 1, 0.5),
        (40, 70, 2, 1),
        (70, 80, 2, 1),
        (80, 90, 1, 0.5),
        (90, 100, 1, 0.5),
    ]


@settings(deadline=None)
@given(st.integers(0, 100_000))
def test_each_batch_of_an_epoch_has_the_number_of_its_index_list(seed: int) -> None:
    random = Random(seed)
    workers = random.randrange(4)
    shuffled = random.random() < 0.5
    loader = DataLoader(SAMPLES, 5, shuffle=shuffled, num_workers=workers)
    trace = benchmark(loader, 2)
    names = layout(trace).names
    for epoch in trace.epochs:  # in order, so each arrives at its number
        assert [names[key] for key in epoch.keys] == ["0", "1", "2", "3", "4"]


@settings(deadline=None)
@given(st.integers(0, 100_000))
def test_a_staircase_counts_what_waits(seed: int) -> None:
    random = Random(seed)
    cost = straggler(0.010, every=random.randrange(2, 6), slow=0.050)
    loader = DataLoader(
        Dataset.range(30).map(cost=cost),
        random.randrange(1, 5),
        num_workers=random.randrange(1, 5),
        prefetch_factor=random.randrange(1, 4),
        in_order=random.random() < 0.5,
        start=(0.005, 0.005),
    )
    trace = benchmark(loader, 2, train=0.015)
    ready = sum((end - start) * count for start, end, count, _ in steps_of(trace, "Ready"))
    held = sum(event.change * -event.time_ns for event in trace.events)
    assert ready == held // MS
    assert max((level for *_, level in steps_of(trace, "Ready")), default=1) == 1


def test_everything_explains_a_loader() -> None:
    loader = DataLoader(SAMPLES, 4, num_workers=2, start=(0.014, 0.007), transfer=0.002)
    trace = benchmark(loader)
    path = critical_path(trace)
    assert sum(end - start for *_, start, end in path.steps) == ended(trace)
    assert "runtime" not in path.shares
    assert limits(trace).bound <= trace.duration
    assert trace.max_held <= 4
    assert [name for name, *_ in plumbing(trace)] == [
        "queues",
        "2 workers",
        "accelerator",
    ]


def test_advice_is_about_the_loader() -> None:
    found = {
        advice.change: advice
        for advice in advise(DataLoader(SAMPLES, 4, num_workers=2, start=(0.01, 0.0)))
    }
    assert {
        "num_workers=4",
        "prefetch_factor=4",
        "persistent_workers",
        "in_order=False",
    } < set(found)
    assert {"one call for each batch", "cache before the workers"} < set(found)
    assert found["persistent_workers"].saved == pytest.approx(0.020 / 48)
    assert found["one call for each batch"].effects == ("the functions get whole batches",)
    assert not any("prefetch(" in change for change in found)


def test_a_loader_prints_as_the_program_that_makes_it() -> None:
    loader = DataLoader(SAMPLES, 4, num_workers=2, persistent_workers=True)
    assert repr(loader) == (
        "DataLoader(Dataset.range(24).map(cost=0.01), batch_size=4, num_workers=2, persistent_workers=True)"
    )
    names: dict[str, Any] = {}
    exec(loader.code(), names)
    assert repr(names["dataset"]) == repr(loader)
    with pytest.raises(ValueError, match="has no DataLoader"):
        loader.code("tf.data")


# Of a sample, which the loader does not know: nobody would share it
COSTS_OF_SAMPLES = (
    per_sample(0.001),
    straggler(0.001, every=2, slow=0.01),
    Storage(1e6).read(1000),
)
OF_BYTES = "must be a number of seconds, or a function of the bytes"
TWO_TIMES = "must be two times"
ALL_OF_BATCHES = "it says all of batches"
# An error, the arguments that are refused, the one first that it names, and what it says of it
REFUSED: list[tuple[type[Exception], dict[str, Any], str]] = [
    (ValueError, {"batch_size": 0}, "must be 1 or more"),
    (ValueError, {"num_workers": -1}, "must be 0 or more"),
    (ValueError, {"prefetch_factor": 2}, "without workers"),
    (ValueError, {"persistent_workers": True}, "there are no workers to keep"),
    (ValueError, {"drop_last": True, "batch_size": None}, "without batches"),
    (ValueError, {"sampler": [0], "shuffle": True}, "it says the order already"),
    (ValueError, {"batch_sampler": [[0]], "batch_size": 2}, ALL_OF_BATCHES),
    (ValueError, {"batch_sampler": [[0]], "shuffle": True}, ALL_OF_BATCHES),
    (ValueError, {"batch_sampler": [[0]], "sampler": [0]}, ALL_OF_BATCHES),
    (ValueError, {"batch_sampler": [[0]], "drop_last": True}, ALL_OF_BATCHES),
    (TypeError, {"start": "x"}, TWO_TIMES),
    (TypeError, {"handling": "x"}, "must be a Handling"),
    (TypeError, {"collate_fn": "x"}, "must be a function"),
    (TypeError, {"worker_init_fn": "x"}, "must be a function"),
    (TypeError, {"generator": "x"}, "must be an integer"),
    (TypeError, {"getitems": "x"}, "must be True or False"),
    *((TypeError, {"collate": cost}, OF_BYTES) for cost in COSTS_OF_SAMPLES),
    *((TypeError, {"transfer": cost}, OF_BYTES) for cost in COSTS_OF_SAMPLES),
    *((TypeError, {"start": (0, cost)}, TWO_TIMES) for cost in COSTS_OF_SAMPLES),
]


@pytest.mark.parametrize(("error", "arguments", "allowed"), REFUSED)
def test_what_cannot_be_is_refused_by_its_name(
    error: type[Exception], arguments: dict[str, Any], allowed: str
) -> None:
    """With its value, if that alone is wrong."""
    with pytest.raises(error) as raised:
        DataLoader(SAMPLES, **arguments)
    name, value = next(iter(arguments.items()))
    told, _, why = str(raised.value).partition(": ")
    is_wrong_alone = why.startswith("must be")
    assert told == (f"{name}={value!r}" if is_wrong_alone else name)
    assert why.startswith(allowed)


@pytest.mark.parametrize("num_workers", [0, 2])
@pytest.mark.parametrize(("drop_last", "batches"), [(False, 3), (True, 2)])
def test_an_iterable_is_as_long_as_it_is_without_workers_as_in_pytorch(
    num_workers: int, drop_last: bool, batches: int
) -> None:
    iterable = Dataset.range(10).shuffle(3)
    loader = DataLoader(iterable, 4, num_workers=num_workers, drop_last=drop_last)
    assert len(loader) == batches


def test_an_iterable_cannot_be_shuffled() -> None:
    with pytest.raises(ValueError, match="shuffle: an iterable"):
        DataLoader(ArtificialDataset(), shuffle=True)


@given(
    count=st.integers(0, 30),
    size=st.none() | st.integers(1, 7),
    workers=st.integers(0, 5),
    factor=st.none() | st.integers(1, 4),
    stay=st.booleans(),
    in_order=st.booleans(),
    shuffle=st.booleans(),
    slow=st.integers(1, 9),
)
def test_every_sample_comes_once_in_each_epoch_recorded_or_not(
    count: int,
    size: int | None,
    workers: int,
    factor: int | None,
    stay: bool,
    in_order: bool,
    shuffle: bool,
    slow: int,
) -> None:
    samples = Dataset.range(count).map(
        cost=lambda sample: 0.02 if sample % slow == 0 else 0.005
    )
    arguments: dict[str, Any] = {
        "num_workers": workers,
        "in_order": in_order,
        "shuffle": shuffle and count > 0,
    }
    if workers:
        arguments |= {"prefetch_factor": factor, "persistent_workers": stay}
    loader = DataLoader(samples, size, **arguments)
    trace = benchmark(loader)
    assert trace.duration == benchmark(loader, record=False).duration
    for epoch in trace.epochs:
        flat = [
            sample for batch in epoch.elements for sample in (batch if size else [batch])
        ]
        assert sorted(flat) == list(range(count))
        if in_order and not shuffle:
            assert flat == list(range(count))


@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("way", [0.010, 0.050])
def test_no_result_of_a_worker_overtakes_another(in_order: bool, way: float) -> None:
    stream = Dataset.from_generator(lambda: iter(range(4)))
    handling = Handling(first=way)  # the next result of a worker is on its way for no time
    loader = DataLoader(
        stream, batch_size=2, num_workers=2, in_order=in_order, handling=handling
    )
    found = benchmark(loader, 1, 0, keep=True).epochs[0].elements
    assert sorted(found) == [[0, 1], [0, 1], [2, 3], [2, 3]]


def test_the_first_result_is_late_without_any_other_way() -> None:
    loader = DataLoader(
        Dataset.range(6), batch_size=2, num_workers=2, handling=Handling(first=0.020)
    )
    assert benchmark(loader, 1, 0).epochs[0].arrivals == [0.020, 0.020, 0.020]
