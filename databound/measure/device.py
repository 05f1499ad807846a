"""A step that only launches work on a device: how long that takes there, and how deep its queue is."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from time import perf_counter
from typing import Generic, NamedTuple, TypeVar

from ..ends import StepsEndedError
from ..thresholds import FEWEST_LAUNCHES, LAUNCHES, LONG_ENOUGH, SLIGHT_REST, WAITED
from .batches import own_copy

Batch = TypeVar("Batch")


@dataclass
class OnDevice:
    """A step that returns before it is done, as `benchmark` has it: `step=`, `train=` and `queue=`.

    Launching takes *launch* seconds and the device *train*; at most *queue* steps wait or
    run there.
    """

    launch: float
    train: float
    queue: int


class Launch(NamedTuple):
    """The seconds until a step *returned*, and until the device was *done* with it."""

    returned: float
    done: float


class DeviceTimer(Generic[Batch]):
    """Times a step on copies of one batch: each call has one of its own, and may take it apart."""

    def __init__(
        self,
        step: Callable[[Batch], object],
        batch: Batch,
        synchronise: Callable[[], object],
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self.step = step
        self.batch = batch
        self.synchronise = synchronise
        self.clock = clock

    def call(self, batch: Batch) -> None:
        """Call the step; RuntimeError says that it raised, StepsEndedError that it has no more."""
        try:
            self.step(batch)
        except StepsEndedError:
            raise
        except Exception as error:
            why = f"the step raised when it was timed on a copy of a batch: {error!r}"
            raise RuntimeError(why) from error

    def one(self) -> Launch:
        """Time one step by itself (latency)."""
        batch = own_copy(self.batch)
        began = self.clock()
        self.call(batch)
        returned = self.clock()
        self.synchronise()
        done = self.clock()
        return Launch(returned - began, done - began)

    def row(self, many: int) -> tuple[list[float], float]:
        """Launch *many* steps one after the other: when each returned, and when all were done.

        The first time is that of the beginning.
        """
        batches = [own_copy(self.batch) for _ in range(many)]
        times = [self.clock()]
        for batch in batches:
            self.call(batch)
            times.append(self.clock())
        self.synchronise()
        return times, self.clock()


def on_device(
    step: Callable[[Batch], object],
    batch: Batch,
    synchronise: Callable[[], object],
    clock: Callable[[], float] = perf_counter,
    most: int = LAUNCHES,
) -> OnDevice | None:
    """Return what *step* takes to launch and on the device, and how deep its queue is.

    The step is timed with *synchronise*, which waits for the device, after each call
    (latency), then with one at the end of as many (throughput), of which there are *most*. None
    is returned for a step that waits for its own result, such as one that reads a loss. Raises
    RuntimeError if the step raised.
    """
    timer = DeviceTimer(step, batch, synchronise, clock)
    timer.one()  # compiles, and fetches memory
    usual = timer.one().done
    enough = int(LONG_ENOUGH / max(1e-6, usual))
    many = min(most, LAUNCHES, max(FEWEST_LAUNCHES, enough))
    singles = [timer.one() for _ in range(many)]
    launch = median(single.returned for single in singles)
    latency = median(single.done for single in singles)
    if latency - launch <= SLIGHT_REST * launch:
        return None
    times, done = timer.row(many)
    throughput = (done - times[0] - launch) / many
    train = throughput if throughput > launch else latency - launch
    return OnDevice(launch, train, depth_of_queue(times, launch, train))


def depth_of_queue(times: list[float], launch: float, train: float) -> int:
    """Return how many steps waited or ran when a call had to wait for room for the first time."""
    for number, (before, after) in enumerate(pairwise(times)):
        if after - before - launch > WAITED * train:
            done_by_then = int(number * launch / train)
            return max(1, number - done_by_then)
    return max(1, len(times) - 1)
