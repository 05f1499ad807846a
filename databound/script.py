"""Runs a training script as it is, until its first training step, and makes its loop body the step.

The script runs in a greenlet of this thread. When its training loop asks for a batch, we go on
here with the loader that it asks; a call of `Script.step` gives the script one batch, and returns
when the script asks for the next one. So everything that the user's loop does with a batch
(clipping, scaler, scheduler, callbacks, the transfer to a device) is in the step that is measured, and
one thread sees it all, as the number of PyTorch's threads and handlers of signals demand.
"""

from __future__ import annotations

import io
import os
import runpy
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import active_children
from pathlib import Path
from time import perf_counter
from types import FrameType
from typing import Any, TextIO

import greenlet

from .patching import Line, made_at, patched, reads_in_order

# The training loader is told to be so many times as long as it is, so that no epoch ends while we
# measure: at an epoch's end scripts validate, save checkpoints and end schedules. A measuring
# makes some thousand steps, and an epoch has ten batches at the least.
LONGER = 1_000


class NoTrainingError(Exception):
    """The script ended, and trained on no `DataLoader`."""


@dataclass(frozen=True)
class Caught:
    """The loader that feeds the training loop of a script, and where both stand in it.

    *seconds* passed until the script came to its first training step.
    """

    loader: Any
    made_at: Line | None
    loop_at: Line | None
    seconds: float

    def __str__(self) -> str:
        options = [
            f"{name}={getattr(self.loader, name)!r}"
            for name in ("batch_size", "num_workers")
            if getattr(self.loader, name, None) is not None
        ]
        where = f"{self.made_at or 'a library'}  DataLoader({', '.join(options)})"
        return f"{where}  feeds the loop at {self.loop_at or 'a line of a library'}"


class Script:
    """A script that goes on by one batch each time that it gets one.

    *run* runs it from its beginning to its end. It may be run more than once: a loop of so many
    steps ends, and then begins again. *wanted* is the line of the loader that is meant, as
    `FILE:LINE`, where the one that trains first is not.

    Between two calls the script is not running: it waits for a batch, or has ended.
    """

    def __init__(self, torch: Any, run: Callable[[], None], wanted: str = "") -> None:
        self.torch = torch
        self.run = run
        self.wanted = wanted
        self.main = greenlet.getcurrent()
        self.training = greenlet.greenlet(run)
        self.caught: Caught | None = None
        self.began = perf_counter()
        self.has_trained = False  # has computed gradients
        self.handed = Counter[int]()  # batches, by the identity of their loader
        self.runs = 1
        self.stdout: TextIO | None = None  # the script's, while it does not run

    def until_training(self) -> Caught:
        """Run the script until it asks for a batch after its first training step.

        Raises NoTrainingError if it ends before, and whatever the script raises.
        """
        with self.training_noted():
            self.switch()
        if self.caught is None:
            raise NoTrainingError(
                "the script ended, and no loop over a DataLoader called backward()"
            )
        return self.caught

    def step(self, batch: Any) -> None:
        """Give the script a *batch*, and return when it asks for the next one."""
        self.switch(batch)
        if self.training.dead:  # a loop of a fixed number of steps
            self.runs += 1
            self.training = greenlet.greenlet(self.run, self.main)
            self.switch()

    def switch(self, *batch: Any) -> None:
        """Let the script go on until it waits for a batch; what it prints stays its own."""
        ours = sys.stdout
        if self.stdout is not None:
            sys.stdout = self.stdout
        try:
            self.training.switch(*batch)
        finally:
            self.stdout = sys.stdout
            sys.stdout = ours

    @contextmanager
    def training_noted(self) -> Iterator[None]:
        """Note in the block when the script has computed gradients: then it trains."""
        autograd = self.torch.autograd
        backward = autograd.backward

        def noted(*given: Any, **named: Any) -> Any:
            self.has_trained = True
            return backward(*given, **named)

        autograd.backward = noted
        try:
            yield
        finally:
            autograd.backward = backward

    # ---- in the script's greenlet ----

    def iterate(
        self, loader: Any, begin: Callable[[], Iterator[Any]], line: Line | None
    ) -> Iterator[Any]:
        """Return PyTorch's own iterator to us, and to the script one that we hear of."""
        if greenlet.getcurrent() is not self.training:
            return begin()
        return Handed(self, loader, begin, line)

    def length(self, loader: Any, known: int) -> int:
        """Tell the script that an epoch of training is far longer."""
        if greenlet.getcurrent() is not self.training or reads_in_order(loader):
            return known
        return known * LONGER

    def feeds(self, loader: Any) -> bool:
        """Whether *loader* is the one that is measured, or one that took its place in the script."""
        return self.caught is not None and (
            loader is self.caught.loader or loader.dataset is self.caught.loader.dataset
        )

    def is_meant(self, loader: Any) -> bool:
        """Whether *loader* may be measured: any, or the one of the line that is wanted."""
        line = made_at(loader)
        return not self.wanted or (line is not None and line.is_named(self.wanted))

    def ask(self) -> Any:
        """Wait in the script for the next batch that `step` is called with."""
        return self.main.switch()


