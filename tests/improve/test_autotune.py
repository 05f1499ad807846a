"""AUTOTUNE: the numbers found, the limits kept, and what is never touched."""

from typing import Any

import pytest
from support.random_pipelines import seeds

from benchmarks.tunable_pipelines import tunable
from lessonkit import (
    AUTOTUNE,
    ArtificialDataset,
    Dataset,
    Machine,
    benchmark,
    straggler,
)
from lessonkit.engine.node import walk
from lessonkit.optimize import autotune

FILE = ArtificialDataset(20, nbytes=1000)
MAPPED = FILE.map(cost=0.030, num_parallel_calls=AUTOTUNE)
SMALL = Machine(cores=2)


def found(dataset: Dataset, **options: Any) -> list[int]:
    """The numbers that were found, from the source on."""
    before = walk(dataset.node)
    after = walk(autotune(dataset, **options).dataset.node)
    return [
        now.arguments[name]
        for old, now in zip(before, after, strict=True)
        for name, value in old.arguments.items()
        if value == AUTOTUNE
        and name in ("num_parallel_calls", "cycle_length", "buffer_size")
    ]


# ---- what it finds ----


def test_lesson_is_tuned_to_two_calls_and_one_place() -> None:
    tuned = autotune(MAPPED.prefetch(AUTOTUNE), SMALL)
    assert repr(tuned.dataset).endswith(".map(cost=0.03, num_parallel_calls=2).prefetch(1)")
    trace = benchmark(tuned.dataset, machine=SMALL)
    assert round(trace.duration * 1e3, 6) == 1010
    assert round(trace.per_sample * 1e3, 6) == 25.25
    assert tuned.reason.endswith("Map has its largest number")


def test_all_small_numbers_are_tried_then_each_eighth_and_all_numbers_alike() -> None:
    """Where nothing takes time, the search begins and ends with one call of each map."""
    free = Dataset.range(4)
    for _ in range(2):
        free = free.map(cost=0, num_parallel_calls=AUTOTUNE)
    tried = {(*step.setting.values(),) for step in autotune(free, Machine(cores=24)).steps}
    one_changed = [*range(1, 9), 16, 24]
    assert tried == {
        *((calls, 1) for calls in one_changed),
        *((1, calls) for calls in one_changed),
        *((calls, calls) for calls in range(1, 25)),
    }


def test_a_byte_more_than_the_memory_is_too_much() -> None:
    slow = ArtificialDataset(
        40, read=straggler(0.005, every=8, slow=0.040), nbytes=1000
    ).prefetch(AUTOTUNE)
    most = benchmark(autotune(slow).dataset).max_bytes
    assert found(slow) == found(slow, memory=most) == [4]
    assert found(slow, memory=most - 1) == [3]


def test_no_more_calls_than_bring_something() -> None:
    assert found(MAPPED.prefetch(AUTOTUNE), machine=Machine(cores=8)) == [3, 1]


def test_calls_that_would_only_wait_for_the_lock_are_not_taken() -> None:
    """A second one reads while the first computes."""
    locked = FILE.map(cost=0.030, kind="python", num_parallel_calls=AUTOTUNE).prefetch(1)
    assert found(locked, machine=Machine(cores=8)) == [2]


def test_stragglers_get_a_deeper_buffer() -> None:
    slow = ArtificialDataset(40, read=straggler(0.005, every=8, slow=0.040)).prefetch(
        AUTOTUNE
    )
    (places,) = found(slow)
    assert places == 4


def test_two_maps_that_help_only_together_are_turned_together() -> None:
    both = Dataset.range(40).map(cost=0.060, num_parallel_calls=AUTOTUNE)
    both = both.map(cost=0.060, num_parallel_calls=AUTOTUNE, stage="Augment")
    tuned = autotune(both, train=0.001, num_epochs=1)
    (_, step, *_) = [step for step in tuned.steps if step.accepted]
    assert step.change == "Map 1 -> 4, Augment 1 -> 4"
    assert found(both, train=0.001, num_epochs=1) == [4, 4]


def test_step_behind_a_plain_is_found() -> None:
    """Six elements take two rounds with three calls, four or five, and one round with six."""
    dataset = Dataset.range(6).map(cost=0.030, num_parallel_calls=AUTOTUNE)
    assert found(dataset, train=0, machine=Machine(cores=8)) == [6]


@pytest.mark.parametrize("seed", seeds(10))
def test_tuned_is_near_the_best_of_all_settings(seed: int) -> None:
    """Within 3 % of the shortest time that fits, with one call more than that needs, at most."""
    verdict = tunable(seed).verdict()
    assert verdict.good, verdict


# ---- limits ----


def test_calls_never_exceed_the_cores() -> None:
    for cores in (1, 2, 3):
        assert found(MAPPED.prefetch(AUTOTUNE), machine=Machine(cores)) == [cores, 1]


def test_memory_is_a_limit_and_the_reason_says_so() -> None:
    read = straggler(0.005, every=8, slow=0.040)
    slow = ArtificialDataset(40, read=read, nbytes=1000).prefetch(AUTOTUNE)
    assert (found(slow), found(slow, memory=2500)) == ([4], [2])
    assert autotune(slow, memory=2500).reason.endswith(
        "faster settings do not fit into 2.5 kB"
    )


