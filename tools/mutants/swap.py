"""Put the code of a mutant into functions that are there already, so that nothing is imported again."""

from __future__ import annotations

import gc
import inspect
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import NamedTuple


class ImportNeeded(Exception):  # noqa: N818 - no error: the tests then run in a fresh process
    """Raised if a change is seen only when its module is imported again."""


class Pair(NamedTuple):
    """A piece of code, and what the mutant has in its place."""

    old: CodeType
    new: CodeType


class Functions:
    """All functions of a project that are there, by the file that defines them."""

    def __init__(self, root: str) -> None:
        self.of: dict[str, list[FunctionType]] = {}
        for one in gc.get_objects():
            if type(one) is FunctionType and one.__code__.co_filename.startswith(root):
                self.of.setdefault(one.__code__.co_filename, []).append(one)

    def swap(self, file: str, old: str, new: str) -> None:
        """Let the functions of *file* do what its *new* text says, where it differs from the *old* one.

        Raises:
            ImportNeeded: Something differs that runs when the module is imported.

        """
        before, after = (
            compile(text, file, "exec", dont_inherit=True) for text in (old, new)
        )
        pairs = list(differences(Pair(before, after)))
        swapped = [
            (function, pair.new)
            for pair in pairs
            for function in self.of.get(file, [])
            if function.__code__ == pair.old
        ]
        if not swapped:
            raise ImportNeeded(file)
        for function, code in swapped:
            try:
                function.__code__ = code
            except ValueError as error:  # it uses other variables of the function around it
                raise ImportNeeded(file) from error


def differences(pair: Pair) -> Iterator[Pair]:
    """Give the functions in which a *pair* differs, outer and inner ones.

    Raises:
        ImportNeeded: A module or the body of a class differs itself, and not only in its functions.

    """
    if pair.old == pair.new:
        return
    inner = [
        [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        for code in pair
    ]
    if pair.old.co_flags & inspect.CO_OPTIMIZED:
        yield pair
    elif len(inner[0]) != len(inner[1]) or own(pair.old) != own(pair.new):
        raise ImportNeeded(pair.old.co_name)
    for one in map(Pair, *inner):
        yield from differences(one)


def own(code: CodeType) -> CodeType:
    """Return *code* without the functions that it makes, and where these end."""
    kept = [None if isinstance(one, CodeType) else one for one in code.co_consts]
    return code.replace(co_consts=tuple(kept), co_linetable=b"")
