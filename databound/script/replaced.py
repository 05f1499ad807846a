"""Functions of ours in the place of somebody else's, for as long as a script runs."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any


@contextmanager
def replaced(owner: Any, functions: Mapping[str, Callable[..., Any]]) -> Iterator[None]:
    """Let *functions* stand in the block for those of their names in *owner*, a module or a class."""
    originals = {name: getattr(owner, name) for name in functions}
    for name, function in functions.items():
        setattr(owner, name, function)
    try:
        yield
    finally:
        for name, original in originals.items():
            setattr(owner, name, original)