class Handed:
    """The iterator that the script gets over a *loader*: real batches until it trains, ours then."""

    def __init__(
        self,
        script: Script,
        loader: Any,
        begin: Callable[[], Iterator[Any]],
        line: Line | None,
    ) -> None:
        self.script = script
        self.loader = loader
        self.begin = begin
        self.line = line
        self.real: Iterator[Any] | None = None

    def __iter__(self) -> Handed:
        return self

    def __len__(self) -> int:
        return len(self.loader)

    def __next__(self) -> Any:
        script = self.script
        if script.feeds(self.loader):
            return script.ask()
        had_one = script.handed[id(self.loader)] > 0
        is_first = script.caught is None and had_one and script.has_trained
        if is_first and script.is_meant(self.loader):
            script.caught = Caught(
                self.loader,
                made_at(self.loader),
                self.line,
                perf_counter() - script.began,
            )
            self.end()
            return script.ask()
        script.handed[id(self.loader)] += 1
        return self.next_real()

    def next_real(self) -> Any:
        """Return a batch of PyTorch's own; a loader beside the measured one begins again at its end."""
        if self.real is None:
            self.real = self.begin()
        try:
            return next(self.real)
        except StopIteration:
            if self.script.caught is None:
                raise
        self.real = self.begin()
        return next(self.real)

    def end(self) -> None:
        """End the workers of PyTorch's own iterator."""
        shutdown = getattr(self.real, "_shutdown_workers", None)
        if shutdown is not None:
            shutdown()
        self.real = None


# ---- the process around it ----


def runner(target: str, arguments: list[str], *, is_module: bool) -> Callable[[], None]:
    """Return what runs the script or module *target* with its *arguments*, as `python` would."""

    def run() -> None:
        sys.argv = [target, *arguments]
        with suppress(SystemExit):
            if is_module:
                runpy.run_module(target, run_name="__main__", alter_sys=True)
            else:
                runpy.run_path(target, run_name="__main__")

    first = "" if is_module else str(Path(target).resolve().parent)
    if first not in sys.path:
        sys.path.insert(0, first)
    return run


def is_one_of_several() -> bool:
    """Whether this process is a rank among others, as `torchrun` starts them."""
    ranks = os.environ.get("WORLD_SIZE", "1")
    return ranks.isdigit() and int(ranks) > 1


@contextmanager
def apart() -> Iterator[tuple[TextIO, Callable[[], str]]]:
    """Keep in a file what the block prints, by any means; give our own console and what was kept.

    The file has no name, so nothing is left of it however this process ends.
    """
    console = os.fdopen(os.dup(2), "w", encoding="utf-8", errors="replace", buffering=1)
    kept = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
    saved = {number: os.dup(number) for number in (1, 2)}
    sys.stdout.flush()
    sys.stderr.flush()
    for number in saved:
        os.dup2(kept.fileno(), number)

    def printed() -> str:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        copy = io.open(os.dup(kept.fileno()), encoding="utf-8", errors="replace")  # noqa: UP020
        with copy:
            copy.seek(0)
            return copy.read()

    try:
        yield console, printed
    finally:
        for number, copy in saved.items():
            os.dup2(copy, number)
            os.close(copy)


@contextmanager
def interruptible(main: greenlet.greenlet) -> Iterator[None]:
    """Let Ctrl+C end us also while the script runs, which might take it for itself."""

    def stop(number: int, frame: FrameType | None) -> None:
        if greenlet.getcurrent() is main:
            raise KeyboardInterrupt
        main.throw(KeyboardInterrupt)

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def end_children() -> None:
    """End every process that the script or we have started."""
    children = active_children()
    for child in children:
        child.terminate()
    for child in children:
        child.join(1)
        if child.is_alive():
            child.kill()


@contextmanager
def caught_in(script: Script) -> Iterator[Caught]:
    """Run *script* until it trains, and give its loader; everything of PyTorch is as before afterwards."""
    with ExitStack() as then:
        then.enter_context(patched(script.torch, script))
        then.enter_context(interruptible(script.main))
        then.callback(end_children)
        yield script.until_training()
