"""A pipeline as a program for real tf.data: the same elements, at the same costs."""

import ast
import inspect
import math
import re
import time
from contextlib import suppress
from statistics import fmean
from typing import Any

from lessonkit.code.examples import example, made, star
from lessonkit.code.expression import Expression, laid_out, plain
from lessonkit.code.functions import STUB, Functions, called, identifier, literal, with_helpers
from lessonkit.code.tfdata_text import HELPERS, INNER, PROGRAM
from lessonkit.engine.costs import charge, per_sample, price, straggler
from lessonkit.engine.element import Element, arguments, stack
from lessonkit.engine.machine import Machine
from lessonkit.engine.node import FUNCTIONS, Node, cardinality, name_of_function, walk
from lessonkit.engine.operators.interleave import cycle_length

ENOUGH = 100  # elements of a pipeline that never ends
TYPES = {bool: "bool", int: "int64", float: "float64", str: "string", bytes: "string"}
OTHERS = ("cost", "kind", "stage", "nbytes", "batches", "random")  # arguments that tf.data does not have
TAKEN = (*HELPERS, "tf", "dataset", "options", "start", "epoch", "element", "value", "x", "args", "made")
ARITHMETIC = r"[\w()]+( ([-+*%<>]|//|[=!<>]=) [\w()]+)*"  # as `ast.unparse` spaces it


def tfdata(node: Node, num_epochs: int, name: str, step: Any) -> tuple[str, str]:
    """Write the pipeline, and the whole program: imports, helpers, functions, pipeline, training loop."""
    if any(part.method == "DataLoader" for part in walk(node)):
        raise ValueError('tf.data has no DataLoader: write the program for "torch"')
    writer = Writer()
    chain = laid_out(writer.calls(node))
    call = writer.seconds(step, node, name, "tf.nest.map_structure(plain, element)")
    if name == "train":  # a cost
        call = f"time.sleep({call})"
    parts = with_helpers(HELPERS, [*writer.functions.definitions.values(), chain, call])
    build = "\n\n\n".join(parts[:-1])
    if any("bytes" in nested(example(part), type) for part in walk(node)):
        build = build.replace("value.decode()", "value")
    imports = "\n".join(sorted({"import time"} | writer.functions.imports))
    take = f".take({ENOUGH})" if cardinality(node) == math.inf else ""
    return chain, PROGRAM.format(imports=imports, build=build, num_epochs=num_epochs, take=take, step=call)


