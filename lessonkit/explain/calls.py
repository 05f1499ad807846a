"""The calls of a learner's function, as they were timed, and what they say of it."""

import os
import threading
import time
from bisect import bisect
from collections.abc import Sequence
from contextlib import suppress
from statistics import fmean
from typing import Any, NamedTuple

# S; calls that take less are not worth a cost, as they are not worth a bar in a trace
SLIGHT = 20e-6
# Of the time of calls; who is on a core for less of it waits
ON_CORE = 0.5
# S; between two requests of a thread for the interpreter lock
TICK = 0.0002
# A second; so often that thread gets the lock at least beside calls that leave it alone. There it gets
# it about 3,000 times; beside calls that hold the lock 200 times, for it is handed over each 5 ms
FREE = 1000

# With one thread, in a browser, there is none
thread_time = getattr(time, "thread_time", time.perf_counter)
# The open file of the last thread that asked; it has nanoseconds, on a core and waiting for one.
# To open it for each batch would take longer than to make a small batch
SCHEDULES: dict[int, int] = {}


class Call(NamedTuple):
    """The times of one call of a real function, or of one element of a generator.

    For *delayed* seconds it wanted a core that something else had: these are not its own.
    """

    began: float
    ended: float
    on_core: float
    delayed: float = 0
    number: Any = 0  # of its element
    opens: bool = False

    @property
    def seconds(self) -> float:
        return self.ended - self.began - self.delayed


def mean_seconds(calls: Sequence[Call]) -> float:
    """Return the mean seconds of *calls*."""
    return fmean(call.seconds for call in calls)


def is_worth(calls: Sequence[Call]) -> bool:
    """Whether *calls* take long enough to have a cost."""
    return bool(calls) and mean_seconds(calls) >= SLIGHT


def kind(calls: Sequence[Call], ticks: Sequence[float]) -> str:
    """Tell what *calls* hold: nothing, a core, or the interpreter lock as well.

    *ticks* are the times at which another thread got the lock, for which it asks each TICK.
    """
    spent = sum(call.seconds for call in calls)
    if sum(call.on_core for call in calls) < ON_CORE * spent:
        return "wait"
    got = sum(bisect(ticks, call.ended) - bisect(ticks, call.began) for call in calls)
    return "native" if got > FREE * spent else "python"


def without_core() -> float:
    """Return for how many seconds this thread has wanted a core that something else had.

    Only Linux tells that; elsewhere it is 0.
    """
    thread = threading.get_native_id()
    with suppress(OSError):
        if thread not in SCHEDULES:  # a process that was forked has the file of its parent
            while SCHEDULES:
                os.close(SCHEDULES.popitem()[1])
            SCHEDULES[thread] = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
        return int(os.pread(SCHEDULES[thread], 64, 0).split()[1]) / 1e9
    return 0.0
