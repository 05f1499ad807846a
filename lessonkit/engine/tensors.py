"""Lists and arrays as tensors: whether they are any, and their slices along the first axis."""

from collections.abc import Iterator
from reprlib import repr as short
from typing import Any, NamedTuple

from .element import Batch, leaves, like, names

ROWS = (list, tuple, range)
# What a tensor may hold, by the letters that NumPy has for it
TYPES: dict[str, Any] = {"b": bool, "iufc": (int, float, complex), "U": str, "S": bytes}
ALLOWED = "lists or arrays of numbers or of texts, or a tuple or dict of them"


class Form(NamedTuple):
    """What all rows of a tensor have in common: their *shape*, and which of TYPES they hold."""

    shape: tuple[int, ...]
    kind: str


def tensors(name: str, value: Any) -> Any:
    """Return *value*, which is to be one tensor, or a tuple or dict of tensors of one length.

    A tensor is an array, or nested lists of one shape of numbers or of texts.

    >>> tensors("tensors", ([1, 2], [[3, 4], [5]]))
    Traceback (most recent call last):
    ValueError: tensors=[[3, 4], [5]]: must have rows of one shape, all of numbers or all of texts
    """
    lengths: list[int] = []

    def check(part: Any) -> Any:
        shape = form_of(name, part).shape
        if not shape:
            raise TypeError(f"{name}={short(part)}: must be {ALLOWED}")
        lengths.append(shape[0])
        return part

    leaves(check, value)
    if not lengths:
        raise ValueError(f"{name}={value!r}: must have a part at least")
    if len({*lengths}) > 1:
        raise ValueError(
            f"{name}={short(value)}: must have parts of one length, and not of {lengths}"
        )
    return value


def form_of(name: str, value: Any) -> Form:
    """Return the form of *value*, an argument called *name*: a tensor, or one number or text."""
    if isinstance(value, ROWS):
        forms = {form_of(name, row) for row in value}
        if len(forms) > 1:
            allowed = "rows of one shape, all of numbers or all of texts"
            raise ValueError(f"{name}={short(value)}: must have {allowed}")
        row = forms.pop() if forms else Form((), "")
        return Form((len(value), *row.shape), row.kind)
    shape = tuple(getattr(value, "shape", ()))
    letter = getattr(getattr(value, "dtype", None), "kind", "")  # of an array of NumPy
    for letters, types in TYPES.items():
        if isinstance(value, types) or (letter and letter in letters):
            return Form(shape, letters)
    if not shape:
        raise TypeError(f"{name}={short(value)}: must be {ALLOWED}")
    return Form(shape, str(value.dtype))


def slices(value: Any) -> Iterator[Any]:
    """Give the slices of tensors along their first axis; what is a list computes like a tensor."""
    if isinstance(value, (tuple, dict)):
        columns = [slices(value[name]) for name in names(value)]
        return (like(value, row) for row in zip(*columns, strict=True))
    return map(as_batch, value)


def as_batch(value: Any) -> Any:
    """Return nested lists as batches, and anything else as it is."""
    return Batch(map(as_batch, value)) if isinstance(value, ROWS) else value
