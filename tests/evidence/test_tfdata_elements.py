"""The elements, their order and the places of errors are those of real tf.data."""

import math
from typing import Any

import pytest

from evidence import tfdata_cases as tfdata
from evidence.errors import TFDATA_ELEMENTS
from evidence.tfdata_cases import OutsideError, PlannedError
from lessonkit.engine.node import NodeStates, cardinality

CARDINALITIES = {-1: math.inf, -2: None}
CASES = [
    case
    for name in TFDATA_ELEMENTS
    for case in tfdata.cases(name)
    if case["id"] != "take_while: after a shuffle"  # how many depends on the order
]


def built(case: dict[str, Any]) -> Any:
    try:
        return tfdata.build(case["pipeline"])
    except OutsideError as operator:
        pytest.skip(f"{operator} is outside this project")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_elements_are_those_of_tf_data(case: dict[str, Any]) -> None:
    measured = case["measured"]
    if "epochs" not in measured:
        assert "when the data set is built" in measured["raised"]
        with pytest.raises((ValueError, TypeError)):
            built(case)
        return
    dataset = built(case)
    states = NodeStates(fixed_seed=True)
    if measured.get("cardinality", -5) >= -2:  # tf.data says -5 of take(-5)
        assert cardinality(dataset.node) == CARDINALITIES.get(
            measured["cardinality"], measured["cardinality"]
        )
    passes = [tfdata.sequence(dataset, states) for _ in measured["epochs"]]
    if "sequence" in measured and "shuffle" not in str(case):
        assert passes[0] == [expected(result) for result in measured["sequence"]]
    elif "shuffle" in str(case):
        check_shuffled(case, passes)
    elif "multiset" in case.get("expect", {}):
        assert sorted(passes[0][:-1]) == case["expect"]["multiset"]
    else:
        assert [values[:-1] for values in passes] == measured["epochs"]


def expected(result: dict[str, Any]) -> Any:
    return "end" if "end" in result else PlannedError if "error" in result else result["v"]


def check_shuffled(case: dict[str, Any], passes: list[list[Any]]) -> None:
    """The order is another generator's; what rules it obeys is not."""
    for values, theirs in zip(passes, case["measured"]["epochs"], strict=True):
        assert sorted(
            value for value in values[:-1] if value is not PlannedError
        ) == sorted(theirs)
    first = passes[0][:-1]
    rules = case.get("expect", {})
    if "sequence" in case["measured"]:
        places = [
            index
            for index, result in enumerate(case["measured"]["sequence"])
            if "error" in result
        ]
        assert [
            index for index, value in enumerate(first) if value is PlannedError
        ] == places
    if "displacement_bound" in rules:
        assert all(
            value <= place + rules["displacement_bound"] - 1
            for place, value in enumerate(first)
        )
    if "epochs_equal" in rules:
        assert (passes[0] == passes[1]) is rules["epochs_equal"]
    if "halves_equal" in rules:
        half = len(first) // 2
        assert (first[:half] == first[half:]) is rules["halves_equal"]
    if "blocks_are_permutations_of" in rules:
        size = rules["blocks_are_permutations_of"]
        blocks = [
            sorted(first[start : start + size]) for start in range(0, len(first), size)
        ]
        assert all(block == list(range(size)) for block in blocks)
