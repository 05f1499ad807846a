"""A pipeline as the program text that builds it."""

from __future__ import annotations

import dataclasses
from typing import Any

from lessonkit.check import AUTOTUNE
from lessonkit.operators.base import Node

TUNED = ("num_parallel_calls", "cycle_length", "buffer_size")  # where -1 means AUTOTUNE
SHOWN = 20  # of a list, so many values


def code(node: Node) -> str:
    """The program text that builds *node*; a function appears as its name."""
    call = f"{node.method}({', '.join(_arguments(node))})"
    if node.method == "ArtificialDataset":
        return call
    before = code(node.inputs[0]) if hasattr(node, "input") else "Dataset"
    return f"{before}.{call}"


def _arguments(node: Node) -> list[str]:
    """The arguments that are not what they are by default."""
    texts, in_place = [], True
    for field in dataclasses.fields(node):
        value = getattr(node, field.name)
        if field.name == "input":
            continue
        if field.default is not dataclasses.MISSING and value == field.default:
            in_place = False  # what comes after has to say its name
        elif isinstance(value, range):
            texts += [str(number) for number in _range(value)]
        elif field.name in ("args", "parts"):  # given one by one
            texts += [text(part) for part in value]
        else:
            shown = "AUTOTUNE" if field.name in TUNED and value == AUTOTUNE else text(value)
            texts.append(shown if in_place and not field.kw_only else f"{field.name}={shown}")
    return texts


def _range(numbers: range) -> list[int]:
    if numbers.step != 1:
        return [numbers.start, numbers.stop, numbers.step]
    return [numbers.start, numbers.stop] if numbers.start else [numbers.stop]


def text(value: Any) -> str:
    """A value as code: a node as what builds it, a function as its name."""
    if isinstance(value, Node):
        return code(value)
    if isinstance(value, tuple):  # the values of from_list
        values = [text(part) for part in value[:SHOWN]] + ["..."] * (len(value) > SHOWN)
        return f"[{', '.join(values)}]"
    if callable(value) and not dataclasses.is_dataclass(value):
        return str(getattr(value, "__name__", type(value).__name__))
    return repr(value)
