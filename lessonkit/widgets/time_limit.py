"""A limit on how long a learner's code may take, so that an endless loop ends with a sentence."""

import _thread
import ctypes
import signal
import sys
import threading
from collections.abc import Callable
from contextvars import ContextVar
from functools import cache, partial
from itertools import count
from time import perf_counter, sleep
from typing import Any, TypeVar

Result = TypeVar("Result")
BETWEEN_LOOKS = 0.05  # s, from one look at the clock to the next
NEXT_TRY = 1.0  # s; while memory is cleared up Python ignores what is raised
TURNS = 10  # of loops, from one look to the next where no other thread can look
TOOL = 4  # a number of `sys.monitoring` that no debugger or profiler has
# Whether a limit counts. The threads of a real run inherit it from the thread that began the run.
is_limited = ContextVar("is_limited", default=False)


class TookTooLongError(Exception):
    """The code was stopped."""


def interrupt(thread: threading.Thread) -> None:
    """Raise KeyboardInterrupt in a thread; the main one is woken up for it, another sleeps to the end."""
    if thread is not threading.main_thread():
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident or 0), ctypes.py_object(KeyboardInterrupt)
        )
    elif hasattr(signal, "pthread_kill"):
        signal.pthread_kill(thread.ident or 0, signal.SIGINT)
    else:  # Windows, where this wakes it up too
        _thread.interrupt_main()


class Limit:
    """Until when a thread may run, and whether it was stopped."""

    def __init__(self, seconds: float) -> None:
        self.until = perf_counter() + seconds
        self.thread = threading.current_thread()
        self.lock = threading.Lock()
        self.ended = self.fired = False

    def look(self) -> None:
        """Stop the thread if it is late; again after a while, if nobody heard the interrupt."""
        with self.lock:  # either this comes first, or the end does
            if not self.ended and perf_counter() > self.until:
                self.fired = True
                self.until = perf_counter() + NEXT_TRY
                interrupt(self.thread)


running: set[Limit] = set()  # of all threads


def watch() -> None:
    """Look at all limits, for ever.

    It goes by the clock and is never woken up: a thread that wakes wants the interpreter,
    and who runs would have to wait until it has had it.
    """
    while True:
        sleep(BETWEEN_LOOKS)
        for limit in [*running]:
            limit.look()


@cache
def start_watch() -> None:
    """Start the watch once for all; as a Thread it would be waited for, and counted."""
    _thread.start_new_thread(watch, ())


def alone(limit: Limit, function: Callable[[], Result]) -> Result:
    """Call *function* where no other thread can look: its loops do so themselves, every few turns.

    A turn of a loop ends with a jump. Python tells of jumps since 3.12; before, nothing is
    stopped here.
    """
    monitoring: Any = getattr(sys, "monitoring", None)
    if monitoring is None:
        return function()
    turns = count(1)

    def turn(*_: Any) -> None:
        if next(turns) % TURNS == 0 and perf_counter() > limit.until:
            limit.fired = True
            raise KeyboardInterrupt

    monitoring.use_tool_id(TOOL, "lessonkit")
    try:
        monitoring.register_callback(TOOL, monitoring.events.JUMP, turn)
        monitoring.set_events(TOOL, monitoring.events.JUMP)
        return function()
    finally:
        monitoring.set_events(TOOL, 0)
        monitoring.free_tool_id(TOOL)


def in_time(seconds: float, what: str, function: Callable[[], Result]) -> Result:
    """Return what *function* returns; stop it after so many *seconds*.

    Raise TookTooLongError then, whose sentence begins with *what*. A kernel runs cells on
    its main thread; the page's questions it may answer on others. This is no context
    manager, for an interrupt could come between its own code and the body.
    """
    if is_limited.get():
        return function()  # inside another limit, that one counts
    limit = Limit(seconds)
    try:
        start_watch()
    except RuntimeError:  # no thread can be started, as in a browser
        function = partial(alone, limit, function)
    is_main = limit.thread is threading.main_thread()
    before = signal.signal(signal.SIGINT, signal.default_int_handler) if is_main else None
    outside = is_limited.set(True)
    try:
        try:
            running.add(limit)
            return function()
        finally:
            with limit.lock:
                limit.ended = True
            if limit.fired:  # the interrupt may still be on its way
                sleep(0.001)
    except KeyboardInterrupt as stopping:
        if limit.fired:
            stopped = TookTooLongError(
                f"{what} took longer than {seconds:g} s, and was stopped"
            )
            # Names the learner's line
            raise stopped.with_traceback(stopping.__traceback__) from None
        raise
    finally:
        running.discard(limit)
        is_limited.reset(outside)
        if is_main:
            signal.signal(signal.SIGINT, before)
