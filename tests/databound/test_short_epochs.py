"""Real runs over epochs that are shorter than a run: several of them, with workers that stay."""

import multiprocessing
from typing import Any

import pytest

from databound.measure.runs import LoaderAndStep, passes_for
from databound.measure.subject import RunRequest
from databound.thresholds import LATER_EPOCHS

pytestmark = pytest.mark.usefixtures("workers_gone")


def test_as_many_epochs_as_have_the_batches_behind_the_first() -> None:
    assert passes_for(9, 9) == 1
    assert passes_for(10, 9) == 1 + LATER_EPOCHS
    assert passes_for(100, 9) == 1 + 6
    assert passes_for(100, 0) == 1  # of an iterable nobody knows how many there are


@pytest.mark.parametrize("workers", [0, 2])
def test_a_short_epoch_is_run_as_several_with_the_same_workers(
    library: Any, workers: int
) -> None:
    loader = library.utils.data.DataLoader([*range(6)], batch_size=2, collate_fn=list)
    stepped: list[list[int]] = []
    request = RunRequest(workers, 0.0, least=7, step=True)
    seen = LoaderAndStep(loader, stepped.append).go(request)
    assert seen.epochs == [3, 6]
    assert len(seen.batches) == len(stepped) == 9
    assert stepped[:3] == stepped[3:6] == stepped[6:]
    assert len({batch.pid for batch in seen.batches}) == max(1, workers)
    assert seen.closed >= seen.ended
    assert multiprocessing.active_children() == []
