"""What a pipeline that leaves numbers open gets from the machine it runs on."""

import json
from typing import Any

import numpy as np
import pytest

from lessonkit import AUTOTUNE, ArtificialDataset, Dataset, Machine, benchmark
from lessonkit.engine.operators.interleave import cycle_length
from lessonkit.widgets import show


@pytest.mark.parametrize("cores", [1, 2, 4])
def test_an_untuned_map_makes_as_many_calls_as_there_are_cores(cores: int) -> None:
    maps = [
        ArtificialDataset(9).map(cost=0.1, num_parallel_calls=calls)
        for calls in (AUTOTUNE, cores)
    ]
    untuned, explicit = (benchmark(dataset, machine=Machine(cores)) for dataset in maps)
    assert untuned.duration == explicit.duration


@pytest.mark.parametrize("cores", [0, -1, "two"])
def test_a_step_holds_some_cores(cores: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="step_cores="):
        Machine(4, cores)


@pytest.mark.parametrize(
    ("cores", "calls", "expected"),
    [
        (1, 1, 0.080),  # one call alone takes as long as its cost
        (1, 2, 0.080),  # two share the core, each at half speed
        (1, 4, 0.080),
        (2, 1, 0.080),
        (2, 2, 0.040),  # each has a core
        (2, 4, 0.040),
        (4, 4, 0.020),
    ],
)
def test_shared_cores_do_as_much_work_as_there_are_cores(
    cores: int, calls: int, expected: float
) -> None:
    work = Dataset.range(4).map(cost=0.020, kind="native", num_parallel_calls=calls)
    machine = Machine(cores, step_cores=1)
    assert benchmark(work, 1, train=0, machine=machine).duration == expected


def test_an_untuned_prefetch_has_one_place() -> None:
    dataset = ArtificialDataset(open=0, read=0.010).prefetch(AUTOTUNE)
    assert [*benchmark(dataset).buffers.values()] == [1]


@pytest.mark.parametrize(
    ("said", "calls", "cores", "expected"),
    [
        (3, None, 4, 3),
        (3, AUTOTUNE, 4, 3),
        (None, None, 4, 4),  # without parallel calls: one for each core
        (None, 2, 4, 2),
        (None, 8, 4, 4),
        (None, AUTOTUNE, 2, 1),  # left to itself, one file at a time on two cores
        (None, AUTOTUNE, 4, 2),
        (AUTOTUNE, AUTOTUNE, 8, 3),
    ],
)
def test_a_cycle_length_that_is_not_said_is_what_tf_data_chooses(
    said: int | None, calls: int | None, cores: int, expected: int
) -> None:
    assert cycle_length(said, calls, cores) == expected


def test_an_interleave_left_to_itself_may_read_one_file_at_a_time() -> None:
    two_files = Dataset.range(2).interleave(
        lambda x: ArtificialDataset(), num_parallel_calls=AUTOTUNE
    )
    assert benchmark(two_files, machine=Machine(2)).duration == pytest.approx(0.230)
    explicit = Dataset.range(2).interleave(
        lambda x: ArtificialDataset(), 2, num_parallel_calls=2
    )
    assert benchmark(explicit, machine=Machine(2)).duration == pytest.approx(0.210)


def test_the_default_machine_does_not_depend_on_this_computer() -> None:
    assert Machine() == Machine(cores=4)


def test_the_cores_of_a_machine_are_a_number_of_pythons() -> None:
    machine = Machine(cores=np.int64(2))  # type: ignore[arg-type]
    assert type(machine.cores) is int
    made = ArtificialDataset(3).map(cost=0.01, num_parallel_calls=AUTOTUNE)
    assert (
        json.loads(show(made, machine=machine).state)["scene"]["figures"][1][1]
        == "for 6 samples"
    )
