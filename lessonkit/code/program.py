"""A pipeline as a whole program for this package."""

from __future__ import annotations

import ast
import re
from typing import Any

from lessonkit.code.expression import calls, laid_out, text
from lessonkit.code.functions import Functions
from lessonkit.engine.node import Node, walk

NAMES = (  # of this package, that a program may use
    "AUTOTUNE", "ArtificialDataset", "Dataset", "benchmark", "jitter", "per_sample", "straggler", "work",
)  # fmt: skip
STUBS = {"predicate": "True", "map_func": "args[0]", "generator": "args"}  # what stubs return
DATA = ("", "values", "args", "output_signature")


def program(node: Node, num_epochs: int, name: str, step: Any) -> str:
    """The whole program. What is used twice is written twice, with a cache of its own each."""
    functions = Functions({*NAMES}, {*NAMES, "dataset"})
    openers = [part.arguments["map_func"] for part in walk(node) if part.method in ("flat_map", "interleave")]

    def say(name: str, value: Any) -> str:
        if name in DATA:
            return ast.unparse(functions.value(name or "value", value))
        if callable(value):
            is_opener = any(value is opener for opener in openers)
            return functions.text(value, "Dataset.range(0)" if is_opener else STUBS.get(name, "0"))
        return text(name, value)

    chain = laid_out(calls(node, say))
    run = f"print(benchmark(dataset, num_epochs={num_epochs}, {name}={say(name, step)}))"
    body = "\n\n".join([*functions.definitions.values(), f"{chain}\n{run}"])
    used = [name for name in NAMES if re.search(rf"\b{name}\b", body)]
    return "\n".join([*sorted(functions.imports), f"from lessonkit import {', '.join(used)}", "", body, ""])
