"""Checks of arguments: an error has the name, the value, and the values that are allowed."""

import math
import operator
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeVar

Check = Callable[[str, Any], Any]
Kind = TypeVar("Kind")

KINDS = ("wait", "native", "python")  # of work: what it holds
AUTOTUNE = -1  # as in tf.data: a number to be found by the system


class ArgumentOf(NamedTuple):
    """Names a value that a function returned for an element: a text that only an error needs."""

    name: str
    element: Any
    hint: str = ""  # added to the error: what to write instead

    def __str__(self) -> str:
        return f"{self.name} of {self.element!r}"


def integer(
    name: str | ArgumentOf, value: Any, *, least: int | None = None, auto: bool = False
) -> int:
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


def amount(
    name: str | ArgumentOf, value: Any, unit: str = "seconds", least: str = "0 or more"
) -> float:
    """Return *value* as a finite number of a *unit*: 0 or more, or what else *least* says."""
    allowed = f"must be a number of {unit}, {least}{getattr(name, 'hint', '')}"
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise TypeError(f"{name}={value!r}: {allowed}")
    number = float(value)
    if not 0 <= number < math.inf or (not number and least != "0 or more"):
        raise ValueError(f"{name}={value!r}: {allowed}")
    return number


def nanoseconds(name: str | ArgumentOf, value: Any) -> int:
    """Return *value* seconds as the whole nanoseconds that the clocks count in."""
    return round(amount(name, value) * 1e9)


def cost(name: str, value: Any) -> Any:
    """Return *value* as seconds, or as a function of the element that gives seconds."""
    return value if callable(value) else amount(name, value)


def cost_of_bytes(name: str, value: Any) -> Any:
    """Return *value* as seconds, or as a function of the bytes of a batch that gives seconds."""
    if hasattr(value, "price_of"):  # a cost of elements
        allowed = "must be a number of seconds, or a function of the bytes of a batch"
        raise TypeError(f"{name}={value!r}: {allowed}")
    return cost(name, value)


def instance(name: str, value: Any, kind: type[Kind], allowed: str = "") -> Kind:
    """Return *value*, which must be an instance of *kind*; an error calls that *allowed*."""
    if not isinstance(value, kind):
        raise TypeError(f"{name}={value!r}: must be {allowed or f'a {kind.__name__}'}")
    return value


def must_be(allowed: str, fits: Callable[[Any], bool]) -> Check:
    """Return a check that raises TypeError for a value that does not fit."""

    def check(name: str, value: Any) -> Any:
        if not fits(value):
            raise TypeError(f"{name}={value!r}: must be {allowed}")
        return value

    return check


function = must_be("a function", callable)
flag = partial(instance, kind=bool, allowed="True or False")
values = must_be(
    "a list of elements",
    lambda value: (
        hasattr(value, "__len__")
        and hasattr(value, "__iter__")
        and not isinstance(value, (str, bytes, dict, set, frozenset))
    ),
)
event = must_be("a threading.Event", lambda value: hasattr(value, "is_set"))
two_times = must_be(
    "two times, in iter() and from then until it is ready",
    lambda value: (
        isinstance(value, tuple)
        and len(value) == 2
        and not hasattr(value[0], "price_of")  # a cost of elements
        and not hasattr(value[1], "price_of")
    ),
)
name_of_stage = must_be("a name", lambda value: isinstance(value, str) and value != "")


def one_of(name: str, value: Any, allowed: tuple[str, ...]) -> str:
    """Return *value*, which must be one of the words *allowed*."""
    if value not in allowed:
        raise ValueError(f"{name}={value!r}: must be one of {', '.join(allowed)}")
    return str(value)


# ---- the arguments of operators, by their names ----


def bytes_of(name: str, value: Any) -> Any:
    """Return the size of an element as a number, or as a function of the element."""
    return value if callable(value) else integer(name, value, least=0)


BY_CHECK: tuple[tuple[Check, str, str], ...] = (
    # The check, the arguments that it looks at, and those that may also be None: each as its
    # name alone, or with the method in which the name means something else
    (
        flag,
        "ahead batches drop_last drop_remainder getitems in_order keep persistent_workers "
        "pin_memory random",
        "shuffle deterministic reshuffle_each_iteration",
    ),
    (
        function,
        "flat_map.map_func generator interleave.map_func predicate",
        "collate_fn map_func progress step worker_init_fn",
    ),
    (cost, "cost load open read", "train"),
    (cost_of_bytes, "collate transfer", ""),
    (integer, "index skip.count start take.count", "DataLoader.generator count seed"),
    (
        partial(integer, least=0),
        "num_epochs num_samples num_workers queue",
        "max_elements prefetch_factor",
    ),
    (partial(integer, least=0, auto=True), "prefetch.buffer_size", ""),
    (
        partial(integer, least=1),
        "batch_size buffer_size num_shards",
        "DataLoader.batch_size block_length ranks",
    ),
    (partial(integer, least=1, auto=True), "", "cycle_length num_parallel_calls"),
    (partial(one_of, allowed=KINDS), "kind", ""),
    (partial(one_of, allowed=("virtual", "real")), "clock", ""),
    (event, "", "cancel"),
    (bytes_of, "", "nbytes"),
    (name_of_stage, "stage", ""),
    (two_times, "DataLoader.start", ""),
    (lambda name, value: value, "", "sampler batch_sampler"),
)
ARGUMENTS = {name: check for check, *names in BY_CHECK for name in " ".join(names).split()}
# What None stands for, where an argument may be None
OPTIONAL = dict.fromkeys(" ".join(row[2] for row in BY_CHECK).split()) | {
    "block_length": 1,
    "deterministic": True,
    "reshuffle_each_iteration": True,
}


def arguments(method: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return those of the *given* arguments of *method* that have a check, as it returns them."""
    checked = {}
    for argument, value in given.items():
        name = f"{method}.{argument}"
        if name not in ARGUMENTS:
            name = argument
        if value is None and name in OPTIONAL:
            checked[argument] = OPTIONAL[name]
        elif name in ARGUMENTS:
            checked[argument] = ARGUMENTS[name](argument, value)
    return checked
