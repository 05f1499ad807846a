"""Who trains in a script: a loop of the user's, or a trainer whose arguments make the loader."""

import ast
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from .patching import Line, is_users

# What the arguments of a loader are called where Hugging Face's Trainer makes it
OF_TRANSFORMERS = {
    "num_workers": "dataloader_num_workers",
    "persistent_workers": "dataloader_persistent_workers",
    "prefetch_factor": "dataloader_prefetch_factor",
    "pin_memory": "dataloader_pin_memory",
    "batch_size": "per_device_train_batch_size",
}


class Arguments(NamedTuple):
    """The arguments of a trainer: the *name* of their class, and the *line* that makes them, if known."""

    name: str
    line: Line | None


def arguments_of_trainer(frame: FrameType, made: Line | None) -> Arguments | None:
    """Return the arguments of the trainer of Hugging Face that runs the loop of a *frame*.

    None is returned if there is none, or if the script itself calls `DataLoader` at the line where
    the loader was *made*, as a trainer's subclass may.
    """
    if made is not None and calls_at(made, ends=("DataLoader",)):
        return None
    files = list[str]()
    name = ""
    for each in frames_above(frame):
        if is_users(each):
            files.append(each.f_code.co_filename)
        this: Any = each.f_locals.get("self")
        if is_trainer(type(this)):
            name = type(this.args).__name__
    if not name:
        return None
    found = [line for file in dict.fromkeys(files) for line in calls_in(file, name)]
    return Arguments(name, found[0] if len(found) == 1 else None)


def is_trainer(kind: type) -> bool:
    """Whether a class is Hugging Face's `Trainer`, or one that goes on from it."""
    return any(
        base.__name__ == "Trainer" and base.__module__ == "transformers.trainer"
        for base in kind.__mro__
    )


def frames_above(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield *frame* and those that called it."""
    while frame is not None:
        yield frame
        frame = frame.f_back


def name_called(call: ast.Call) -> str:
    """Return the last part of the name that is called, or nothing."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def calls(file: str) -> list[ast.Call]:
    """Return all calls in a *file*; none if it cannot be read."""
    with suppress(OSError, SyntaxError, ValueError):
        tree = ast.parse(Path(file).read_bytes())
        return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return []


def calls_in(file: str, name: str) -> list[Line]:
    """Return the lines of a *file* at which *name* is called."""
    return [Line(file, call.lineno) for call in calls(file) if name_called(call) == name]


def calls_at(line: Line, ends: tuple[str, ...]) -> list[ast.Call]:
    """Return the calls at a *line* of something whose name *ends* so."""
    return [
        call
        for call in calls(line.file)
        if call.lineno <= line.number <= (call.end_lineno or call.lineno)
        and name_called(call).endswith(ends)
    ]
