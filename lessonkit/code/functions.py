"""A learner's functions and values as program text, with the definitions that they need."""

import ast
import builtins
import inspect
import keyword
import math
import os
import re
import sys
import sysconfig
import textwrap
import unicodedata
from contextlib import suppress
from copy import deepcopy
from dataclasses import fields
from functools import lru_cache, partial
from symtable import symtable
from types import FunctionType, ModuleType
from typing import Any

from lessonkit.code.expression import plain
from lessonkit.engine.storage import Read

OURS = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")
FOLDERS = (
    os.path.dirname(os.__file__),
    sysconfig.get_path("purelib"),
    sysconfig.get_path("platlib"),
)
# Where code is that no learner wrote; in a browser folders begin with two slashes.
INSTALLED = (OURS, *(os.path.join(folder, "").replace("//", "/") for folder in FOLDERS))
STUB = "def NAME(*args):  # put its source here\n    raise NotImplementedError"
Remembers = type(lru_cache(len))  # the class of what @cache makes
NUMBERS = (type(None), bool, int, float, complex)
FORMS = {list: "[%s]", tuple: "(%s)", dict: "{%s}"}


class Functions:
    """Writes functions and values as expressions, and collects what these need."""

    def __init__(self, ours: set[str], taken: dict[str, Any]) -> None:
        self.ours = ours  # names of this package that the program has
        self.names = dict.fromkeys(dir(builtins)) | taken  # and what each stands for
        self.imports: set[str] = set()
        self.definitions: dict[str, str] = {}
        self.alive: list[Any] = []  # what `names` knows by its id

    def text(self, value: Any, name: str = "") -> str:
        """Return an expression for a function or a *value*: in its place, or the *name* that it is given.

        What has no text is a stub that says so.
        """
        # `measure` makes a function remember, or @cache
        if isinstance(value, (partial, Remembers)):
            value = getattr(value, "__wrapped__", value)
        for way in (self.imported, self.cost, self.written, self.notated):
            with suppress(Exception):  # also of a learner's object
                return way(value, name)
        kind = identifier(str(getattr(value, "__name__", type(value).__name__)), "some")
        stub = STUB if callable(value) else f"NAME = None  # put the {kind} here"
        self.alive.append(value)
        return self.define(
            name or (kind if callable(value) else f"the_{kind}"), stub, id(value)
        )

    def imported(self, value: Any, name: str) -> str:
        """Write a module, or what this package or an installed one has by its name."""
        if isinstance(value, ModuleType):
            return self.module(name or value.__name__, sys.modules[value.__name__])
        name, module = value.__qualname__, sys.modules[value.__module__]
        if module.__name__.startswith("lessonkit.") and name.split(".")[0] in self.ours:
            return str(name)
        last = module.__name__.split(".")[-1]
        is_there = last in sys.builtin_module_names or str(module.__file__).startswith(
            INSTALLED
        )
        if vars(module)[name] is not value or last == "__main__" or not is_there:
            raise ValueError("it cannot be imported")
        return str(name) if module is builtins else f"{self.module(last, module)}.{name}"

    def cost(self, value: Any, name: str) -> str:
        """Write a cost, or a machine, as the call that makes it."""
        if isinstance(value, Read):
            return (
                f"{self.cost(value.storage, '')}.read({self.text(value.nbytes, 'nbytes')})"
            )
        parts = {
            field.name: plain(getattr(value, field.name))
            for field in fields(value)
            if field.repr
        }
        kind = self.imported(type(value), "")
        return f"{kind}({', '.join(f'{name}={self.text(part)}' for name, part in parts.items())})"

    def written(self, function: FunctionType, name: str) -> str:
        """Write a lambda, or the name under which the source of *function* is defined."""
        node, lines = source(function)
        captured = free_names(function, node)
        is_lambda = isinstance(node, ast.Lambda)
        if is_lambda and not name:
            return ast.unparse(self.filled(node, function, captured))
        values, before = [*captured.values(), *(function.__defaults__ or ())], {*self.names}
        wanted = name if is_lambda else identifier(function.__name__, "function")
        own = self.take(wanted, (function.__code__, *map(id, values)))
        if own not in before:  # what is made again, or calls itself, is there already
            self.alive += values
            self.definitions[own] = definition(
                own, self.filled(node, function, captured), lines
            )
        return own

    def filled(self, node: Any, function: FunctionType, captured: dict[str, Any]) -> Any:
        """Return *node* with what the function captured in the place of its names."""
        node = Filled(
            {name: self.text(value, name) for name, value in captured.items()}
        ).visit(node)
        node.args.defaults = [
            parsed(self.text(value)) for value in function.__defaults__ or ()
        ]
        node.decorator_list = []  # *function* is what a decorator was given
        for part in ast.walk(node):
            if getattr(part, "annotation", None) or getattr(part, "returns", None):
                # They may name what is not here
                self.imports.add("from __future__ import annotations")
            if isinstance(part, ast.Attribute) and ast.unparse(part) in sys.modules:
                self.imports.add(f"import {ast.unparse(part)}")
        return node

    def notated(self, value: Any, name: str) -> str:
        """Write a value in Python's own notation: a number in its place, anything else under its name."""
        text = self.literal(value)
        parsed(text)  # it may be too deep
        is_short = type(value) in NUMBERS and text == repr(value)
        return text if is_short or not name else self.define(name, f"NAME = {text}")

    def literal(self, value: Any) -> str:
        """Write numbers, texts, and lists, tuples and dictionaries of them; ValueError for anything else."""
        kind: Any = type(value)
        if kind in FORMS:
            parts = [self.literal(part) for part in value]
            if kind is dict:
                parts = [
                    f"{self.literal(key)}: {self.literal(part)}"
                    for key, part in value.items()
                ]
            return FORMS[kind] % (
                ", ".join(parts) + "," * (kind is tuple and len(parts) == 1)
            )
        # A number of NumPy, which computes in another way
        if (usual := plain(value)) is not value:
            return f"{self.module('np', sys.modules['numpy'])}.{kind.__name__}({self.literal(usual)})"
        if kind not in (*NUMBERS, str, bytes, range):
            raise ValueError(f"{kind} has no notation")
        # 1j is, -0j is not
        has_none = kind is complex or (kind is float and not math.isfinite(value))
        return f"{kind.__name__}('{value}')" if has_none else repr(value)

    def module(self, wanted: str, module: ModuleType) -> str:
        """Return the name of an imported module."""
        name = self.take(wanted, module)
        self.imports.add(
            f"import {module.__name__}" + f" as {name}" * (name != module.__name__)
        )
        return name

    def define(self, wanted: str, text: str, key: Any = None) -> str:
        """Return the name of what *text* defines; what is defined already has the same name."""
        name = self.take(wanted, key or text)
        self.definitions[name] = text.replace("NAME", name, 1)
        return name

    def take(self, wanted: str, key: Any) -> str:
        """Return a name like the one that is *wanted*, which stands for *key* and nothing else."""
        name, number = wanted, 2
        while self.names.setdefault(name, key) != key:
            name, number = f"{wanted}_{number}", number + 1
        return name


