"""A batch of which only its owner knows what it is: copy it, weigh it, count its samples."""

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import suppress
from copy import copy, deepcopy
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar, cast

Batch = TypeVar("Batch")


def own_copy(batch: Batch) -> Batch:
    """Return a copy of *batch* that a step may take apart and change.

    Containers, arrays and tensors are copied, and a tensor in pinned memory has a copy that is
    pinned, too. What cannot be copied is shared, as it is between the steps of no other loop:
    a step that changes it in place sees its own changes.
    """
    return cast(Batch, each_part(batch, copy_of_leaf))


def each_part(value: object, change: Callable[[object], object]) -> object:
    """Return *value* with each of its leaves changed, in containers of its own."""
    if isinstance(value, MutableMapping):
        changed = copy(value)  # of its own class, which may have more than its items
        for key, part in list(value.items()):
            changed[key] = each_part(part, change)
        return changed
    if isinstance(value, tuple):
        parts: list[Any] = [each_part(part, change) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, list):
        listed = copy(value)
        listed[:] = [each_part(part, change) for part in value]
        return listed
    if is_dataclass(value) and not isinstance(value, type):
        made = copy(value)
        for field in fields(value):
            # Also of a frozen one: nobody has seen this copy yet
            object.__setattr__(
                made, field.name, each_part(getattr(value, field.name), change)
            )
        return made
    return change(value)


def copy_of_leaf(value: object) -> object:
    """Return a copy of an array, a tensor or anything else, or itself if it refuses."""
    if hasattr(value, "is_pinned") and hasattr(value, "clone"):  # a tensor
        clone = value.detach().clone() if hasattr(value, "detach") else value.clone()
        return clone.pin_memory() if value.is_pinned() else clone
    with suppress(Exception):  # whatever its owner's class raises
        return deepcopy(value)
    return value


def same(batch: object, other: object) -> bool:
    """Whether two batches hold the same: the same numbers in their arrays, and the same else."""
    return contents_of(batch) == contents_of(other)


def contents_of(batch: object) -> list[object]:
    """Return what the leaves of a *batch* hold: bytes of arrays and tensors, and other things as text."""
    found: list[object] = []

    def note(leaf: Any) -> object:
        if hasattr(leaf, "is_pinned") and hasattr(leaf, "numpy"):  # a tensor
            leaf = leaf.detach().cpu().numpy()
        found.append(leaf.tobytes() if hasattr(leaf, "tobytes") else repr(leaf))
        return leaf

    each_part(batch, note)
    return found


def bytes_of(batch: object) -> int:
    """Return the bytes of the arrays, tensors and byte strings in *batch*; 0 if it has none."""
    if isinstance(batch, (bytes, bytearray)):
        return len(batch)
    nbytes = getattr(batch, "nbytes", None)
    if isinstance(nbytes, int):
        return nbytes
    return sum(bytes_of(part) for part in parts_of(batch))


def parts_of(value: object) -> Iterator[object]:
    """Yield what a container holds; nothing for anything else."""
    if isinstance(value, Mapping):
        yield from value.values()
    elif isinstance(value, (list, tuple)):
        # The rest of a long list of numbers is like its first
        if value and not isinstance(value[0], (int, float, str)):
            yield from value
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield getattr(value, field.name)


def samples_of(batch: object) -> int:
    """Return how many samples a *batch* has; if it has parts, the first one tells."""
    if isinstance(batch, Mapping):
        batch = tuple(batch.values())
    # PyTorch makes of pairs a list of two arrays
    is_pair = isinstance(batch, list) and any(
        getattr(one, "shape", ()) for one in batch[:1]
    )
    if is_pair or isinstance(batch, tuple):
        return samples_of(batch[0]) if batch else 0  # type: ignore[index]
    if isinstance(batch, (str, bytes)) or not hasattr(batch, "__len__"):
        return 1
    try:
        return len(batch)
    except TypeError:  # an array of no dimensions
        return 1
