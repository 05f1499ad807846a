"""Runs a training script as it is, until its first training step, and makes its loop body the step.

The script runs in a greenlet of this thread. When its training loop asks for a batch, we go on
here with the loader that it asks; a call of `Script.step` gives the script one batch, and returns
when the script asks for the next one. So everything that the user's loop does with a batch
(clipping, scaler, scheduler, callbacks, the transfer to a device) is in the step that is measured, and
one thread sees it all, as the number of PyTorch's threads and handlers of signals demand.
"""

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import get_ident
from types import FrameType
from typing import Any, TextIO

import greenlet

from lessonkit.words import counted

from ..ends import StepFailedError, StepsEndedError
from .patching import Line, made_at, reads_in_order, users_line
from .replaced import replaced
from .told_errors import NotMeasuredError
from .trainers import Arguments, arguments_of_trainer

# `Any` in this module is PyTorch, a loader or a batch of somebody else.

# The training loader is told to be so many times as long as it is, so that no epoch ends while we
# measure: at an epoch's end scripts validate, save checkpoints and end schedules. A measuring
# makes some thousand steps, and an epoch has ten batches at the least.
LONGER = 1_000
# It is told to have so many batches more at the most: some scripts make a list with a number for
# each step of all epochs, and a hundred epochs of so many fit into memory. No measuring makes more.
MOST_MORE = 100_000
# A script that has computed gradients so often without a batch from a loader makes its batches
# itself. With one batch it may compute many, as adversarial training does: more than that it may not.
GRADIENTS_WITHOUT_A_LOADER = 100
GRADIENTS_OF_A_BATCH = 1_000


class NoTrainingError(NotMeasuredError):
    """The script ended, or goes on for ever, and trained on no `DataLoader`."""


class AnotherRunFailedError(StepFailedError):
    """The script had come to its end and was run again, and raised before it trained again."""


@dataclass(frozen=True)
class Place:
    """Where a loader was *made*, and where the *loop* is that asks it for batches."""

    made: Line | None
    loop: Line | None


@dataclass(frozen=True)
class Caught:
    """The loader that feeds the training loop of a script, and the place of both in it.

    If a trainer made the loader, it did so by its *trainer* arguments.
    """

    loader: Any
    place: Place
    trainer: Arguments | None


# Scripts that were begun. A greenlet that nobody knows any more is ended, and the `finally` of a
# script would go on to save something.
BEGUN = list["Script"]()


def nothing(*_: object) -> None:
    """Do nothing."""


def longer(known: int) -> int:
    """Return how many batches an epoch is said to have, where so many are *known*."""
    return min(known * LONGER, known + MOST_MORE)


