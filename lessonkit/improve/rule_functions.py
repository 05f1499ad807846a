"""What rewritten operators call: functions made of the functions of several."""

from collections.abc import Callable
from functools import partial
from typing import Any

from lessonkit.engine.costs import Cost, per_sample
from lessonkit.engine.element import Bytes, call_parts, nbytes_of, size_of, split


class Both:
    """The calls of two maps, one after the other; it has a name, and is in no module."""

    def __init__(self, first: Callable[..., Any], second: Callable[..., Any]) -> None:
        self.first, self.second = first, second
        names = (getattr(one, "__name__", type(one).__name__) for one in (first, second))
        self.__name__ = "_and_".join(names)
        self.__module__ = ""

    def __call__(self, *parts: Any) -> Any:
        return self.second(*call_parts(self.first(*parts)))


def composed(first: Any, second: Any) -> Any:
    """Return a function that calls both; where there is only one, that."""
    return Both(first, second) if first and second else first or second


# ---- costs and sizes ----


def is_plain(cost: Cost) -> bool:
    """Whether a cost does not depend on the value."""
    return isinstance(cost, per_sample) or not callable(cost)


def added(*costs: Any) -> Cost:
    """Return the sum of plain *costs*."""
    parts = [cost if isinstance(cost, per_sample) else per_sample(0, per_call=cost) for cost in costs]
    seconds, per_call = sum(part.seconds for part in parts), sum(part.per_call for part in parts)
    return per_sample(seconds, per_call=per_call) if seconds else per_call


def last_nbytes(first: dict[str, Any], second: dict[str, Any]) -> Bytes:
    """Return what two maps say of the size of a result; nothing of a value that only the first saw."""
    before, said = first["nbytes"], second["nbytes"]
    if said is not None or before is None or second["map_func"] is None:
        return before if said is None else said  # type: ignore[no-any-return]
    return None if callable(before) else partial(size_of, otherwise=before)


def nbytes_of_batch(said: Bytes, batch: Any) -> int:
    """Add up the sizes of the values in a *batch*, by what is *said* of each."""
    return sum(nbytes_of(value, said, 0) for value in split(batch))
