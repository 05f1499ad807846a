"""A limit on how long a learner's code may take, so that an endless loop ends with a sentence."""

import _thread
import ctypes
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from functools import cache
from time import perf_counter, sleep
from typing import TypeVar

Returned = TypeVar("Returned")
BETWEEN_LOOKS = 0.05  # s from one look at the clock to the next
NEXT_TRY = 1.0  # s; Python ignores what is raised while it clears up memory
# Whether a limit counts. The threads of a real run inherit it from the thread that began the run.
is_limited = ContextVar("is_limited", default=False)


class TookTooLongError(Exception):
    """The code was stopped."""


def interrupt(thread: threading.Thread) -> None:
    """Raise KeyboardInterrupt in *thread*; of all threads only the main one wakes up for it."""
    if thread is not threading.main_thread():
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident or 0), ctypes.py_object(KeyboardInterrupt)
        )
    elif hasattr(signal, "pthread_kill"):
        signal.pthread_kill(thread.ident or 0, signal.SIGINT)
    else:  # Windows, where this wakes it up too
        _thread.interrupt_main()


class TimeLimit:
    """The time until which the thread that makes it may run. It never interrupts after `end`."""

    def __init__(self, seconds: float, cancelled: threading.Event | None) -> None:
        self.until = perf_counter() + seconds
        self.cancelled = cancelled
        self.thread = threading.current_thread()
        self.lock = threading.Lock()
        self.has_ended = self.has_fired = False

    def look(self) -> None:
        """Interrupt the thread if it is late or cancelled; again later, if nobody heard that."""
        with self.lock:
            if self.cancelled and self.cancelled.is_set() and not self.has_fired:
                self.until = 0
            if not self.has_ended and perf_counter() > self.until:
                self.has_fired = True
                self.until = perf_counter() + NEXT_TRY
                interrupt(self.thread)

    def end(self) -> None:
        """Interrupt no more; wait for an interrupt that may still be on its way."""
        with self.lock:
            self.has_ended = True
        if self.has_fired:
            sleep(0.001)


running: set[TimeLimit] = set()  # of all threads


def watch() -> None:
    """Look at all limits, for ever.

    It goes by the clock and is never woken up: a thread that wakes wants the interpreter, and
    the one that runs would have to wait for it.
    """
    while True:
        sleep(BETWEEN_LOOKS)
        for limit in [*running]:
            limit.look()


@cache
def start_watch() -> None:
    """Start the watch once for all; as a Thread it would be waited for, and counted."""
    _thread.start_new_thread(watch, ())


def in_time(
    seconds: float,
    what: str,
    function: Callable[[], Returned],
    cancelled: threading.Event | None = None,
) -> Returned:
    """Return what *function* returns; stop it after *seconds*, or when *cancelled* is set.

    Raise TookTooLongError then, whose sentence begins with *what*, and ValueError if it wants
    to end Python. Where no thread can start,
    as in a browser, nothing is stopped. A kernel runs cells on its main thread; it may answer
    the page's questions on others. This is no context manager, for an interrupt could come
    between its own code and the body.
    """
    if is_limited.get():
        return function()  # inside another limit, that one counts
    limit = TimeLimit(seconds, cancelled)
    with suppress(RuntimeError):
        start_watch()
    is_main = limit.thread is threading.main_thread()
    before = signal.signal(signal.SIGINT, signal.default_int_handler) if is_main else None
    outside = is_limited.set(True)
    try:
        try:
            running.add(limit)
            return function()
        finally:
            limit.end()
    except KeyboardInterrupt as stopping:
        if not limit.has_fired:
            raise
        late = TookTooLongError(f"{what} took longer than {seconds:g} s, and was stopped")
        # The traceback names the learner's line.
        raise late.with_traceback(stopping.__traceback__) from None
    except (SystemExit, GeneratorExit) as ending:
        refused = ValueError(f"{what} wanted to end Python, and was stopped")
        raise refused.with_traceback(ending.__traceback__) from None
    finally:
        running.discard(limit)
        is_limited.reset(outside)
        if is_main:
            signal.signal(signal.SIGINT, before)
