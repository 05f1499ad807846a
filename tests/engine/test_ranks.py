"""Ranks that wait for the slowest: true of real ones, exact where one can reckon."""

import gc
import random
import re
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from support.random_pipelines import loaded, pipeline, seeds

from evidence.errors import of_ranks
from evidence.many_cases import cases, within
from lessonkit import (
    DataLoader,
    Dataset,
    Machine,
    Storage,
    Trace,
    benchmark,
    get_worker_info,
)
from lessonkit.analysis import advise, curve, knobs
from lessonkit.engine.ranks import Ranks
from lessonkit.optimize import autotune


def test_ranks_are_true_of_real_ones() -> None:
    found = of_ranks()
    assert within(found.runs, 0.02, 0.04)
    assert within(found.waits, 0.01, 0.02)
    assert all(found.is_slowest)


def stragglers(
    rank: int,
    steps: int = 100,
    usual: float = 0.008,
    slow: float = 0.080,
    places: int = 1,
) -> Dataset:
    """One load in a hundred takes ten times as long."""
    draw = random.Random(rank)
    loads = [slow if draw.random() < 0.01 else usual for _ in range(steps)]
    return (
        Dataset.range(steps)
        .map(cost=lambda number: loads[number], stage="Load")
        .prefetch(places)
    )


def by_hand(loads: list[list[float]], places: int, train: float) -> list[float]:
    """Max and plus: a helper begins a batch when it has made the one before, and there is a place."""
    now = 0.0
    ends = []
    free = [0.0] * len(loads)
    got = [list[float]() for _ in loads]
    for step in range(len(loads[0])):
        for rank, mine in enumerate(loads):
            room = got[rank][step - places] if step >= places else 0.0
            free[rank] = max(free[rank], room) + mine[step]
            got[rank].append(max(now, free[rank]))
        now = max(times[step] for times in got) + train
        ends.append(now)
    return ends


@pytest.mark.parametrize("places", [1, 4, 16])
def test_steps_end_when_the_slowest_has_trained(places: int) -> None:
    draws = [random.Random(rank) for rank in range(12)]
    loads = [
        [0.080 if draw.random() < 0.01 else 0.008 for _ in range(100)] for draw in draws
    ]
    found = benchmark(lambda rank: stragglers(rank, places=places), 1, 0.010, ranks=12)
    assert [step.end_ns / 1e9 for step in found.steps] == pytest.approx(
        by_hand(loads, places, 0.010)
    )
    for rank, steps in enumerate(found.times):
        own, others = found.waits(rank)
        trained = sum(times.trained - times.got for times in steps) / 1e9
        assert own + sum(others.values()) + trained == pytest.approx(
            found.duration, abs=1e-9
        )
        assert rank not in others


def test_one_rank_is_a_run_of_its_own() -> None:
    for dataset in (
        stragglers(3),
        DataLoader(Dataset.range(9).map(cost=0.01), 2, num_workers=2),
    ):
        together = benchmark([dataset].__getitem__, 2, ranks=1)
        trace = benchmark(dataset, 2)
        assert together.duration == trace.duration
        assert together.traces[0].epochs == trace.epochs


def test_each_rank_has_an_ordinary_trace() -> None:
    found = benchmark(
        lambda rank: Dataset.range(4).map(cost=0.005 * (1 + rank)), 1, 0.010, ranks=2
    )
    quick, slow = found.traces
    assert isinstance(quick, Trace)
    assert sum(quick.times("Others")) == 4 * 5_000_000
    assert not slow.times("Others")


def test_the_first_step_at_which_one_ran_out_is_named() -> None:
    for first, later, epochs in ((0, 1, 1), (1, 0, 3)):
        ends = [Dataset.range(3 if rank == first else 4) for rank in range(2)]
        found = benchmark(ends.__getitem__, epochs, ranks=2)
        assert (
            f"Rank {first} ran out of batches after step 3, and rank {later} did not."
            in found.uneven
        )
        assert f"With one epoch, rank {later} waits until a timeout" in found.uneven
        assert f"until rank {later} waits at the end of the last epoch" in found.uneven
        assert len(found.steps) == 3
        assert found.uneven in str(found)
    even = benchmark(lambda rank: Dataset.range(3), 3, ranks=2)
    assert (even.uneven, len(even.steps)) == ("", 9)


