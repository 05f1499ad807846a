"""The virtual clock predicts how long real tf.data takes."""

from statistics import median
from typing import Any

import pytest

from evidence import tfdata_cases as tfdata
from evidence.errors import TFDATA_TIMES, of_tfdata, tfdata_run

CASES = [case for name in TFDATA_TIMES for case in tfdata.cases(name)]
FREE = ("shuffle", "'deterministic': False")  # what leaves the order to chance


def has_fixed_order(case: dict[str, Any]) -> bool:
    return not any(word in str(case["pipeline"]) for word in FREE)


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if has_fixed_order(case)],
    ids=lambda case: case["pipeline"]["name"],
)
def test_order_is_that_of_tf_data(case: dict[str, Any]) -> None:
    epochs = tfdata_run(case).epochs
    assert [tfdata.plain(epoch.elements) for epoch in epochs] == [
        epoch["elements"] for epoch in case["epochs"]
    ]


def at(share: float, values: list[float]) -> float:
    return values[int(share * (len(values) - 1))]


@pytest.mark.parametrize("name", TFDATA_TIMES)
def test_epoch_times_and_arrivals_are_close_to_measured_ones(name: str) -> None:
    epochs, arrivals = of_tfdata(name)
    assert median(epochs) < 0.010
    assert at(0.9, epochs) < 0.025
    assert epochs[-1] < 0.10
    assert median(arrivals) < 0.02
    assert at(0.9, arrivals) < 0.04