class Writer(Expression):
    """Writes calls of tf.data, and collects what else they need."""

    begin = "tf.data.Dataset."

    def __init__(self) -> None:
        self.functions = Functions({"work"}, dict.fromkeys(TAKEN) | {"time": time})
        self.file: tuple[Any, ...] = ()  # the element that an inner data set is made of

    def own(self, node: Node) -> list[str]:
        said, inputs = node.arguments, node.inputs
        match node.method.split("_and_"):
            case [first, then]:  # tf.data makes one operator of the two by itself
                rest = said | {"num_parallel_calls": None}
                return self.own(Node(first, inputs, said)) + self.own(Node(then, inputs, rest))
            case ["from_list"]:
                columns = stack(said["values"]) if said["values"] else []
                return [f"from_tensor_slices({nested(columns, self.column)})"]
            case ["ArtificialDataset"] if callable(said["read"]):  # a map spends what reading costs
                read = self.slow("read", said["read"], "wait", node, "")
                return [*super().own(node.replace(read=0)), f"map({read})"]
        return super().own(node)

    def parameters(self, node: Node) -> list[str]:
        said = {name: value for name, value in node.arguments.items() if name not in (*FUNCTIONS, *OTHERS)}
        first: list[str] = []
        match node.method:
            case "ArtificialDataset":
                file = self.file if len(self.file) > 1 else (*self.file, 0)[0]
                said["open"] = charge(price(said["open"], "open"), Element(file)) / 1e9
            case "from_generator":
                return [self.generator(node), f"output_signature={nested(example(node), spec)}"]
            case "map":
                first = [self.mapped(node)]
            case "filter":
                first = [self.function(node, "tf.bool", "keep")]
            case "flat_map" | "interleave":
                first = [self.opener(node)]
        if node.method == "interleave":  # always said, for by default it depends on the computer
            cycle = said["cycle_length"], said["num_parallel_calls"], Machine().cores
            said["cycle_length"] = cycle_length(*cycle)
        return first + super().parameters(Node(node.method, node.inputs, said))

    def argument(self, name: str, value: Any) -> str:
        return super().argument(name, value).replace("AUTOTUNE", "tf.data.AUTOTUNE")

    def column(self, values: Any) -> str:
        """Write values of one type as a tensor; many in arrays are left to the reader."""
        if hasattr(values, "tolist") and values.size > ENOUGH:
            rest = f"tf.zeros({values.shape}, {dtype(values)})  # put your own data here"
            return self.functions.define("data", f"NAME = {rest}")
        types = {dtype(value) for value in values} or {dtype(values)}
        if len(types) > 1:
            raise TypeError(f"elements are of types {' and '.join(sorted(types))}: in tf.data all have one")
        rows = plain_lists(values)
        is_ragged = isinstance((*values, 0)[0], list) and len({*map(len, rows)}) > 1
        return f"tf.{'ragged.' * is_ragged}constant({literal(rows)}, {types.pop()})"

    def generator(self, node: Node) -> str:
        """Write the generator of *node*, with its arguments."""
        args = node.arguments["args"] or ()
        read = self.functions.text(function_of(node), "generator" * bool(args))
        given = ", ".join(self.functions.text(arg) for arg in args)
        return f"lambda: {read}({given})" if args else read

    def mapped(self, node: Node) -> str:
        """Write what a map calls, and what that costs."""
        said, before, fn = node.arguments, node.inputs[0], function_of(node)
        name = "mapped" if said["stage"] == "Map" else identifier(said["stage"].lower(), "mapped")
        call = self.function(node, nested(example(node), dtype), name) if fn else ""
        if said["cost"]:
            return self.slow(name, said["cost"], said["kind"], before, call)
        return call or f"lambda {self.x(before)}: x"

    def function(self, node: Node, types: str, name: str) -> str:
        """Write a learner's function: itself if TensorFlow computes the same, otherwise called in Python."""
        function, is_filter = function_of(node), node.method == "filter"
        said = self.functions.text(function)
        source = self.functions.definitions.get(said, said)
        if in_graph(source, example(node.inputs[0]), is_filter):
            return said
        said = self.functions.text(function, name)
        return f"in_python({f'lambda *args: bool({said}(*args))' if is_filter else said}, {types})"

    def slow(self, name: str, cost: Any, kind: str, before: Node, call: str) -> str:
        """Write a function that takes as long as *cost* says, and gives what *call* gives."""
        x, seconds = self.x(before), self.seconds(cost, before, f"{name}_cost", "x")
        sleep = f"tf.py_function(lambda: time.sleep({seconds}), [], [])"
        if "(" in seconds:
            sleep = f"in_python(lambda {x}: time.sleep({seconds}) or 0, tf.int64)({x})"
        sleep += "" if kind == "wait" else f"  # only waits; {kind} code would hold a core"
        result = f"{called(call)}({x})" if call else "x"
        return self.functions.define(name, f"def NAME({x}):\n    {sleep}\n    return {result}")

    def seconds(self, cost: Any, before: Node, name: str, x: str) -> str:
        """Write the seconds that an element *x* costs."""
        samples, value = made(before, 1)[1], example(before)
        match cost:
            case per_sample() if samples <= 1:
                return f"{cost.per_call + cost.seconds}"
            case per_sample():
                body = f"{cost.per_call} + {cost.seconds} * len(tf.nest.flatten(value)[0])"
            case straggler() if type(value) is int:
                body = f"{cost.slow} if value % {cost.every} == {cost.every - 1} else {cost.usual}"
            case _ if type(cost).__module__.startswith("lessonkit."):
                body = f"{fmean(map(cost, made(before, ENOUGH)[0] or [value])):.6g}  # on average"
            case _ if callable(cost):
                return f"{self.functions.text(cost, name)}({x})"
            case _:
                return repr(cost)
        said = self.functions.define(name, f"def NAME(value):\n    return {body}")
        return f"{said}({x})"

    def opener(self, node: Node) -> str:
        """Write the function of an interleave: the data set that it makes, or the one of each element."""
        map_func, outside = function_of(node), self.file
        found = made(node.inputs[0], ENOUGH)[0] or [example(node.inputs[0])]
        given = [tuple(map(plain, arguments(value))) for value in found]
        files = [*{repr(file): file for file in given}.values()]
        pairs: list[tuple[Any, str]] = []
        for self.file in files:
            with suppress(Exception):  # of the learner's function; then this element fails here and there
                pairs.append((self.file[0], "".join(self.calls(map_func(*self.file).node))))
        self.file, texts = outside, {text for _, text in pairs}
        names = [*inspect.signature(map_func).parameters] if inspect.isfunction(map_func) else []
        names = names if len(names) == len(files[0]) else [f"x_{place}" for place in range(len(files[0]))]
        names = [self.functions.take(name, None) for name in names]
        if len(texts) == 1 and len(pairs) == len(files):
            return f"lambda {', '.join(names)}: {texts.pop()}"
        if not pairs or len({repr(key) for key, _ in pairs if type(key) in TYPES}) < len(pairs):
            return self.functions.define("inner", STUB)
        rows = "\n".join(f"        {literal(key)}: lambda: {text}," for key, text in pairs)
        text = INNER.format(names=", ".join(names), key=names[0], rows=rows)
        return self.functions.define("inner", text)

    def x(self, before: Node) -> str:
        return f"{star(before)}x"