def uneven(case: dict[str, Any]) -> list[Dataset]:
    """Make the pipeline of each rank of a real job, by what is said of it; none if it used `Join`."""
    if files := re.search(r"(\d+) files", case["what"]):
        ranks = case["ranks"]
        shards = [Dataset.range(int(files[1])).shard(ranks, rank) for rank in range(ranks)]
        samples = [
            one.interleave(lambda file: Dataset.range(10 * file, 10 * file + 3), 1)
            for one in shards
        ]
        return [one.batch(2) for one in samples]
    ends = re.search(r"rank 0 has (\d+).*rank 1 has (\d+)", case["what"])
    ends = ends or re.search(r"(\d+) and (\d+) batches", case["what"])
    return (
        [Dataset.range(int(end)) for end in ends.groups()]
        if ends and "Join" not in case["what"]
        else []
    )


def epochs_of(case: dict[str, Any]) -> int:
    """Return for how many epochs a real job of uneven ranks trained."""
    words = {"two epochs": 2, "three epochs": 3}
    return next((epochs for word, epochs in words.items() if word in case["what"]), 1)


def mixed_steps(case: dict[str, Any]) -> list[int]:
    """Return the steps, from 0, in which a real job added what belongs to two epochs.

    Each rank gives the number of its epoch, so a mean over the ranks that is not whole is of two.
    """
    if epochs_of(case) == 1:
        return []
    saw = case["saw"][0]
    means = saw.get("means") or [total / case["ranks"] for total in saw["sums"]]
    return [step for step, mean in enumerate(means) if mean % 1]


def test_ranks_stop_at_the_last_step_that_was_right_in_real_jobs() -> None:
    """Real ranks hang or end after it, or sum what belongs to two epochs."""
    seen = 0
    for case in cases("uneven_ends"):
        pipelines = uneven(case)
        if not pipelines:
            continue
        epochs = epochs_of(case)
        found = benchmark(pipelines.__getitem__, epochs, ranks=len(pipelines))
        mixed = mixed_steps(case)
        steps = [saw["steps"] for saw in case["saw"]]
        assert len(found.steps) == min(mixed + steps), case["what"]
        assert bool(found.uneven) == (case["case"] != "files_even")
        for trace, saw in zip(found.traces, case["saw"], strict=True):
            took = (
                [[*map(int, batch)] for batch in trace.epochs[0].elements]
                if "batches" in saw
                else []
            )
            assert took == saw.get("batches", [])[: len(took)]
        seen += 1
    assert seen >= 8


def test_real_jobs_of_several_epochs_mix_them_and_hang_at_the_end_of_the_last() -> None:
    """No step is refused, until the rank with more batches has no partner left."""
    seen = 0
    for case in cases("uneven_ends"):
        if epochs_of(case) > 1 and "barrier" not in case["what"]:
            shorter, longer = case["saw"]
            assert shorter["steps"] == longer["steps"] == 3 * epochs_of(case)
            assert mixed_steps(case)
            assert "error" not in shorter
            stays = "rank 0 stays" in case["what"]
            assert ("Timed out" in longer["error"]) == stays
            assert (longer["seconds"] > case["timeout"]) == stays
            seen += 1
    assert seen >= 1


def test_shards_by_rank_and_worker_end_unevenly() -> None:
    """Ten samples, two ranks, two workers: four batches here, two there."""

    def mine(rank: int) -> Dataset:
        def numbers() -> Any:
            worker = get_worker_info()
            place = rank * 2 + (worker.id if worker else 0)
            yield from range(place, 10, 4)

        return DataLoader(Dataset.from_generator(numbers), 2, num_workers=2)

    found = benchmark(mine, 1, ranks=2)
    assert "Rank 1 ran out of batches after step 2, and rank 0 did not." in found.uneven


