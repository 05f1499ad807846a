"""A pipeline as a program for real tf.data: the same elements, at the same costs."""

from __future__ import annotations

import ast
import builtins
import inspect
import math
import re
from typing import Any

from lessonkit.code.expression import laid_out, parameters, text
from lessonkit.code.functions import Functions
from lessonkit.code.tfdata_text import HELPERS, PROGRAM, UNLIKE
from lessonkit.engine.costs import charge, jitter, per_sample, price, straggler
from lessonkit.engine.element import Element, arguments, stack
from lessonkit.engine.machine import Machine
from lessonkit.engine.node import Description, Node, cardinality, walk
from lessonkit.engine.operators.interleave import cycle_length
from lessonkit.engine.training import benchmark

ENOUGH = 100  # elements of a pipeline that never ends
TYPES = {bool: "bool", int: "int64", float: "float64", str: "string", bytes: "string"}
WRITTEN = ("map", "filter", "flat_map", "interleave")  # of whose arguments tf.data shares only these:
SHARED = ("cycle_length", "block_length", "num_parallel_calls", "deterministic")
TOKEN = r"'[^']*'|-?\d[\d.]*(?:e[-+]\d+)?|[\w.]+|\s+|."
ARITHMETIC = (  # what TensorFlow makes of whole numbers just as Python does
    *(ast.Name, ast.Load, ast.Constant, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod),
    *(ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE),
)


def tfdata(node: Node, num_epochs: int, name: str, step: Any) -> str:
    """The whole program: imports, helpers, functions, the pipeline, the training loop."""
    writer = Writer()
    chain, call = laid_out(writer.calls(node)), writer.cost(step, node, name)
    if call in writer.functions.definitions:
        call += "(tf.nest.map_structure(plain, element))"
    if name == "train":  # a cost
        call = f"time.sleep({call})"
    definitions = [*writer.functions.definitions.values(), chain]
    body = "\n".join([*definitions, call])
    has_bytes = any("bytes" in nested(writer.example(part), type) for part in walk(node))
    for name, helper in reversed(HELPERS.items()):
        if re.search(rf"\b{name}\b", body):
            if name == "plain" and has_bytes:
                helper = helper.replace("value.decode()", "value")
            definitions.insert(0, helper.strip())
            body += helper
    used = {"import time"} | {f"import {name}" for name in ("random", "zlib") if f"{name}." in body}
    imports, build = "\n".join(sorted(used | writer.functions.imports)), "\n\n\n".join(definitions)
    take = f".take({ENOUGH})" if cardinality(node) == math.inf else ""
    return PROGRAM.format(imports=imports, build=build, num_epochs=num_epochs, take=take, step=call)


