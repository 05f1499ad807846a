"""What a worker that is not forked could not import is told before it is tried."""

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from databound.measure.sendable import refuse_unsendable


class Images:
    """A dataset of a module."""


def loader_of(dataset: Any, context: str, collate_fn: Any = None) -> Any:
    return SimpleNamespace(
        dataset=dataset, multiprocessing_context=context, collate_fn=collate_fn
    )


@pytest.fixture
def main(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A main module without a file, as a notebook has it."""
    module = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", module)
    return module


def of_main(name: str) -> Any:
    return type(name, (), {"__module__": "__main__"})


def test_a_class_of_a_notebook_is_refused_unless_workers_are_forked(
    main: ModuleType,
) -> None:
    dataset = of_main("Pictures")()
    for method in ("spawn", "forkserver"):
        with pytest.raises(
            RuntimeError, match=r"Pictures is of this notebook, .* \.py file"
        ):
            refuse_unsendable(loader_of(dataset, method))
        subset = SimpleNamespace(dataset=dataset)
        with pytest.raises(RuntimeError, match="Pictures is of this notebook"):
            refuse_unsendable(loader_of(subset, method))
    refuse_unsendable(loader_of(dataset, "fork"))
    refuse_unsendable(loader_of(Images(), "spawn"))


def test_a_function_of_a_notebook_is_refused_too(main: ModuleType) -> None:
    def collate(samples: Any) -> Any:
        return samples

    collate.__module__ = "__main__"
    with pytest.raises(RuntimeError, match="collate is of this notebook"):
        refuse_unsendable(loader_of(Images(), "spawn", collate))


def test_a_script_that_would_train_in_each_worker_is_refused(
    main: ModuleType, tmp_path: Path
) -> None:
    script = tmp_path / "train.py"
    main.__file__ = str(script)
    script.write_text("train()", "utf-8")
    with pytest.raises(RuntimeError, match=r"runs train\.py again, and would train"):
        refuse_unsendable(loader_of(Images(), "forkserver"))
    refuse_unsendable(loader_of(Images(), "fork"))
    script.write_text("if __name__ == '__main__': train()", "utf-8")
    refuse_unsendable(loader_of(of_main("Pictures")(), "forkserver"))
