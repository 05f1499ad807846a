"""The program text of a loader gives on real PyTorch what the loader gives here."""

import json
from typing import Any

import pytest
import torch_programs

from lessonkit import benchmark

MEASURED: dict[str, Any] = json.loads(torch_programs.FILE.read_text())
LOADERS = torch_programs.loaders()


def test_every_loader_was_run() -> None:
    assert list(MEASURED) == list(LOADERS)


@pytest.mark.parametrize("name", LOADERS)
def test_program_is_the_one_that_ran_on_pytorch(name: str) -> None:
    assert LOADERS[name].code("torch") == MEASURED[name]["program"]


@pytest.mark.parametrize("name", LOADERS)
def test_batches_are_those_of_pytorch(name: str) -> None:
    epochs = benchmark(LOADERS[name], num_epochs=2, keep=True).epochs
    assert [torch_programs.plain(epoch.elements) for epoch in epochs] == MEASURED[name]["epochs"]
