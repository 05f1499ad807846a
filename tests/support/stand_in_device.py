"""A stand-in for an accelerator, and a clock that it can move instead of waiting."""

import time
from collections.abc import Callable


class Clock:
    """Time that goes on when somebody spends it."""

    now = 0.0

    def __call__(self) -> float:
        return self.now

    def spend(self, seconds: float) -> None:
        self.now += seconds


class Device:
    """A stand-in for an accelerator: launches wait in its queue, and are done one by one.

    Launching takes the host *launch* seconds, and the device *busy*. At most *depth*
    launches wait or are at work; who launches one more waits for the first of them. A
    *clock* can be called for the time, and has `spend`.
    """

    def __init__(
        self, launch: float, busy: float, depth: int = 1000, clock: Clock | None = None
    ) -> None:
        self.launching = launch
        self.busy = busy
        self.depth = depth
        self.clock: Callable[[], float] = clock or time.perf_counter
        self.sleep: Callable[[float], None] = clock.spend if clock else time.sleep
        self.ends: list[float] = []  # when each launch will be done

    def launch(self, _: object = None) -> None:
        """Begin a step on the device."""
        self.sleep(self.launching)
        if len(self.ends) >= self.depth:
            self.wait_until(self.ends[-self.depth])
        self.ends.append(max([self.clock(), *self.ends[-1:]]) + self.busy)

    def synchronize(self, _: object = None) -> None:
        """Wait until all that was launched is done."""
        self.wait_until(max(self.ends, default=0))

    def wait_until(self, due: float) -> None:
        """Sleep until *due*."""
        if (left := due - self.clock()) > 0:
            self.sleep(left)
