"""The elements that travel through a pipeline, one at a time, and batches of them."""

import operator
import reprlib
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from reprlib import repr as short  # for values that may be large
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
    """Apply *operation* to pairs; a less deep operand is paired with every row of the other."""
    deep = depth(left)
    other = depth(right)
    if deep == other == 0:
        return operation(left, right)
    if deep == other and len(left) != len(right):
        raise ValueError(
            f"{reprlib.repr(left)} and {reprlib.repr(right)}: must have the same length"
        )
    left = left if deep >= other else repeat(left)
    right = right if deep <= other else repeat(right)
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


WITHOUT_SIZE = (int, float, str, bool)  # what has no size that anybody asks for
# The size of an element, where it does not know its own
Bytes = int | Callable[[Any], int] | None


@dataclass(eq=False)
class Element:
    """One element on its way through a pipeline.

    Operators hand on the same object and change its value, so its *number* and its *key*
    stay with it. The number tells it from the others of one pass and is the same in every
    pass and run: the position of a sample in its source, or the numbers of all parts of an
    element that is made of several. The key is its row in a trace's table of identities.
    """

    value: Any
    number: Any = field(init=False, default=0)
    samples = 1  # how many samples it holds: one, or as many as a batch has
    nbytes = 0
    key = 0  # 0 if nothing is recorded

    def copy(self) -> "Element":
        """Return the same element again, for an operator that keeps one and gives one."""
        other = Element(self.value)
        other.__dict__.update(self.__dict__)
        return other


class BatchNumber(tuple[Any, ...]):
    """The numbers of the parts of a batch; `unbatch` gives each part its own again."""


def as_int(number: Any) -> int:
    """Turn the *number* of an element into one integer, the same in every process."""
    return number if type(number) is int else zlib.crc32(repr(number).encode())


NOTHING = Element(None)  # for work that is done for no element
END = Element("the end")  # what `next` gives when there is nothing more


class Failure(Element):
    """Stands in the place of an element whose function raised: its value is the error."""


def settle(element: Element) -> Element:
    """Return *element*, or raise the error in its place, which the element no longer holds then.

    A helper that still holds the element must not hold the error: that knows the frames of the loop
    that asked, and so its iterator, which would never be let go.
    """
    if type(element) is Failure:
        error = element.value
        element.value = None
        try:
            raise error
        finally:
            del error  # or error -> traceback -> frame -> error would be a cycle
    return element


def call_parts(value: Any) -> tuple[Any, ...]:
    """Return the arguments of a function for *value*: the parts of a tuple, as in tf.data."""
    return value if type(value) is tuple else (value,)


def whole(parts: tuple[Any, ...]) -> Any:
    """Return the value whose *parts* `call_parts` gave."""
    return parts[0] if len(parts) == 1 else parts


def size_of(value: Any, otherwise: int) -> int:
    """Return the bytes of *value* if it is an array or a byte string; else *otherwise*.

    >>> size_of(b"abc", 0), size_of((b"abc", b"de"), 0), size_of(7, otherwise=100)
    (3, 5, 100)
    """
    if type(value) in WITHOUT_SIZE:  # and not numpy's own, which know their size
        return otherwise  # most are so: they are not looked at any further
    if isinstance(value, (bytes, bytearray)):
        return len(value)
    if isinstance(value, list) and value and type(value[0]) in WITHOUT_SIZE:
        return otherwise  # the others are like the first, and may be many
    if isinstance(value, (tuple, list)) and value:
        sizes = [size_of(part, -1) for part in value]
        known = [size for size in sizes if size >= 0]
        return sum(known) if known else otherwise
    if isinstance(value, dict):
        return size_of(tuple(value.values()), otherwise)
    nbytes = getattr(value, "nbytes", None)
    return nbytes if isinstance(nbytes, int) else otherwise


# ---- structures: tuples, also named ones, and dicts ----


def names(structure: Any) -> Iterable[Any]:
    """Return the keys or indices of the parts of a *structure*, a tuple or dict."""
    return structure.keys() if isinstance(structure, dict) else range(len(structure))


def fits(value: Any, structure: Any) -> bool:
    """Whether *value* is a tuple or dict with the same parts as *structure*."""
    return isinstance(value, type(structure)) and names(value) == names(structure)


def like(structure: Any, parts: Iterable[Any]) -> Any:
    """Make a tuple or dict like *structure* of other *parts*; a named tuple keeps its names."""
    if isinstance(structure, dict):
        return dict(zip(structure, parts, strict=True))
    return structure._make(parts) if hasattr(structure, "_make") else tuple(parts)


