"""A pipeline as a program for real tf.data: the same elements, at the same costs."""

import ast
import re
from contextlib import suppress
from typing import Any

from lessonkit.code.examples import example, made
from lessonkit.code.expression import Expression, laid_out, plain
from lessonkit.code.functions import STUB, called
from lessonkit.code.helpers import HELPERS, OF_BYTES, text_of
from lessonkit.code.real import ENOUGH, RealProgram, function_of, has_loader, taken_apart
from lessonkit.engine.element import call_parts
from lessonkit.engine.machine import Machine
from lessonkit.engine.node import FUNCTIONS, Node, walk
from lessonkit.engine.operators.interleave import cycle_length

TYPES = {bool: "bool", int: "int64", float: "float64", str: "string", bytes: "string"}
# To tf.data, by these names
UNKNOWN = ("cost", "kind", "stage", "nbytes", "batches", "random", *FUNCTIONS)
TAKEN = ("tf", "dataset", "options", "element", "value", "x", "_", "args")
ARITHMETIC = r"[\w()]+( ([-+*%<>]|//|[=!<>]=) [\w()]+)*"  # as `ast.unparse` spaces it
UNCHANGED = """
# Without these two, tf.data would add a prefetch of its own, and let few calls sleep at once.
options = tf.data.Options()
options.experimental_optimization.apply_default_optimizations = False
options.threading.private_threadpool_size = 16
dataset = dataset.with_options(options)
"""

INNER = """def NAME(x):
    made = {{
{rows}
    }}
    return tf.switch_case(tf.cast(tf.where(x == [*made])[0, 0], tf.int32), [*made.values()])"""


def tfdata(node: Node, options: dict[str, Any]) -> tuple[str, str]:
    """Write the pipeline, and the whole program, which trains with these *options* of `benchmark`."""
    if has_loader(node):
        raise ValueError('tf.data has no DataLoader: write the program for "torch"')
    node = taken_apart(node)
    writer = TensorFlow(options.get("machine", Machine()).cores)
    chain = laid_out(writer.calls(node))
    loop = writer.loop(
        node, options, "dataset", "element", "tf.nest.map_structure(plain, element)"
    )
    parts = [*writer.functions.definitions.values(), f"{chain}\n{UNCHANGED}\n{loop}"]
    has_bytes = any("bytes" in structure(example(part), type) for part in walk(node))
    imports = {"import tensorflow as tf", *writer.functions.imports}
    return chain, text_of(imports, parts, HELPERS | (OF_BYTES if has_bytes else {}))


