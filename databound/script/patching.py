"""Stands in for three methods of PyTorch's `DataLoader` while a script runs that was not written for us.

A loader then knows the line at which it was made: of one that a framework made anew of the user's
own, as Accelerate does, that is the line of the user's. Who iterates over it while gradients are on gets
an iterator of ours, and a loader may be told to be longer than it is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from types import FrameType
from typing import Any, Protocol
from weakref import WeakValueDictionary

from ..code import is_own
from .replaced import replaced

# The names that a loader has in its own dictionary
MADE_AT = "_databound_made_at"
GIVEN = "_databound_given"
# A function of ours that stands in for one of PyTorch's has this attribute
OURS = "_databound"


@dataclass(frozen=True)
class Line:
    """A line of the user's own files, as a traceback names it."""

    file: str
    number: int

    def __str__(self) -> str:
        return f"{Path(self.file).name}:{self.number}"

    def is_named(self, name: str) -> bool:
        """Whether *name*, `FILE:LINE` as somebody types it, means this line."""
        file, _, number = name.rpartition(":")
        return number == str(self.number) and Path(self.file).match(file)


def users_line(frame: FrameType | None) -> Line | None:
    """Return the innermost line of the user at or above *frame*; None if only libraries are there."""
    while frame is not None:
        if is_users(frame):
            return Line(frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return None


def is_users(frame: FrameType) -> bool:
    """Whether a *frame* is of a file that the user wrote, or of a cell of a notebook."""
    return is_own(frame.f_code.co_filename)


def made_at(loader: Any) -> Line | None:
    """Return the line at which *loader* was made, if that is known."""
    line = getattr(loader, "__dict__", {}).get(MADE_AT)
    return line if isinstance(line, Line) else None


def may_be_given(loader: Any, name: str) -> bool:
    """Whether *loader* was made with an argument of that *name*; of one whose making nobody saw it may be."""
    given = getattr(loader, "__dict__", {}).get(GIVEN)
    return given is None or name in given


def described(loader: Any) -> str:
    """Write the call of a *loader*, with the arguments that a reader looks for."""
    sizes = [getattr(each, "batch_size", None) for each in (loader, *samplers_of(loader))]
    options = {
        "batch_size": next((size for size in sizes if size), None),
        "num_workers": getattr(loader, "num_workers", None),
    }
    told = [f"{name}={value!r}" for name, value in options.items() if value is not None]
    return f"{type(loader).__name__}({', '.join(told)})"


def reads_in_order(loader: Any) -> bool:
    """Whether *loader* gives its samples in their own order, as one for validation does."""
    *_, innermost = samplers_of(loader)
    return type(innermost).__name__ == "SequentialSampler"


def samplers_of(loader: Any) -> Iterator[Any]:
    """Yield what makes the batches of *loader*, and then each sampler that the one before it wraps."""
    around = loader
    while True:
        sampler = getattr(around, "batch_sampler", None)
        if sampler is None:
            sampler = getattr(around, "sampler", None)
        if sampler is None:
            return
        yield sampler
        around = sampler


class Hooks(Protocol):
    """What happens instead of PyTorch's own, in the process of the script alone."""

    def iterate(
        self, loader: Any, begin: Callable[[], Iterator[Any]], line: Line | None
    ) -> Iterator[Any]:
        """Return what the script gets that asks *loader* for an iterator, at its *line*.

        *begin* gives PyTorch's own. It is only called while gradients are on.
        """
        ...

    def length(self, loader: Any, known: int) -> int:
        """Return the number of batches that the script is told, where so many are *known*."""
        ...


@contextmanager
def patched(torch: Any, hooks: Hooks) -> Iterator[None]:
    """Let *hooks* answer for all loaders of *torch* in the block, but not in a loader's workers."""
    data = torch.utils.data
    kind = data.DataLoader
    init = kind.__init__
    iterate = kind.__iter__
    # The last loader that lives, by the identity of the dataset that it keeps alive
    last_made = WeakValueDictionary[int, Any]()
    lengths = Lengths(hooks)

    # Frameworks look at the arguments of these functions, too
    @wraps(init)
    def init_noted(loader: Any, *given: Any, **named: Any) -> None:
        frame = sys._getframe(1)
        line = users_line(frame)
        dataset = id(named["dataset"] if "dataset" in named else next(iter(given), None))
        before = last_made.get(dataset)
        if before is not None and not is_users(frame):  # made anew, of one that still lives
            line = made_at(before)
        vars(loader)[MADE_AT] = line
        vars(loader)[GIVEN] = frozenset(named)
        lengths.ask_instead(type(loader))
        init(loader, *given, **named)
        last_made[dataset] = loader

    @wraps(iterate)
    def iterate_hooked(loader: Any) -> Iterator[Any]:
        trains = torch.is_grad_enabled() and not torch.is_inference_mode_enabled()
        if not trains or data.get_worker_info() is not None:
            return iterate(loader)  # type: ignore[no-any-return]
        return hooks.iterate(loader, lambda: iterate(loader), users_line(sys._getframe(1)))

    setattr(iterate_hooked, OURS, True)
    kind.__init__ = init_noted
    kind.__iter__ = iterate_hooked
    lengths.ask_instead(kind)
    try:
        yield
    finally:
        kind.__init__ = init
        kind.__iter__ = iterate
        lengths.end()


class Lengths:
    """Stands in for `__len__` of classes of loaders: *hooks* say what the script is told."""

    def __init__(self, hooks: Hooks) -> None:
        self.hooks = hooks
        self.own = dict[type, Callable[[Any], int]]()
        self.asked = set[int]()  # the identities of loaders that are asked now

    def ask_instead(self, kind: type) -> None:
        """Stand in for the `__len__` of *kind*, or of the class from which it has it."""
        owner = next(base for base in kind.__mro__ if "__len__" in vars(base))
        if owner in self.own:
            return
        length: Callable[[Any], int] = vars(owner)["__len__"]

        @wraps(length)
        def hooked(loader: Any) -> int:
            if id(loader) in self.asked:  # a subclass asks the class above it
                return length(loader)
            self.asked.add(id(loader))
            try:
                known = length(loader)
            finally:
                self.asked.discard(id(loader))
            return self.hooks.length(loader, known)

        self.own[owner] = length
        owner.__len__ = hooked  # type: ignore[attr-defined]

    def end(self) -> None:
        """Let all classes answer themselves again."""
        for owner, length in self.own.items():
            owner.__len__ = length  # type: ignore[attr-defined]


def is_patched(torch: Any) -> bool:
    """Whether hooks of ours answer for the loaders of *torch* now."""
    return hasattr(torch.utils.data.DataLoader.__iter__, OURS)


@contextmanager
def backward_noted(torch: Any, note: Callable[[], None]) -> Iterator[None]:
    """Call *note* in the block before each `backward()`, of a tensor or of autograd itself."""
    backward = torch.autograd.backward

    def noted(*given: Any, **named: Any) -> Any:
        note()
        return backward(*given, **named)

    with replaced(torch.autograd, {"backward": noted}):
        yield
