"""A limit on how long a learner's code may take, so that an endless loop ends with a sentence."""

from __future__ import annotations

import _thread
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import sleep

waiting = False  # whether a limit counts on the main thread


class TookTooLongError(Exception):
    """The code was stopped."""


@contextmanager
def patience(seconds: float, what: str) -> Iterator[None]:
    """Stop what runs inside after so many seconds.

    Only the main thread can be interrupted, as by Ctrl+C; a kernel runs cells and answers
    the page there. Elsewhere there is no limit.
    """
    global waiting
    if waiting or threading.current_thread() is not threading.main_thread():
        yield  # inside another limit, that one counts
        return
    lock, running = threading.Lock(), threading.Lock()
    ended = fired = False

    def watch() -> None:
        nonlocal fired
        if running.acquire(timeout=seconds):
            return
        with lock:  # either this comes first, or the end does
            if not ended:
                fired = True
                _thread.interrupt_main()

    running.acquire()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    waiting = True
    try:
        try:
            _thread.start_new_thread(watch, ())  # a Thread would keep us until it runs
            yield
        finally:
            with lock:
                ended = True
            running.release()
            if fired:  # the interrupt may still be on its way
                sleep(0.001)
    except KeyboardInterrupt as interrupt:
        if fired:
            stopped = TookTooLongError(f"{what} took longer than {seconds:g} s, and was stopped")
            raise stopped.with_traceback(interrupt.__traceback__) from None  # names the learner's line
        raise
    finally:
        waiting = False
        signal.signal(signal.SIGINT, before)
