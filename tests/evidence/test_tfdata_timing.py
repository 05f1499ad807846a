"""The virtual clock predicts how long real tf.data takes."""

from statistics import median
from typing import Any

import pytest

from evidence import tfdata_cases as tfdata
from evidence.errors import TFDATA_TIMES, of_run, of_tfdata, tfdata_run

OPERATORS = tfdata.cases("tfdata_operator_timings")
REWRITES = tfdata.cases("tfdata_rewrite_timings")
CASES = [*OPERATORS, *(case for name in TFDATA_TIMES for case in tfdata.cases(name))]
# tf.data waits for the calls in progress when an epoch ends before its input; ours end at once
WAITS_FOR_CALLS = ("prefetch, take_while", "parallel map, take_while")
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


@pytest.mark.parametrize("case", OPERATORS, ids=lambda case: case["pipeline"]["name"])
def test_operators_take_as_long_as_those_of_tf_data(case: dict[str, Any]) -> None:
    epochs, arrivals = of_run(tfdata_run(case), case["epochs"])
    assert max(arrivals) < 0.05
    if case["pipeline"]["name"] not in WAITS_FOR_CALLS:
        assert max(epochs) < 0.04


@pytest.mark.parametrize("case", REWRITES, ids=lambda case: case["pipeline"]["name"])
def test_rewritten_pipelines_take_as_long_as_those_of_tf_data(case: dict[str, Any]) -> None:
    rules = case["pipeline"]["rewrites"]
    trace = tfdata_run(case, rules)
    epochs, arrivals = of_run(trace, case["epochs"])
    assert max(epochs) < 0.05
    assert max(arrivals) < 0.05
    if rules != ["shuffle_and_repeat_fusion"]:  # whose order is of another generator
        assert [tfdata.plain(epoch.elements) for epoch in trace.epochs] == [
            epoch["elements"] for epoch in case["epochs"]
        ]
    as_written, _ = of_run(tfdata_run(case), case["as_written"])
    assert max(as_written) < 0.05
