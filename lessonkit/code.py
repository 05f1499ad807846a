"""A pipeline as the program text that builds it."""

from __future__ import annotations

import inspect
from typing import Any

from lessonkit import dataset
from lessonkit.check import AUTOTUNE
from lessonkit.node import Node

TUNED = ("num_parallel_calls", "cycle_length", "buffer_size")  # where -1 means AUTOTUNE
DEFAULTS = {"block_length": 1}  # where the signature says None
SHOWN = 20  # of a list, so many values


def code(node: Node) -> str:
    """The program text that builds *node*; a function appears as its name."""
    if node.method == "ArtificialDataset":
        return f"ArtificialDataset({', '.join(_arguments(node, dataset.ArtificialDataset))})"
    method = getattr(dataset.Dataset, node.method)
    before = code(node.inputs[0]) if node.inputs and node.method != "zip" else "Dataset"
    return f"{before}.{node.method}({', '.join(_arguments(node, method))})"


def _arguments(node: Node, method: Any) -> list[str]:
    """The arguments that are not what they are by default."""
    if node.method == "zip":
        return [code(part) for part in node.inputs]
    texts = [code(part) for part in node.inputs[1:]]
    in_place = True
    for name, parameter in inspect.signature(method).parameters.items():
        if name not in node.arguments:  # self, or an input
            continue
        value = node.arguments[name]
        if parameter.kind is parameter.VAR_POSITIONAL:  # given one by one
            texts += [text(part) for part in value]
        elif value is parameter.default or (
            isinstance(value, (int, float)) and value == DEFAULTS.get(name, parameter.default)
        ):
            in_place = False  # what comes after has to say its name
        else:
            value = list(value) if name == "values" else value
            shown = "AUTOTUNE" if name in TUNED and value == AUTOTUNE else text(value)
            named = parameter.kind is parameter.KEYWORD_ONLY or not in_place
            texts.append(f"{name}={shown}" if named else shown)
    return texts


def text(value: Any) -> str:
    """A value as code: a function as its name, a long list by its beginning."""
    if isinstance(value, list):
        return f"[{', '.join([text(part) for part in value[:SHOWN]] + ['...'] * (len(value) > SHOWN))}]"
    if callable(value) and type(value).__module__ != "lessonkit.work":
        return str(getattr(value, "__name__", type(value).__name__))
    return repr(value)
