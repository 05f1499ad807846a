"""The rules of `rewrite` find what those of tf.data find, and the elements are those of tf.data."""

from typing import Any

import pytest

from evidence import tfdata_cases as tfdata
from evidence.tfdata_cases import PlannedError
from lessonkit import Dataset
from lessonkit.engine.node import NodeStates, cardinality, walk
from lessonkit.optimize import RULES, rewrite

CASES = tfdata.cases("tfdata_rewrite_elements")
# What tf.data's operators are called here; a fused map and filter is three of them
NAMES = {
    ("Map", "Filter", "Map"): ("map_and_filter",),
    ("Map",): ("map",),
    ("ParallelMapV2",): ("parallel map",),
    ("Filter",): ("filter",),
    ("MapAndBatch",): ("map_and_batch",),
    ("BatchV2",): ("batch",),
    ("ParallelBatch",): ("parallel batch",),
    ("ShuffleAndRepeat",): ("shuffle_and_repeat",),
    ("FiniteRepeat",): ("repeat",),
    ("FiniteTake",): ("take",),
    ("Prefetch",): ("prefetch",),
    ("MemoryCacheImpl",): ("cache",),
}
# What ours makes where it does something else
OTHERWISE = {
    # It makes nothing ahead
    "noop_elimination: prefetch(0) is left": [],
    # A cost is no state
    "map_parallelization: one that sleeps has a state and is left": ["parallel map"],
    # Where tf.data raises an error, ours leaves the two as they are
    "shuffle_and_repeat_fusion: buffer of 1, 0 times": ["shuffle", "repeat"],
    "shuffle_and_repeat_fusion: buffer of 3, 0 times": ["shuffle", "repeat"],
    "shuffle_and_repeat_fusion: buffer of 7, 0 times": ["shuffle", "repeat"],
    "shuffle_and_repeat_fusion: buffer of 20, 0 times": ["shuffle", "repeat"],
}


def case_of(case: dict[str, Any]) -> str:
    return str(case["id"])


def rewritten(case: dict[str, Any]) -> Dataset:
    assert case["rewrite"] in RULES
    return rewrite(tfdata.build(case["pipeline"]), [case["rewrite"]]).dataset


def operators_of(dataset: Dataset) -> list[str]:
    """The operators after the source, those with parallel calls as such."""
    _, *nodes = walk(dataset.node)
    names = []
    for node in nodes:
        calls = node.arguments.get("num_parallel_calls")
        is_parallel = node.method in ("map", "batch") and calls is not None
        names.append(f"parallel {node.method}" if is_parallel else node.method)
    return names


def named(operators: list[str]) -> list[str]:
    """tf.data's *operators* by the names that they have here."""
    names: list[str] = []
    while operators:
        row = next(
            row
            for row in NAMES
            if tuple(operators[: len(row)]) == row  # the longest first
        )
        names += NAMES[row]
        operators = operators[len(row) :]
    return names


@pytest.mark.parametrize("case", CASES, ids=case_of)
def test_a_rule_finds_what_that_of_tf_data_finds(case: dict[str, Any]) -> None:
    theirs = named(case["rewritten"]["operators"])
    expected = OTHERWISE.get(case["id"], theirs)
    assert operators_of(rewritten(case)) == expected
    assert case["id"] not in OTHERWISE or expected != theirs


@pytest.mark.parametrize("case", CASES, ids=case_of)
def test_rewritten_elements_are_those_of_tf_data(case: dict[str, Any]) -> None:
    measured = case["rewritten"]
    if "raised" in measured and "sequence" not in measured:
        measured = case["measured"]  # of zero passes
    dataset = rewritten(case)
    states = NodeStates(fixed_seed=True)
    passes = [tfdata.sequence(dataset, states) for _ in measured["epochs"]]
    sequence = [
        "end" if "end" in one else PlannedError if "error" in one else one["v"]
        for one in measured.get("sequence", ())
    ]
    if "shuffle" in case["rewrite"]:
        as_written = tfdata.build(case["pipeline"])
        states = NodeStates(fixed_seed=True)
        if not sequence:  # an error of the next pass comes earlier
            assert passes == [tfdata.sequence(as_written, states) for _ in passes]
        assert sum(one is PlannedError for one in passes[0]) == sequence.count(PlannedError)
        assert [len(values) - 1 for values in passes] == [
            len(epoch) + sequence.count(PlannedError) for epoch in measured["epochs"]
        ]
    elif sequence:
        assert passes[0] == sequence
    else:
        assert [values[:-1] for values in passes] == measured["epochs"]
    if measured["cardinality"] >= 0:
        assert cardinality(dataset.node) == measured["cardinality"]
