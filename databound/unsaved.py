"""Sees to it that a script saves nothing of a training that only measures: models, logs of trackers.

Checkpoints of a real training may lie where this one would write its own, and a trainer deletes
the oldest of them.
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
# What a file is opened with that is written
WRITES = frozenset("wax+")


class Unsaved:
    """What a script did not save, and what it wrote all the same.

    Both count only while *trains* says that the script makes steps for us. *withheld* has the
    functions that did nothing, *written* the files that the script opened to write to them by itself.
    """

    def __init__(self, trains: Callable[[], bool]) -> None:
        self.trains = trains
        self.withheld = Counter[str]()
        self.written = set[str]()
        self.replaced = dict[tuple[str, str], Callable[[], None]]()
        self.is_over = False

    def withhold(self) -> None:
        """Let the savers of all libraries that are imported by now do nothing while it trains."""
        for module, path in SAVERS:
            *owners, name = path.split(".")
            owner: Any = sys.modules.get(module)
            for each in owners:
                owner = getattr(owner, each, None)
            original = getattr(owner, name, None)
            if original is not None and (module, path) not in self.replaced:
                setattr(
                    owner, name, self.withheld_if_it_trains(original, f"{module}.{path}")
                )
                self.replaced[module, path] = restoring(owner, name, original)

    def withheld_if_it_trains(
        self, original: Callable[..., Any], name: str
    ) -> Callable[..., Any]:
        """Return what stands in for a saver of a *name*. One that writes to memory may go on."""

        @wraps(original)
        def call(*given: Any, **named: Any) -> Any:
            into_memory = any(
                hasattr(each, "getvalue") for each in [*given, *named.values()]
            )
            if into_memory or not self.trains():
                return original(*given, **named)
            self.withheld[name] += 1
            return None

        return call

    def note(self, event: str, details: tuple[Any, ...]) -> None:
        """Note a file that the script opens to write to it; what is temporary is nobody's."""
        if self.is_over or event != "open" or not self.trains():
            return
        path, mode, _ = details
        if isinstance(path, str) and isinstance(mode, str) and WRITES & {*mode}:
            if not path.startswith(("/dev/", "/proc/", tempfile.gettempdir())):
                self.written.add(path)

    def end(self) -> None:
        """Let everything be saved again."""
        self.is_over = True
        for restore in self.replaced.values():
            restore()

    def __str__(self) -> str:
        if not self.written:
            return "Nothing was saved by the script."
        names = ", ".join(sorted({Path(path).name for path in self.written}))
        return f"No model was saved by the script; it wrote {names}."


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
