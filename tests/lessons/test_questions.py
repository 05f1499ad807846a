"""The ten questions that people ask about a slow pipeline, each answered on a small one."""

from typing import Any

import pytest

from lessonkit import (
    AUTOTUNE,
    ArtificialDataset,
    DataLoader,
    Dataset,
    Machine,
    benchmark,
    per_sample,
)
from lessonkit.analysis import critical_path, limits, memory
from lessonkit.explain.critical_path import idle_stretches
from lessonkit.improve.advise import advise
from lessonkit.improve.knobs import curve, knobs, with_knob
from lessonkit.optimize import autotune


def file(x: int) -> Dataset:
    return ArtificialDataset(open=0.300)


def test_how_many_workers() -> None:
    dataset = ArtificialDataset().map(cost=0.030, num_parallel_calls=1)
    assert curve(dataset, knobs(dataset)[0], range(1, 9)).knee == 3


def test_why_is_more_slower() -> None:
    """One reader for a longer cycle: it stays with each file until its buffer is full."""
    dataset = Dataset.range(8).interleave(file, cycle_length=1, num_parallel_calls=1)
    found = curve(dataset, knobs(dataset)[0], values=[1, 2, 4, 8])
    assert [round(time * 1e3, 1) for _, time in found.points] == [
        45.6,
        45.2,
        65.0,
        120.8,
    ]
    longest = Dataset.range(8).interleave(file, cycle_length=8, num_parallel_calls=1)
    assert (
        critical_path(benchmark(longest)).sentence
        == "Bottleneck: Open (82.8 % of the critical path)."
    )


def test_is_it_the_data() -> None:
    found = limits(benchmark(ArtificialDataset(20)))
    # So much faster, if all data were there already
    assert found.headroom == pytest.approx(2.65)
    ready = Dataset.range(20).prefetch(1)
    assert limits(benchmark(ready)).headroom == 1  # it is not: stop here


def test_what_do_the_buffer_sizes_mean() -> None:
    dataset = ArtificialDataset(20, open=0, read=0.005, nbytes=100).prefetch(3)
    trace = benchmark(dataset, num_epochs=1)
    assert max(held[1:] for held in memory(trace)["prefetch(3)"]) == (3, 300)
    # Three are ready, and that is enough
    assert any(span.kind == "buffer full" for span in trace.spans)
    assert [benchmark(dataset.prefetch(size)).duration for size in (1, 100)] == [
        benchmark(dataset).duration
    ] * 2


def test_in_what_order() -> None:
    late = (
        ArtificialDataset(12, open=0.03, read=0.005)
        .map(cost=0.020)
        .filter(lambda x: x % 2 == 0)
    )
    changes = {advice.change: advice.saved for advice in advise(late)}
    assert changes["filter before map"] == pytest.approx(0.020)


def test_why_did_caching_freeze_my_augmentation_or_eat_my_memory() -> None:
    dataset = (
        ArtificialDataset(nbytes=100)
        .map(cost=0.020)
        .map(cost=0.002, nbytes=800, random=True)
    )
    caches = [advice for advice in advise(dataset) if advice.change == "cache after map"]
    assert {
        advice.memory: [effect.split(":")[0] for effect in advice.effects]
        for advice in caches
    } == {
        300: [],
        2400: ["freezes the augmentation"],
    }


def test_why_does_a_parallel_map_bring_nothing() -> None:
    dataset = ArtificialDataset(20).map(cost=0.030, kind="python", num_parallel_calls=8)
    trace = benchmark(dataset, num_epochs=1)
    assert any(span.kind == "interpreter lock held" for span in trace.spans)
    assert limits(trace).reason.startswith(
        "All work in Python has to be done one piece after another"
    )
    cores = ArtificialDataset(20).map(cost=0.060, kind="native", num_parallel_calls=8)
    two = Machine(2)
    assert limits(benchmark(cores, num_epochs=1, machine=two)).reason.startswith(
        "All work that needs a core"
    )


def test_batch_before_map_always() -> None:
    free = (
        ArtificialDataset()
        .map(cost=per_sample(0.030), num_parallel_calls=3, batches=True)
        .batch(3)
    )
    dear = (
        ArtificialDataset(30)
        .map(cost=per_sample(0.001, per_call=0.030), batches=True)
        .batch(10)
    )
    saved = [
        {advice.change: advice.saved for advice in advise(dataset)}["batch before map"]
        for dataset in (free, dear)
    ]
    assert saved[0] < 0 < saved[1]  # only where a call costs something