def function_of(node: Node) -> Any:
    """Return the function of *node*, without what it was measured to cost: it takes its own time."""
    function = node.arguments[name_of_function(node)]
    return function.fn if type(function).__name__ == "costing" else function


def in_graph(source: str, value: Any, is_filter: bool) -> bool:
    """Whether TensorFlow makes the same of a function: it returns an argument, or computes in integers."""
    match ast.parse(source).body[0]:
        case (
            ast.Expr(ast.Lambda(args, body))
            | ast.FunctionDef(args=args, body=[ast.Return(ast.expr() as body)])
        ):
            result = ast.unparse(body)
        case _:
            return False
    names = {*re.findall(r"[^\W\d]\w*", result)}
    is_whole = re.fullmatch(ARITHMETIC, result) and all(type(part) is int for part in arguments(value))
    is_known = bool(names) and names <= {arg.arg for arg in args.args}
    return is_known and is_filter == isinstance(body, ast.Compare) and bool(is_whole or result in names)


def nested(value: Any, leaf: Any) -> str:
    """Write the parts of a structure, each by *leaf*."""
    if isinstance(value, tuple):
        return f"({', '.join(nested(part, leaf) for part in value)}{',' * (len(value) == 1)})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name!r}: {nested(part, leaf)}' for name, part in value.items())}}}"
    return str(leaf(value))


def plain_lists(value: Any) -> Any:
    """Return an array or nested lists, of whatever kind, as lists."""
    if isinstance(value, list):
        return [plain_lists(part) for part in value]
    return value.tolist() if hasattr(value, "tolist") else value


def spec(value: Any) -> str:
    """Write what TensorFlow has to know of an element."""
    is_single = isinstance(value, (str, bytes)) or not hasattr(value, "__len__")
    return f"tf.TensorSpec({'()' if is_single else 'None'}, {dtype(value)})"


def dtype(value: Any) -> str:
    """Write the type of a number or text, or of those in a list or an array."""
    while isinstance(value, list):
        value = value[0] if value else 0
    known = getattr(value, "dtype", None)
    if known is None and type(value) not in TYPES:
        raise TypeError(f"{value!r}: tf.data has no elements of type {type(value).__name__}")
    return f"tf.{TYPES[type(value)] if known is None else 'string' if known.kind in 'SU' else known}"
