"""What a run can not beat on a machine, and how close it is."""

import math
import random
import threading
from typing import Any

import pytest
from support.random_pipelines import pipeline, seeds
from support.random_runs import COSTS, runs

from lessonkit import (
    ArtificialDataset,
    DataLoader,
    Dataset,
    Machine,
    benchmark,
    per_sample,
    straggler,
)
from lessonkit.analysis import limits
from lessonkit.engine.machine import FOUR_CORES
from lessonkit.engine.node import Node, walk
from lessonkit.explain.limits import Limits


def found(
    dataset: Dataset,
    machine: Machine = FOUR_CORES,
    num_epochs: int = 1,
    **options: Any,
) -> Limits:
    """The limits of a run of this pipeline."""
    return limits(benchmark(dataset, num_epochs, machine=machine, **options))


def seconds(limit: Limits) -> dict[str, float]:
    """The bounds by name."""
    return {bound.name: bound.seconds for bound in limit.bounds}


def closeness(limit: Limits) -> float:
    """How close a run is to its bound: 1 is as fast as can be."""
    return limit.bound / limit.duration if limit.duration else 1.0


def test_no_run_is_faster_than_its_bound() -> None:
    for seed, _, _, trace in runs():
        assert limits(trace).bound <= trace.duration, seed


def faster(node: Node, draw: random.Random) -> Node:
    """The same pipeline with prefetches and parallel calls wherever chance puts them."""
    arguments = dict(node.arguments)
    if node.method == "map" and draw.random() < 0.7:
        arguments["num_parallel_calls"] = draw.choice([2, 8, 16])
    if node.method == "interleave" and draw.random() < 0.7:
        arguments["num_parallel_calls"] = arguments["cycle_length"]
    made = Node(node.method, tuple(faster(part, draw) for part in node.inputs), arguments)
    return (
        Node("prefetch", (made,), {"buffer_size": draw.choice([1, 4, 50])})
        if draw.random() < 0.5
        else made
    )


def test_no_prefetch_and_no_parallel_calls_beat_the_bound() -> None:
    """A cache is another matter: one that a prefetch fills in the background saves work."""
    beaten = []
    for seed in seeds(200):
        dataset = pipeline(seed, COSTS)
        machine = Machine((1, 2, 4)[seed % 3])
        draw = random.Random(seed)
        if any(node.method == "cache" for node in walk(dataset.node)):
            continue
        bound = found(dataset, machine, num_epochs=2).bound
        for _ in range(4):
            other = Dataset(faster(dataset.node, draw))
            if benchmark(other, 2, machine=machine, record=False).duration < bound:
                beaten.append((seed, other))
    assert beaten == []


FILE = ArtificialDataset(20)
BOTTLENECKS: dict[str, list[tuple[Dataset, dict[str, Any]]]] = {
    "first element": [
        (ArtificialDataset(20, read=0.005).prefetch(1), {}),
        (FILE.map(cost=0.030, num_parallel_calls=4).prefetch(1), {"train": 0.020}),
        (
            Dataset.range(4)
            .interleave(lambda _: ArtificialDataset(10), 4, 1, 4)
            .prefetch(4),
            {},
        ),
    ],
    "source": [
        (FILE.prefetch(1), {}),
        (FILE.prefetch(1).map(cost=0.010).prefetch(1), {"train": 0.005}),
        (FILE.repeat(3).prefetch(1), {}),
        (ArtificialDataset(40).batch(4).prefetch(1), {}),
        (
            ArtificialDataset(20, read=straggler(0.010, every=4, slow=0.030)).prefetch(1),
            {},
        ),
    ],
    "interpreter lock": [
        (FILE.map(cost=0.030, kind="python", num_parallel_calls=8), {}),
        (
            FILE.map(cost=0.030, kind="python", num_parallel_calls=4).prefetch(1),
            {"train": 0},
        ),
        (
            FILE.batch(1).map(cost=per_sample(0.030), kind="python", num_parallel_calls=4),
            {},
        ),
    ],
    "cores": [
        (
            FILE.prefetch(2).map(cost=0.100, kind="native", num_parallel_calls=4),
            {"machine": Machine(2)},
        ),
        (
            ArtificialDataset(21, read=0.001).map(
                cost=0.100, kind="native", num_parallel_calls=8
            ),
            {},
        ),
        (Dataset.range(50).map(cost=0.050, kind="native", num_parallel_calls=8), {}),
    ],
}


