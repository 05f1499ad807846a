"""Watches a training while it runs as it is: a line an epoch, and a log where one is asked for."""

from __future__ import annotations

import atexit
import json
import os
import sys
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

from ..script.patching import is_patched
from .epochs import Epoch
from .loops import TrainingLoops


def rank() -> int | None:
    """Return the number of this process among several that train together, as `torchrun` says it."""
    said = os.environ.get("RANK", "")
    several = os.environ.get("WORLD_SIZE", "1") != "1"
    return int(said) if several and said.isdigit() else None


def say(sentence: str) -> None:
    """Print a *sentence* to stderr, as ours; a bar of tqdm steps aside for it."""
    number_of_this = rank()
    who = "" if number_of_this is None else f"rank {number_of_this}, "
    bars = getattr(sys.modules.get("tqdm"), "tqdm", None)
    if bars is None:
        print(f"databound: {who}{sentence}", file=sys.stderr, flush=True)
    else:
        bars.write(f"databound: {who}{sentence}", file=sys.stderr)


class Teller:
    """Prints a line an epoch to stderr, and adds one to a *log* of JSON lines."""

    def __init__(self, log: str | Path | None) -> None:
        self.log = log

    def __call__(self, epoch: Epoch) -> None:
        say(str(epoch))
        if self.log:
            number_of_this = rank()
            told = epoch.numbers()
            if number_of_this is not None:
                told["rank"] = number_of_this
            with Path(self.log).open("a", encoding="utf-8") as file:
                file.write(json.dumps(told) + "\n")


class EpochWatch:
    """Watches the training loops of this process until it is stopped, or until a `with` block ends."""

    def __init__(self, torch: Any, log: str | Path | None) -> None:
        self.loops = TrainingLoops(Teller(log))
        self.then = ExitStack()
        if not is_patched(torch):  # else others of ours watch, or measure
            self.then.enter_context(self.loops.watched(torch))
            atexit.register(self.stop)

    @property
    def epochs(self) -> list[Epoch]:
        """The epochs of training that are over, in the order in which they began to train."""
        return [epoch for loop in self.loops.loops for epoch in loop.epochs]

    def latest(self) -> Epoch | None:
        """Return the epoch that goes on in the first loop that trains, else its last one."""
        if not self.loops.loops:
            return None
        first = self.loops.loops[0]
        timed = first.now()
        if timed is not None and not timed.is_over:
            return timed.epoch()
        return first.epochs[-1]

    def stop(self) -> None:
        """Tell the epoch that goes on, and leave PyTorch's loader as it was."""
        atexit.unregister(self.stop)
        self.then.close()

    def __enter__(self) -> EpochWatch:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def watch(log: str | Path | None = None) -> EpochWatch:
    """Print to stderr, for each epoch of training from now on, how long it waited for its batches.

    Works in a `with` block as well, and then until its end. *log* is a file to which a line of
    JSON is added for each epoch; without it, DATABOUND_LOG may name one. In a script that
    databound runs itself, nothing is added to what it does.
    """
    import torch

    return EpochWatch(torch, log or os.environ.get("DATABOUND_LOG"))
