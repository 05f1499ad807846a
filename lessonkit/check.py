"""Arguments that are wrong, refused with the name, the value and what is allowed."""

import math
import operator
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeVar

Check = Callable[[str, Any], Any]
T = TypeVar("T")

KINDS = ("wait", "native", "python")  # of work: what it holds
AUTOTUNE = -1  # as in tf.data: a number to be found by the system


class Of(NamedTuple):
    """The name of what an element has; in words only if it is refused, for an element may be large."""

    name: str
    element: Any
    hint: str = ""  # on what is meant, if it is refused

    def __str__(self) -> str:
        return f"{self.name} of {self.element!r}"


def integer(name: str | Of, value: Any, *, least: int | None = None, auto: bool = False) -> int:
    """Return *value* as an int of at least *least*; with *auto*, AUTOTUNE is allowed too.

    >>> integer("cycle_length", 0, least=1, auto=True)
    Traceback (most recent call last):
    ValueError: cycle_length=0: must be 1 or more, or AUTOTUNE
    """
    allowed = "an integer" if least is None else f"{least} or more"
    allowed += ", or AUTOTUNE" if auto else ""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name}={value!r}: must be {allowed}")
    number = operator.index(value)
    if least is not None and number < least and not (auto and number == AUTOTUNE):
        raise ValueError(f"{name}={value!r}: must be {allowed}")
    return number


def seconds(name: str | Of, value: Any) -> float:
    """Return *value* as a finite number of seconds, not negative."""
    allowed = f"must be a number of seconds, 0 or more{getattr(name, 'hint', '')}"
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise TypeError(f"{name}={value!r}: {allowed}")
    number = float(value)
    if not 0 <= number < math.inf:
        raise ValueError(f"{name}={value!r}: {allowed}")
    return number


def nanoseconds(name: str | Of, value: Any) -> int:
    """Return *value* seconds as the whole nanoseconds that the clocks count in."""
    return round(seconds(name, value) * 1e9)


def cost(name: str, value: Any) -> Any:
    """Return *value* as seconds, or as a function of the element that gives seconds."""
    return value if callable(value) else seconds(name, value)


def instance(name: str, value: Any, kind: type[T]) -> T:
    """Return *value*, which must be one of *kind*."""
    if not isinstance(value, kind):
        raise TypeError(f"{name}={value!r}: must be a {kind.__name__}")
    return value


def has_order(value: Any) -> bool:
    """Whether *value* has a number of elements in an order."""
    odd = isinstance(value, (str, bytes, dict, set, frozenset))
    return not odd and hasattr(value, "__len__") and hasattr(value, "__iter__")


def must_be(allowed: str, fits: Callable[[Any], bool]) -> Check:
    """Return a check that refuses with TypeError what does not fit."""

    def check(name: str, value: Any) -> Any:
        if not fits(value):
            raise TypeError(f"{name}={value!r}: must be {allowed}")
        return value

    return check


function = must_be("a function", callable)
flag = must_be("True or False", lambda value: isinstance(value, bool))
values = must_be("a list of elements", has_order)
name_of_stage = must_be("a name", lambda value: isinstance(value, str) and value != "")


def one_of(name: str, value: Any, allowed: tuple[str, ...]) -> str:
    """Return *value*, which must be one of the words *allowed*."""
    if value not in allowed:
        raise ValueError(f"{name}={value!r}: must be one of {', '.join(allowed)}")
    return str(value)


# ---- the arguments of operators, by their names ----


def unsaid(check: Check, default: Any = None) -> Check:
    """Let None stand for *default*, and *check* anything else."""
    return lambda name, value: default if value is None else check(name, value)


def bytes_of(name: str, value: Any) -> Any:
    """Return the size of an element as a number, or as a function of the element."""
    return value if callable(value) else integer(name, value, least=0)


def start_of_worker(name: str, value: Any) -> tuple[Any, Any]:
    """`value` as two times: in `iter`, and from then until a worker is ready."""
    if not isinstance(value, tuple) or len(value) != 2:
        raise TypeError(f"{name}={value!r}: must be two times, in iter() and from then until it is ready")
    cost(name, value[0]), cost(name, value[1])
    return value


one_or_more = partial(integer, least=1)
ARGUMENTS: dict[str, Check] = {
    "DataLoader.batch_size": unsaid(one_or_more),
    "batch_size": one_or_more,
    "batches": flag,
    "block_length": unsaid(one_or_more, 1),
    "buffer_size": one_or_more,
    "collate": cost,
    "collate_fn": unsaid(function),
    "cost": cost,
    "count": unsaid(integer),
    "cycle_length": unsaid(partial(integer, least=1, auto=True)),
    "deterministic": unsaid(flag, True),
    "drop_last": flag,
    "drop_remainder": flag,
    "generator": function,
    "DataLoader.generator": unsaid(integer),
    "DataLoader.start": start_of_worker,
    "getitems": flag,
    "in_order": flag,
    "index": integer,
    "kind": partial(one_of, allowed=KINDS),
    "map_func": unsaid(function),
    "multiprocessing_context": unsaid(partial(one_of, allowed=("fork",))),
    "nbytes": unsaid(bytes_of),
    "num_parallel_calls": unsaid(partial(integer, least=1, auto=True)),
    "num_workers": partial(integer, least=0),
    "num_samples": partial(integer, least=0),
    "num_shards": one_or_more,
    "open": cost,
    "persistent_workers": flag,
    "pin": cost,
    "pin_memory": flag,
    "prefetch_factor": unsaid(partial(integer, least=0)),
    "predicate": function,
    "prefetch.buffer_size": partial(integer, least=0, auto=True),
    "random": flag,
    "read": cost,
    "reshuffle_each_iteration": unsaid(flag, True),
    "seed": unsaid(integer),
    "skip.count": integer,
    "shuffle": unsaid(flag),
    "stage": name_of_stage,
    "start": integer,
    "take.count": integer,
    "timeout": seconds,
    "transfer": cost,
    "worker_init_fn": unsaid(function),
}


def arguments(method: str, given: dict[str, Any]) -> dict[str, Any]:
    """Check the arguments of *method* among what is *given*, each by the rule of its name."""
    checks = {name: ARGUMENTS.get(f"{method}.{name}") or ARGUMENTS.get(name) for name in given}
    return {name: check(name, given[name]) for name, check in checks.items() if check}
