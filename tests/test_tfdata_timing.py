"""The virtual clock predicts how long real tf.data takes."""

from statistics import median
from typing import Any

import pytest
import tfdata

from lessonkit import Machine, Trace, benchmark

FILES = ("tfdata_timings", "tfdata_guide_timings", "tfdata_batch_timings")
CASES = [case for name in FILES for case in tfdata.cases(name)]
FREE = ("shuffle", "'deterministic': False")  # what leaves the order to chance


def predicted(case: dict[str, Any]) -> Trace:
    pipeline = case["pipeline"]
    return benchmark(
        tfdata.build(pipeline),
        num_epochs=len(case["epochs"]),
        train=pipeline["train"],
        machine=Machine(tfdata.CORES),
    )


def has_fixed_order(case: dict[str, Any]) -> bool:
    return not any(word in str(case["pipeline"]) for word in FREE)


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if has_fixed_order(case)],
    ids=lambda case: case["pipeline"]["name"],
)
def test_order_is_that_of_tf_data(case: dict[str, Any]) -> None:
    epochs = predicted(case).epochs
    assert [tfdata.plain(epoch.elements) for epoch in epochs] == [
        epoch["elements"] for epoch in case["epochs"]
    ]


def errors(name: str) -> tuple[list[float], list[float]]:
    """How far off the epoch times and the arrivals are, as shares of what was measured."""
    epochs, arrivals = [], []
    for case in tfdata.cases(name):
        for ours, theirs in zip(predicted(case).epochs, case["epochs"], strict=True):
            epochs.append(
                abs(ours.duration * 1e3 - theirs["epoch_ms"]) / theirs["epoch_ms"]
            )
            arrivals += [
                abs(mine * 1e3 - yours) / theirs["epoch_ms"]
                for mine, yours in zip(ours.arrivals, theirs["arrival_ms"], strict=True)
            ]
    return sorted(epochs), sorted(arrivals)


def at(share: float, values: list[float]) -> float:
    return values[int(share * (len(values) - 1))]


@pytest.mark.parametrize("name", FILES)
def test_epoch_times_and_arrivals_are_close_to_measured_ones(name: str) -> None:
    epochs, arrivals = errors(name)
    assert median(epochs) < 0.010
    assert at(0.9, epochs) < 0.025
    assert epochs[-1] < 0.10
    assert median(arrivals) < 0.02
    assert at(0.9, arrivals) < 0.04
