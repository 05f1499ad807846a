"""The virtual clock predicts when PyTorch's DataLoader hands over each batch, and how long an epoch takes."""

from statistics import median
from typing import Any

import pytest

from evidence import torch_cases
from evidence.errors import TORCH_TIMES, of_torch, torch_run

CASES = torch_cases.cases("epochs", *TORCH_TIMES)


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case["order_stable"]],
    ids=lambda case: case["spec"]["name"],
)
def test_order_and_workers_are_those_of_pytorch(case: dict[str, Any]) -> None:
    for ours, theirs in zip(
        torch_run(case, measured_start=True), case["epochs"], strict=True
    ):
        assert (ours.batches, ours.worker) == (theirs["batches"], theirs["worker"])


def at(share: float, values: list[float]) -> float:
    return values[min(len(values) - 1, int(share * len(values)))]


@pytest.mark.skipif(not CASES, reason="there are no timing cases in this file")
def test_times_are_close_when_workers_start_as_measured() -> None:
    epochs, arrivals = of_torch(measured_start=True)
    assert median(epochs) < 0.009
    assert at(0.9, epochs) < 0.04
    assert median(arrivals) < 0.006
    assert at(0.9, arrivals) < 0.02


@pytest.mark.skipif(not CASES, reason="there are no timing cases in this file")
def test_times_are_close_with_one_set_of_parameters() -> None:
    epochs, _ = of_torch(measured_start=False)
    assert median(epochs) < 0.015
    assert at(0.9, epochs) < 0.07
