"""One description, two clocks: the same elements in the same order."""

from collections.abc import Iterator

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.both_clocks import both, is_a_race, on_threads, on_virtual
from support.random_pipelines import loaded, pipeline, seeds, without_storages

from lessonkit import ArtificialDataset, Dataset, benchmark, work


def test_no_element_is_lost_or_doubled_on_either_clock() -> None:
    checked = 0
    for seed in seeds(300):
        if is_a_race(pipeline(seed)):
            continue
        checked += 1
        virtual, real = both(pipeline(seed), train=1e-5)
        assert [epoch.elements for epoch in real.epochs] == [
            epoch.elements for epoch in virtual.epochs
        ], seed
    assert checked >= 0.9 * len(seeds(300))


def test_real_workers_make_the_same_batches_as_modelled_ones() -> None:
    """Out of order, who is first is open."""
    for seed in seeds(30):
        dataset = without_storages(loaded(seed))
        if is_a_race(dataset) or "in_order=False" in repr(dataset):
            continue
        virtual, real = both(dataset, train=1e-5)
        assert [epoch.elements for epoch in real.epochs] == [
            epoch.elements for epoch in virtual.epochs
        ], seed


def test_errors_in_real_workers_stand_where_they_do_in_modelled_ones() -> None:
    for seed in seeds(30):
        dataset = without_storages(loaded(seed, failing=True))
        if not is_a_race(dataset) and "in_order=False" not in repr(dataset):
            assert on_threads(dataset) == on_virtual(dataset), seed


@given(st.integers())
@settings(deadline=None)
def test_errors_stand_in_the_same_places_on_both_clocks(seed: int) -> None:
    dataset = pipeline(seed, failing=True)
    assume(not is_a_race(dataset))
    assert on_threads(dataset) == on_virtual(dataset)


@pytest.mark.parametrize("operator", ["map", "interleave"])
def test_without_an_order_the_elements_are_the_same_in_another(operator: str) -> None:
    for seed in seeds(30):
        if operator == "map":
            dataset = pipeline(seed).map(
                cost=lambda value: 1e-4 * (len(repr(value)) % 3),
                num_parallel_calls=3,
                deterministic=False,
            )
        else:
            dataset = Dataset.range(4).interleave(
                lambda x: ArtificialDataset(3, open=1e-5, read=1e-4 * x).map(
                    lambda i, x=x: 10 * x + i
                ),
                cycle_length=3,
                num_parallel_calls=2,
                deterministic=False,
            )
        virtual, real = both(dataset, train=0)
        for ours, theirs in zip(virtual.epochs, real.epochs, strict=True):
            assert sorted(map(repr, ours.elements)) == sorted(map(repr, theirs.elements))


def test_what_a_function_says_it_costs_is_spent_on_both_clocks() -> None:
    def read_file(num_samples: int) -> Iterator[int]:
        work(0.004, stage="Open")
        for sample in range(num_samples):
            work(0.002, stage="Read")
            yield sample

    dataset = Dataset.from_generator(read_file, args=(3,)).map(
        lambda x: work(0.001, stage="Decode")
    )
    for trace in both(dataset, num_epochs=1, train=0):
        assert trace.stages == ["Open", "Read", "Decode"]
        # On threads a function's own time may be long enough for a bar too.
        said = [span.stage for span in trace.spans if span.kind != "call"]
        assert [said.count(stage) for stage in trace.stages] == [1, 3, 3]
    assert benchmark(dataset, num_epochs=1, train=0).duration == 0.013


def test_the_virtual_clock_gives_the_same_trace_each_time() -> None:
    for seed in seeds(40):
        first, second = (benchmark(pipeline(seed)) for _ in range(2))
        assert first.spans == second.spans
        assert first.events == second.events
        assert first.files == second.files
