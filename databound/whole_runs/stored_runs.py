"""A script that was run as it is, or with other arguments for its loader, as a file keeps it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..origin import Origin
from ..script.trying import Settings
from .epochs import Epoch, Stretch
from .loops import Loop

KIND = "databound run"  # what such a file says of itself


@dataclass(frozen=True)
class RanLoop:
    """A loop that trained: the line of its *loader*, the loader's *options*, and its *epochs*."""

    loader: str
    options: dict[str, Any]
    epochs: tuple[Epoch, ...]

    def stretches(self) -> list[Stretch]:
        """Return those of all epochs, in their order."""
        return [stretch for epoch in self.epochs for stretch in epoch.stretches]


@dataclass(frozen=True)
class StoredRun:
    """What a run of a *script* with its own *arguments* took, and with which *settings* forced.

    *origin* says where, with which versions, by which command and when.
    """

    script: str
    arguments: str
    settings: Settings
    origin: Origin
    loops: tuple[RanLoop, ...]

    @property
    def command(self) -> str:
        """The command that made it."""
        return self.origin.command

    @property
    def machine(self) -> str:
        """The machine on which it ran, in words."""
        return self.origin.machine

    @property
    def versions(self) -> str:
        """What it ran with, in words."""
        return f"Python {self.origin.python}, PyTorch {self.origin.pytorch}"


def ran(loops: Sequence[Loop]) -> tuple[RanLoop, ...]:
    """Return what *loops* came to."""
    return tuple(
        RanLoop(str(loop.loader or "a library"), loop.options, tuple(loop.epochs))
        for loop in loops
    )


def save_run(run: StoredRun, path: Path) -> None:
    """Write a *run* to a file at *path*."""
    told = {"kind": KIND} | asdict(run)
    path.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def load_run(path: Path) -> StoredRun:
    """Return the run that `save_run` wrote to the file at *path*.

    Raises ValueError if the file holds something else, and OSError if there is none.
    """
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        if told.pop("kind") != KIND:
            raise ValueError(told)
        loops = tuple(loop_of(loop) for loop in told["loops"])
        return StoredRun(**told | {"origin": Origin(**told["origin"]), "loops": loops})
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        why = "must be a file that databound --set or --watch wrote with --save"
        raise ValueError(f"{path}: {why}") from error


def loop_of(told: dict[str, Any]) -> RanLoop:
    """Return the loop that a file tells."""
    epochs = tuple(
        Epoch(**epoch | {"stretches": tuple(Stretch(*part) for part in epoch["stretches"])})
        for epoch in told["epochs"]
    )
    return RanLoop(told["loader"], told["options"], epochs)
