"""A pipeline as one expression, as `repr` shows it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from lessonkit.check import AUTOTUNE
from lessonkit.engine.costs import jitter, per_sample, straggler
from lessonkit.engine.node import METHODS, Node

TUNED = ("num_parallel_calls", "cycle_length", "buffer_size")  # where -1 means AUTOTUNE
DEFAULTS = {"block_length": 1, "deterministic": True}  # where the signature says None
NAMED = ("num_parallel_calls", "deterministic")  # as everybody writes them
SHOWN = 20  # of a list, so many values
LONG = 88  # characters; a longer pipeline has a line for each call

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
    if callable(value) and not isinstance(value, (per_sample, jitter, straggler)):
        return str(getattr(value, "__name__", type(value).__name__))
    return repr(value)


def calls(node: Node, say: Say) -> list[str]:
    """The text call by call."""
    chain = [node]
    while chain[-1].inputs and chain[-1].method != "zip":
        chain.append(chain[-1].inputs[0])
    texts = [f"{part.method}({', '.join(parameters(part, say))})" for part in reversed(chain)]
    begin = "" if chain[-1].method == "ArtificialDataset" else "Dataset."
    return [begin + texts[0], *(f".{call}" for call in texts[1:])]


def parameters(node: Node, say: Say) -> list[str]:
    """The arguments that are not what they are by default."""
    inputs = node.inputs if node.method == "zip" else node.inputs[1:]
    texts = ["".join(calls(part, say)) for part in inputs]
    if node.method == "zip" and len(texts) == 1:
        texts = [f"({texts[0]},)"]
    in_place = True
    named: dict[str, str] = {}
    for name, parameter in inspect.signature(METHODS[node.method]).parameters.items():
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
            if in_place and parameter.kind is not parameter.KEYWORD_ONLY and name not in NAMED:
                texts.append(shown)
            else:
                named[name] = f"{name}={shown}"
    return texts + [named[name] for name in node.arguments if name in named]


def laid_out(chain: list[str]) -> str:
    """An assignment of a chain of calls."""
    whole = f"dataset = {''.join(chain)}"
    return whole if len(whole) <= LONG else "\n    ".join(["dataset = (", *chain]) + "\n)"
