"""A pipeline as a whole program for this package."""

import re
from typing import Any

from lessonkit.code.expression import TUNED, Expression, laid_out
from lessonkit.code.functions import Functions
from lessonkit.engine.node import Node

NAMES = (  # of this package, that a program may use
    "AUTOTUNE", "ArtificialDataset", "DataLoader", "Dataset", "Handling", "benchmark", "get_worker_info",
    "per_sample", "straggler", "work",
)  # fmt: skip


class Program(Expression):
    """Writes calls with functions and values in full."""

    def __init__(self) -> None:
        self.functions = Functions({*NAMES}, dict.fromkeys([*NAMES, "dataset"]))

    def argument(self, name: str, value: Any) -> str:
        return super().argument(name, value) if name in TUNED else self.functions.text(value)


def program(node: Node, num_epochs: int, name: str, step: Any) -> tuple[str, str]:
    """Write the pipeline, and the whole program. What is used twice is written twice, each with its cache."""
    writer = Program()
    chain = laid_out(writer.calls(node))
    run = f"print(benchmark(dataset, num_epochs={num_epochs}, {name}={writer.argument(name, step)}))"
    body = "\n\n".join([*writer.functions.definitions.values(), f"{chain}\n{run}"])
    used = [name for name in NAMES if re.search(rf"\b{name}\b", body)]
    imports = [*sorted(writer.functions.imports), f"from lessonkit import {', '.join(used)}"]
    return chain, "\n".join([*imports, "", body, ""])