@pytest.mark.parametrize(
    ("name", "dataset", "options"),
    [(name, *case) for name, cases in BOTTLENECKS.items() for case in cases],
)
@pytest.mark.parametrize("num_epochs", [1, 3])
def test_bound_is_close_where_one_stage_is_the_bottleneck(
    name: str, dataset: Dataset, options: dict[str, Any], num_epochs: int
) -> None:
    limit = found(dataset, num_epochs=num_epochs, **options)
    assert limit.bounds[0].name == name
    assert 0.97 <= closeness(limit) <= 1


def test_each_bound_has_its_reason() -> None:
    limit = found(ArtificialDataset(20).map(cost=0.010, kind="python").prefetch(1))
    assert [(bound.name, bound.seconds) for bound in limit.bounds] == [
        ("source", 0.350),
        ("first element", 0.255),
        ("interpreter lock", 0.255),
        ("accelerator", 0.200),
        ("cores", 0.1275),
    ]
    assert limit.reason.startswith("A file is read by one reader")


def test_is_it_the_data() -> None:
    """The headroom says what data that were already there would bring, the bound what is possible."""
    slow = found(ArtificialDataset(20))
    assert (slow.duration, slow.training, slow.bound) == (0.530, 0.200, 0.340)
    assert slow.headroom == pytest.approx(2.65)
    ready = found(ArtificialDataset(20, open=0, read=0.001).prefetch(1))
    assert (ready.duration, ready.training) == (0.201, 0.200)
    assert closeness(ready) == 1


def test_copying_to_the_accelerator_is_its_work_too() -> None:
    limit = found(Dataset.range(3), load=0.002)
    assert (limit.training, limit.bound, closeness(limit)) == (0.036, 0.036, 1)


def test_an_epoch_from_the_cache_is_not_read_again() -> None:
    """The first epoch is bound by its file, later ones by the accelerator."""
    limit = found(ArtificialDataset(20).cache().prefetch(1), num_epochs=3)
    assert limit.duration == limit.bound == 0.340 + 2 * 0.200
    assert seconds(limit)["source"] < seconds(limit)["epochs"]
    assert (
        limit.reason
        == "One epoch comes after another, and not all of them have the same limit."
    )


def test_passes_over_a_file_come_one_after_another() -> None:
    limit = found(ArtificialDataset(10, open=0).repeat(3).prefetch(1))
    assert (limit.bounds[0].name, limit.bound) == ("source", 0.460)


def test_files_of_an_interleave_may_be_read_at_once() -> None:
    dataset = Dataset.range(2).flat_map(lambda _: ArtificialDataset(10, open=0))
    assert seconds(found(dataset))["source"] == 0.160
    assert (
        seconds(
            found(Dataset.range(2).repeat(3).flat_map(lambda _: ArtificialDataset(10)))
        )["source"]
        == 0.190
    )


def test_work_on_samples_that_are_filtered_out_is_not_needed() -> None:
    """Reading is: nobody can know a sample that was not read."""
    mapped = ArtificialDataset(10, open=0, read=0.001).map(cost=0.010, kind="python")
    limit = found(mapped.filter(lambda sample: sample in (0, 4)), train=0.001)
    assert seconds(limit)["interpreter lock"] == 0.022
    assert seconds(limit)["slowest sample"] == 0.016


def test_a_batch_comes_no_sooner_than_its_slowest_sample() -> None:
    """The calls of one map could all end sooner: the sample goes through both."""

    def slow_first(number: int) -> float:
        return 0.010 if number else 0.100

    twice = Dataset.range(2)
    for _ in range(2):
        twice = twice.map(cost=slow_first, num_parallel_calls=2)
    limit = found(twice.batch(2), train=0.010)
    assert seconds(limit)["slowest sample"] == limit.bound == limit.duration == 0.210


