"""Sees to it that a script saves nothing of a training that only measures: models, logs of trackers.

Checkpoints of a real training may lie where this one would write its own, and a trainer, or the
script itself, deletes the oldest of them. So nothing is deleted either, what would have been
saved is not looked for where it is to be moved or copied, and files that the script opens by itself
have `Shadows`.
"""

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from pathlib import Path
from threading import local
from types import ModuleType
from typing import Any

from lessonkit.words import counted

from .shadows import Shadows, goes_to, is_temporary

# `Any` in this module is a class or a module of somebody else, and what its functions take.

# Environment variables, read by the libraries themselves, that keep them from sending anything
TRACKERS_OFF = {
    "WANDB_MODE": "disabled",
    "NEPTUNE_MODE": "offline",
    "CLEARML_OFFLINE_MODE": "1",
}
# Where frameworks write a model: the module, and what of it
SAVERS = (
    ("torch", "save"),
    ("safetensors.torch", "save_file"),
    ("safetensors.torch", "save_model"),
    ("accelerate.accelerator", "Accelerator.save_state"),
    ("accelerate.accelerator", "Accelerator.save_model"),
    ("ignite.handlers.checkpoint", "DiskSaver._save_func"),
    ("lightning.fabric.fabric", "Fabric.save"),
    ("lightning.pytorch.trainer.trainer", "Trainer.save_checkpoint"),
    ("lightning_fabric.fabric", "Fabric.save"),
    ("pytorch_lightning.trainer.trainer", "Trainer.save_checkpoint"),
    ("transformers.trainer", "Trainer._save_checkpoint"),
    ("transformers.trainer", "Trainer.save_model"),
    ("transformers.modeling_utils", "PreTrainedModel.save_pretrained"),
)
# What deletes a file or a folder, by the path that it is given first
DELETERS = (("os", "remove"), ("os", "unlink"), ("shutil", "rmtree"))
# What takes a file from a path, given first, to another: a checkpoint to its last name
MOVERS = (("os", "rename"), ("os", "replace"), ("shutil", "move"))
COPIERS = (("shutil", "copy"), ("shutil", "copy2"), ("shutil", "copyfile"))
# What a file is opened with that is written
WRITES = frozenset("wax+")
# Names of written files that a sentence has room for
NAMED = 5


DoesNothing = Callable[[list[Any]], bool]
"""Whether a function does nothing with what it is given, while a script trains that only measures."""


class Inside(local):
    """Whether a thread is inside of a function that goes on: what that calls for itself is a part of it."""

    goes_on = False


