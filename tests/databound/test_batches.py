"""A batch that is somebody else's: copied so that a step may take it apart, weighed, and counted."""

from collections import UserDict, namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from databound import measure_job, probe
from databound.measure.batches import bytes_of, own_copy, same
from databound.measure.device import on_device
from databound.model import measuring
from databound.thresholds import Durations
from lessonkit import DataLoader, Dataset

Pair = namedtuple("Pair", "image label")  # as a collate function makes one


@dataclass(frozen=True)
class Both:
    """A batch of somebody who likes names."""

    image: Any
    label: Any


def array() -> Any:
    return np.zeros((4, 10))


MADE: list[Any] = [
    {"image": array(), "label": array()},
    UserDict(image=array(), label=array()),  # as transformers make one
    [array(), array()],
    (array(), array()),
    Pair(array(), array()),
    Both(array(), array()),
    {"deep": [(array(), {"er": array()})]},
]


@pytest.mark.parametrize("batch", MADE, ids=lambda batch: type(batch).__name__)
def test_a_batch_is_weighed_whatever_it_is(batch: Any) -> None:
    assert bytes_of(batch) == 2 * 4 * 10 * 8


@pytest.mark.parametrize("batch", MADE, ids=lambda batch: type(batch).__name__)
def test_a_copy_is_of_its_kind_and_shares_nothing(batch: Any) -> None:
    copied = own_copy(batch)
    assert type(copied) is type(batch)
    assert repr(copied) == repr(batch)
    assert not any(
        np.shares_memory(one, other) for one in leaves(copied) for other in leaves(batch)
    )


def leaves(batch: Any) -> list[Any]:
    """The arrays in a batch."""
    if isinstance(batch, np.ndarray):
        return [batch]
    parts = vars(batch).values() if isinstance(batch, Both) else batch
    parts = parts.values() if hasattr(parts, "values") else parts
    return [leaf for part in parts for leaf in leaves(part)]


def test_what_has_no_size_and_no_copy_is_left_as_it_is() -> None:
    generator = (number for number in range(3))
    assert own_copy([generator])[0] is generator
    assert bytes_of([1, 2, 3]) == bytes_of("text") == bytes_of(generator) == 0
    assert bytes_of([b"12", b"345"]) == 5


class Pinned:
    """As much of a tensor in pinned memory as counts here."""

    def __init__(self, pinned: bool = False) -> None:
        self.pinned = pinned

    def is_pinned(self) -> bool:
        return self.pinned

    def clone(self) -> "Pinned":
        return Pinned()

    def pin_memory(self) -> "Pinned":
        return Pinned(pinned=True)


@pytest.mark.parametrize("pinned", [False, True])
def test_a_copy_of_pinned_memory_is_pinned(pinned: bool) -> None:
    """Or it would reach a device more slowly than the batches of a training."""
    assert own_copy(Pinned(pinned)).pinned == pinned


def takes_apart(batch: dict[str, Any]) -> None:
    """A step as for a model that wants its labels apart, and changes its batch in place."""
    labels = batch.pop("labels")
    assert labels[0] == 0
    labels += 1


def test_a_step_may_take_its_batch_apart_on_a_device() -> None:
    batch: dict[str, Any] = {"ids": [1], "labels": np.zeros(3)}
    assert on_device(takes_apart, batch, lambda: None, clock=lambda: 0.0) is None
    assert {*batch} == {"ids", "labels"}
    assert batch["labels"][0] == 0

    def fails(batch: Any) -> None:
        raise KeyError("no labels")

    with pytest.raises(RuntimeError, match="the step raised when it was timed on a copy"):
        on_device(fails, batch, lambda: None)


def as_labels(numbers: Any) -> dict[str, Any]:
    return {"ids": numbers, "labels": np.zeros(len(numbers))}


def test_a_step_may_take_its_batch_apart_in_a_job_and_in_three_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loader = DataLoader(Dataset.range(64), 4, collate_fn=as_labels)
    monkeypatch.setattr(measuring, "USUAL", Durations(run=0.05, survey=0.05, again=0.0))
    assert measure_job(loader, takes_apart, synchronise=lambda: None).samples == 64
    assert probe(loader, takes_apart, batches=5).samples == 4


@pytest.mark.parametrize("batch", MADE, ids=lambda batch: type(batch).__name__)
def test_a_batch_is_the_same_as_its_copy_until_one_number_changes(batch: Any) -> None:
    other = own_copy(batch)
    assert same(batch, other)
    leaves(other)[-1][2, 3] = 1.0
    assert not same(batch, other)