def test_too_little_memory_for_anything_is_said() -> None:
    tuned = autotune(MAPPED.cache().prefetch(AUTOTUNE), memory=500)
    assert tuned.reason == "nothing that was tried fits into 500 B; this is nearest to it"


def test_prefetch_gets_no_more_places_than_allowed() -> None:
    slow = ArtificialDataset(40, read=straggler(0.005, every=8, slow=0.040)).prefetch(
        AUTOTUNE
    )
    assert found(slow, most_slots=3) == [3]


# ---- what it leaves alone ----


def test_only_numbers_change() -> None:
    for seed in seeds(8):
        case = tunable(seed)
        before = case.dataset()
        after = autotune(case.dataset(), case.machine, train=case.train).dataset
        assert [node.method for node in walk(after.node)] == [
            node.method for node in walk(before.node)
        ]
        first, second = (
            benchmark(dataset, machine=case.machine).epochs for dataset in (before, after)
        )
        assert [epoch.elements for epoch in first] == [epoch.elements for epoch in second]


@pytest.mark.parametrize("cycle", [None, AUTOTUNE])
def test_interleave_keeps_the_cycle_that_the_engine_chooses(cycle: int | None) -> None:
    def file(x: int) -> Dataset:
        return ArtificialDataset(3).map(lambda i: 10 * x + i)

    files = Dataset.range(6).interleave(file, cycle, num_parallel_calls=AUTOTUNE)
    machine = Machine(cores=4)
    tuned = autotune(files, machine).dataset
    assert tuned.node.arguments["cycle_length"] == 2
    assert tuned.node.arguments["num_parallel_calls"] == 2
    first, second = (
        benchmark(dataset, 1, machine=machine).epochs[0].elements
        for dataset in (files, tuned)
    )
    assert first == second


def test_pipeline_without_autotune_is_returned_unchanged() -> None:
    plain = FILE.map(cost=0.030, num_parallel_calls=2).repeat()
    tuned = autotune(plain)
    assert tuned.dataset is plain
    assert tuned.steps == []
    assert tuned.reason == "there is no number of calls or slots to find"


def test_what_lies_above_the_numbers_stays_the_same_object() -> None:
    cached = FILE.cache()
    tuned = autotune(cached.map(cost=0.030, num_parallel_calls=AUTOTUNE)).dataset
    assert tuned.node.inputs[0] is cached.node


def test_node_that_is_used_twice_is_one_knob() -> None:
    tuned = autotune(Dataset.zip(MAPPED, MAPPED)).dataset
    first, second = tuned.node.inputs
    assert first is second


# ---- steps ----


def test_steps_tell_what_was_changed_and_what_came_of_it() -> None:
    steps = autotune(MAPPED.prefetch(AUTOTUNE), SMALL).steps
    accepted = [step for step in steps if step.accepted]
    assert [(step.change, step.setting) for step in accepted] == [
        ("Map 1, prefetch 1", {"Map": 1, "prefetch": 1}),
        ("Map 1 -> 2", {"Map": 2, "prefetch": 1}),
    ]
    assert (
        str(accepted[0]) == "+ Map 1, prefetch 1: 1,880 ms, 1 kB: where the search begins"
    )
    assert str(accepted[1]) == "+ Map 1 -> 2: 1,010 ms, 1 kB: 46.3 % faster"
    assert "- prefetch 1 -> 2: 1,010 ms, 1 kB: no faster" in map(str, steps)


def test_search_is_the_same_each_time() -> None:
    assert (
        autotune(MAPPED.prefetch(AUTOTUNE)).steps
        == autotune(MAPPED.prefetch(AUTOTUNE)).steps
    )


# ---- bad input ----

REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"dataset": 3}, TypeError, "dataset=3: must be a Dataset"),
    ({"machine": 4}, TypeError, "machine=4: must be a Machine"),
    ({"memory": -1}, ValueError, "memory=-1: must be 0 or more"),
    ({"memory": 1.5}, TypeError, "memory=1.5: must be 0 or more"),
    ({"train": -1}, ValueError, "train=-1: must be a number of seconds, 0 or more"),
    ({"most_slots": 0}, ValueError, "most_slots=0: must be 1 or more"),
    ({"num_epochs": -1}, ValueError, "num_epochs=-1: must be 0 or more"),
    ({"clock": "real"}, TypeError, "clock='real': must be left out"),
    ({"record": False}, TypeError, "record=False: must be left out"),
    (
        {"dataset": MAPPED.repeat()},
        ValueError,
        "the pipeline never ends: set max_elements",
    ),
    (
        {"dataset": MAPPED.take(3).repeat().skip(2)},
        ValueError,
        "the pipeline never ends: set max_elements",
    ),
]


@pytest.mark.parametrize(("arguments", "error", "message"), REFUSED, ids=str)
def test_autotune_refuses(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        autotune(**{"dataset": MAPPED} | arguments)


def test_endless_pipeline_is_tuned_on_so_many_elements() -> None:
    assert found(MAPPED.repeat(), max_elements=40, machine=SMALL) == [2]


def test_empty_pipeline_takes_the_least() -> None:
    assert found(Dataset.range(0).map(num_parallel_calls=AUTOTUNE).prefetch(AUTOTUNE)) == [
        1,
        1,
    ]
