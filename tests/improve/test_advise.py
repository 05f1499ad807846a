"""Advice names the change that helps most, and says what it does to the data."""

from typing import Any

import pytest
from support.random_pipelines import loaded

from lessonkit import (
    AUTOTUNE,
    ArtificialDataset,
    DataLoader,
    Dataset,
    benchmark,
    per_sample,
)
from lessonkit.explain.data_quality import FREEZES
from lessonkit.improve.advise import Advice, advise


def file(x: int) -> Dataset:
    return ArtificialDataset(50)


def guide(*maps: Any) -> Dataset:
    """The guide's last naive pipeline: batches that only cost time, in the end."""
    dataset = Dataset.range(2).flat_map(file)
    for cost in maps:
        dataset = dataset.map(cost=cost, batches=True)
    return dataset.batch(50, drop_remainder=True).unbatch()


def improved(dataset: Dataset, **options: Any) -> Dataset:
    """The best advice, applied until nothing helps by more than 1 %."""
    while True:
        best = advise(dataset, **options)[0]
        if best.saved < 0.01 * (best.per_sample + best.saved):
            return dataset
        dataset = best.dataset


LANES = Dataset.range(2).interleave(file, 2, 1, 2)
CALL = per_sample(0.0001, per_call=0.002)


@pytest.mark.parametrize(
    ("maps", "train", "by_hand"),
    [
        ((0.0011,), 0.010, LANES.map(cost=0.0011).cache().prefetch(1)),
        (
            (0.001, 0.0001),
            0.010,
            LANES.map(cost=0.001).cache().map(cost=0.0001).prefetch(1),
        ),
        (
            (0.004, 0.004),
            0.001,
            LANES.map(cost=0.004, num_parallel_calls=2)
            .map(cost=0.004, num_parallel_calls=2)
            .cache(),
        ),
        ((CALL,), 0.001, LANES.map(cost=CALL, num_parallel_calls=2).cache()),
    ],
)
def test_advice_applied_until_nothing_helps_is_as_good_as_the_best_by_hand(
    maps: tuple[Any, ...], train: float, by_hand: Dataset
) -> None:
    options: dict[str, Any] = {"num_epochs": 5, "train": train}
    reached = benchmark(improved(guide(*maps), **options), **options).duration
    assert reached <= benchmark(by_hand, **options).duration * 1.005


def test_the_guides_naive_pipeline_comes_down_to_what_is_possible() -> None:
    options: dict[str, Any] = {"num_epochs": 5}
    assert benchmark(guide(0.001, 0.0001), **options).duration == pytest.approx(13.35)
    assert (
        benchmark(improved(guide(0.001, 0.0001), **options), **options).duration <= 5.0465
    )


def named(found: list[Advice], words: str) -> Advice:
    return next(advice for advice in found if advice.change == words)


def test_a_prefetch_is_the_first_thing_to_try_on_a_naive_pipeline() -> None:
    best = advise(ArtificialDataset(20))[0]
    assert best.change == "prefetch(1) after ArtificialDataset"
    assert repr(best.dataset) == "ArtificialDataset(20).prefetch(1)"
    assert best.saved == pytest.approx(0.0265 - 0.017)
    assert best.calls == 1


def test_a_prefetch_before_a_map_frees_its_window() -> None:
    dataset = ArtificialDataset(20).map(cost=0.030, num_parallel_calls=2)
    before = named(advise(dataset), "prefetch(1) after ArtificialDataset")
    assert before.per_sample == pytest.approx(0.0185)
    assert named(advise(dataset), "prefetch(1) after map").per_sample == pytest.approx(
        0.02525
    )


def test_a_cache_behind_random_augmentation_is_said_to_freeze_it() -> None:
    dataset = ArtificialDataset().map(cost=0.010).map(cost=0.001, random=True)
    found = advise(dataset)
    frozen = [advice.effects for advice in found if advice.change == "cache after map"]
    assert sorted(frozen) == [
        (),
        ("freezes the augmentation: every epoch sees what the first one saw",),
    ]


def test_a_map_that_takes_batches_is_advised_to_take_some() -> None:
    """A call for each sample spends 10 ms on the call itself; one for a batch does so once."""
    dear = Dataset.range(64).map(cost=per_sample(0.001, per_call=0.010), batches=True)
    found = advise(dear, num_epochs=1, train=0)
    for size in (8, 16, 32, 64):
        batched = named(found, f"map of batches of {size}")
        assert batched.saved == pytest.approx(0.010 - 0.010 / size)


def test_batch_before_map_is_no_advice_where_a_call_costs_nothing() -> None:
    dataset = (
        ArtificialDataset()
        .map(cost=per_sample(0.030), num_parallel_calls=3, batches=True)
        .batch(3)
    )
    assert named(advise(dataset), "batch before map").saved < 0
    dear = (
        ArtificialDataset(30)
        .map(cost=per_sample(0.001, per_call=0.030), batches=True)
        .batch(10)
    )
    assert named(advise(dear), "batch before map").saved > 0.020


