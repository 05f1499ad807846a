"""Writes a pipeline down: as the expression that `repr` shows, or as a short program.

A program is for this package, for tf.data or for PyTorch. It compiles, and a comment in it
names what still has to be defined: functions, files, long lists.
"""

import ast
import builtins
import inspect
import keyword
import re
from contextlib import suppress
from typing import Any

from lessonkit.engine.check import AUTOTUNE
from lessonkit.engine.machine import Handling, per_sample, straggler
from lessonkit.engine.node import METHODS, SCALARS, Node, loaders_in, walk
from lessonkit.engine.storage import Read

AROUND = ("zip", "DataLoader")  # whose inputs are arguments
# Operators that tf.data makes of two others, by rules of its own
FUSED = {
    "map_and_batch": ("map", "batch"),
    "map_and_filter": ("map", "filter"),
    "shuffle_and_repeat": ("shuffle", "repeat"),
}
IMPORTED = {"AUTOTUNE", "ArtificialDataset", "DataLoader", "Dataset", "Handling", "Storage",
            "per_sample", "straggler"}  # fmt: skip
# Arguments that say what a step costs here: real libraries have none of them. tf.data has a
# *start*, but that of `enumerate`
OF_PIPELINES = ("cost", "kind", "stage", "nbytes", "batches", "random")
OF_LOADERS = ("getitems", "start", "collate", "transfer", "handling")


# What a method takes for None, where that is the default: it is not written either
NONE_MEANS = {"block_length": 1, "deterministic": True}


def expression(node: Node) -> str:
    """Return the expression that builds *node*, in which functions appear by name."""
    return "".join(Expression().calls(node))


class Expression:
    """Writes a pipeline as one chain of calls."""

    begin = "Dataset."
    autotune = "AUTOTUNE"
    left_out: tuple[str, ...] = ()  # arguments that are not written
    shown = 20  # values of a list

    def calls(self, node: Node) -> list[str]:
        """Write *node* call by call, its source first."""
        chain = [node]
        while chain[-1].inputs and chain[-1].method not in AROUND:
            chain.append(chain[-1].inputs[0])
        steps = [step for part in reversed(chain) for step in self.steps(part)]
        return [call for step in steps if (call := self.call(step))]

    def steps(self, node: Node) -> tuple[Node, ...]:
        """Return the operators that are written for *node*."""
        return (node,)

    def call(self, node: Node) -> str:
        """Write the call that *node* adds to its input."""
        begin = "." if node.inputs and node.method not in AROUND else self.begin
        if node.method in ("ArtificialDataset", "DataLoader"):  # called by their own names
            begin = ""
        return f"{begin}{node.method}({', '.join(self.arguments(node))})"

    def arguments(self, node: Node) -> list[str]:
        """Write the arguments of *node* that differ from the defaults: the first in its place."""
        inputs = node.inputs if node.method in AROUND else node.inputs[1:]
        texts = ["".join(self.calls(part)) for part in inputs]
        if node.method == "zip" and len(texts) == 1:
            texts = [f"({texts[0]},)"]
        parameters = inspect.signature(METHODS[node.method]).parameters
        first = next((name for name in parameters if name != "self"), "")
        for name, value in node.arguments.items():
            if name not in parameters or name in self.left_out:  # some only a rule gives
                continue
            usual = parameters[name].default
            if usual is None:
                usual = NONE_MEANS.get(name)
            if parameters[name].kind is inspect.Parameter.VAR_POSITIONAL:
                texts += [self.argument("", part) for part in value]
            elif not is_usual(value, usual):
                text = self.argument(name, value)
                texts.append(text if name == first else f"{name}={text}")
        return texts

    def argument(self, name: str, value: Any) -> str:
        """Write the value of an argument."""
        tuned = ("num_parallel_calls", "cycle_length", "buffer_size")
        if name in tuned and value == AUTOTUNE:
            return self.autotune
        if type(value) is tuple:
            parts = [self.argument("", part) for part in value]
            return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"
        if type(value) is dict:
            parts = [f"{key!r}: {self.argument('', part)}" for key, part in value.items()]
            return f"{{{', '.join(parts)}}}"
        if isinstance(value, Read):
            return f"{value.storage!r}.read({self.argument('nbytes', value.nbytes)})"
        if isinstance(value, (per_sample, straggler, Handling)):
            return repr(value)  # the call that makes it
        return self.function(name, value) if callable(value) else self.value(name, value)

    def function(self, name: str, function: Any) -> str:
        """Write a learner's function, an argument called *name*."""
        return str(getattr(function, "__name__", type(function).__name__))

    def value(self, name: str, value: Any) -> str:
        """Write any other argument: a long list by its beginning."""
        if isinstance(value, list):
            parts = [self.argument("", part) for part in value[: self.shown]]
            if len(value) > self.shown:
                parts.append("...")
            return f"[{', '.join(parts)}]"
        return repr(plain(value))


class Program(Expression):
    """Writes a program; *missing* has all that its text names and does not define."""

    def __init__(self) -> None:
        self.missing: dict[str, Any] = {}

    def text(self, node: Node) -> str:
        """Return the program: its import, a comment that names what is missing, the pipeline."""
        body = laid_out("dataset", self.calls(node))
        names = sorted(IMPORTED & {*re.findall(r"\w+", body)})
        return self.complete(f"from lessonkit import {', '.join(names)}", body)

    def complete(self, line: str, body: str) -> str:
        """Return *body* below the import in *line*, and between them what is missing."""
        names = ", ".join(self.missing)
        comment = f"# To define: {names}.\n" if names else ""
        return f"{line}\n\n{comment}{body}"

    def name(self, wanted: str, value: Any) -> str:
        """Return a name for *value*, like *wanted*, that stands for nothing else."""
        name = wanted
        number = 1
        while (
            name in {*IMPORTED, "tf", "torch"}
            or self.missing.setdefault(name, value) is not value
        ):
            number += 1
            name = f"{wanted}_{number}"
        return name

    def function(self, name: str, function: Any) -> str:
        own = super().function(name, function)
        if vars(builtins).get(own) is function:
            return own
        return self.name(identifier(own, name or "function"), function)

    def value(self, name: str, value: Any) -> str:
        if not (isinstance(value, list) and len(value) > self.shown):
            with suppress(Exception):  # of a learner's object, too
                text = repr(plain(value))
                if ast.literal_eval(text) == value:
                    return text
        return self.name(name or "value", value)


