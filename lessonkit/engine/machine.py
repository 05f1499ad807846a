"""What time is spent on: the machine a pipeline runs on, and `work`, by which a function spends it."""

import os
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from lessonkit import check


@dataclass(frozen=True)
class Sharing:
    """How a measured machine shares its cores: in slices, and with what those who compute lose beside that.

    *step_cores* are what a step holds. The rest are factors by which work takes longer than
    its share of the cores explains: *step* and *beside* are what a step and a worker lose
    while the other computes, beside one worker and beside as many as there are cores;
    *workers* is what so many workers lose among themselves.
    """

    step_cores: float = 1.0
    step: tuple[float, float] = (1.0, 1.0)
    beside: tuple[float, float] = (1.0, 1.0)
    workers: float = 1.0


@dataclass(frozen=True)
class Machine:
    """What a pipeline runs on. The default never depends on this computer.

    *cores* bounds how much `"native"` and `"python"` work goes on at once, and is
    what AUTOTUNE and a default `cycle_length` start from. On the virtual clock work waits for a
    free core; with *sharing*, as measured jobs have it, all who compute share the cores.
    """

    cores: int = 4
    sharing: Sharing | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        # Of NumPy's, Python's
        object.__setattr__(self, "cores", check.integer("cores", self.cores, least=1))


class WorkLog(list[tuple[Any, str | None, str]]):
    """Collects the work that a function says, where it cannot be suspended to do it."""

    def __init__(self, process: Any = None, element: Any = None) -> None:
        self.process = process  # in which the function runs
        self.element = element  # with which it was called

    def work(self, *piece: Any) -> None:
        """Note its time, stage and kind."""
        self.append(piece)


class NoWorkAllowed:
    """Refuses the work of a function that only tells something: it spends no time."""

    def work(self, *piece: Any) -> None:
        """Raise ValueError."""
        raise ValueError(
            "a function of cost, nbytes or progress called work(): it can only return a number"
        )


NO_WORK = NoWorkAllowed()


class _Current(threading.local):
    # Whoever a function runs for: its `work` takes note of what the function says
    worker: Any = None


current = _Current()  # the worker whose function runs on this thread


def number_in_hand() -> Any:
    """Return the number of the element that the function on this thread was called with."""
    return current.worker.element.number if current.worker is not None else 0


class CurrentProcess:
    """Knows the process that this is, so that the system is not asked for each element."""

    pid = os.getpid()


def begin_anew() -> None:
    """Note that this process was forked: one that a function forks is outside the pipeline."""
    current.worker, CurrentProcess.pid = None, os.getpid()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=begin_anew)


def work(seconds: float, stage: str | None = None, kind: str = "wait") -> None:
    """Spend *seconds*, as a step of a pipeline would.

    *kind* says what is held meanwhile: `"wait"` nothing (a disk, a network),
    `"native"` a core (NumPy, a decoder), `"python"` a core and the interpreter lock.
    Outside a pipeline it simply takes that long.
    """
    duration = check.nanoseconds("seconds", seconds)
    check.one_of("kind", kind, check.KINDS)
    if current.worker is None:
        time.sleep(duration / 1e9)
    else:
        current.worker.work(duration, stage, kind)
