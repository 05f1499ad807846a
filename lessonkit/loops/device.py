"""What a step takes that only launches work on a device: by throughput and by latency."""

from collections.abc import Callable
from itertools import pairwise
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

LAUNCHES = 20
WAITED = 0.3  # of a step on the device; a step that returns so much later has waited for room in the queue


class StepTimes(NamedTuple):
    """Seconds of a step: to *launch* it, until it is done (*latency*), of many in a row (*throughput*).

    *launched* is how many steps were launched before one had to wait for room; all, if none had to.
    """

    launch: float
    latency: float
    throughput: float
    launched: int

    @property
    def train(self) -> float:
        """What the device takes for a step: `train=` of `benchmark`."""
        device_decides = self.throughput > self.launch
        return self.throughput if device_decides else self.latency - self.launch

    @property
    def queue(self) -> int:
        """How many steps wait or are at work on the device at most: `queue=` of `benchmark`."""
        done = int(self.launched * self.launch / self.train) if self.launched < LAUNCHES else 0
        return max(1, self.launched - done)


def step_times(
    step: Callable[[Any], Any],
    batch: Any,
    synchronise: Callable[[], Any],
    clock: Callable[[], float] = perf_counter,
) -> StepTimes:
    """Time *step* on *batch*: 20 times with *synchronise* after each, then as often with one at the end.

    The difference is the device's queue. A step that waits for its own result, as one that reads a loss does,
    has none: it returns when it is done. *synchronise* waits until the device has done all that was launched.
    """
    launches, latencies = [], []
    for _ in range(2):  # the first call compiles, or fetches memory
        step(batch)
        synchronise()
    for _ in range(LAUNCHES):
        began = clock()
        step(batch)
        launches.append(clock() - began)
        synchronise()
        latencies.append(clock() - began)
    launch, returned = median(launches), [clock()]
    for _ in range(LAUNCHES):
        step(batch)
        returned.append(clock())
    synchronise()
    took = clock() - returned[0]
    throughput = (took - launch) / LAUNCHES
    waits = [then - before - launch for before, then in pairwise(returned)]
    launched = next((number for number, wait in enumerate(waits) if wait > WAITED * throughput), LAUNCHES)
    return StepTimes(launch, median(latencies), throughput, launched)
