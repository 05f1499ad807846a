"""Arguments that a script's training loader gets instead of its own, while the script runs as it is.

They are put into the loader when it is about to be iterated with gradients on, not when it is made:
only then it differs from one for validation. PyTorch reads them when it begins an epoch. Who asks for
the length of a loader before hears that of its own batches.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import get_all_start_methods
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from .patching import Line, made_at
from .told_errors import NotMeasuredError

# `Any` in this module is PyTorch, a loader of it, or the value of an argument of that.

Value = int | bool | str
Settings = dict[str, Value]
"""Arguments of a loader by their names, and `threads`, those of the training process."""

THREADS = "threads"
# Arguments that PyTorch refuses without workers; how they are written there
FOR_WORKERS = {
    "prefetch_factor": None,
    "persistent_workers": False,
    "multiprocessing_context": None,
    "timeout": 0,
}
# PyTorch's own depth, where workers are asked for and no depth is
USUAL_DEPTH = 2


class CannotSetError(NotMeasuredError, ValueError):
    """A loader cannot have a setting; the message names both."""


class Allowed(NamedTuple):
    """How a value is read, None for what is none; and in words what is allowed."""

    read: Callable[[str], Value | None]
    words: str


def whole(least: int) -> Allowed:
    """Allow whole numbers of at least *least*."""

    def read(text: str) -> int | None:
        return int(text) if text.isdecimal() and int(text) >= least else None

    return Allowed(read, f"a whole number, {least} or more")


def one_of(values: dict[str, Value]) -> Allowed:
    """Allow the keys of *values*, in upper or lower case."""
    return Allowed(
        lambda text: values.get(text.lower()), " or ".join(map(str, values.values()))
    )


YES_OR_NO = one_of({"true": True, "false": False})
ALLOWED = {
    "num_workers": whole(0),
    "prefetch_factor": whole(1),
    "persistent_workers": YES_OR_NO,
    "pin_memory": YES_OR_NO,
    "in_order": YES_OR_NO,
    "batch_size": whole(1),
    "multiprocessing_context": one_of({name: name for name in get_all_start_methods()}),
    THREADS: whole(1),
}


def read_settings(text: str) -> Settings:
    """Return the arguments that *text* names: `num_workers=2,threads=1`.

    Raises ValueError for a name or a value that is not allowed, and for what needs workers where
    *text* says that there are none.
    """
    found: Settings = {}
    for part in text.split(","):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if name not in ALLOWED or not equals:
            names = ", ".join(ALLOWED)
            raise ValueError(
                f"--set {part.strip()}: must be NAME=VALUE with one of {names}"
            )
        if name in found:
            raise ValueError(f"--set {text}: {name} is said twice")
        read = ALLOWED[name].read(value)
        if read is None:
            raise ValueError(f"--set {name}={value}: must be {ALLOWED[name].words}")
        found[name] = read
    if found.get("num_workers") == 0:
        refuse_without_workers(found, "")
    return found


def refuse_without_workers(settings: Settings, whose: str) -> None:
    """Raise CannotSetError if *settings* have what needs workers; *whose* loader has none."""
    for name, without in FOR_WORKERS.items():
        if settings.get(name, without) != without:
            why = f"needs workers, and {whose or 'num_workers=0'} has none"
            raise CannotSetError(f"--set {name}={settings[name]}: {why}")


def as_text(settings: Settings) -> str:
    """Write *settings* as `read_settings` reads them."""
    return ",".join(f"{name}={value}" for name, value in settings.items())


class Forced:
    """Puts *settings* into loaders: all that train, or those of the line *wanted*.

    *lines* are those of the loaders that got them. *cautions* are sentences about what they may do
    beside taking another time.
    """

    def __init__(self, settings: Settings, wanted: str = "") -> None:
        self.settings = {name: value for name, value in settings.items() if name != THREADS}
        self.wanted = wanted
        self.lines: list[Line | None] = []
        self.cautions: list[str] = []
        self.own = WeakKeyDictionary[Any, dict[str, Any]]()  # what loaders had before

    def apply(self, loader: Any) -> None:
        """Put the settings into *loader*, if it is meant.

        Raises CannotSetError for one that cannot have them.
        """
        line = made_at(loader)
        is_wanted = line is not None and line.is_named(self.wanted)
        if not self.settings or loader in self.own or (self.wanted and not is_wanted):
            return
        told = self.arguments_for(loader)
        self.own[loader] = {name: getattr(loader, name) for name in told}
        self.put(loader, told)
        if line not in self.lines:
            self.lines.append(line)

    def take_back(self, loader: Any) -> None:
        """Give *loader* its own arguments again, if it got others."""
        if loader in self.own:
            self.put(loader, self.own.pop(loader))

    def arguments_for(self, loader: Any) -> dict[str, Any]:
        """Return all arguments of *loader* that change: what goes with workers goes with them."""
        where = made_at(loader) or "a library"
        torch = sys.modules["torch"]  # whoever has a loader has imported it
        for name in self.settings:
            if not hasattr(loader, name):
                version = getattr(torch, "__version__", "")
                raise CannotSetError(
                    f"--set {name}={self.settings[name]}: the loader of {where} has no such "
                    f"argument in PyTorch {version}"
                )
        if "batch_size" in self.settings and not loader.batch_size:
            raise CannotSetError(
                f"--set batch_size={self.settings['batch_size']}: the loader of {where} has none, its "
                "batches are made by a sampler of the script's"
            )
        told: dict[str, Any] = dict(self.settings)
        workers = told.get("num_workers", loader.num_workers)
        if not workers:
            refuse_without_workers(self.settings, f"the loader of {where}")
            return told | FOR_WORKERS if loader.num_workers else told
        if not loader.num_workers:
            told.setdefault("prefetch_factor", USUAL_DEPTH)
        if isinstance(loader.dataset, torch.utils.data.IterableDataset) and workers > 1:
            self.cautions.append(
                f"the loader of {where} reads an iterable: {workers} workers give each sample "
                f"{workers} times unless its dataset shares the samples out among them"
            )
        return told

    def put(self, loader: Any, told: dict[str, Any]) -> None:
        """Set attributes of *loader*, which PyTorch guards, and end workers that stayed with the old."""
        kept = getattr(loader, "_iterator", None)
        if kept is not None:
            kept._shutdown_workers()
            loader._iterator = None
        for name, value in told.items():
            object.__setattr__(loader, name, value)
        if "batch_size" in told:
            loader.batch_sampler.batch_size = told["batch_size"]


@contextmanager
def threads_forced(torch: Any, count: int) -> Iterator[None]:
    """Let the block compute with as many threads, whatever the script sets; workers keep their one."""
    before = torch.get_num_threads()
    set_threads = torch.set_num_threads
    process = os.getpid()

    def set_in_workers(number: int) -> None:
        if os.getpid() != process:
            set_threads(number)

    set_threads(count)
    torch.set_num_threads = set_in_workers
    try:
        yield
    finally:
        torch.set_num_threads = set_threads
        set_threads(before)