class Filled(ast.NodeTransformer):
    """Puts texts in the place of names."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = texts

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return parsed(self.texts[node.id]) if node.id in self.texts else node


@lru_cache(maxsize=8)
def parsed_file(text: str) -> ast.Module:
    """Parse the *text* of a file, once for all functions in it: what is taken from it must be copied."""
    return ast.parse(text)


def source(function: Any) -> tuple[Any, list[str]]:
    """Return the node of a function, and the lines of its file; raise an error if it is not to be found."""
    code = function.__code__
    is_own = type(function) is FunctionType and not code.co_filename.startswith(INSTALLED)
    if not is_own or function.__kwdefaults__:
        raise ValueError("it is not written")
    spots = {(line, column) for line, _, column, _ in code.co_positions()}
    lines, _ = inspect.findsource(code)
    for node in ast.walk(parsed_file("".join(lines))):
        if isinstance(node, ast.Lambda) and code.co_name == "<lambda>":
            if (node.body.lineno, node.body.col_offset) in spots:
                return deepcopy(node), lines
        elif isinstance(node, ast.FunctionDef) and code.co_name == node.name:
            if code.co_firstlineno in (
                node.lineno,
                *(part.lineno for part in node.decorator_list),
            ):
                return deepcopy(node), lines
    raise ValueError("it is not in its file")


def definition(name: str, node: ast.Lambda | ast.FunctionDef, lines: list[str]) -> str:
    """Return the definition of a function: as it is in its file, if nothing in it has changed."""
    if isinstance(node, ast.Lambda):
        return f"def {name}({ast.unparse(node.args)}):\n    return {ast.unparse(node.body)}"
    node.name = name
    text = textwrap.dedent("".join(lines[node.lineno - 1 : node.end_lineno])).rstrip()
    with suppress(SyntaxError):  # a text of several lines may begin further left
        if ast.dump(ast.parse(text).body[0]) == ast.dump(node):
            return text
    return ast.unparse(node)


def free_names(function: FunctionType, node: ast.AST) -> dict[str, Any]:
    """Return what *function* captured, by name; raise an error if a name may mean two things."""
    scopes = symtable(ast.unparse(node), "", "exec").get_children()
    for scope in scopes:
        scopes += scope.get_children()
    names = [name for scope in scopes for name in scope.get_symbols()]
    free = {name.get_name() for name in names if name.is_global()}
    if free & {
        name.get_name() for name in names if name.is_local() or name.is_declared_global()
    }:
        raise ValueError("filled in, it would mean something else")
    values = function.__globals__ | dict(inspect.getclosurevars(function).nonlocals)
    return {name: values[name] for name in sorted(free & values.keys())}


def called(text: str) -> str:
    """Return what can be called: a lambda in brackets."""
    return f"({text})" if text.startswith("lambda ") else text


def parsed(text: str) -> ast.expr:
    """Return the node of an expression."""
    return ast.parse(text, mode="eval").body


def identifier(words: str, otherwise: str) -> str:
    """Return *words* as a name, with *otherwise* before them or in their place if they make none."""
    name = "_".join(re.findall(r"\w+", unicodedata.normalize("NFKC", words)))
    names = (name, f"{otherwise}_{name}", otherwise)
    return next(
        name for name in names if name.isidentifier() and not keyword.iskeyword(name)
    )
