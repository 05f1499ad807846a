"""What belongs to which operator: by where it is, never by what it is called."""

from typing import Any

import pytest

from lessonkit import ArtificialDataset, DataLoader, Dataset, Machine, benchmark, work
from lessonkit.analysis import data_quality, limits
from lessonkit.explain.plumbing import plumbing
from lessonkit.pictures.layout import layout
from lessonkit.widgets import challenge, goals
from lessonkit.widgets.goals import Attempt


def parts(dataset: Dataset) -> dict[str, tuple[str, ...]]:
    return {name: stages for name, stages, *_ in plumbing(benchmark(dataset, 1))}


def test_a_stage_that_is_called_train_is_not_the_accelerator() -> None:
    trace = benchmark(ArtificialDataset(3).map(cost=0.010, stage="Train"), 1, train=0.010)
    assert trace.stages == ["Open", "Read", "Train 2", "Train"]
    assert trace.busy("Train") == pytest.approx(0.030 / 0.135)
    assert [row.stage for row in layout(trace).rows][-1] == "Train"


def test_a_stage_that_is_called_read_may_have_many_calls() -> None:
    dataset = Dataset.range(8).map(cost=0.010, stage="Read", num_parallel_calls=4)
    trace = benchmark(dataset, 1, train=0)
    assert trace.duration == 0.020
    assert limits(trace).bound <= trace.duration


def test_a_name_that_a_number_would_make_is_never_given_twice() -> None:
    maps = Dataset.range(2).map(cost=0.001, stage="Map 2").map(cost=0.002).map(cost=0.004)
    assert parts(maps) == {
        "range": (),
        "Map 2": ("Map 2",),
        "Map": ("Map",),
        "Map 3": ("Map 3",),
        "accelerator": ("Train",),
    }


def test_a_stage_that_a_function_names_belongs_to_the_map_that_calls_it() -> None:
    def first(value: int) -> int:
        work(0.001, "Decode")
        return value

    def second(value: int) -> int:
        if value:  # works later than the first map's own function
            work(0.002, "Resize")
        return value

    maps = Dataset.range(2).map(first, stage="A").map(second, stage="B")
    assert parts(maps)["A"] == ("Decode",)
    assert parts(maps)["B"] == ("Resize",)


def test_the_same_word_in_two_functions_is_two_stages() -> None:
    def decode(value: int) -> int:
        work(0.001, "Decode")
        return value

    maps = Dataset.range(2).map(decode, stage="A").map(decode, stage="B")
    assert (parts(maps)["A"], parts(maps)["B"]) == (("Decode",), ("Decode 2",))


def test_a_map_that_is_called_cache_keeps_nothing() -> None:
    dataset = ArtificialDataset(4, nbytes=1000).map(
        cost=0.001, stage="cache lookup", num_parallel_calls=2
    )
    assert goals.cached(at_most=0).judge(Attempt(benchmark(dataset)))[0]


def test_each_span_and_event_knows_its_operator_and_role() -> None:
    dataset = ArtificialDataset(2).map(cost=0.001, num_parallel_calls=1).cache().prefetch(1)
    trace = benchmark(dataset, 1, load=0.001)
    assert {(span.stage, span.stage.operator, span.role) for span in trace.work} == {
        ("Open", 0, "open"),
        ("Read", 0, "read"),
        ("Map", 1, "call"),
        ("Load", -1, "load"),
        ("Train", -1, "train"),
    }
    assert {
        (span.stage, span.stage.operator, span.role) for span in trace.spans if span.is_wait
    } == {
        ("Train", -1, "train"),
        ("Prefetch", 3, "fill"),
    }
    assert {
        (event.buffer, event.buffer.operator, event.buffer.role) for event in trace.events
    } == {
        ("Map: 1 call", 1, "ahead"),
        ("cache", 2, "cache"),
        ("prefetch(1)", 3, "ahead"),
    }
    assert {(event.buffer.operator, event.buffer.role) for event in trace.files} == {
        (0, "read")
    }


def test_what_a_function_makes_belongs_to_the_operator_that_calls_it() -> None:
    def file(_: int) -> Dataset:
        return ArtificialDataset(2).map(cost=0.001).prefetch(1)

    trace = benchmark(Dataset.range(2).interleave(file, 2).prefetch(1), 1)
    inside = {
        (span.stage, span.stage.operator)
        for span in trace.work
        if span.stage.position.inside
    }
    assert inside == {("Open", 1), ("Read", 1), ("Map", 1)}
    assert [buffer for *_, buffer in plumbing(trace)] == [None, None, 0, None]
    assert [*trace.buffers] == ["prefetch(1)", "prefetch(1) 2"]
    assert [name.position.inside for name in trace.buffers] == [False, True]


def test_a_trace_knows_its_pipeline_machine_and_options() -> None:
    dataset = ArtificialDataset().prefetch(1)
    trace = benchmark(dataset, 3, train=0.005, machine=Machine(2))
    assert trace.dataset is dataset
    assert trace.machine == Machine(2)
    assert trace.options.num_epochs == 3


# ---- what the order does to the data ----


def words(dataset: Dataset, num_epochs: int = 3, **options: Any) -> tuple[str, ...]:
    return data_quality(benchmark(dataset, num_epochs, **options))


