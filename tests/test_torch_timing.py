"""The virtual clock predicts when PyTorch's DataLoader hands over each batch, and how long an epoch takes."""

from statistics import median
from typing import Any

import pytest
import torch_cases

CASES = torch_cases.cases(
    "epochs", "torch_timings", "torch_rule_timings"
)


def predicted(case: dict[str, Any], measured_start: bool) -> list[torch_cases.Pass]:
    spec = case["spec"]
    return torch_cases.run(spec, torch_cases.loader(spec, case["epochs"], measured_start))


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case["order_stable"]],
    ids=lambda case: case["spec"]["name"],
)
def test_order_and_workers_are_those_of_pytorch(case: dict[str, Any]) -> None:
    for ours, theirs in zip(predicted(case, True), case["epochs"], strict=True):
        assert (ours.batches, ours.worker) == (theirs["batches"], theirs["worker"])


def errors(measured_start: bool) -> tuple[list[float], list[float]]:
    """How far off epoch times and last arrivals are, as shares of what was measured."""
    epochs, arrivals = [], []
    for case in CASES:
        for ours, theirs in zip(
            predicted(case, measured_start), case["epochs"], strict=True
        ):
            real = theirs["this_run_ms" if measured_start else "epoch_ms"]
            epochs.append(abs(ours.epoch_ms - real) / real)
            if theirs["arrival_ms"] and len(theirs["arrival_ms"]) == len(ours.arrival_ms):
                last = theirs["arrival_ms"][-1]
                arrivals.append(abs(ours.arrival_ms[-1] - last) / last)
    return sorted(epochs), sorted(arrivals)


def at(share: float, values: list[float]) -> float:
    return values[min(len(values) - 1, int(share * len(values)))]


@pytest.mark.skipif(not CASES, reason="there are no timing cases in this file")
def test_times_are_close_when_workers_start_as_measured() -> None:
    epochs, arrivals = errors(measured_start=True)
    assert median(epochs) < 0.009
    assert at(0.9, epochs) < 0.04
    assert median(arrivals) < 0.006
    assert at(0.9, arrivals) < 0.02


@pytest.mark.skipif(not CASES, reason="there are no timing cases in this file")
def test_times_are_close_with_one_set_of_parameters() -> None:
    epochs, _ = errors(measured_start=False)
    assert median(epochs) < 0.015
    assert at(0.9, epochs) < 0.07