class Writer:
    """Writes calls, and collects what else they need."""

    def __init__(self) -> None:
        taken = {*HELPERS, *dir(builtins), "tf", "time", "random", "zlib", "dataset", "options", "start"}
        self.functions = Functions({"work"}, taken)
        self.file: tuple[Any, ...] = ()  # the element that an inner data set is made of

    def calls(self, node: Node) -> list[str]:
        """The calls that build *node*, one by one."""
        said, begin, inputs = node.arguments, "tf.data.Dataset.", node.inputs
        match node.method:
            case "ArtificialDataset":
                return self.slow_file(node)
            case "range":
                return [f"{begin}range({', '.join(map(repr, said['args']))})"]
            case "from_list":
                columns = (
                    nested(stack(said["values"]), self.column) if said["values"] else "tf.zeros(0, tf.int64)"
                )
                return [f"{begin}from_tensor_slices({columns})"]
            case "from_generator":
                return [f"{begin}from_generator({self.generator(node)})"]
            case "zip":
                parts = ", ".join("".join(self.calls(part)) for part in inputs)
                return [f"{begin}zip({parts if len(inputs) > 1 else f'({parts},)'})"]
            case "map_and_batch":  # tf.data makes one operator of the two by itself
                batch = {name: said[name] for name in ("batch_size", "drop_remainder")}
                return self.calls(Node("batch", (Node("map", inputs, said),), batch))
            case "shuffle_and_repeat":
                return self.calls(Node("repeat", (Node("shuffle", inputs, said),), said))
        return [*self.calls(inputs[0]), f".{self.call(node)}"]

    def call(self, node: Node) -> str:
        """The call of an operator."""
        said = node.arguments
        rest = {name: value for name, value in said.items() if name in SHARED or node.method not in WRITTEN}
        match node.method:
            case "map":
                first = [self.mapped(node)]
            case "filter":
                first = [self.function(said["predicate"], node.inputs[0], "tf.bool", "keep")]
            case "flat_map" | "interleave":
                first = [self.opener(node)]
            case "concatenate":
                first = ["".join(self.calls(node.inputs[1]))]
            case _:
                first = []
        if node.method == "interleave":  # always said, for by default it depends on the computer
            cores = Machine().cores
            rest["cycle_length"] = cycle_length(rest["cycle_length"], rest["num_parallel_calls"], cores)
        options = ", ".join([*first, *parameters(Node(node.method, (), rest), in_tfdata)])
        return f"{node.method}({options})"

    def slow_file(self, node: Node) -> list[str]:
        """A file: what opening costs is known here; what reading costs, if that varies, a map spends."""
        said, file = dict(node.arguments), self.file if len(self.file) > 1 else (*self.file, 0)[0]
        said["open"] = charge(price(said["open"], "open"), Element(file)) / 1e9
        said["nbytes"] = None  # a real file has its bytes
        behind = []
        if callable(said["read"]):
            behind = [f".map({self.slow('read', said['read'], 'wait', node, '')})"]
            said["read"] = 0
        return [f"ArtificialDataset({', '.join(parameters(node.replace(**said), text))})", *behind]

    def column(self, values: Any) -> str:
        """Values of one type as a tensor; many in arrays are left to the reader."""
        if hasattr(values, "tolist"):
            if values.size > ENOUGH:
                rest = f"tf.zeros({values.shape}, {dtype(values)})  # put your own data here"
                return self.functions.define("data", f"NAME = {rest}")
            return f"tf.constant({values.tolist()!r}, {dtype(values)})"
        types = {dtype(value) for value in values}
        if len(types) > 1:
            raise TypeError(f"elements are of types {' and '.join(sorted(types))}: in tf.data all have one")
        is_ragged = isinstance(values[0], list) and len({*map(len, values)}) > 1
        return f"tf.{'ragged.' * is_ragged}constant({values!r}, {types.pop()})"

    def generator(self, node: Node) -> str:
        """A generator function; in an inner data set, what it is called with travels as tensors."""
        args, example = node.arguments["args"], self.example(node)
        read = self.functions.text(node.arguments["generator"], repr([example]))
        signature = f"output_signature={nested(example, spec)}"
        if not args:
            return f"{read}, {signature}"
        read = self.named(read, "generator")
        given = ", ".join(ast.unparse(self.functions.value("argument", arg)) for arg in args)
        if not self.file:
            return f"lambda: {read}({given}), {signature}"
        names = {f"arg_{place}": arg for place, arg in enumerate(args)}
        values = [f"{name}.decode()" if isinstance(arg, str) else name for name, arg in names.items()]
        return f"lambda {', '.join(names)}: {read}({', '.join(values)}), args=({given},), {signature}"

    def mapped(self, node: Node) -> str:
        """What a map calls."""
        said, before = node.arguments, node.inputs[0]
        map_func, cost, stage = said["map_func"], said["cost"], said["stage"]
        name = "mapped" if stage == "Map" else re.sub(r"\W", "_", stage.lower())
        call = self.function(map_func, before, nested(self.example(node), dtype), name) if map_func else ""
        if cost:
            return self.slow(name, cost, said["kind"], before, call)
        return call or f"lambda {self.x(before)}: x"

    def function(self, function: Any, before: Node, types: str, name: str) -> str:
        """A learner's function: as it is if TensorFlow computes it alike, otherwise called in Python."""
        is_filter = name == "keep"
        said = self.functions.text(function, "True" if is_filter else "args[0]")
        source = self.functions.definitions.get(said, said)
        if in_graph(source, self.example(before), is_filter, is_inner=bool(self.file)):
            return said
        said = self.named(said, name)
        return f"in_python({f'lambda *x: bool({said}(*x))' if is_filter else said}, {types})"

    def slow(self, name: str, cost: Any, kind: str, before: Node, call: str) -> str:
        """A function that takes as long as *cost* says, and gives what *call* gives."""
        x, seconds = self.x(before), self.cost(cost, before, f"{name}_cost")
        sleep = f"tf.py_function(lambda: time.sleep({seconds}), [], [])"
        if seconds in self.functions.definitions:
            sleep = f"in_python(lambda {x}: time.sleep({seconds}(x)) or 0, tf.int64)({x})"
        sleep += "" if kind == "wait" else f"  # only waits; {kind} work would hold a core"
        result = f"{self.named(call, name)}({x})" if call else "x"
        return self.functions.define(name, f"def NAME({x}):\n    {sleep}\n    return {result}")

    def cost(self, cost: Any, before: Node, name: str) -> str:
        """Seconds, or the name of a function of the element that gives them."""
        if not callable(cost):
            return repr(cost)
        which = number("value", self.example(before)) if isinstance(cost, (jitter, straggler)) else ""
        match cost:
            case per_sample() if made(before, 1)[1] <= 1:
                return repr(cost.per_call + cost.seconds)
            case per_sample():
                each = cost.seconds * (made(before, 1)[1] // len(first_of("", self.example(before))[1]))
                body = f"{cost.per_call} + {each} * len(tf.nest.flatten(value)[0])"
            case straggler():
                body = f"{cost.slow} if {which} % {cost.every} == {cost.every - 1} else {cost.usual}"
            case jitter():
                draw = f"random.Random(f'{cost.seed}:{{{which}}}').uniform(-1, 1)"
                body = f"{cost.mean} * (1 + {cost.spread} * {draw})"
            case _:
                return self.named(self.functions.text(cost, "0"), name)
        return self.functions.define(name, f"def NAME(value):\n    return {body}")

    def named(self, said: str, name: str) -> str:
        """A function as what may stand anywhere: a lambda becomes a definition."""
        if not said.startswith("lambda"):
            return said
        node: Any = ast.parse(said, mode="eval").body
        return self.functions.define(
            name, f"def NAME({ast.unparse(node.args)}):\n    return {ast.unparse(node.body)}"
        )

    def opener(self, node: Node) -> str:
        """The function of an interleave: what it makes of elements, and what of that depends on them."""
        map_func, before, outside = node.arguments["map_func"], node.inputs[0], self.file
        found = [arguments(value) for value in made(before, ENOUGH)[0]]
        files = [*{repr(file): file for file in found}.values()] or [arguments(self.example(before))]
        names = [*inspect.signature(map_func).parameters] if inspect.isfunction(map_func) else ["x"]
        names = names if len(names) == len(files[0]) else [f"x_{place}" for place in range(len(files[0]))]
        texts: list[str] = []
        definitions: dict[str, str] = {}
        try:
            for self.file in files:
                texts.append("".join(self.calls(map_func(*self.file).node)))
                definitions = definitions or dict(self.functions.definitions)
            inner = merged(texts, files, names)
        except Exception as error:  # also of the learner's function
            self.functions.definitions = definitions or self.functions.definitions
            self.functions.definitions["inner"] = UNLIKE.format(" ".join(str(error).split()))
            inner = (*texts, "tf.data.Dataset.range(0)")[0]
        finally:
            self.file = outside
        return f"lambda {', '.join(names)}: {inner}"

    def example(self, node: Node) -> Any:
        """An element of a pipeline; if none comes out, what it would be like."""
        for element in made(node, 1)[0]:
            return element
        parts = tuple(self.example(part) for part in node.inputs)
        return {"zip": parts, "enumerate": (0, *parts)}.get(node.method, (*parts, 0)[0])

    def x(self, before: Node) -> str:
        return "*x" if type(self.example(before)) is tuple else "x"


def merged(texts: list[str], files: list[Any], names: list[str]) -> str:
    """One text for all elements; where they differ, the element itself, or its number in a table."""
    if len({*texts}) == 1:
        return texts[0]
    texts = [text.replace("tf.constant(", "tf.convert_to_tensor(") for text in texts]  # of tensors
    rows = [re.findall(TOKEN, text) for text in texts]
    given = [tuple(map(repr, part)) for part in zip(*files, strict=True)]
    are_numbered = sorted(files) == [(place,) for place in range(len(files))] and len(files) < ENOUGH
    result = ""
    for column in zip(*rows, strict=True):
        numbers = [said for _, said in sorted(zip(files, column, strict=True)) if re.match(r"-?\d", said)]
        if len({*column}) == 1:
            result += column[0]
        elif column in given:
            result += names[given.index(column)]
        elif are_numbered and len(numbers) == len(files):
            kind = "float64" if "." in "".join(numbers) else "int64"
            result += f"tf.constant([{', '.join(numbers)}], tf.{kind})[{names[0]}]"
        else:
            raise ValueError(f"one has {column[0]} where another has {column[-1]}")
    return result


def made(node: Node, most: int) -> tuple[list[Any], int]:
    """The first elements of a pipeline, none if a function fails; how many samples are in the first."""
    try:
        epoch = benchmark(Description(node), 1, 0, max_elements=most, keep=True).epochs[0]
    except Exception:
        return [], 0
    return epoch.elements, epoch.samples // max(1, epoch.count)


def in_graph(source: str, example: Any, is_filter: bool, is_inner: bool) -> bool:
    """Whether TensorFlow makes the same of a function: it arranges its arguments, or computes in integers."""
    statement: Any = ast.parse(source).body[0]
    match getattr(statement, "value", statement):
        case ast.Lambda(args=args, body=result) | ast.FunctionDef(args=args, body=[ast.Return(value=result)]):
            parts: list[Any] = result.elts if isinstance(result, ast.Tuple) else [result]
        case _:
            return False
    if is_inner:  # what is a value here may be the outer element
        parts = [part for part in parts if not isinstance(part, ast.Constant)]
    names = [{node.id for node in ast.walk(part) if isinstance(node, ast.Name)} for part in parts]
    known = {arg.arg for arg in args.args}
    if is_filter != isinstance(result, ast.Compare) or not all(used and used <= known for used in names):
        return False
    nodes = [node for part in parts if not isinstance(part, ast.Name) for node in ast.walk(part)]
    whole = not nodes or all(type(part) is int for part in arguments(example))
    return whole and all(
        isinstance(node, ARITHMETIC) and type(getattr(node, "value", 0)) is int for node in nodes
    )


def in_tfdata(name: str, value: Any) -> str:
    """The value of an option."""
    return text(name, value).replace("AUTOTUNE", "tf.data.AUTOTUNE")


def first_of(name: str, value: Any) -> tuple[str, Any]:
    """The first part of a structure, as an expression and as what it is."""
    while isinstance(value, (tuple, dict)):
        key = min(value) if isinstance(value, dict) else 0
        name, value = f"{name}[{key!r}]", value[key]
    return name, value


def number(name: str, value: Any) -> str:
    """The number by which costs tell a value from others, as an expression."""
    if isinstance(value, dict):
        key = next(iter(value))
        return number(f"{name}[{key!r}]", value[key])
    if isinstance(value, (str, bytes)):
        return f"zlib.crc32({name}{'.encode()' * isinstance(value, str)})"
    return number(f"{name}[0]", value[0]) if hasattr(value, "__len__") else f"int({name})"


def nested(value: Any, leaf: Any) -> str:
    """The parts of a structure as text, each by *leaf*."""
    if isinstance(value, tuple):
        return f"({', '.join(nested(part, leaf) for part in value)}{',' * (len(value) == 1)})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name!r}: {nested(part, leaf)}' for name, part in value.items())}}}"
    return str(leaf(value))


def spec(value: Any) -> str:
    """What TensorFlow has to know of an element."""
    is_single = isinstance(value, (str, bytes)) or not hasattr(value, "__len__")
    return f"tf.TensorSpec({'()' if is_single else 'None'}, {dtype(value)})"


def dtype(value: Any) -> str:
    """The type of a number or text, or of those in a list or an array."""
    while isinstance(value, list):
        value = value[0] if value else 0
    known = getattr(value, "dtype", None)
    if known is None and type(value) not in TYPES:
        raise TypeError(f"{value!r}: tf.data has no elements of type {type(value).__name__}")
    return f"tf.{TYPES[type(value)] if known is None else 'string' if known.kind in 'SU' else known}"