class TensorFlow(RealProgram, Expression):
    """Writes calls of tf.data."""

    begin = "tf.data.Dataset."
    takes_parts = True

    def __init__(self, cores: int) -> None:
        super().__init__({"work"}, TAKEN)
        self.cores = cores

    def own(self, node: Node) -> list[str]:
        return [self.listed(node)] if node.method == "from_list" else super().own(node)

    def parameters(self, node: Node) -> list[str]:
        given = {
            name: value for name, value in node.arguments.items() if name not in UNKNOWN
        }
        first: list[str] = []
        match node.method:
            case "from_generator":
                signature = structure(example(node), spec)
                return [f"lambda: {self.generator(node)}", f"output_signature={signature}"]
            case "map":
                first = [
                    self.map_function(node) or f"lambda {self.star(node.inputs[0])}x: x"
                ]
            case "filter":
                first = [self.call(node, "keep")]
            case "flat_map" | "interleave":
                first = [self.opener(node)]
        # Always said, for by default it depends on the computer
        if node.method == "interleave":
            cycle = given["cycle_length"], given["num_parallel_calls"], self.cores
            given["cycle_length"] = cycle_length(*cycle)
        return first + super().parameters(Node(node.method, node.inputs, given))

    def argument(self, name: str, value: Any) -> str:
        return super().argument(name, value).replace("AUTOTUNE", "tf.data.AUTOTUNE")

    def listed(self, node: Node) -> str:
        """Write a list: as a tensor if it holds numbers or texts, otherwise as what gives its elements."""
        values, first = node.arguments["values"], example(node)
        types = {structure(value, spec) for value in values} or {spec(first)}
        if len(types) > 1:
            raise TypeError(
                f"elements are {' and '.join(sorted(types))}: in tf.data all have one type"
            )
        text = self.functions.text(list(values))
        if type(first) in TYPES:
            return f"from_tensor_slices(tf.constant({text}, {dtype(first)}))"
        return f"from_generator(lambda: {text}, output_signature={types.pop()})"

    def call(self, node: Node, name: str) -> str:
        """Write a learner's function: itself if TensorFlow computes the same, otherwise called in Python."""
        text, is_filter = self.functions.text(function_of(node)), node.method == "filter"
        if in_graph(
            self.functions.definitions.get(text, text), example(node.inputs[0]), is_filter
        ):
            return text
        if is_filter:
            return f"in_python(lambda *args: bool({called(text)}(*args)), tf.bool)"
        return f"in_python({text}, {structure(example(node), dtype)})"

    def sleep(self, seconds: str, x: str) -> str:
        if "(" in seconds:
            return f"in_python(lambda {x}: time.sleep({seconds}) or 0, tf.int64)({x})"
        return f"tf.py_function(lambda: time.sleep({seconds}), [], [])"

    def opener(self, node: Node) -> str:
        """Write the function of an interleave: the data set that it makes, or that of each number or text."""
        before, made_of = node.inputs[0], dict[Any, str]()
        with suppress(Exception):  # of the learner's function
            for file in map(plain, made(before, ENOUGH)[0] or [example(before)]):
                made_of[file] = ""  # until it is known
                inner = taken_apart(function_of(node)(*call_parts(file)).node, file)
                made_of[file] = "".join(self.calls(inner))
        texts = {*made_of.values()}
        if len(texts) == 1 and "" not in texts:
            return f"lambda {self.star(before)}_: {texts.pop()}"
        if (
            "" in texts
            or not texts
            or any(type(file) not in (int, str) for file in made_of)
        ):
            return self.functions.define("inner", STUB)
        rows = [f"        {file!r}: lambda: {text}," for file, text in made_of.items()]
        return self.functions.define("inner", INNER.format(rows="\n".join(rows)))


def in_graph(source: str, value: Any, is_filter: bool) -> bool:
    """Whether TensorFlow makes the same of a function: it returns an argument, or computes in integers."""
    match ast.parse(source).body[0]:
        case (
            ast.Expr(ast.Lambda(args, body))
            | ast.FunctionDef(args=args, body=[ast.Return(body)])
        ):
            result = ast.unparse(body) if body else ""
        case _:
            return False
    names = {*re.findall(r"[^\W\d]\w*", result)}
    is_whole = re.fullmatch(ARITHMETIC, result) and all(
        type(part) is int for part in call_parts(value)
    )
    if (
        not names
        or names - {arg.arg for arg in args.args}
        or is_filter != isinstance(body, ast.Compare)
    ):
        return False
    return bool(is_whole) or result in names


def structure(value: Any, leaf: Any) -> str:
    """Write the parts of a structure, each by *leaf*."""
    if isinstance(value, tuple):
        return f"({', '.join(structure(part, leaf) for part in value)}{',' * (len(value) == 1)})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name!r}: {structure(part, leaf)}' for name, part in value.items())}}}"
    return str(leaf(value))


def spec(value: Any) -> str:
    """Write what TensorFlow has to know of an element."""
    is_single = isinstance(value, (str, bytes)) or not hasattr(value, "__len__")
    return f"tf.TensorSpec({'()' if is_single else 'None'}, {dtype(value)})"


def dtype(value: Any) -> str:
    """Write the type of a number or text, or of those in a list or an array."""
    while isinstance(value, list):
        value = value[0] if value else 0
    own = getattr(value, "dtype", None)
    if own is None and type(value) not in TYPES:
        raise TypeError(
            f"{value!r}: tf.data has no elements of type {type(value).__name__}"
        )
    return (
        f"tf.{TYPES[type(value)] if own is None else 'string' if own.kind in 'SU' else own}"
    )
