"""Time is spent in one place: what a cost may be, wherever it is given."""

from collections.abc import Callable
from math import inf, nan
from typing import Any

import pytest

from lessonkit import (
    ArtificialDataset,
    DataLoader,
    Dataset,
    Machine,
    Storage,
    benchmark,
    per_sample,
    straggler,
)
from lessonkit.analysis import limits
from lessonkit.engine.node import NodeStates
from lessonkit.engine.virtual import Virtual
from lessonkit.engine.workers.forked import CAN_FORK

DISK = Storage(bandwidth=1e6)
READ = DISK.read(10_000)  # 10 ms, if nothing else is read

PLACES: dict[str, Callable[[Any], Any]] = {
    "open": lambda cost: ArtificialDataset(2, open=cost),
    "read": lambda cost: ArtificialDataset(2, open=0, read=cost),
    "cost": lambda cost: Dataset.range(2).map(cost=cost),
    "native cost": lambda cost: Dataset.range(2).map(cost=cost, kind="native"),
    "cost of a function": lambda cost: Dataset.range(2).map(str, cost=cost, kind="python"),
    "collate": lambda cost: DataLoader(Dataset.range(2), collate=cost),
    "transfer": lambda cost: DataLoader(Dataset.range(2), num_workers=1, transfer=cost),
    "start": lambda cost: DataLoader(
        Dataset.range(2), num_workers=1, start=(lambda epoch, worker: cost(0), 0)
    ),
}


@pytest.mark.parametrize("wrong", [-0.05, nan, inf])
@pytest.mark.parametrize("clock", ["virtual", "real"])
@pytest.mark.parametrize("name", [*PLACES, "train", "load"])
def test_a_time_that_cannot_pass_is_refused_by_name_on_both_clocks(
    name: str, clock: str, wrong: float
) -> None:
    if clock == "real" and name == "start":
        return  # a real worker takes the time that it takes
    makes: Any = PLACES.get(name, lambda _: Dataset.range(2))
    pipeline: Dataset = makes(lambda _: wrong)
    costs: Any = {name: lambda _: wrong} if name in ("train", "load") else {}
    argument = name.removeprefix("native ").removesuffix(" of a function")
    with pytest.raises(
        ValueError,
        match=rf"{argument}.*={wrong}: must be a number of seconds, 0 or more",
    ):
        benchmark(pipeline, 1, clock=clock, **costs)


@pytest.mark.parametrize("kind", ["wait", "native"])
@pytest.mark.parametrize("wrong", [-1, nan])
def test_a_time_that_comes_from_within_is_looked_at_too(kind: str, wrong: float) -> None:
    run = Virtual(Machine(), NodeStates(fixed_seed=True), None)
    with pytest.raises(
        ValueError, match=r"a pause=.*must be a number of seconds, 0 or more"
    ):
        run.spend(wrong, kind=kind).send(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["open", "read", "cost", "native cost", "train", "load"])
def test_who_takes_a_cost_of_an_element_shares_a_storage(name: str) -> None:
    """Four reads of 10 ms take 40 ms, whatever goes on at once, and no limit is above the run."""
    costs: dict[str, Any] = {"train": 0}
    pipeline = Dataset.range(2)
    if name in PLACES:
        pipeline = PLACES[name](READ)
        if name == "open":
            pipeline = Dataset.range(2).flat_map(
                lambda _: ArtificialDataset(1, open=READ, read=0)
            )
    else:
        costs[name] = READ
    other = Dataset.range(2).map(cost=READ).prefetch(2)
    trace = benchmark(Dataset.zip(other, pipeline.prefetch(2)), 1, **costs)
    assert trace.duration >= 0.040
    assert limits(trace).bound <= trace.duration


@pytest.mark.parametrize("cost", [READ, per_sample(0.1), straggler(0, every=2, slow=1)])
@pytest.mark.parametrize("name", ["collate", "transfer", "start"])
def test_what_takes_no_cost_of_an_element_refuses_one(name: str, cost: Any) -> None:
    given: Any = {name: (0, cost) if name == "start" else cost}
    allowed = "two times" if name == "start" else "a number of seconds, or a func"
    with pytest.raises(TypeError, match=f"{name}=.*must be {allowed}"):
        DataLoader(Dataset.range(2), **given)


def test_a_read_that_is_ended_early_leaves_its_bandwidth_to_the_others_at_once() -> None:
    """Seven long reads end with their file; from then on the eighth has all, and not a part."""
    disk = Storage(bandwidth=1e6)

    def file(number: int) -> Dataset:
        cost = disk.read(lambda n: 100_000 if n else 1_000)
        reads = Dataset.range(8).map(cost=cost, num_parallel_calls=8).take(1)
        return reads if number == 0 else Dataset.range(1).map(cost=2.0)

    files = Dataset.range(2).flat_map(file)
    other = Dataset.range(2).map(cost=disk.read(40_000)).prefetch(2)
    trace = benchmark(Dataset.zip(files, other), 1, 0.010)
    ended = [span.end for span in trace.work if span.kind == "storage"]
    # Beside seven reads 40 ms take eight times as long; they end when the second has 38.75 kB left
    assert ended == pytest.approx([0.008, 0.328, 0.338 + 0.03875], abs=1e-6)


@pytest.mark.skipif(not CAN_FORK, reason="workers are threads here, which share a storage")
def test_real_worker_processes_refuse_a_storage_that_they_cannot_share() -> None:
    loader = DataLoader(Dataset.range(4).map(cost=READ), 2, num_workers=2)
    assert benchmark(loader, 1, 0).duration == pytest.approx(0.04)
    with pytest.raises(
        ValueError, match="worker processes do not share it on the real clock"
    ):
        benchmark(loader, 1, 0, clock="real")
    alone = DataLoader(Dataset.range(4).map(cost=READ), 2)
    assert benchmark(alone, 1, 0, clock="real").duration >= 0.04