class Unsaved:
    """What a script did not save, and what it wrote all the same.

    It does not save while *trains* says that it is the script that runs, and trains. *withheld* has the
    functions that did nothing, *missing* the paths to which nothing was saved, *shadows* the files that it
    wrote instead of others. *written* are the files that the script opened to write to them by itself,
    from its beginning: a log is opened early.
    """

    def __init__(self, trains: Callable[[], bool]) -> None:
        self.trains = trains
        self.inside = Inside()
        self.withheld = Counter[str]()
        self.missing = set[str]()
        self.shadows = Shadows()
        self.written = set[str]()
        self.known = set[tuple[str, str]]()  # functions that were replaced
        self.restores = list[Callable[[], None]]()
        self.is_over = False

    def withholds(self) -> bool:
        """Whether what is called now is of the script, and saves nothing; a name may outlive this."""
        return not self.is_over and self.trains()

    def withhold(self) -> None:
        """Let the savers of all libraries that are imported by now do nothing while it trains."""
        kinds = (
            (SAVERS, self.saves_nothing),
            (DELETERS, self.is_to_stay),
            (MOVERS, self.was_not_saved),
            (COPIERS, partial(self.was_not_saved, is_copy=True)),
        )
        for functions, does_nothing in kinds:
            for module, path in functions:
                self.withhold_one(module, path, does_nothing)
        self.replace("builtins", "open", self.opening_shadows)

    def withhold_one(self, module: str, path: str, does_nothing: DoesNothing) -> None:
        """Let a function do nothing while the script trains, where *does_nothing* says so."""

        def withholding(original: Any) -> Any:
            @wraps(original)
            def call(*given: Any, **named: Any) -> Any:
                if self.inside.goes_on or not self.withholds():
                    return original(*given, **named)
                # `rmtree` deletes by names that only the descriptor of their folder makes whole
                self.inside.goes_on = True
                try:
                    if does_nothing([*given, *named.values()]):
                        self.withheld[f"{module}.{path}"] += 1
                        return None
                    return original(*given, **named)
                finally:
                    self.inside.goes_on = False

            return call

        self.replace(module, path, withholding)

    def replace(self, module: str, path: str, put: Callable[[Any], Any]) -> None:
        """Put what *put* makes of a function of a module in its place, wherever it has a name."""
        *classes, name = path.split(".")
        owner: Any = sys.modules.get(module)
        for each in classes:
            owner = getattr(owner, each, None)
        original = getattr(owner, name, None)
        if original is None or (module, path) in self.known:
            return
        self.known.add((module, path))
        places = [(owner, name)]
        if not classes:
            places += bound_elsewhere(original)
        call = put(original)
        for place, bound in places:
            setattr(place, bound, call)
            self.restores.append(restoring(place, bound, original))

    def opening_shadows(self, original: Any) -> Any:
        """Return an `open` that opens the shadow of a file that the script would write over."""

        @wraps(original)
        def call(file: Any, mode: Any = "r", *given: Any, **named: Any) -> Any:
            if named.get("opener") is None:  # who opens it otherwise may name another file
                file = self.opens(file, mode)
            return original(file, mode, *given, **named)

        return call

    def opens(self, file: Any, mode: Any) -> Any:
        """Return what is really opened where *file* is: itself, or the path of its shadow."""
        if not isinstance(file, (str, os.PathLike)) or not isinstance(mode, str):
            return file
        # Samples are read so, and nothing is to make that slower
        if (mode.startswith("r") and not self.shadows.paths) or self.inside.goes_on:
            return file
        path = os.fspath(file)
        if not isinstance(path, str):
            return file
        if self.withholds():
            return self.shadows.instead_of(path, mode)
        self.shadows.note_own(path, mode)
        return file

    def saves_nothing(self, given: list[Any]) -> bool:
        """Whether a saver does nothing with what it is *given*: one that writes to memory goes on."""
        if any(hasattr(each, "getvalue") for each in given):
            return False
        paths = [os.fspath(each) for each in given if isinstance(each, (str, os.PathLike))]
        self.missing |= {os.path.abspath(path) for path in paths}
        return True

    def is_to_stay(self, given: list[Any]) -> bool:
        """Whether a file or a folder that would be deleted stays: all but what is temporary."""
        path = given[0] if given else None
        return isinstance(path, (str, os.PathLike)) and not is_temporary(os.fspath(path))

    def was_not_saved(self, given: list[Any], *, is_copy: bool = False) -> bool:
        """Whether a file that is to be moved, or copied, was not saved, or goes from its shadow or to one."""
        match given:
            case [(str() | os.PathLike()) as source, (str() | os.PathLike()) as target, *_]:
                from_path = os.fspath(source)
                to_path = goes_to(from_path, os.fspath(target))
            case _:
                return False
        if os.path.abspath(from_path) in self.missing:
            return True
        if self.shadows.takes(from_path, to_path, is_copy=is_copy):
            return True
        if from_path in self.written:
            self.written.add(to_path)
        return False

    def note(self, event: str, details: tuple[Any, ...]) -> None:
        """Note a file that the script opens to write to it; what is temporary is nobody's."""
        if self.is_over or event != "open":
            return
        path, mode, _ = details
        if isinstance(path, str) and isinstance(mode, str) and WRITES & {*mode}:
            if not is_temporary(path):
                self.written.add(path)

    def end(self) -> None:
        """Let everything be saved again."""
        self.is_over = True
        for restore in reversed(self.restores):
            restore()
        self.shadows.end()

    def __str__(self) -> str:
        names = sorted({Path(path).name for path in self.written if os.path.exists(path)})
        if not names:
            return "Nothing was saved by the script."
        told = ", ".join(names[:NAMED])
        if len(names) > NAMED:
            told += f" and {counted(len(names) - NAMED, 'other files')}"
        return f"No model was saved by the script; it wrote {told}."


def bound_elsewhere(original: Any) -> list[tuple[Any, str]]:
    """Return the modules that have a function under a name of theirs, as `from torch import save` does."""
    return [
        (module, name)
        for module in list(sys.modules.values())
        if isinstance(module, ModuleType)
        for name, value in list(vars(module).items())
        if value is original
    ]


def restoring(owner: Any, name: str, original: Any) -> Callable[[], None]:
    """Return what makes *original* the attribute *name* of its *owner* again."""
    return lambda: setattr(owner, name, original)


@contextmanager
def saving_nothing(trains: Callable[[], bool]) -> Iterator[Unsaved]:
    """Keep the script in the block from saving, while *trains* says that it makes steps for us."""
    unsaved = Unsaved(trains)
    unsaved.withhold()
    before = {name: os.environ.get(name) for name in TRACKERS_OFF}
    os.environ.update(TRACKERS_OFF)
    sys.addaudithook(unsaved.note)  # stays for ever, and does nothing when this is over
    try:
        yield unsaved
    finally:
        unsaved.end()
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