def test_samples_read_ahead_in_vain_are_not_needed() -> None:
    limit = found(
        ArtificialDataset(50, open=0, read=0.001).prefetch(8).take(2), train=0.005
    )
    assert seconds(limit)["source"] == 0.007
    assert limit.bound == limit.duration == 0.011


def test_a_slow_sample_bounds_the_run_alone() -> None:
    limit = found(
        Dataset.range(8).map(
            cost=straggler(0.001, every=8, slow=0.500), num_parallel_calls=8
        )
    )
    assert (limit.bounds[0].name, limit.bound) == ("slowest sample", 0.510)


def test_another_machine_has_other_limits() -> None:
    dataset = Dataset.range(8).map(cost=0.010, kind="native")
    runs = [benchmark(dataset, 1, 0, machine=Machine(cores)) for cores in (1, 2, 3, 8)]
    assert [limits(trace).bound for trace in runs] == [
        0.08,
        0.04,
        0.03,
        0.01,
    ]


def test_without_a_step_of_the_accelerator_any_change_may_help() -> None:
    limit = found(ArtificialDataset(2), train=0)
    assert (limit.training, limit.headroom) == (0, math.inf)
    assert limit.bound == 0.060


def test_one_element_can_not_be_faster() -> None:
    limit = found(ArtificialDataset(1))
    assert (limit.duration, limit.bound, closeness(limit)) == (0.055, 0.055, 1)


def test_each_process_has_an_interpreter_lock_of_its_own() -> None:
    """Four workers of ten batches each: 0.1 s of Python for each lock, in whatever order."""
    samples = Dataset.range(40).map(cost=0.010, kind="python")
    limit = found(DataLoader(samples, num_workers=4), Machine(4), train=0)
    assert limit.duration == 0.100
    assert seconds(limit)["interpreter lock"] == 0.100
    alone = found(DataLoader(samples), Machine(4), train=0)
    assert (alone.duration, seconds(alone)["interpreter lock"]) == (0.400, 0.400)
    limit = found(
        DataLoader(samples, num_workers=4).map(cost=0.030, kind="python"),
        Machine(4),
        train=0,
    )
    # What comes after the loader is the main process's
    assert seconds(limit)["interpreter lock"] == 1.2


def test_work_under_a_loader_shares_the_cores_of_the_machine() -> None:
    limit = found(
        DataLoader(Dataset.range(40).map(cost=0.010, kind="python"), num_workers=4),
        Machine(2),
    )
    assert seconds(limit)["cores"] == pytest.approx(0.200 + 0.010)


def test_a_run_that_took_no_time_is_as_fast_as_can_be() -> None:
    limit = found(Dataset.range(0))
    assert (limit.bound, closeness(limit), limit.training, limit.headroom) == (0, 1, 0, 1)


def test_an_epoch_in_which_nothing_arrives_has_no_bound() -> None:
    limit = found(ArtificialDataset(3).filter(lambda _: False))
    assert (limit.duration, limit.bound, limit.headroom) == (0.075, 0, math.inf)


def test_on_threads_the_bound_holds_too() -> None:
    dataset = (
        ArtificialDataset(8, read=0.005)
        .map(cost=0.004, kind="python", num_parallel_calls=2)
        .prefetch(1)
    )
    limit = found(dataset, train=0.002, num_epochs=2, clock="real")
    assert 0 < closeness(limit) <= 1


def test_a_cancelled_run_has_the_bound_of_what_it_did() -> None:
    stop = threading.Event()

    def stop_at_third(count: int, _: float) -> None:
        if count == 3:
            stop.set()

    # To read takes so long that no busy computer makes the accelerator's sleeps longer.
    dataset = ArtificialDataset(9, open=0.001, read=0.1)
    limit = found(dataset, train=0.001, clock="real", cancel=stop, progress=stop_at_third)
    assert 0 < limit.training < limit.bound <= limit.duration


def test_a_run_that_was_not_recorded_says_what_to_do() -> None:
    with pytest.raises(ValueError, match="run it again without record=False"):
        found(ArtificialDataset(), record=False)