def leaves(function: Callable[[Any], Any], value: Any) -> Any:
    """Call *function* on each leaf of *value*, and return the same structure of the results."""
    if isinstance(value, (tuple, dict)):
        return like(value, (leaves(function, value[name]) for name in names(value)))
    return function(value)


def stack(values: Sequence[Any]) -> Any:
    """Make one batch of many *values*: a list, of arrays an array, of tuples a tuple of batches.

    Raises ValueError if one has other parts than the first.

    >>> stack([1, 2, 3]), stack([(1, "a"), (2, "b")]), stack([{"x": 1}, {"x": 2}])
    ([1, 2, 3], ([1, 2], ['a', 'b']), {'x': [1, 2]})
    """
    first = values[0]
    if type(first) in (int, float, str):  # most are
        return Batch(values)
    if isinstance(first, (tuple, dict)):
        for value in values:
            if not fits(value, first):
                raise ValueError(
                    f"batch: {short(value)} has other parts than {short(first)}"
                )
        return like(
            first, (stack([value[name] for value in values]) for name in names(first))
        )
    numpy = sys.modules.get("numpy")  # an array has its module imported
    if numpy is not None and isinstance(first, (numpy.ndarray, numpy.generic)):
        return numpy.stack(values)
    return Batch(values)


def split(batch: Any) -> Iterator[Any]:
    """Give the values of a *batch* one by one, as they were before `stack`.

    >>> list(split(([1, 2], ["a", "b"])))
    [(1, 'a'), (2, 'b')]
    """
    if isinstance(batch, (tuple, dict)):
        columns = [[*split(batch[name])] for name in names(batch)]
        if len({*map(len, columns)}) > 1:
            raise ValueError(
                f"unbatch: the parts of {short(batch)} have {[*map(len, columns)]} values"
            )
        return (like(batch, row) for row in zip(*columns, strict=True))
    if isinstance(batch, (str, bytes, set, frozenset)) or not hasattr(batch, "__iter__"):
        raise TypeError(f"unbatch: {short(batch)} is not a batch: it has no parts")
    return iter(batch)


@dataclass(frozen=True)
class TensorSpec:
    """The *shape* and *dtype* of one value, as `tf.TensorSpec` has them; no shape allows any."""

    shape: Any
    dtype: Any


def signature(types: Any, shapes: Any, specs: Any) -> Any:
    """Return one structure of specifications, as *specs* has them; None if nothing is said.

    A specification is anything with the *shape* and *dtype* of one value, as `tf.TensorSpec`.

    Raises TypeError if it is said twice, or if shapes are given without types.
    """
    if shapes is not None and types is None and specs is None:
        raise TypeError("output_shapes: must be given together with output_types")
    if specs is not None and (types is not None or shapes is not None):
        raise TypeError(
            "output_signature: must not be given together with output_types and output_shapes"
        )
    if specs is not None or types is None:
        return specs
    if isinstance(types, (tuple, dict)):
        return like(
            types,
            (
                signature(types[name], shapes and shapes[name], None)
                for name in names(types)
            ),
        )
    return TensorSpec(shapes, types)


def as_specified(value: Any, specs: Any) -> Any:
    """Return *value* with each part that is one tensor by *specs* made an array, or a plain number.

    None allows any shape, or any length in a shape. Raises TypeError for other parts or another
    shape, and the error of NumPy for a value that cannot have the type.
    """
    if isinstance(specs, (tuple, dict)):
        if not fits(value, specs):
            types = leaves(lambda spec: spec.dtype, specs)
            raise TypeError(
                f"from_generator: {value!r}: must have the parts {types}, as it was told"
            )
        return like(
            specs, (as_specified(value[name], specs[name]) for name in names(specs))
        )
    import numpy  # a learner who states types and shapes has arrays

    dtype = numpy.dtype(getattr(specs.dtype, "as_numpy_dtype", specs.dtype))
    array = numpy.asarray(value, object if dtype.kind in "SU" else dtype)
    if getattr(specs.shape, "rank", specs.shape) is not None:
        shape = tuple(specs.shape)
        same = (
            length in (None, own) for length, own in zip(shape, array.shape, strict=False)
        )
        if len(shape) != array.ndim or not all(same):
            raise TypeError(
                f"from_generator: {short(value)}: must have the shape {shape}, as it was told"
            )
    return array if array.ndim else array.item()