def test_a_filter_is_advised_to_come_early() -> None:
    dataset = (
        ArtificialDataset(12, open=0.03, read=0.005)
        .map(cost=0.020)
        .filter(lambda x: x % 2 == 0)
    )
    best = named(advise(dataset), "filter before map")
    assert best.effects == ()
    assert best.saved == pytest.approx(0.020)
    changed = dataset.map(lambda x: x + 1).filter(lambda x: x % 3 == 0)
    last = [advice for advice in advise(changed) if advice.change == "filter before map"]
    assert ("the filter sees other values",) in [advice.effects for advice in last]


def test_what_changes_the_order_says_so() -> None:
    found = advise(Dataset.range(4).flat_map(file), num_epochs=1)
    assert named(found, "interleave with 2 calls in place of flat_map").effects == (
        "changes the order of the elements",
    )
    assert named(found, "interleave with 1 call in place of flat_map").effects == ()


def test_repeat_before_shuffle_blurs_epochs() -> None:
    dataset = ArtificialDataset(20).shuffle(10).repeat(3)
    assert named(advise(dataset, num_epochs=1), "repeat before shuffle").effects == (
        "epochs blur",
    )


def test_advice_without_a_stated_effect_leaves_the_elements_as_they_are() -> None:
    file = ArtificialDataset(4, open=0.003, read=0.001)  # each list is read on threads
    dataset = (
        Dataset.range(3)
        .interleave(lambda x: file.map(lambda i, x=x: 10 * x + i), cycle_length=2)
        .map(lambda x: x + 1, cost=0.001, batches=False)
        .filter(lambda x: x % 2 == 0)
        .cache()
        .prefetch(AUTOTUNE)
    )
    given = list(dataset)
    for advice in advise(dataset):
        if not advice.effects:
            assert list(advice.dataset) == given, advice.change


def test_advice_for_a_pipeline_that_never_ends_asks_for_a_limit() -> None:
    endless = ArtificialDataset().repeat().filter(bool).repeat()
    with pytest.raises(ValueError, match="max_elements"):
        advise(Dataset.range(3).repeat())
    assert advise(endless, max_elements=20)[0].saved > 0


def test_a_change_after_which_a_function_fails_is_no_advice() -> None:
    wrapped = (
        ArtificialDataset(6)
        .map(lambda x: {"v": x}, cost=0.010)
        .filter(lambda d: d["v"] > 1)
    )
    found = {advice.change for advice in advise(wrapped)}
    assert "prefetch(1) after filter" in found
    assert "filter before map" not in found


def test_a_pipeline_that_fails_itself_is_no_case_for_advice() -> None:
    with pytest.raises(ZeroDivisionError):
        advise(Dataset.range(3).map(lambda x: 1 // x))


def test_samples_that_come_again_for_each_worker_are_no_gain() -> None:
    iterable = DataLoader(Dataset.range(32).map(cost=0.01).prefetch(1), 4, num_workers=2)
    found = advise(iterable, num_epochs=1)
    (more,) = [advice for advice in found if advice.change == "num_workers=8"]
    assert more.effects == (
        "every worker gives every sample, unless the workers share them out",
    )
    assert more.saved < 0  # the epoch takes longer
    assert named(found, "cache before the workers").effects == (
        "every sample comes once, not once for each worker",
    )


def test_every_change_to_a_loader_runs_and_says_if_it_changes_the_elements() -> None:
    options: dict[str, Any] = {"num_epochs": 3, "keep": True}

    def elements(dataset: Dataset) -> list[list[Any]]:
        return [epoch.elements for epoch in benchmark(dataset, **options).epochs]

    for seed in range(24):
        loader = loaded(seed)
        if "DataLoader(" not in repr(loader) or "in_order=False" in repr(loader):
            continue
        given = elements(loader)
        for advice in advise(loader, num_epochs=3) if any(given) else ():
            assert advice.effects or elements(advice.dataset) == given, (
                seed,
                advice.change,
            )


def test_workers_that_stay_are_said_to_change_what_each_epoch_brings() -> None:
    random_map = Dataset.range(8).prefetch(1).map(random=True, cost=0.001)
    for samples, effect in (
        (Dataset.range(8).shuffle(8, seed=1), "makes a new order in every epoch"),
        (random_map.cache().prefetch(1), FREEZES),
        (Dataset.range(8).prefetch(1), None),
    ):
        loader = DataLoader(samples, 4, num_workers=2)
        stays = named(advise(loader), "persistent_workers")
        assert stays.effects == ((effect,) if effect else ())
    alone = DataLoader(Dataset.range(8).shuffle(8, seed=1), 4)
    assert named(advise(alone), "num_workers=1").effects == (
        "freezes one order for all epochs",
    )
