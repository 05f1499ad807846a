"""The programs of TensorFlow's guide to input pipelines, run cell by cell, and what they see."""

import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

BENCHMARKS = ("benchmark", "fast_benchmark", "timelined_benchmark")
# Elements of an epoch; of a longer one the first and the last, and a sum over all
SHORT = 12


def run() -> dict[str, list[Any]]:
    """What the training loop of each cell got, by epochs. A test says what `import tensorflow` gives."""
    seen: dict[str, list[Any]] = {}
    namespace: dict[str, Any] = {}
    text = (Path(__file__).parent / "data" / "guide_programs.txt").read_text()
    cells = re.split(r"^# %% (.*)\n", text, flags=re.MULTILINE)[1:]
    for title, cell in zip(cells[::2], cells[1::2], strict=True):
        exec(compile(cell, title, "exec"), namespace)
        for name in BENCHMARKS:
            if name in namespace and not isinstance(namespace[name], Watching):
                namespace[name] = Watching(namespace[name])
            if name in namespace and namespace[name].epochs:
                seen[title], namespace[name].epochs = (
                    [*map(summary, namespace[name].epochs)],
                    [],
                )
    return seen


class Watching:
    """A training loop whose elements are taken down."""

    def __init__(self, loop: Callable[..., Any]) -> None:
        self.loop = loop
        self.epochs: list[list[Any]] = []

    def __call__(self, dataset: Any, *options: Any) -> Any:
        self.dataset = dataset
        return self.loop(self, *options)

    def __iter__(self) -> Iterator[Any]:
        epoch: list[Any] = []
        self.epochs.append(epoch)
        for element in self.dataset:
            epoch.append(plain(element))
            yield element


def plain(element: Any) -> Any:
    """An element as JSON has it; of measured ones what does not depend on the run."""
    if isinstance(element, tuple):
        steps, times, values = (np.asarray(part) for part in element)
        names = [name.decode() if isinstance(name, bytes) else name for name in steps.flat]
        return [names, list(steps.shape), list(times.shape), values[..., 2].tolist()]
    return np.asarray(element).tolist()


def summary(epoch: list[Any]) -> Any:
    if len(epoch) <= SHORT:
        return epoch
    return {
        "count": len(epoch),
        "first": epoch[0],
        "last": epoch[-1],
        "crc32": zlib.crc32(repr(epoch).encode()),
    }
