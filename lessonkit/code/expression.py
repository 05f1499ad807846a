"""A pipeline as one expression, as `repr` shows it."""

import inspect
from typing import Any

from lessonkit.check import AUTOTUNE
from lessonkit.engine.costs import per_sample, straggler
from lessonkit.engine.node import METHODS, Node
from lessonkit.engine.storage import Read

TUNED = ("num_parallel_calls", "cycle_length", "buffer_size")  # where -1 means AUTOTUNE
DEFAULTS = {"block_length": 1, "deterministic": True}  # where the signature says None
AROUND = ("zip", "DataLoader")  # their inputs are arguments
SHOWN = 20  # of a list, so many values
LONG = 88  # characters; a longer pipeline has a line for each call


def code(node: Node) -> str:
    """Return the expression that builds *node*; a function appears as its name."""
    return "".join(Expression().calls(node))


class Expression:
    """Write a pipeline; what writes it in another language or as a whole program goes on from here."""

    begin = "Dataset."

    def calls(self, node: Node) -> list[str]:
        """Write *node* call by call."""
        chain = [node]
        while chain[-1].inputs and chain[-1].method not in AROUND:
            chain.append(chain[-1].inputs[0])
        first, *others = [call for part in reversed(chain) for call in self.own(part)]
        begin = "" if first.startswith(("ArtificialDataset", "DataLoader")) else self.begin
        return [begin + first, *(f".{call}" for call in others)]

    def own(self, node: Node) -> list[str]:
        """Write the calls that *node* adds to its input."""
        return [f"{node.method}({', '.join(self.parameters(node))})"]

    def parameters(self, node: Node) -> list[str]:
        """Write the arguments of *node* that are not what they are by default: the first in its place."""
        inputs = node.inputs if node.method in AROUND else node.inputs[1:]
        texts = ["".join(self.calls(part)) for part in inputs]
        if node.method == "zip" and len(texts) == 1:
            texts = [f"({texts[0]},)"]
        parameters = inspect.signature(METHODS[node.method]).parameters
        first = next((name for name in parameters if name != "self"), "")
        for name, value in node.arguments.items():
            if name not in parameters:  # nobody but a rule gives it
                continue
            # Given one by one
            if parameters[name].kind is inspect.Parameter.VAR_POSITIONAL:
                texts += [self.argument("", part) for part in value]
            elif not is_usual(value, DEFAULTS.get(name, parameters[name].default)):
                texts.append(f"{name}=" * (name != first) + self.argument(name, value))
        return texts

    def argument(self, name: str, value: Any) -> str:
        """Write the value of an argument: a function as its name, a long list by its beginning."""
        if name in TUNED and value == AUTOTUNE:
            return "AUTOTUNE"
        if isinstance(value, tuple):
            return f"({', '.join(self.argument('', part) for part in value)})"
        if isinstance(value, list):
            parts = [self.argument("", part) for part in value[:SHOWN]] + ["..."] * (
                len(value) > SHOWN
            )
            return f"[{', '.join(parts)}]"
        if isinstance(value, (per_sample, straggler, Read)):
            return repr(value)
        if callable(value):
            return str(getattr(value, "__name__", type(value).__name__))
        return repr(plain(value))


def is_usual(value: Any, default: Any) -> bool:
    """Whether *value* is the *default*; an array compares with nothing."""
    return value is default or (isinstance(value, (int, float)) and bool(value == default))


def plain(value: Any) -> Any:
    """Return a number of NumPy as Python's own; anything else as it is."""
    is_one = type(value).__module__ == "numpy" and getattr(value, "shape", None) == ()
    return value.item() if is_one and value.dtype.kind in "biufcSU" else value


def laid_out(chain: list[str]) -> str:
    """Return an assignment of a chain of calls."""
    whole = f"dataset = {''.join(chain)}"
    return whole if len(whole) <= LONG else "\n    ".join(["dataset = (", *chain]) + "\n)"
