"""What a step trains, put back as it was: weights, optimisers, schedules, and all else that has a state.

A step is called hundreds of times while it is measured. What it names and what has a `state_dict` is
copied before, and loaded again afterwards.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple, TypeVar

from lessonkit.words import size

from ..code import is_own
from ..machine import free_memory
from ..thresholds import HELD, ROOM
from .batches import bytes_of, each_part

Batch = TypeVar("Batch")

# `Any` in this module is something of the user's own or of PyTorch: a module, an optimiser, a tensor.


# ---- what a step reaches ----


class Reached(NamedTuple):
    """A *thing* that a step reaches, and the *name* that it has there."""

    name: str
    thing: Any


def reached(step: Callable[[Any], object]) -> list[Reached]:
    """Return all that *step* reaches and that has a state.

    It reaches what its code names: variables around it, globals, defaults, the arguments of a
    `partial`, the object whose method it is, and what the user's own functions name that it
    reaches. Of an object without a state it reaches the attributes, and what these hold in lists
    and dictionaries, but nothing further down.
    """
    found: list[Reached] = []
    seen = set[int]()
    waiting = [*named_by("step", step)]
    while waiting:
        one = waiting.pop(0)
        if id(one.thing) in seen:
            continue
        seen.add(id(one.thing))
        if has_state(one.thing):
            found.append(one)
        elif isinstance(one.thing, (FunctionType, MethodType, partial)):
            waiting += named_by(*one)
        else:
            waiting += [held for held in held_by(*one) if has_state(held.thing)]
    return found


def has_state(thing: object) -> bool:
    """Whether a *thing* gives its state and takes it again, as modules and optimisers do."""
    kind = type(thing)
    return all(
        callable(getattr(kind, name, None)) for name in ("state_dict", "load_state_dict")
    )


def named_by(name: str, called: Any) -> Iterator[Reached]:
    """Yield what something that can be *called* names, each with the name that it has there."""
    if isinstance(called, partial):
        yield Reached(name, called.func)
        for number, given in enumerate(called.args):
            yield Reached(f"argument {number + 1} of {name}", given)
        for keyword, given in called.keywords.items():
            yield Reached(keyword, given)
    elif isinstance(called, MethodType):
        yield Reached("self", called.__self__)
        yield Reached(name, called.__func__)
    elif isinstance(called, FunctionType):
        if is_own(called.__code__.co_filename):
            yield from named_in(called)
    else:
        yield Reached(name, called)
        yield Reached(name, getattr(type(called), "__call__"))  # noqa: B004, B009 - its function


def named_in(function: FunctionType) -> Iterator[Reached]:
    """Yield what the code of a *function* names, and what is behind each name."""
    code = function.__code__
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # it has no value yet
            yield Reached(name, cell.cell_contents)
    for name in sorted(all_names(code) & function.__globals__.keys()):
        yield Reached(name, function.__globals__[name])
    arguments = reversed(code.co_varnames[: code.co_argcount])
    for name, value in zip(arguments, reversed(function.__defaults__ or ()), strict=False):
        yield Reached(name, value)
    for name, value in (function.__kwdefaults__ or {}).items():
        yield Reached(name, value)


def all_names(code: CodeType) -> set[str]:
    """Return the global names in *code*, and in the functions that are written in it."""
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return {*code.co_names}.union(*map(all_names, inner))


def held_by(name: str, thing: Any) -> Iterator[Reached]:
    """Yield what a *thing* holds as a container, its attributes, and what these hold."""
    if isinstance(thing, (ModuleType, type)):
        return
    yield from items_of(name, thing)
    for attribute, value in getattr(thing, "__dict__", {}).items():
        yield Reached(f"{name}.{attribute}", value)
        yield from items_of(f"{name}.{attribute}", value)


def items_of(name: str, container: Any) -> Iterator[Reached]:
    """Yield what is in a *container*; nothing of one that holds as much as only data does."""
    if not isinstance(container, (dict, list, tuple)) or len(container) > HELD:
        return
    items = container.items() if isinstance(container, dict) else enumerate(container)
    for key, value in items:
        yield Reached(f"{name}[{key!r}]", value)


# ---- kept, and put back ----


@dataclass
class Kept:
    """The *owner* of a state, its *name*, and copies in the memory of this computer of what it was.

    Of a module these are also its *gradients*, which a step may add up, and which of its parts
    are in which *mode*.
    """

    name: str
    owner: Any
    state: object
    modes: list[tuple[Any, bool]] = field(default_factory=list)
    gradients: list[tuple[Any, Any]] = field(default_factory=list)

    @classmethod
    def of(cls, name: str, owner: Any, state: object) -> "Kept":
        """Return what an *owner* is now, whose *state* was asked already."""
        kept = cls(name, owner, each_part(state, on_host))
        if is_module(owner):
            kept.modes = [(one, one.training) for one in owner.modules()]
            kept.gradients = [(one, on_host(one.grad)) for one in owner.parameters()]
        return kept

    def put_back(self, *, for_good: bool) -> None:
        """Let the owner be as it was; if that is *for good*, it may have our copy for its own."""
        self.owner.load_state_dict(self.state if for_good else deepcopy(self.state))
        for one, training in self.modes:
            one.training = training
        for parameter, gradient in self.gradients:
            parameter.grad = None if gradient is None else gradient.to(parameter.device)


def is_module(owner: Any) -> bool:
    """Whether an *owner* of a state is a module: it has parameters, and modes."""
    return all(callable(getattr(owner, name, None)) for name in ("parameters", "modules"))


def on_host(value: Any) -> Any:
    """Return a copy of a part of a state, which takes no memory of a GPU."""
    if hasattr(value, "detach") and hasattr(value, "to"):  # a tensor
        return value.detach().to("cpu", copy=True)
    return deepcopy(value)


class Training:
    """What a *step* trains: kept when this is made, and put back when it is said.

    *names* are what was kept, and *not_put_back* says what could not be, and why. A schedule with
    a number of steps begins again when it would end, because a measuring makes more of them.
    """

    def __init__(self, step: Callable[[Any], object]) -> None:
        self.not_put_back: list[str] = []
        self.kept: list[Kept] = []
        for name, owner in reached(step):
            self.keep(name, owner)
        self.names = [one.name for one in self.kept]
        self.ending = [
            kept
            for kept in self.kept
            if isinstance(getattr(kept.owner, "total_steps", None), int)
            and isinstance(getattr(kept.owner, "last_epoch", None), int)
        ]

    def keep(self, name: str, owner: Any) -> None:
        """Keep what *owner* is now, if it says that and if there is room."""
        try:
            state = owner.state_dict()
            nbytes = bytes_of(state)
            free = free_memory()
            if free is not None and nbytes > ROOM * free:
                why = f"a copy needs {size(nbytes)}, and {size(free)} are free"
                self.not_put_back.append(f"{name}: {why}")
                return
            self.kept.append(Kept.of(name, owner, state))
        except Exception as error:  # whatever its class raises
            self.not_put_back.append(f"{name}: {error!r}")

    def begin_again(self) -> None:
        """Put back the schedules that would end with the next step."""
        for kept in self.ending:
            if kept.owner.last_epoch >= kept.owner.total_steps - 1:
                kept.put_back(for_good=False)

    def without_end(self, step: Callable[[Batch], object]) -> Callable[[Batch], object]:
        """Return a *step* that may be called as often as one likes, whatever its schedules say."""
        if not self.ending:
            return step

        def repeated(batch: Batch) -> object:
            self.begin_again()
            return step(batch)

        return repeated

    def put_back(self) -> None:
        """Let all be as it was, and forget the copies."""
        for kept in self.kept:
            try:
                kept.put_back(for_good=True)
            except Exception as error:  # whatever its class raises
                self.not_put_back.append(f"{kept.name}: {error!r}")
                self.names.remove(kept.name)
        self.kept.clear()
        self.ending.clear()

    # ---- in words ----

    @property
    def head(self) -> str:
        """What was put back, in words; nothing of a step that trains nothing with PyTorch."""
        words = [f"Put back as before: {', '.join(self.names)}."] if self.names else []
        if self.not_put_back:
            words.append("Not put back:")
        if not words and "torch" in sys.modules:
            words.append("Nothing was put back: the step names nothing that has a state.")
        return " ".join(words)


@contextmanager
def kept(step: Callable[[Any], object]) -> Iterator[Training]:
    """Put back after the block what *step* trains."""
    training = Training(step)
    try:
        yield training
    finally:
        training.put_back()
