"""The number of an element: what tells it from the others, without a look at its data."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from lessonkit import ArtificialDataset, DataLoader, Dataset, benchmark, straggler
from lessonkit.analysis import advise, measure
from lessonkit.engine.element import whole
from lessonkit.engine.machine import number_in_hand


def numbered(*parts: Any) -> tuple[Any, Any]:
    """Stands for any function: the number of what it is called with, and that."""
    return number_in_hand(), whole(parts)


def letters(file: int) -> Dataset:
    return Dataset.from_list(["a", "b", "c"]).map(lambda letter: f"{letter}{file}")


FILES = Dataset.range(4).interleave(letters, 2, 1)
PIPELINES: dict[str, Dataset] = {
    "map": Dataset.range(6).map(str),
    "filter, shuffle and repeat": Dataset.range(9)
    .filter(lambda n: n % 2)
    .shuffle(3)
    .repeat(2),
    "interleave": FILES,
    "parallel interleave": Dataset.range(4).interleave(letters, 2, 1, 2),
    "batch and unbatch": Dataset.range(6).map(str).batch(2, num_parallel_calls=2).unbatch(),
    "lists in files": Dataset.range(3)
    .flat_map(
        lambda file: Dataset.from_list([[f"{file}a", f"{file}b"], [f"{file}c", f"{file}d"]])
    )
    .unbatch(),
    "zip of batches": Dataset.zip(FILES.batch(2), FILES.batch(2)).unbatch(),
    "cache": FILES.cache().prefetch(2),
    "shard of shard": Dataset.range(12).shard(2, 1).shard(2, 1).map(str),
    "generator": Dataset.range(2).flat_map(
        lambda file: Dataset.from_generator(lambda: iter([f"{file}", f"{file}!"]))
    ),
    "slow files": Dataset.range(3).flat_map(
        lambda file: ArtificialDataset(2).map(lambda n: f"{file}{n}")
    ),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_elements_are_equal_where_their_numbers_are_on_both_clocks_and_in_each_epoch(
    name: str,
) -> None:
    pipeline = PIPELINES[name].map(numbered)
    seen: dict[Any, Any] = {}
    for clock in ("virtual", "real"):
        for epoch in benchmark(pipeline, 2, 0, clock=clock, keep=True).epochs:
            for number, value in epoch.elements:
                assert repr(seen.setdefault(number, value)) == repr(value)
    assert len(seen) == len({repr(value) for value in seen.values()}) > 2


def test_the_parts_of_a_batch_keep_their_numbers_through_it() -> None:
    for pipeline in (
        FILES,
        FILES.batch(3).unbatch(),
        FILES.batch(5).prefetch(1).unbatch(),
    ):
        elements = [*pipeline.map(numbered)]
        assert elements[0] == ((0, 0), "a0")
        assert elements[-1] == ((3, 2), "c3")


@pytest.mark.parametrize("clock", ["virtual", "real"])
@pytest.mark.parametrize("workers", [0, 2])
def test_samples_and_batches_of_a_loader_have_the_numbers_of_their_samples(
    workers: int, clock: str
) -> None:
    samples = DataLoader(Dataset.range(6).map(numbered), 3, num_workers=workers)
    trace = benchmark(samples, 1, 0, clock=clock, keep=True)
    assert trace.epochs[0].elements == [([0, 1, 2], [0, 1, 2]), ([3, 4, 5], [3, 4, 5])]
    batches = DataLoader(Dataset.range(6), 3, num_workers=workers, collate_fn=numbered)
    trace = benchmark(batches, 1, 0, clock=clock, keep=True)
    assert [number for number, _ in trace.epochs[0].elements] == [(0, 1, 2), (3, 4, 5)]


class Hidden:
    """A value of which nobody may look at anything."""

    def __init__(self, content: int) -> None:
        self.content = content

    def refused(self, *_: Any) -> Any:
        raise AssertionError("this value was looked at")

    __repr__ = __str__ = __hash__ = __eq__ = __len__ = __iter__ = tobytes = refused


def test_nobody_looks_at_a_value_to_know_which_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("lessonkit.explain.calls.SLIGHT", 0.0)

    def read(file: int) -> Iterator[Hidden]:
        yield from (Hidden(3 * file + n) for n in range(3))

    files = Dataset.range(3).flat_map(
        lambda file: Dataset.from_generator(read, args=(file,)).map(lambda one: one)
    )
    pipeline = files.map(lambda one: one).filter(lambda one: one.content % 2)
    measured = measure(pipeline).dataset
    assert len(advise(measured)) > 3
    found = benchmark(measured, 1, keep=True).epochs[0].elements
    assert [one.content for one in found] == [1, 3, 5, 7]


@pytest.mark.parametrize(
    "value",
    [lambda n: np.full(3, n), lambda n: [n, n], str, lambda n: (n, n), int, np.int64],
)
def test_a_straggler_is_the_same_sample_on_both_clocks_and_in_each_epoch(
    value: Callable[[int], Any],
) -> None:
    cost = straggler(0, every=4, slow=0.001)
    pipeline = (
        Dataset.range(8).map(value).map(cost=cost, stage="Slow", num_parallel_calls=2)
    )
    for clock in ("virtual", "real"):
        trace = benchmark(pipeline, 2, 0, clock=clock)
        slow = [(s.epoch, s.sample) for s in trace.work if s.stage == "Slow"]
        assert sorted(slow) == [(0, 3), (0, 7), (1, 3), (1, 7)]


def test_a_shard_of_a_list_makes_its_own_rows_alone() -> None:
    for rows in (Dataset.range(10), Dataset.from_list([*range(10)])):
        for shards in (1, 3, 4, 12):
            for shard in range(shards):
                trace = benchmark(rows.shard(shards, shard), 2, 0)
                own = [*range(shard, 10, shards)]
                assert [epoch.elements for epoch in trace.epochs] == [own, own]
                assert [one.sample for one in trace.identities[1:]] == [*own, *own]


def test_nested_lists_in_a_trace_share_one_allowance_of_parts() -> None:
    def size(value: Any) -> int:
        return 1 + sum(map(size, value)) if isinstance(value, (list, tuple)) else 1

    for batch, tokens in ((1, 900), (8, 1000), (64, 64), (1000, 1000)):
        made = Dataset.range(batch).map(lambda _, tokens=tokens: [0] * tokens).batch(batch)
        (element,) = benchmark(made.batch(1), 1).epochs[0].elements
        assert size(element) < 1100
    small = Dataset.range(4).map(lambda n: [n, [n, n]]).batch(2)
    assert benchmark(small, 1).epochs[0].elements[0] == [[0, [0, 0]], [1, [1, 1]]]
