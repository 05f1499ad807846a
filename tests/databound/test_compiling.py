"""That a compiler is at work is told, so that nobody takes it for a command that hangs."""

import io
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any
from unittest.mock import patch

import pytest

from databound.door import Compiles
from databound.progress import Progress
from databound.script.compiling import TELLS, compiling_noted


class Handler:
    """What PyTorch has for those who want to know when it compiles."""

    def __init__(self) -> None:
        self.start_callbacks = list[Callable[..., None]]()

    def register_start_callback(self, callback: Callable[..., None]) -> None:
        self.start_callbacks.append(callback)

    def remove_start_callback(self, callback: Callable[..., None]) -> None:
        self.start_callbacks.remove(callback)

    def begin(self) -> None:
        for each in self.start_callbacks:
            each("0/0")


@pytest.mark.parametrize("is_emptied", [False, True])
def test_a_compiler_is_heard_in_the_block_and_not_afterwards(is_emptied: bool) -> None:
    module: Any = ModuleType(TELLS)
    module.callback_handler = handler = Handler()
    began = list[str]()
    with patch.dict(sys.modules, {TELLS: module}):
        with compiling_noted(lambda: began.append("begins")):
            handler.begin()
            handler.begin()
            if is_emptied:
                handler.start_callbacks.clear()
        handler.begin()
    assert began == ["begins", "begins"]


def test_a_compiler_is_told_until_the_first_step_and_once_more() -> None:
    written = io.StringIO()
    progress = Progress(written)
    compiles = Compiles(progress)
    progress.begin("train.py runs ...")
    compiles()
    compiles()
    compiles.trains = True
    progress.end("61 s")
    compiles()
    compiles()
    assert written.getvalue().splitlines() == [
        "train.py runs ...",
        "    torch.compile is at work, which may take minutes ... 61 s",
        "torch.compile is at work again, as for another number of threads or batches of another size; "
        "that time is not counted",
    ]


def test_pytorchs_own_compiler_is_heard() -> None:
    torch = pytest.importorskip("torch")
    began = list[str]()
    with compiling_noted(lambda: began.append("begins")):
        compiled = torch.compile(lambda values: values + 1, backend="eager")
        assert began == []
        assert compiled(torch.ones(2)).tolist() == [2, 2]
        assert began == ["begins"]
        compiled(torch.ones(2))
    assert began == ["begins"]