class Script:
    """A script that goes on by one batch each time that it gets one.

    *run* runs it from its beginning to its end. It may be run more than once: a loop of so many
    steps ends, and is begun again. *wanted* is the line of the loader that is meant, as
    `FILE:LINE`, where the one that trains first is not.

    Between two calls the script is not running: it waits for a batch, or has ended.
    """

    def __init__(self, run: Callable[[], None], wanted: str = "") -> None:
        self.torch: Any = None  # until the script has imported it
        self.run = run
        self.wanted = wanted
        self.main = greenlet.getcurrent()
        self.thread = get_ident()
        self.caught: Caught | None = None
        self.stdout: TextIO | None = None  # the script's, while it does not run
        # Lines of the loaders that gave it batches, in order
        self.asked = dict[Line, None]()
        # Lines of the loaders besides ours of which a step takes batches
        self.beside = dict[Line, None]()
        self.passes = list[greenlet.greenlet]()
        self.steps_of_a_pass: int | None = None  # when one has come to its end
        self.when_fed: Callable[[], object] = nothing  # called each time that we begin to
        # Called with an exit code when another of its threads ends this process
        self.when_ended: Callable[[int], object] = nothing
        self.tells_longer = True  # of its training loader
        self.begin()
        BEGUN.append(self)

    @property
    def training(self) -> greenlet.greenlet:
        """The greenlet in which the script runs now."""
        return self.passes[-1]

    def begin(self) -> None:
        """Prepare to run the script from its beginning."""
        self.passes.append(greenlet.greenlet(self.run, self.main))
        self.backwards = 0  # calls of backward()
        # Backwards at its last batch, by a loader's identity
        self.handed: dict[int, int] = {}
        self.told = set[int]()  # the identities of loaders whose true length it was told
        self.told_longer = False
        self.is_fed = False  # by us
        self.steps = 0
        self.exit_code: int | None = None  # if it has left by `os._exit`
        self.gradients_of_a_batch = 0
        self.asked_in_threads = dict[Line, None]()

    # ---- in our greenlet ----

    def until_training(self) -> Caught:
        """Run the script until it asks for a batch after a training step with the one before.

        Raises NoTrainingError if it ends before, and whatever the script raises.
        """
        try:
            caught = self.until_fed()
        except NotMeasuredError:
            raise
        except Exception as error:
            if not self.told_longer or self.handed:
                raise
            caught = self.until_fed_with_true_length(error)
        if id(caught.loader) in self.told and self.tells_longer:
            # It ends its schedules with the epoch that it knows of: once more, with a longer one
            self.begin()
            caught = self.until_fed()
        return caught

    def until_fed_with_true_length(self, error: Exception) -> Caught:
        """Run the script once more, which may have failed because its epoch was said to be longer.

        Raises the first *error* if it fails again.
        """
        self.tells_longer = False
        self.begin()
        try:
            return self.until_fed()
        except Exception:
            raise error from None

    def until_fed(self) -> Caught:
        """Run the script until we feed it. Raises NoTrainingError if it ends before."""
        self.switch()
        if self.exit_code is not None:
            raise NoTrainingError(
                f"the script ended itself by os._exit({self.exit_code}) before it trained"
            )
        if self.caught is None or not self.is_fed:
            raise NoTrainingError(self.why_not())
        self.when_fed()
        return self.caught

    def why_not(self) -> str:
        """Say why nothing was caught."""
        if self.gradients_of_a_batch and not self.asked:
            return f"the script ended, and {self.without_a_loader()}"
        among = "no loop over a DataLoader called backward() between two batches"
        if self.wanted:
            among = f"no loader made at {self.wanted} feeds a loop that calls backward()"
        lines = ", ".join(map(str, self.asked))
        seen = f" Batches came from loaders made at {lines}." if lines else ""
        return f"the script ended, and {among}.{seen}"

    def step(self, batch: Any) -> None:
        """Give the script a *batch*, and return when it asks for the next one.

        Raises StepsEndedError if the script ended instead; by then it has begun again. Its last
        batch is only given once: what comes after it is no step, and may save a model.
        """
        if self.is_over:  # it raised, perhaps because this was a batch of another size
            self.begin_again()
        self.steps += 1
        if self.steps != self.steps_of_a_pass:
            try:
                self.switch(batch)
            except Exception:
                if self.steps < self.batches_of_an_epoch():
                    raise
                # It has had more batches than an epoch has, and perhaps no room for their losses
            else:
                if not self.is_over:
                    return
            self.steps_of_a_pass = self.steps
        self.begin_again()
        raise StepsEndedError("the script ended, and was begun again")

    @property
    def is_over(self) -> bool:
        """Whether the script has come to its end, and will not go on."""
        return self.training.dead or self.exit_code is not None

    def batches_of_an_epoch(self) -> float:
        """Return how many batches an epoch has, if its loader says that."""
        try:
            return len(self.caught.loader) if self.caught else math.inf
        except TypeError:  # of an iterable
            return math.inf

    def begin_again(self) -> None:
        """Run the script from its beginning until we feed it; our number of threads stays.

        Raises AnotherRunFailedError if it does not train this time.
        """
        threads = self.torch.get_num_threads()
        self.begin()
        try:
            self.until_fed()
        except Exception as error:
            raise AnotherRunFailedError(
                "the script came to its end while it was measured, was run again from its beginning, "
                f"and could not be: {error!r}"
            ) from error
        self.torch.set_num_threads(threads)

    def switch(self, *batch: Any) -> None:
        """Let the script go on until it waits for a batch; what it does to `sys.stdout` stays its own."""
        ours = sys.stdout
        if self.stdout is not None:
            sys.stdout = self.stdout
        try:
            self.training.switch(*batch)
        finally:
            self.stdout = sys.stdout
            sys.stdout = ours

    # ---- in the script's greenlet ----

    @property
    def trains(self) -> bool:
        """Whether it has begun to: what it saves from now on is of a training that only measures."""
        return self.caught is not None or self.backwards > 0

    @property
    def is_running(self) -> bool:
        """Whether it is the script that runs now, in its own thread."""
        return greenlet.getcurrent() is self.training

    @property
    def is_at_work(self) -> bool:
        """Whether what runs now is the script, or a thread that it may have started."""
        return self.is_running or get_ident() != self.thread

    def iterate(
        self, loader: Any, begin: Callable[[], Iterator[Any]], line: Line | None
    ) -> Iterator[Any]:
        """Return PyTorch's own iterator to us, and to the script one that we hear of."""
        if self.is_running:
            return Handed(self, loader, begin)
        if get_ident() != self.thread:
            self.note_batch(made_at(loader))
        return begin()

    def length(self, loader: Any, known: int) -> int:
        """Tell the script that an epoch of training is far longer."""
        if not self.is_running:
            return known
        line = made_at(loader)
        trains = (
            self.caught is not None and line is not None and line == self.caught.place.made
        )
        if reads_in_order(loader) and not trains:  # as a loader for validation does
            self.told.add(id(loader))
            return known
        if not self.tells_longer:
            return known
        self.told_longer = True
        return longer(known)

    def takes(self, loader: Any, place: Place, frame: FrameType) -> bool:
        """Whether we feed the loop that asks *loader* for a batch, from now on.

        It is the first loop that has called `backward` since its last batch, and in a later pass
        the one at the same place.
        """
        at_last_batch = self.handed.get(id(loader))
        if self.is_fed or at_last_batch is None or at_last_batch == self.backwards:
            return False
        if self.caught is None and self.is_meant(place):
            self.caught = Caught(loader, place, arguments_of_trainer(frame, place.made))
        self.is_fed = self.goes_on_at(place)
        return self.is_fed

    def goes_on_at(self, place: Place) -> bool:
        """Whether *place* is that of the loop that was caught."""
        return self.caught is not None and place == self.caught.place

    def is_meant(self, place: Place) -> bool:
        """Whether the loader of a *place* may be measured: any, or the one of the line that is wanted."""
        return not self.wanted or (
            place.made is not None and place.made.is_named(self.wanted)
        )

    def note_gradients(self, frame: FrameType) -> None:
        """Note that the script computes gradients at a *frame*; one that asks no loader is left."""
        self.backwards += 1
        self.gradients_of_a_batch += 1
        if self.caught is not None or not self.is_running:
            return
        most = GRADIENTS_OF_A_BATCH if self.asked else GRADIENTS_WITHOUT_A_LOADER
        if self.gradients_of_a_batch >= most:
            self.leave(
                NoTrainingError(
                    f"{users_line(frame) or 'a library'} {self.without_a_loader()}"
                )
            )

    def without_a_loader(self) -> str:
        """Say why gradients that were computed are of no loop that can be measured."""
        times = f"computed gradients {counted(self.gradients_of_a_batch, 'times')}"
        if self.asked_in_threads:
            lines = ", ".join(map(str, self.asked_in_threads))
            return (
                f"{times}, with batches that a thread takes from the loader made at {lines}: measure "
                "that loader and a step, as databound mine.py:loader mine.py:step"
            )
        if self.asked:
            lines = ", ".join(map(str, self.asked))
            return (
                f"{times} after the last batch from a DataLoader, which was made at {lines}"
            )
        return (
            f"{times}, and no DataLoader gave it a batch: the script makes its batches itself, and what "
            "can be measured is a DataLoader, whose dataset makes them"
        )

    def note_batch(self, made: Line | None) -> None:
        """Note that a loader *made* at a line gave the script a batch of its own."""
        if not self.is_running:
            if made is not None:
                self.asked_in_threads[made] = None
            return
        self.gradients_of_a_batch = 0
        if made is not None:
            self.asked[made] = None
            if self.is_fed:
                self.beside[made] = None

    def leave(self, why: BaseException) -> None:
        """Leave the script where it is, and raise *why* where it was asked to go on."""
        self.main.throw(why)

    def exits(self, code: int) -> None:
        """Leave the script where it is if it ends this process with a *code*.

        What another of its threads ends cannot be left: when this returns, the process ends.
        """
        if self.is_running:
            self.exit_code = code
            self.main.switch()
        self.when_ended(code)

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
    ) -> None:
        self.script = script
        self.loader = loader
        self.begin = begin
        self.made = made_at(loader)
        self.real: Iterator[Any] | None = None
        self.is_fed = False
        # It may take the place of one that is fed: a loop that was left begins again
        self.may_follow = script.is_fed

    def __iter__(self) -> "Handed":
        return self

    def __len__(self) -> int:
        return len(self.loader)

    def __next__(self) -> Any:
        script = self.script
        if not script.is_running:  # a thread of the script asks
            batch = self.next_real()
            script.note_batch(self.made)
            return batch
        if self.is_fed or self.is_fed_now(sys._getframe(1)):
            return script.ask()
        batch = self.next_real()
        script.handed[id(self.loader)] = script.backwards
        script.note_batch(self.made)
        return batch

    def is_fed_now(self, frame: FrameType) -> bool:
        """Return whether we feed the loop from now on that asks for a batch in a *frame*."""
        # Who asks is the loop: an iterator may be made long before, and elsewhere
        place = Place(self.made, users_line(frame))
        follows = self.may_follow and self.script.goes_on_at(place)
        if follows or self.script.takes(self.loader, place, frame):
            self.is_fed = True
            self.end()
        return self.is_fed

    def next_real(self) -> Any:
        """Return a batch of PyTorch's own; a loader beside the measured one begins again at its end."""
        if self.real is None:
            self.real = self.begin()
        try:
            return next(self.real)
        except StopIteration:
            if not self.script.is_fed:
                raise
        self.real = self.begin()
        return next(self.real)

    def end(self) -> None:
        """End the workers of PyTorch's own iterator."""
        shutdown = getattr(self.real, "_shutdown_workers", None)
        if shutdown is not None:
            shutdown()
        self.real = None


@contextmanager
def refusing_ranks(script: Script) -> Iterator[None]:
    """Leave *script* in the block when it starts processes by PyTorch's functions for those that train."""
    starts: Any = getattr(script.torch, "multiprocessing", None)

    def refuse(*given: Any, **named: Any) -> None:
        line = users_line(sys._getframe(1))
        script.leave(
            NoTrainingError(
                f"{line or 'a library'} trains in processes of its own, and only this one can be "
                "measured: let it call the function that trains itself, for one rank"
            )
        )

    names = [name for name in ("spawn", "start_processes") if hasattr(starts, name)]
    with replaced(starts, dict.fromkeys(names, refuse)):
        yield


@contextmanager
def backwards_counted(script: Script) -> Iterator[None]:
    """Count in the block how often *script* computes gradients: a loop that does so trains."""
    autograd = script.torch.autograd

    def counted(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            script.note_gradients(sys._getframe(1))
            return original(*given, **named)

        return call

    functions = {name: counted(getattr(autograd, name)) for name in ("backward", "grad")}
    with replaced(autograd, functions):
        yield
