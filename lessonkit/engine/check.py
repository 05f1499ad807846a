"""Checks of arguments: an error has the name, the value, and the values that are allowed."""

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, wraps
from inspect import signature
from typing import Annotated, Any, NamedTuple, ParamSpec, TypeVar, get_args, get_origin

Check = Callable[[str, Any], Any]  # of the name of an argument, and its value
Kind = TypeVar("Kind")
P = ParamSpec("P")
R = TypeVar("R")

KINDS = ("wait", "native", "python")  # of work: what it holds
AUTOTUNE = -1  # as in tf.data: a number to be found by the system
LONGEST = 1e9  # seconds, thirty years; no clock of a system waits for ten times that


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
    try:
        number = float(value)
    except OverflowError:  # of an integer
        number = math.inf
    if unit == "seconds" and LONGEST < number < math.inf:
        raise ValueError(f"{name}={shortened(value)}: {allowed}, and at most {LONGEST:g}")
    if not 0 <= number < math.inf or (not number and least != "0 or more"):
        raise ValueError(f"{name}={shortened(value)}: {allowed}")
    return number


def shortened(value: Any) -> str:
    """Write a number that may have very many digits."""
    text = repr(value)
    return text if len(text) <= 30 else f"{text[:12]}…"


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


def bytes_of(name: str, value: Any) -> Any:
    """Return the size of an element as a number, or as a function of the element."""
    return value if callable(value) else integer(name, value, least=0)


# ---- checks that stand at a method, in the annotations of its arguments ----


@dataclass(frozen=True)
class AtLeast:
    """The check of an integer of *least* or more; with *auto*, or AUTOTUNE."""

    least: int
    auto: bool = False

    def __call__(self, name: str, value: Any) -> int:
        return integer(name, value, least=self.least, auto=self.auto)


@dataclass(frozen=True)
class OneOf:
    """The check of one of the *words*."""

    words: tuple[str, ...]

    def __call__(self, name: str, value: Any) -> str:
        return one_of(name, value, self.words)


@dataclass(frozen=True)
class InstanceOf:
    """The check of an instance of *kind*, which an error calls *allowed*."""

    kind: type[Any]
    allowed: str = ""

    def __call__(self, name: str, value: Any) -> Any:
        return instance(name, value, self.kind, self.allowed)


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Make *function* check its arguments: it gets each as the check of its annotation returns it.

    A check is a function of the name and the value of an argument. None passes if the type says
    so. The signature that a reader sees has the types alone.

    >>> @checked
    ... def take(count: Annotated[int, AtLeast(0)]) -> int:
    ...     return count
    >>> take(-1)
    Traceback (most recent call last):
    ValueError: count=-1: must be 0 or more
    >>> signature(take)
    <Signature (count: int) -> int>
    """
    shown = signature(function)
    parameters = []
    checks: dict[str, Check] = {}
    for parameter in shown.parameters.values():
        annotation = parameter.annotation
        if get_origin(annotation) is Annotated:
            kind, check = get_args(annotation)
            optional = type(None) in get_args(kind)
            checks[parameter.name] = or_none(check) if optional else check
            parameters.append(parameter.replace(annotation=kind))
        else:
            parameters.append(parameter)
    if not checks:  # they would be texts if annotations were not evaluated
        raise TypeError(f"{function}: must have an argument that is annotated with a check")
    names = tuple(shown.parameters)

    def check_one(name: str, value: Any) -> Any:
        return checks[name](name, value) if name in checks else value

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        by_place = [check_one(*pair) for pair in zip(names, args, strict=False)]
        by_name = {name: check_one(name, value) for name, value in kwargs.items()}
        # Those too many are refused by the function itself, in Python's own words
        return function(*by_place, *args[len(names) :], **by_name)  # type: ignore[arg-type]

    call.__signature__ = shown.replace(parameters=parameters)  # type: ignore[attr-defined]
    return call


def as_given(check: Check) -> Check:
    """Return a check that refuses as *check* does, and returns the value as it was given."""

    def checked_only(name: str, value: Any) -> Any:
        check(name, value)
        return value

    return checked_only


def or_none(check: Check) -> Check:
    """Return a check that lets None pass, and leaves any other value to *check*."""
    return lambda name, value: None if value is None else check(name, value)
