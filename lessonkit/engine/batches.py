"""Lists that compute as tensors do, so that a function may be given a number or a batch of them."""

import operator
import reprlib
from collections.abc import Callable
from itertools import repeat
from typing import Any


class Batch(list[Any]):
    """A list with a tensor's arithmetic: element by element, at any depth. All else is a list's.

    >>> Batch([1, 2, 3]) + 1, 2 * Batch([[1, 2], [3, 4]]) - [1, 0]
    ([2, 3, 4], [[1, 4], [5, 8]])
    """

    def __getitem__(self, index: Any) -> Any:
        part = super().__getitem__(index)
        return Batch(part) if isinstance(index, slice) else part

    def __neg__(self) -> Any:
        return elementwise(operator.mul, self, -1)


def elementwise(operation: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """Apply *operation* to pairs; what is less deep stands beside every row of the other."""
    deep, other = depth(left), depth(right)
    if deep == other == 0:
        return operation(left, right)
    if deep == other and len(left) != len(right):
        raise ValueError(
            f"{reprlib.repr(left)} and {reprlib.repr(right)}: must have the same length"
        )
    left, right = (
        left if deep >= other else repeat(left),
        right if deep <= other else repeat(right),
    )
    return Batch(elementwise(operation, *row) for row in zip(left, right, strict=False))


def depth(value: Any) -> int:
    """Count how deep lists are nested in *value*: 0 for a single value."""
    return 1 + depth(next(iter(value), 0)) if isinstance(value, (list, tuple)) else 0


def _compute(name: str) -> None:
    """Give batches the operators `+`, `+=` and the reflected `+`, if *name* is add."""
    operation = getattr(operator, name)

    def forward(self: Batch, other: Any) -> Any:  # an array computes with lists by itself
        return (
            NotImplemented
            if hasattr(other, "__array__")
            else elementwise(operation, self, other)
        )

    # A learner's own list grows, as by any: `seen += batch`
    def backward(self: Batch, other: Any) -> Any:
        own = name == "add" and type(other) is list
        return NotImplemented if own else elementwise(operation, other, self)

    for prefix, method in (("", forward), ("i", forward), ("r", backward)):
        setattr(Batch, f"__{prefix}{name}__", method)


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    _compute(_name)
