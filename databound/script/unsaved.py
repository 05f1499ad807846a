"""Sees to it that a script saves nothing of a training that only measures: models, logs of trackers.

Checkpoints of a real training may lie where this one would write its own, and a trainer, or the
script itself, deletes the oldest of them. So nothing is deleted either, and what would have been
saved is not looked for where it is to be moved or copied.
"""

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

from lessonkit.words import counted

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
    ("lightning.pytorch.trainer.trainer", "Trainer.save_checkpoint"),
    ("pytorch_lightning.trainer.trainer", "Trainer.save_checkpoint"),
    ("transformers.trainer", "Trainer._save_checkpoint"),
    ("transformers.trainer", "Trainer.save_model"),
    ("transformers.modeling_utils", "PreTrainedModel.save_pretrained"),
)
# What deletes a file or a folder, by the path that it is given first
DELETERS = (("os", "remove"), ("os", "unlink"), ("shutil", "rmtree"))
# What takes a file from a path, given first, to another: a checkpoint to its last name
MOVERS = (
    ("os", "rename"),
    ("os", "replace"),
    ("shutil", "move"),
    ("shutil", "copy"),
    ("shutil", "copy2"),
    ("shutil", "copyfile"),
)
# What a file is opened with that is written
WRITES = frozenset("wax+")
# Names of written files that a sentence has room for
NAMED = 5


DoesNothing = Callable[[list[Any]], bool]
"""Whether a function does nothing with what it is given, while a script trains that only measures."""


class Unsaved:
    """What a script did not save, and what it wrote all the same.

    It does not save while *trains* says that it is the script that runs, and trains. *withheld* has the
    functions that did nothing, *missing* the paths to which nothing was saved. *written* are the files
    that the script opened to write to them by itself, from its beginning: a log is opened early. What
    a function that *goes_on* calls for itself is a part of it.
    """

    def __init__(self, trains: Callable[[], bool]) -> None:
        self.trains = trains
        self.goes_on = False
        self.withheld = Counter[str]()
        self.missing = set[str]()
        self.written = set[str]()
        self.replaced = dict[tuple[str, str], Callable[[], None]]()
        self.is_over = False

    def withhold(self) -> None:
        """Let the savers of all libraries that are imported by now do nothing while it trains."""
        kinds = (
            (SAVERS, self.saves_nothing),
            (DELETERS, self.is_to_stay),
            (MOVERS, self.was_not_saved),
        )
        for functions, does_nothing in kinds:
            for module, path in functions:
                self.replace(module, path, does_nothing)

    def replace(self, module: str, path: str, does_nothing: DoesNothing) -> None:
        """Let a function do nothing while the script trains, where *does_nothing* says so."""
        *owners, name = path.split(".")
        owner: Any = sys.modules.get(module)
        for each in owners:
            owner = getattr(owner, each, None)
        original = getattr(owner, name, None)
        if original is None or (module, path) in self.replaced:
            return

        @wraps(original)
        def call(*given: Any, **named: Any) -> Any:
            if self.goes_on or not self.trains():
                return original(*given, **named)
            if does_nothing([*given, *named.values()]):
                self.withheld[f"{module}.{path}"] += 1
                return None
            # `rmtree` deletes by names that only the descriptor of their folder makes whole
            self.goes_on = True
            try:
                return original(*given, **named)
            finally:
                self.goes_on = False

        setattr(owner, name, call)
        self.replaced[module, path] = restoring(owner, name, original)

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

    def was_not_saved(self, given: list[Any]) -> bool:
        """Whether a file that is to be moved is not there because it was not saved."""
        path = given[0] if given else None
        return (
            isinstance(path, (str, os.PathLike)) and os.path.abspath(path) in self.missing
        )

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
        for restore in self.replaced.values():
            restore()

    def __str__(self) -> str:
        if not self.written:
            return "Nothing was saved by the script."
        names = sorted({Path(path).name for path in self.written})
        told = ", ".join(names[:NAMED])
        if len(names) > NAMED:
            told += f" and {counted(len(names) - NAMED, 'other files')}"
        return f"No model was saved by the script; it wrote {told}."


def is_temporary(path: str) -> bool:
    """Whether a *path* is of no file that anybody keeps: libraries write their caches, too."""
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    whole = Path(os.path.abspath(path))
    folders = ("/dev", "/proc", tempfile.gettempdir(), caches)
    return any(whole.is_relative_to(folder) for folder in folders)


def restoring(owner: Any, name: str, original: Any) -> Callable[[], None]:
    """Return what makes *original* the attribute *name* of its *owner* again."""
    return lambda: setattr(owner, name, original)


@contextmanager
def saving_nothing(trains: Callable[[], bool]) -> Iterator[Unsaved]:
    """Keep the script in the block from saving, while *trains* says that it makes steps for us."""
    unsaved = Unsaved(trains)
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
