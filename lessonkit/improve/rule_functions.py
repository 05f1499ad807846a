"""What rewritten operators call: functions made of the functions of several."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from lessonkit.engine.costs import Cost, per_sample
from lessonkit.engine.element import Bytes, arguments, nbytes_of, size_of, split, whole
from lessonkit.engine.machine import work


def name_of(map_arguments: dict[str, Any]) -> str:
    """The function of a map by its name, or else by its stage."""
    return str(getattr(map_arguments["map_func"], "__name__", map_arguments["stage"]))


def called(map_arguments: dict[str, Any], value: Any) -> Any:
    """What a map makes of *value*, in the time that it takes."""
    map_func, cost = map_arguments["map_func"], map_arguments["cost"]
    seconds = cost(value) if callable(cost) else cost
    try:
        return value if map_func is None else map_func(*arguments(value))
    finally:  # an error takes its time too
        work(seconds, map_arguments["stage"], map_arguments["kind"])


class Made:
    """A function that a rule made: it has a name, but stands in no module that one could import."""

    def __init__(self, *names: str) -> None:
        self.__name__ = "_and_".join(names)
        self.__module__ = ""


class Both(Made):
    """The calls of two maps, one after the other; each says its own work."""

    def __init__(self, first: dict[str, Any], second: dict[str, Any]) -> None:
        super().__init__(name_of(first), name_of(second))
        self.first = first
        self.second = second

    def __call__(self, *parts: Any) -> Any:
        return called(self.second, called(self.first, whole(parts)))


class Sifted(NamedTuple):
    """A value, and whether a filter keeps it."""

    value: Any
    kept: bool


class Judge(Made):
    """The call of a map, and the question of the filter after it.

    What it gives is not of type tuple, so it arrives in one piece where it is asked.
    """

    def __init__(self, before: dict[str, Any], predicate: Callable[..., Any]) -> None:
        super().__init__(name_of(before), name_of({"map_func": predicate, "stage": "Filter"}))
        self.map_func = before["map_func"]
        self.predicate = predicate

    def __call__(self, *parts: Any) -> Sifted:
        value = whole(parts) if self.map_func is None else self.map_func(*parts)
        return Sifted(value, bool(self.predicate(*arguments(value))))


def kept(sifted: Sifted) -> bool:
    """What the filter asks when a map has judged already."""
    return sifted.kept


def unwrapped(sifted: Sifted) -> Any:
    """The value without the judgement."""
    return sifted.value


# ---- costs and sizes ----


def is_plain(cost: Cost) -> bool:
    """Whether a cost does not depend on the value."""
    return isinstance(cost, per_sample) or not callable(cost)


def added(first: Any, second: Any) -> Cost:
    """The sum of two plain costs."""
    costs = [
        cost if isinstance(cost, per_sample) else per_sample(0, per_call=cost) for cost in (first, second)
    ]
    seconds, per_call = sum(cost.seconds for cost in costs), sum(cost.per_call for cost in costs)
    return per_sample(seconds, per_call=per_call) if seconds else per_call


def last_nbytes(first: dict[str, Any], second: dict[str, Any]) -> Bytes:
    """What is said of sizes after two maps; of a value that only the first saw, nothing."""
    before, said = first["nbytes"], second["nbytes"]
    if said is not None or before is None or second["map_func"] is None:
        return before if said is None else said  # type: ignore[no-any-return]
    return None if callable(before) else partial(size_of, otherwise=before)


def nbytes_of_batch(said: Bytes, batch: Any) -> int:
    """The size of a batch, by what was said of the size of each value in it."""
    return sum(nbytes_of(value, said, 0) for value in split(batch))