def test_samples_that_a_last_batch_drops_blur_no_epoch() -> None:
    dropping = Dataset.range(100).shuffle(50, seed=1).batch(8, drop_remainder=True)
    assert words(dropping) == ()
    assert words(dropping.repeat(3), 1) == ()
    assert (
        words(
            Dataset.range(100)
            .cache()
            .shuffle(50, seed=1)
            .batch(8, drop_remainder=True)
            .repeat(3),
            1,
        )
        == ()
    )
    assert words(
        Dataset.range(100).repeat(3).shuffle(50, seed=1).batch(8, drop_remainder=True),
        1,
    ) == ("epochs blur",)


def test_passes_blur_where_something_mixes_them() -> None:
    cached = Dataset.range(8).cache()
    assert words(cached.repeat(3).shuffle(4, seed=1), 1) == ("epochs blur",)
    assert words(cached.shuffle(4, seed=1).repeat(3), 1) == ()
    files = Dataset.range(2).repeat(2)
    assert words(files.interleave(lambda _: ArtificialDataset(3), cycle_length=4), 1) == (
        "epochs blur",
    )
    assert words(files.flat_map(lambda _: ArtificialDataset(3)), 1) == ()
    assert words(Dataset.zip(Dataset.range(9), Dataset.range(2).repeat()), 1) == ()


@pytest.mark.parametrize(("workers", "expected"), [(0, ()), (1, ()), (2, ("epochs blur",))])
def test_passes_blur_where_two_workers_give_every_sample(
    workers: int, expected: tuple[str, ...]
) -> None:
    iterable = Dataset.range(6).shuffle(6, seed=1)
    assert words(DataLoader(iterable, 2, num_workers=workers), 1) == expected


def test_an_order_is_the_same_only_where_something_keeps_it() -> None:
    same = ("the same order in every epoch",)
    assert words(Dataset.range(8).shuffle(4, seed=1).cache()) == same
    assert (
        words(Dataset.range(8).shuffle(4, seed=1, reshuffle_each_iteration=False)) == same
    )
    assert words(Dataset.range(8).shuffle(1)) == same
    # One element has no other order
    assert words(Dataset.range(1).shuffle(4).cache()) == ()
    # By chance, and not for ever
    assert words(Dataset.range(2).shuffle(2, seed=1), 2) == ()


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("repeats", [1, 2])
def test_workers_that_are_started_anew_begin_again_with_a_seed(
    workers: int, repeats: int
) -> None:
    for seed, stay, said in (
        (1, False, ("the same order in every epoch",)),
        (1, True, ()),
        (None, False, ()),
    ):
        samples = Dataset.range(8).shuffle(8, seed=seed).repeat(repeats)
        loader = DataLoader(samples, 2, num_workers=workers, persistent_workers=stay)
        # Each of several workers gives every sample: epochs blur as well
        found = [one for one in words(loader, 3) if one != "epochs blur"]
        assert found == [*said]


def test_data_are_judged_also_where_training_takes_no_time() -> None:
    assert words(Dataset.range(8).repeat(2).shuffle(8, seed=1), 1, train=0) == (
        "epochs blur",
    )


# ---- the job of a challenge ----


@pytest.mark.parametrize(
    ("task", "other"),
    [
        (lambda value: {"x": value}, lambda value: {"x": 0}),
        (lambda value: {"x": [value]}, lambda value: {"x": []}),
        (
            lambda value: (value, {"y": str(value)}),
            lambda value: (value, {"y": "same"}),
        ),
    ],
)
def test_a_job_holds_what_is_in_its_elements(task: Any, other: Any) -> None:
    numbers = Dataset.range(6)
    asked: Any = challenge("Do it.", goals=[goals.same_job(numbers.map(task))])
    assert asked.check(lambda: numbers.map(task).prefetch(1)).passed
    assert not asked.check(lambda: numbers.map(other).prefetch(1)).passed


def test_a_job_holds_what_is_in_its_arrays() -> None:
    numpy = pytest.importorskip("numpy")
    arrays = Dataset.range(4).map(lambda value: numpy.full(3, value))
    asked: Any = challenge("Do it.", goals=[goals.same_job(arrays)])
    assert asked.check(lambda: arrays.prefetch(1)).passed
    assert not asked.check(lambda: arrays.map(numpy.zeros_like)).passed


@pytest.mark.parametrize("stay", [False, True])
def test_a_cache_in_a_worker_freezes_what_is_random_only_if_the_worker_stays(
    stay: bool,
) -> None:
    calls = list[int]()

    def augmented(sample: int) -> int:
        calls.append(sample)
        return sample

    samples = ArtificialDataset(4).map(augmented, random=True).cache().prefetch(1)
    loader = DataLoader(samples, 2, num_workers=1, persistent_workers=stay)
    assert words(loader, 3) == (("the augmentation is frozen",) if stay else ())
    assert len(calls) == (4 if stay else 12)
    calls.clear()
    by_number = Dataset.range(4).map(augmented, random=True).cache()
    assert words(DataLoader(by_number, 2, num_workers=2), 3) == (
        "the augmentation is frozen",
    )
    assert len(calls) == 4
