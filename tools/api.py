"""Write the public names with their signatures to docs/api.txt, so that a diff shows what changes for users.

python -m tools.api

Nothing is forbidden: a test only compares the file with the packages. Signatures are read from the source, so
that they are the same with every version of Python.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent, indent
from types import ModuleType

FILE = Path(__file__).resolve().parent.parent / "docs" / "api.txt"
DOORS = (
    "lessonkit",
    "lessonkit.analysis",
    "lessonkit.optimize",
    "lessonkit.plot",
    "lessonkit.widgets",
    "lessonkit.widgets.goals",
    "databound",
)
HEADING = """\
The public names of all doors, as `python -m tools.api` writes them.
A name that is not here may change at any time.
"""
WIDTH = 96  # of a signature in one line
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def definition(thing: object) -> Definition | None:
    """Return how a function or a class is written; None for what is neither, such as a number."""
    thing = inspect.unwrap(thing) if callable(thing) else thing
    if not (inspect.isfunction(thing) or inspect.isclass(thing)):
        return None
    (found,) = ast.parse(dedent(inspect.getsource(thing))).body
    return found if isinstance(found, Definition) else None


def signature(
    name: str, function: ast.FunctionDef | ast.AsyncFunctionDef, bound: bool
) -> str:
    """Write the parameters of a *function* and what it returns; a *bound* one leaves out its first.

    What does not fit in a line has a line for each parameter, so that a diff shows which one changes.
    """
    given = [*parameters(function.args)][bound:]
    returns = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    in_a_line = f"{name}({', '.join(given)}){returns}"
    if len(in_a_line) <= WIDTH:
        return in_a_line
    lines = "".join(f"\n    {parameter}," for parameter in given)
    return f"{name}({lines}\n){returns}"


def parameters(given: ast.arguments) -> Iterator[str]:
    """Write each parameter, with `/` and `*` where they stand."""
    positional = [*given.posonlyargs, *given.args]
    without = len(positional) - len(given.defaults)
    defaults = [None] * without + given.defaults
    for place, (argument, default) in enumerate(zip(positional, defaults, strict=True), 1):
        yield parameter(argument, default)
        if place == len(given.posonlyargs):
            yield "/"
    if given.vararg:
        yield f"*{parameter(given.vararg)}"
    elif given.kwonlyargs:
        yield "*"
    for argument, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        yield parameter(argument, default)
    if given.kwarg:
        yield f"**{parameter(given.kwarg)}"


def parameter(argument: ast.arg, default: ast.expr | None = None) -> str:
    """Write one parameter, with its type and its default."""
    if argument.annotation is None:
        return argument.arg if default is None else f"{argument.arg}={ast.unparse(default)}"
    text = f"{argument.arg}: {ast.unparse(argument.annotation)}"
    return text if default is None else f"{text} = {ast.unparse(default)}"


def is_public(name: str) -> bool:
    """Tell whether a user may write a name: one with a line below it in front is ours."""
    return not name.startswith("_")


def members(described: ast.ClassDef) -> Iterator[str]:
    """Write the fields, attributes and methods that a class adds to what it inherits."""
    for part in described.body:
        match part:
            case ast.AnnAssign(target=ast.Name(id=name)) if is_public(name):
                default = f" = {ast.unparse(part.value)}" if part.value else ""
                yield f"{name}: {ast.unparse(part.annotation)}{default}"
            case ast.Assign(targets=[ast.Name(id=name)]) if is_public(name):
                yield f"{name} = {ast.unparse(part.value)}"
            case ast.FunctionDef(name="__init__"):
                yield from attributes(part)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if is_public(
                name
            ):
                how = {ast.unparse(decorator) for decorator in part.decorator_list}
                if how & {"property", "cached_property"}:
                    returns = f": {ast.unparse(part.returns)}" if part.returns else ""
                    yield f"{name}{returns}"
                else:
                    yield signature(name, part, bound="staticmethod" not in how)


def attributes(init: ast.FunctionDef) -> Iterator[str]:
    """Name what an `__init__` keeps in its object for everybody."""
    for statement in ast.walk(init):
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if isinstance(statement, ast.AnnAssign):
            targets = [statement.target]
        for target in targets:
            match target:
                case ast.Attribute(value=ast.Name(id="self"), attr=name) if is_public(name):
                    yield name


def described(name: str, thing: object) -> Iterator[str]:
    """Write what stands behind a public *name*: an entry, and of a class one more for each member."""
    match definition(thing):
        case ast.ClassDef(bases=bases) as made:
            inherits = f"({', '.join(map(ast.unparse, bases))})" if bases else ""
            yield f"class {name}{inherits}"
            for part in made.body:
                if isinstance(part, ast.FunctionDef) and part.name == "__init__":
                    yield indented(signature("", part, bound=True).removesuffix(" -> None"))
            yield from (indented(f".{member}") for member in members(made))
        case ast.FunctionDef() | ast.AsyncFunctionDef() as made:
            yield signature(name, made, bound=False)
        case _:
            yield f"{name}: {type(thing).__name__}"


def indented(text: str) -> str:
    """Move a *text* to the right."""
    return indent(text, "    ")


def text() -> str:
    """Return what belongs in the file: each door with its names, in the order of the alphabet."""
    lines = [HEADING]
    for door in DOORS:
        module = importlib.import_module(door)
        lines.append(door)
        for name in sorted(module.__all__):
            thing = getattr(module, name)
            if not isinstance(thing, ModuleType):
                lines += map(indented, described(name, thing))
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
