"""Batches, their order and errors are those of PyTorch's DataLoader."""

import re
from typing import Any

import pytest

from evidence import torch_cases

CASES = torch_cases.cases("measured", "torch_elements")
PID = re.compile(r"worker \(pid\(s\) \d+\)|worker \d+")


def plain(sequence: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What `next` did; the number of a process that died is nobody's."""
    return [
        step | {"error": step["error"] | {"msg": PID.sub("worker", step["error"]["msg"])}}
        if "error" in step
        else step
        for step in sequence
    ]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["spec"]["name"])
def test_elements_are_those_of_pytorch(case: dict[str, Any]) -> None:
    spec = case["spec"]
    measured = case["measured"]
    epochs = measured.get("epochs", [])
    if "build_error" in measured:
        with pytest.raises(Exception) as caught:
            torch_cases.loader(spec, epochs, measured_start=False)
        assert type(caught.value).__name__ == measured["build_error"]["type"]
        return
    loader = torch_cases.loader(spec, epochs, measured_start=False)
    if spec["dataset"]["kind"] == "map":
        assert len(loader) == measured["len"]
    for ours, theirs in zip(torch_cases.run(spec, loader), epochs, strict=True):
        assert ours.outcome == theirs["outcome"]
        assert ours.batches == theirs["batches"]
        assert ours.worker == theirs["worker"]
        if "sequence" in theirs:
            assert plain(ours.sequence) == plain(theirs["sequence"])
        if theirs["outcome"] == "iter_error":
            assert ours.sequence[0]["error"]["type"] == theirs["error"]["type"]
