"""What can be run to be measured, and what a run of it is asked for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from .device import OnDevice
from .setting import Setting
from .watching import Watch


@dataclass(frozen=True)
class RunRequest:
    """A short run as somebody wants it: with so many *workers*, for so many *seconds*.

    It ends when these are over and *least* batches have come, or with the loader. Where an epoch
    has fewer than *least*, the run has several, with workers that stay; an iterable ends when it
    ends. The run calls the *step* if that is asked for, has a prefetch *factor*, and batches that
    are *size* times as large; *also* are other arguments of its loader.
    """

    workers: int
    seconds: float
    least: int = 0
    step: bool = False
    factor: int = 2
    size: int = 1
    also: Mapping[str, object] = field(default_factory=dict)


class Subject(Protocol):
    """A loader and a step that can be run: a real one, or a model of which all is known.

    All runs go over the same batches in the same order, which is spread over an epoch:
    *places* says where each of them is in it, from 0 to 1, and *sizes* how many samples it
    has; both are empty for an iterable (a *stream*), whose batches come as they come. *count*
    is the number of batches of an epoch, if that is known, and *nbytes* the size of one. A step
    that *may_launch* work has a *device* if it really leaves something to one.
    """

    now: Setting
    stream: bool
    in_order: bool
    batch_size: int | None
    sizes: list[int]
    places: list[float]
    count: int | None
    nbytes: int
    may_launch: bool
    device: OnDevice | None

    @property
    def may_change(self) -> Mapping[str, object]:
        """The arguments of the loader that a run may have otherwise, as they are now."""

    def clock(self) -> float:
        """Return the seconds of the clock on which its runs take their time."""

    def other_programs(self) -> float:
        """Return how many cores other programs used since the subject was made."""

    def threads(self) -> list[int]:
        """Return the numbers of threads that its step can have, the usual one last."""

    def use_threads(self, threads: int) -> None:
        """Let the step compute with so many *threads* from now on."""

    def time_device(self) -> OnDevice | None:
        """Return what the step leaves to a device, timed now; None if it leaves nothing."""

    def go(self, request: RunRequest) -> Watch:
        """Return what a run showed that is as the *request* wants it.

        Raises RuntimeError if the loader or the step does.
        """
