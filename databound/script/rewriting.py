"""Writes a change into the call that makes a loader, and shows it as a diff: no file is changed."""

import ast
import os
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from .patching import Line
from .trainers import calls_at

# Arguments of a DataLoader by position, before those that we set
BY_POSITION = 5


class CannotRewriteError(Exception):
    """The call is written in a way that only its author can change; the message says which."""


@dataclass(frozen=True)
class Insertion:
    """Bytes of a file from *begin* to *end*, and the *text* that comes in their place."""

    begin: int
    end: int
    text: str


def diff(
    line: Line, callee: str, arguments: Mapping[str, object], threads: int | None
) -> str:
    """Return a unified diff that gives *arguments* to the call of *callee* at a *line*.

    If *threads* is given, PyTorch is told that number after it was imported. Raises
    CannotRewriteError, whose message is a sentence, if that cannot be written.
    """
    source = Path(line.file).read_bytes()
    changed = list[Insertion]()
    if arguments:
        changed += in_call(source, the_call(line, callee), arguments, line)
    if threads is not None:
        changed.append(after_import(source, threads, line))
    text = source
    for one in sorted(changed, key=lambda one: -one.begin):
        text = text[: one.begin] + one.text.encode() + text[one.end :]
    name = os.path.relpath(line.file)
    return "".join(
        unified_diff(
            source.decode().splitlines(keepends=True),
            text.decode().splitlines(keepends=True),
            f"a/{name}",
            f"b/{name}",
        )
    )


def the_call(line: Line, callee: str) -> ast.Call:
    """Return the only call of *callee*, or of a class whose name ends so, at a *line*."""
    found = calls_at(line, ends=(callee,))
    if len(found) != 1:
        raise CannotRewriteError(
            f"{line} has {len(found) or 'no'} calls of {callee}, so nobody can say which to change"
        )
    return found[0]


def in_call(
    source: bytes, call: ast.Call, arguments: Mapping[str, object], line: Line
) -> list[Insertion]:
    """Return what gives *arguments* to a *call*: in the place of those that it has, or after all."""
    if any(keyword.arg is None for keyword in call.keywords):
        raise CannotRewriteError(
            f"{line} is called with **, which may have these arguments"
        )
    if len(call.args) > BY_POSITION or any(
        isinstance(one, ast.Starred) for one in call.args
    ):
        raise CannotRewriteError(f"{line} has its arguments by position")
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    found = list[Insertion]()
    missing = list[str]()
    for name, value in arguments.items():
        node = given.get(name)
        if node is None:
            missing.append(f"{name}={value!r}")
        elif isinstance(node, ast.Constant):
            found.append(Insertion(*span(source, node), repr(value)))
        else:
            told = ast.unparse(node)
            raise CannotRewriteError(f"{line} has {name}={told}: give it {value!r} there")
    if missing:
        found.append(behind_the_last(source, call, missing))
    return found


def behind_the_last(source: bytes, call: ast.Call, missing: list[str]) -> Insertion:
    """Return what adds *missing* arguments: on lines of their own if all others have one each."""
    last = max(
        [*call.args, *(keyword.value for keyword in call.keywords)],
        key=lambda node: span(source, node),
    )
    _, end = span(source, last)
    starts = [keyword.lineno for keyword in call.keywords] + [
        one.lineno for one in call.args
    ]
    comma = ", "
    if call.lineno not in starts and len(starts) == len(set(starts)):
        at = source.rfind(b"\n", 0, end) + 1
        row = source[at:end]
        comma = ",\n" + " " * (len(row) - len(row.lstrip(b" ")))
    return Insertion(end, end, "".join(f"{comma}{one}" for one in missing))


def after_import(source: bytes, threads: int, line: Line) -> Insertion:
    """Return what sets the number of *threads* behind the imports that PyTorch is among."""
    tree = ast.parse(source)
    name = ""
    last: ast.stmt | None = None
    for node in tree.body:
        if isinstance(node, ast.Import):
            name = name or next(
                (one.asname or one.name for one in node.names if one.name == "torch"), ""
            )
        elif not isinstance(node, ast.ImportFrom) and name:
            break
        last = node
    if not name or last is None:
        file = Path(line.file).name
        why = f"{file} does not import torch under a name of its own"
        raise CannotRewriteError(
            f"{why}: call torch.set_num_threads({threads}) before it trains"
        )
    _, end = span(source, last)
    return Insertion(end, end, f"\n\n{name}.set_num_threads({threads})")


def span(source: bytes, node: ast.expr | ast.stmt) -> tuple[int, int]:
    """Return where in *source* a node begins and ends."""
    lines = source.splitlines(keepends=True)
    begin = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    last = node.end_lineno or node.lineno
    end = sum(map(len, lines[: last - 1])) + (node.end_col_offset or 0)
    return begin, end
