"""The programs of TensorFlow's guide to input pipelines, run cell by cell, and what they see.

They say `import tensorflow` themselves, so a test can run them with something else of that name.
"""

import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from evidence.record import DATA, Case, Conditions

BENCHMARKS = ("benchmark", "fast_benchmark", "timelined_benchmark")
# Elements of an epoch; of a longer one the first and the last, and a sum over all
SHORT = 12


def measure(cases: Iterable[Case], conditions: Conditions) -> Iterator[Case]:
    """Run the whole guide, and give each cell's epochs."""
    seen = run()
    for case in cases:
        yield case | {"epochs": seen[case["title"]]}


def run() -> dict[str, list[Any]]:
    """Return what the training loop of each cell got, by epochs."""
    seen: dict[str, list[Any]] = {}
    namespace: dict[str, Any] = {}
    text = (DATA / "tfdata_guide_programs.txt").read_text(encoding="utf-8")
    cells = re.split(r"^# %% (.*)\n", text, flags=re.MULTILINE)[1:]
    for title, cell in zip(cells[::2], cells[1::2], strict=True):
        exec(compile(cell, title, "exec"), namespace)
        for name in BENCHMARKS:
            if name in namespace and not isinstance(namespace[name], Watching):
                namespace[name] = Watching(namespace[name])
            if name in namespace and namespace[name].epochs:
                seen[title] = [*map(summary, namespace[name].epochs)]
                namespace[name].epochs = []
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
    """Return an epoch, or if it is long its ends, and a sum over all."""
    if len(epoch) <= SHORT:
        return epoch
    return {
        "count": len(epoch),
        "first": epoch[0],
        "last": epoch[-1],
        "crc32": zlib.crc32(repr(epoch).encode()),
    }