class TensorFlow(Program):
    """Writes a program for tf.data, where files of records stand for our artificial ones."""

    begin = "tf.data.Dataset."
    autotune = "tf.data.AUTOTUNE"
    left_out = OF_PIPELINES

    def text(self, node: Node) -> str:
        if loaders_in(node):
            raise ValueError('tf.data has no DataLoader: write the program for "torch"')
        body = laid_out("dataset", self.calls(node))
        return self.complete("import tensorflow as tf", body)

    def call(self, node: Node) -> str:
        given = node.arguments
        match node.method:
            case "ArtificialDataset":
                return f"tf.data.TFRecordDataset({self.name('files', node)})"
            case "from_list":
                values = self.value("values", given["values"])
                types = {type(value) for value in given["values"]}
                if len(types) == 1 and types <= {*SCALARS}:
                    return f"{self.begin}from_tensor_slices({values})"
                return self.generator(node, f"lambda: {values}")
            case "from_generator":
                parts = [self.argument("", part) for part in given["args"] or ()]
                function = self.argument("generator", given["generator"])
                return self.generator(node, f"lambda: {function}({', '.join(parts)})")
            case "map" if given["map_func"] is None and not given["cost"]:
                return ""  # it says only how large an element is
        return super().call(node)

    def steps(self, node: Node) -> tuple[Node, ...]:
        return unfused(node) if node.method in FUSED else (node,)

    def generator(self, node: Node, function: str) -> str:
        """Write a dataset of what *function* yields; its signature only a user can know."""
        signature = self.name("signature", node)
        return f"{self.begin}from_generator({function}, output_signature={signature})"

    def arguments(self, node: Node) -> list[str]:
        texts = super().arguments(node)
        if node.method == "map" and node.arguments["map_func"] is None:
            stage = node.arguments["stage"].lower()
            wanted = "" if stage == "map" else stage
            texts.insert(0, self.name(identifier(wanted, "mapped_function"), node))
        return texts


class PyTorch(Program):
    """Writes each loader over a dataset that is to be defined, and says what comes after it."""

    left_out = (*OF_LOADERS, "generator")  # a seed, which has another form there

    def text(self, node: Node) -> str:
        loaders = loaders_in(node)
        if not loaders:
            raise ValueError('there is no DataLoader: write the program for "tf.data"')
        imports = "from torch.utils.data import DataLoader"
        lines = []
        for number, loader in enumerate(loaders, 1):
            name = "loader" if number == 1 else f"loader_{number}"
            lines.append(laid_out(name, [self.call(loader)]))
        known = {part for loader in loaders for part in walk(loader)}
        after = dict.fromkeys(part.method for part in walk(node, known))
        if after:
            lines.append(
                f"# Write in the training loop what comes after: {', '.join(after)}."
            )
        body = "\n".join(lines)
        if any(loader.arguments["generator"] is not None for loader in loaders):
            imports = f"import torch\n{imports}"
        return self.complete(imports, body)

    def arguments(self, node: Node) -> list[str]:
        given = node.arguments
        source = node.inputs[0]
        gives_batches = given["batch_size"] is None and given["batch_sampler"] is None
        data = self.name("batches" if gives_batches else "samples", source)
        texts = [data, *super().arguments(Node(node.method, (), given))]
        if (seed := given["generator"]) is not None:
            texts.append(f"generator=torch.Generator().manual_seed({seed})")
        return texts


PROGRAMS = {"lessonkit": Program, "tf.data": TensorFlow, "torch": PyTorch}


def unfused(node: Node) -> tuple[Node, Node]:
    """Return the two operators of which a fused one was made, with the arguments of each."""
    first, second = FUSED[node.method]
    parameters = inspect.signature(METHODS[first]).parameters
    given = node.arguments
    before = Node(
        first, node.inputs, {name: given[name] for name in given if name in parameters}
    )
    rest = {name: given[name] for name in given if name not in parameters}
    return before, Node(second, (before,), rest)


def is_usual(value: Any, default: Any) -> bool:
    """Whether *value* is the *default*; an array compares with nothing."""
    return value is default or (isinstance(value, (int, float)) and bool(value == default))


def plain(value: Any) -> Any:
    """Return a number of NumPy as Python's own; anything else as it is."""
    is_one = type(value).__module__ == "numpy" and getattr(value, "shape", None) == ()
    return value.item() if is_one and value.dtype.kind in "biufcSU" else value


def identifier(wanted: str, otherwise: str) -> str:
    """Return the name that is *wanted* if Python allows it, else *otherwise*."""
    is_allowed = wanted.isidentifier() and not keyword.iskeyword(wanted)
    return wanted if is_allowed else otherwise


def laid_out(name: str, chain: list[str]) -> str:
    """Return the assignment of a *chain* to *name*: a line for each call if it is too long."""
    whole = f"{name} = {''.join(chain)}"
    if len(whole) <= 88 or len(chain) == 1:
        return whole
    return "\n    ".join([f"{name} = (", *chain]) + "\n)"