def test_ranks_share_one_storage() -> None:
    storage = Storage(1e6, first_byte=0.010)
    for ranks in (1, 2, 5):
        found = benchmark(
            lambda rank: Dataset.range(6).map(cost=storage.read(10_000), stage="Read"),
            1,
            0,
            ranks=ranks,
        )
        assert found.duration == pytest.approx(6 * (0.010 + ranks * 0.010))
    ahead = benchmark(
        lambda rank: Dataset.range(20).map(cost=storage.read(10_000)).prefetch(4),
        1,
        0.010,
        ranks=4,
    )
    assert ahead.duration >= 20 * 4 * 0.010
    own = benchmark(
        lambda rank: Dataset.range(6).map(cost=Storage(1e6 + rank).read(10_000)),
        1,
        0,
        ranks=2,
    )
    assert own.duration == pytest.approx(0.06, rel=1e-4)


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"ranks": 0}, ValueError, "ranks=0: must be 1 or more"),
        ({"ranks": 2, "queue": 1}, ValueError, "must not be given with"),
        ({"ranks": 2, "clock": "real"}, ValueError, "a model of other machines"),
        (
            {"ranks": 2, "record": 5},
            ValueError,
            "record=5: must be True, False or one of the 2 ranks",
        ),
    ],
)
def test_what_are_no_ranks_is_refused(
    given: dict[str, Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        benchmark(lambda rank: Dataset.range(3), **given)


def test_what_makes_no_pipeline_of_a_rank_is_refused() -> None:
    with pytest.raises(TypeError, match="takes 0 positional arguments"):
        benchmark(lambda: Dataset.range(3), ranks=2)  # type: ignore[arg-type,misc]
    for run in (
        advise,
        autotune,
        lambda one, **more: curve(one, knobs(one)[0], [1], **more),
    ):
        with pytest.raises(
            TypeError, match="ranks=2: must be left out, because this runs one pipeline"
        ):
            run(Dataset.range(3).prefetch(1), ranks=2)


def test_ranks_that_are_given_one_pipeline_have_caches_of_their_own() -> None:
    cached = Dataset.range(3).map(cost=0.030).cache()
    found = benchmark(lambda rank: cached, 2, ranks=2)
    assert [len(trace.times("Map")) for trace in found.traces] == [3, 3]
    assert found.duration == benchmark(cached, 2).duration


def test_what_is_no_function_of_a_rank_is_refused() -> None:
    with pytest.raises(TypeError, match="dataset=3: must be a Dataset"):
        benchmark(lambda rank: 3, ranks=2)  # type: ignore[arg-type,return-value]
    with pytest.raises(TypeError, match="must be a function"):
        benchmark(Dataset.range(3), ranks=2)  # type: ignore[call-overload]


def test_many_ranks_take_little_longer_each_than_few() -> None:
    for ranks in (8, 512):
        found = benchmark(
            lambda rank: stragglers(rank, 10, places=4), 1, 0.010, ranks=ranks
        )
        assert len(found.traces) == ranks
        assert len(found.steps) == 10


def forever() -> Iterator[int]:
    while True:
        yield 1


def test_ranks_that_never_end_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["lessonkit.engine.training"], "MOST_ELEMENTS", 1000)
    endless = [Dataset.from_generator(forever) for _ in range(2)]
    with pytest.raises(
        ValueError, match="gave 500 elements and did not end: set max_elements"
    ):
        benchmark(endless.__getitem__, ranks=2)
    assert len(benchmark(endless.__getitem__, max_elements=600, ranks=2).steps) == 600


def test_ranks_can_be_cancelled_and_keep_what_they_have() -> None:
    cancel = threading.Event()
    seen = list[tuple[int, float]]()

    def stop_at_third(count: int, time: float) -> None:
        seen.append((count, time))
        if count == 3:
            cancel.set()

    found = benchmark(
        lambda rank: Dataset.range(9).map(cost=0.005).prefetch(2),
        1,
        ranks=2,
        progress=stop_at_third,
        cancel=cancel,
    )
    assert len(found.steps) == 2
    assert all(trace.cancelled for trace in found.traces)
    gc.collect()


def test_progress_of_ranks_is_that_of_the_first() -> None:
    seen = list[tuple[int, float]]()
    for ranks in (1, 3):
        benchmark(
            lambda rank: Dataset.range(4),
            ranks=ranks,
            progress=lambda *news: seen.append(news),
        )
    assert [count for count, _ in seen] == 2 * [1, 2, 3, 4, 5, 6, 7, 8]
    assert seen[:8] == seen[8:]


def test_an_error_in_one_rank_leaves_no_other_open() -> None:
    def failing(rank: int) -> Dataset:
        return Dataset.range(3).map(lambda number: 1 // (number - rank))

    with pytest.raises(ZeroDivisionError):
        benchmark(failing, 1, ranks=3)
    # Of a coroutine that was never awaited a warning tells, which is an error here
    gc.collect()


@pytest.mark.parametrize("late", [0, 1])
@pytest.mark.parametrize(
    ("wait", "expected"), [(0.005, [0.015, 0.020]), (0.050, [0.010, 0.060])]
)
def test_ranks_that_share_storage_keep_the_order_of_time(
    late: int, wait: float, expected: list[float]
) -> None:
    """A rank that begins to read later must not be served before: by hand, two who overlap by half."""
    storage = Storage(1e6)

    def pipeline(rank: int) -> Dataset:
        begun = Dataset.range(1).map(cost=wait * (rank == late), stage="Wait")
        return begun.map(cost=storage.read(10_000), stage="Read")

    found = benchmark(pipeline, 1, 0, ranks=2)
    ends = [
        next(span.end for span in trace.work if span.stage == "Read")
        for trace in found.traces
    ]
    assert sorted(ends) == pytest.approx(expected)
    assert ends[late] == max(ends)


def test_ranks_whose_reads_interleave_after_the_first_keep_the_order_of_time() -> None:
    """By hand: rank 0 waits for 50 ms after its first read, rank 1 for 20, and reads again before it."""
    storage = Storage(1e6)

    def pipeline(rank: int) -> Dataset:
        read = Dataset.range(2).map(cost=storage.read(10_000), stage="Read")
        return read.map(cost=(0.050, 0.020)[rank], stage="Wait")

    found = benchmark(lambda rank: pipeline(rank).batch(2), 1, 0, ranks=2)
    ends = [
        [span.end for span in trace.work if span.stage == "Read"] for trace in found.traces
    ]
    assert ends == [pytest.approx([0.020, 0.080]), pytest.approx([0.020, 0.050])]


@pytest.mark.parametrize("kind", ["native", "python"])
def test_workers_that_stay_end_with_ranks_that_are_left_early(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ignored: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)

    def pipeline(rank: int) -> DataLoader:
        samples = Dataset.range(12 + 20 * rank).map(
            cost=0.010, kind=kind, num_parallel_calls=2
        )
        more: dict[str, Any] = {"num_workers": 2, "persistent_workers": True}
        return DataLoader(samples.prefetch(2), 2, collate=0.001, **more)

    for most in (3, None):
        options: dict[str, Any] = {"max_elements": most, "machine": Machine(1)}
        benchmark(pipeline, 1, ranks=2, **options)
        gc.collect()
    assert ignored == []


READ = Storage(1e6, first_byte=0.002, streams=3, cap=7e5).read(3000)
COSTS = (0, 0.003, 0.010)


def random_ranks(seed: int) -> Ranks:
    """Ranks of random pipelines, with loaders, storages, uneven ends, early ends and copies ahead."""
    draw = random.Random(seed)
    make = draw.choice([pipeline, loaded])
    uneven = draw.random() < 0.3
    shares = draw.random() < 0.4

    def of_rank(rank: int) -> Dataset:
        dataset = make(seed, COSTS)
        if shares:
            dataset = dataset.map(cost=READ, num_parallel_calls=draw.choice([None, 2]))
        dataset = dataset.map(cost=0.001 * rank, num_parallel_calls=draw.choice([None, 1]))
        return dataset.take(3 + rank) if uneven else dataset

    options: dict[str, Any] = {"num_epochs": 1 + seed % 3, "ahead": draw.random() < 0.2}
    options |= {"train": draw.choice(COSTS), "load": draw.choice(COSTS)}
    options |= {
        "max_elements": draw.choice([None, None, 5]),
    }
    return benchmark(of_rank, ranks=draw.choice([1, 2, 3, 5]), **options)


def test_the_times_of_random_ranks_add_up_to_the_whole() -> None:
    for seed in seeds(100):
        check_times(random_ranks(seed), seed)
    gc.collect()


def check_times(found: Ranks, seed: int) -> None:
    """All times of a rank follow one another, and add up to the whole, to the nanosecond."""
    whole = round(found.duration * 1e9)
    for rank, steps in enumerate(found.times):
        own, others = found.waits(rank)
        taken = steps[: len(found.steps)]
        trained = sum(times.trained - times.got for times in taken)
        waited = sum(round(time * 1e9) for time in (own, *others.values()))
        assert waited + trained == whole, seed
        assert rank not in others or found.steps == [], seed
        begun = 0
        for times, step in zip(taken, found.steps, strict=True):
            assert begun == times.asked <= times.got <= times.trained <= step.end_ns, seed
            begun = step.end_ns
        assert len(steps) <= len(found.steps) + 1, seed
    for number, step in enumerate(found.steps):
        last = max(steps[number].trained for steps in found.times)
        assert step.end_ns == last, seed
        assert found.times[step.slowest][number].trained == last, seed
