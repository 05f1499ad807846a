"""A pipeline as the program text that builds it: one expression for `repr`, or a whole program."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

from lessonkit import dataset
from lessonkit.check import AUTOTUNE
from lessonkit.code.functions import Functions
from lessonkit.node import Node

TUNED = ("num_parallel_calls", "cycle_length", "buffer_size")  # where -1 means AUTOTUNE
DEFAULTS = {"block_length": 1}  # where the signature says None
SHOWN = 20  # of a list, so many values
LONG = 88  # characters; a longer pipeline has a line for each call
STUBS = {"predicate": "True", "fn": "args[0]", "map_func": "Dataset.range(0)"}  # what stubs return

Say = Callable[[str, Any], str]  # how the value of an argument appears


def code(node: Node) -> str:
    """The program text that builds *node*; a function appears as its name."""
    return "".join(calls(node, text))


def text(name: str, value: Any) -> str:
    """A value as code: a function as its name, a long list by its beginning."""
    if name in TUNED and value == AUTOTUNE:
        return "AUTOTUNE"
    if isinstance(value, list):
        return f"[{', '.join([text('', part) for part in value[:SHOWN]] + ['...'] * (len(value) > SHOWN))}]"
    if callable(value) and type(value).__module__ != "lessonkit.work":
        return str(getattr(value, "__name__", type(value).__name__))
    return repr(value)


def calls(node: Node, say: Say) -> list[str]:
    """The text call by call."""
    before = calls(node.inputs[0], say) if node.inputs and node.method != "zip" else []
    call = f"{node.method}({', '.join(parameters(node, say))})"
    if before:
        return [*before, f".{call}"]
    return [call if node.method == "ArtificialDataset" else f"Dataset.{call}"]


def parameters(node: Node, say: Say) -> list[str]:
    """The arguments that are not what they are by default."""
    inputs = node.inputs if node.method == "zip" else node.inputs[1:]
    texts = ["".join(calls(part, say)) for part in inputs]
    method = getattr(dataset.Dataset, node.method, dataset.ArtificialDataset)
    in_place = True
    for name, parameter in inspect.signature(method).parameters.items():
        if name not in node.arguments:  # self, an input, or what another has written
            in_place = in_place and name == "self"
            continue
        value = node.arguments[name]
        if parameter.kind is parameter.VAR_POSITIONAL:  # given one by one
            texts += [say("", part) for part in value]
        elif value is parameter.default or (
            isinstance(value, (int, float)) and value == DEFAULTS.get(name, parameter.default)
        ):
            in_place = False  # what comes after has to say its name
        else:
            shown = say(name, list(value) if name == "values" else value)
            named = parameter.kind is parameter.KEYWORD_ONLY or not in_place
            texts.append(f"{name}={shown}" if named else shown)
    return texts


def program(node: Node, train: Any, num_epochs: int) -> str:
    """The whole program. What is used twice is written twice, with a cache of its own each."""
    names = import_module("lessonkit").__all__
    functions = Functions({*names}, {*names, "dataset"})

    def say(name: str, value: Any) -> str:
        if callable(value):
            return functions.text(value, STUBS.get(name, "0"))
        is_data = name in ("", "values")
        return ast.unparse(functions.value(name or "value", value)) if is_data else text(name, value)

    chain = laid_out(calls(node, say))
    run = f"print(benchmark(dataset, num_epochs={num_epochs}, train={say('train', train)}))"
    body = "\n\n".join([*functions.definitions.values(), f"{chain}\n{run}"])
    used = [name for name in names if re.search(rf"\b{name}\b", body)]
    return "\n".join([*sorted(functions.imports), f"from lessonkit import {', '.join(used)}", "", body, ""])


def laid_out(chain: list[str]) -> str:
    """An assignment of a chain of calls."""
    whole = f"dataset = {''.join(chain)}"
    return whole if len(whole) <= LONG else "\n    ".join(["dataset = (", *chain]) + "\n)"