def test_why_is_the_first_batch_slow_and_then_a_burst() -> None:
    trace = benchmark(ArtificialDataset(6).batch(3).unbatch(), num_epochs=1, train=0.001)
    assert trace.epochs[0].arrivals == pytest.approx(
        [0.075, 0.076, 0.077, 0.123, 0.124, 0.125]
    )
    first = idle_stretches(trace)[0]
    assert first.blame == {"Open": 30_000_000, "Read": 45_000_000}


def test_why_does_one_slow_sample_stall_all() -> None:
    slow = ArtificialDataset(8, open=0, read=0.005).map(
        cost=lambda x: 0.100 if x == 2 else 0.010, num_parallel_calls=4, stage="Decode"
    )
    trace = benchmark(slow, num_epochs=1)
    spans = trace.spans
    longest = max(critical_path(trace).steps, key=lambda step: step.end_ns - step.start_ns)
    assert (longest.stage, spans[longest.span].sample) == ("Decode", 2)
    unordered = Dataset(slow.node.replace(deterministic=False))
    assert benchmark(unordered, num_epochs=1).duration < trace.duration


def test_what_did_autotune_choose() -> None:
    dataset = (
        ArtificialDataset(20)
        .map(cost=0.030, num_parallel_calls=AUTOTUNE)
        .prefetch(AUTOTUNE)
    )
    tuned = autotune(dataset, Machine(cores=2))
    assert (
        repr(tuned.dataset)
        == "ArtificialDataset(20).map(cost=0.03, num_parallel_calls=2).prefetch(1)"
    )
    by_hand = ArtificialDataset(20).prefetch(1).map(cost=0.030, num_parallel_calls=2)
    seconds = [
        benchmark(found, machine=Machine(2)).per_sample
        for found in (tuned.dataset, by_hand)
    ]
    # It changes numbers and never the order
    assert seconds == pytest.approx([0.02525, 0.0185])


def test_a_knob_of_another_pipeline_is_refused() -> None:
    dataset = ArtificialDataset().map(cost=0.030, num_parallel_calls=1)
    with pytest.raises(ValueError, match="map's num_parallel_calls=1"):
        curve(dataset, knobs(dataset.prefetch(1).map())[-1], [1])


def test_a_knob_is_with_knob_only_to_what_its_operator_takes() -> None:
    lanes = Dataset.range(4).interleave(Dataset.range, cycle_length=3, num_parallel_calls=2)
    calls = knobs(lanes)[2]
    for turn in (
        lambda: with_knob(lanes, calls, 4),
        lambda: curve(lanes, calls, [2, 3, 4]),
    ):
        with pytest.raises(
            ValueError,
            match="num_parallel_calls=4: must be 3 or less, as cycle_length is",
        ):
            turn()
    for value, error in ((0, ValueError), (-5, ValueError), (2.5, TypeError)):
        with pytest.raises(
            error,
            match=f"num_workers={value}|buffer_size={value}|num_parallel_calls={value}",
        ):
            with_knob(lanes, calls, value)  # type: ignore[arg-type]


def test_a_loader_has_knobs() -> None:
    loader = DataLoader(Dataset.range(8).map(cost=0.01), 2, num_workers=2)
    workers = next(knob for knob in knobs(loader) if knob.name == "num_workers")
    assert curve(loader, workers, [1, 2, 4]).points == (
        (1, 0.180 / 16),
        (2, 0.120 / 16),
        (4, 0.120 / 16),
    )
    assert repr(with_knob(loader, workers, 4)).endswith("num_workers=4)")


@pytest.mark.parametrize("options", [{"clock": "real"}, {"record": True}])
def test_what_runs_many_times_runs_on_the_virtual_clock(
    options: dict[str, Any],
) -> None:
    name = next(iter(options))
    for many in (
        advise,
        lambda data, **given: curve(data, knobs(data)[0], [1], **given),
    ):
        with pytest.raises(
            TypeError,
            match=f"{name}=.*: must be left out, because this runs on the virtual clock",
        ):
            many(ArtificialDataset().prefetch(1), **options)


def test_a_prefetch_without_places_is_given_one() -> None:
    changes = {advice.change for advice in advise(ArtificialDataset(6).prefetch(0))}
    assert "prefetch(1) in place of prefetch(0)" in changes


def test_a_prefetch_is_not_advised_in_place_of_itself() -> None:
    for size in AUTOTUNE, 1:
        changes = {advice.change for advice in advise(ArtificialDataset(20).prefetch(size))}
        assert "prefetch(1) in place of prefetch(1)" not in changes
