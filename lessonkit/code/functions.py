"""A learner's functions as program text, with what they need."""

from __future__ import annotations

import ast
import inspect
import sys
import sysconfig
import textwrap
from functools import partial
from types import ModuleType
from typing import Any

INSTALLED = tuple(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib"))


class Functions(ast.NodeTransformer):
    """Writes functions as expressions, and collects what has to stand before them."""

    def __init__(self, ours: set[str], taken: set[str]) -> None:
        self.ours = ours  # names of this package that the program has
        self.names: dict[str, Any] = dict.fromkeys(taken)  # and what they stand for
        self.imports: set[str] = set()
        self.definitions: dict[str, str] = {}
        self.captured: dict[str, Any] = {}  # by the function that is being written

    def text(self, function: Any, stub: str = "args[0]") -> str:
        """An expression for *function*; *stub* is what it returns if its source is not known."""
        if isinstance(function, partial):  # `measure` makes a function remember
            function = getattr(function, "__wrapped__", function)
        module, name = getattr(function, "__module__", None) or "", getattr(function, "__qualname__", "")
        file = getattr(sys.modules.get(module), "__file__", None) or ""
        if module == "builtins" or (module.startswith("lessonkit.") and name.split(".")[0] in self.ours):
            return str(name)
        if type(function).__name__ in self.ours:  # a cost
            return repr(function)
        if name.isidentifier() and (file.startswith(INSTALLED) or module in sys.builtin_module_names):
            self.imports.add(f"import {module}")
            return f"{module}.{name}"
        node = parsed(function)
        if node is None:
            body = f"def NAME(*args):  # put its source here\n    return {stub}"
            name = name.split(".")[-1]
            return self.define(name if name.isidentifier() else "function", body)
        if isinstance(node, ast.Lambda):
            return ast.unparse(self.filled(node, function))
        cells = repr([cell.cell_contents for cell in function.__closure__ or ()])
        key = (function.__code__, cells)  # what is made again is the same
        name = self.free(node.name, key)
        if name not in self.names:
            self.names[name] = key  # before its body is written, for it may call itself
            before, node.name = ast.dump(node), name
            is_changed = ast.dump(self.filled(node, function)) != before
            source = ast.unparse(node) if is_changed else textwrap.dedent(inspect.getsource(function))
            self.definitions[name] = source.rstrip()
        return name

    def filled(self, node: Any, function: Any) -> ast.AST:
        """The source with what the function captured in the place of its names."""
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        outside, self.captured = self.captured, {name: cell.cell_contents for name, cell in cells}
        parts = [*ast.walk(node)]
        names = {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}
        names -= {part.arg for part in parts if isinstance(part, ast.arg)}
        names -= {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
        found = {name: function.__globals__[name] for name in names & function.__globals__.keys()}
        self.captured = found | self.captured
        node.args.defaults = [self.value("default", value) for value in function.__defaults__ or ()]
        self.visit(node)
        self.captured = outside
        return node  # type: ignore[no-any-return]

    def visit_Name(self, node: ast.Name) -> ast.expr:
        is_captured = node.id in self.captured and isinstance(node.ctx, ast.Load)
        return self.value(node.id, self.captured[node.id]) if is_captured else node

    def value(self, name: str, value: Any) -> ast.expr:
        """A value as an expression; what has no text is left to the reader."""
        said = name
        if isinstance(value, ModuleType):
            self.imports.add(f"import {value.__name__} as {name}".replace(f" as {value.__name__}", ""))
        elif callable(value):
            said = self.text(value)
        elif is_literal(value):
            said = repr(value)
        else:
            said = self.define(name, f"NAME = None  # put the {type(value).__name__} here")
        return ast.parse(said, mode="eval").body

    def define(self, wanted: str, text: str) -> str:
        """The name of what *text* defines; what is defined already has the same name."""
        name = self.free(wanted, text)
        self.names[name] = text
        self.definitions[name] = text.replace("NAME", name, 1)
        return name

    def free(self, wanted: str, key: Any) -> str:
        """A name like the one that is wanted, which stands for nothing else."""
        name, number = wanted, 2
        while self.names.get(name, key) != key:
            name, number = f"{wanted}_{number}", number + 1
        return name


def is_literal(value: Any) -> bool:
    """Whether Python's own notation says all of a value."""
    try:
        return bool(ast.literal_eval(repr(value)) == value)
    except (SyntaxError, ValueError):
        return False


def parsed(function: Any) -> Any:
    """The node of a function in the file that it stands in; None if there is none."""
    if not inspect.isfunction(function) or hasattr(function, "__wrapped__"):
        return None
    try:
        lines, _ = inspect.findsource(function)
        nodes = [*ast.walk(ast.parse("".join(lines)))]
    except (OSError, SyntaxError):
        return None
    code = function.__code__
    spots = {(line, column) for line, _, column, _ in code.co_positions()}
    for node in nodes:
        if isinstance(node, ast.Lambda) and code.co_name == "<lambda>":
            is_it = (node.body.lineno, node.body.col_offset) in spots
        elif isinstance(node, ast.FunctionDef):  # one with a decorator begins elsewhere, and is not found
            is_it = (node.name, node.lineno) == (code.co_name, code.co_firstlineno)
        else:
            continue
        if is_it:
            own = {part.arg for part in ast.walk(node) if isinstance(part, ast.arg)}
            if not own & {*code.co_freevars}:  # one name for two things cannot be filled in
                return node
    return None
