"""What a step takes that only launches work on a device: by throughput and by latency."""

from collections.abc import Callable
from itertools import pairwise
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

LAUNCHES = 20
LONG_ENOUGH = 0.5  # s; fewer steps are enough if so many take longer
# Of what launching takes; a device that has no more than this left to do has no queue
SLIGHT_REST = 0.1
# Of a step on the device; a step that returns so much later has waited for room in the
# queue
WAITED = 0.3


class OnDevice(NamedTuple):
    """A step as the loop and the device have it: `step=`, `train=` and `queue=` of `benchmark`.

    Launching takes *launch* seconds, the device *train*; at most *queue* steps wait or are
    at work there.
    """

    launch: float
    train: float
    queue: int


def on_device(
    step: Callable[[Any], Any],
    batch: Any,
    synchronise: Callable[[], Any],
    clock: Callable[[], float] = perf_counter,
) -> OnDevice | None:
    """Time *step* on *batch*: some times with *synchronise* after each, then as often with one at the end.

    The difference is the device's queue. A step that waits for its own result, as one that
    reads a loss does, leaves nothing to the device: then None. *synchronise* waits until
    all is done that was launched.
    """

    def once() -> tuple[float, float]:
        """Return the seconds until the step returns, and until it is done: its latency."""
        began = clock()
        step(batch)
        returned = clock()
        synchronise()
        return returned - began, clock() - began

    once()  # compiles, and fetches memory
    many = min(LAUNCHES, max(4, int(LONG_ENOUGH / max(1e-6, once()[1]))))
    launch, latency = map(median, zip(*(once() for _ in range(many)), strict=True))
    if latency - launch <= SLIGHT_REST * launch:
        return None
    returned = [clock()]
    for _ in range(many):
        step(batch)
        returned.append(clock())
    synchronise()
    throughput = (clock() - returned[0] - launch) / many
    train = throughput if throughput > launch else latency - launch
    late = [
        number
        for number, (a, b) in enumerate(pairwise(returned))
        if b - a - launch > WAITED * train
    ]
    queue = late[0] - int(late[0] * launch / train) if late else many
    return OnDevice(launch, train, max(1, queue))
