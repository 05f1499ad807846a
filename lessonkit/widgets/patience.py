"""A limit on how long a learner's code may take, so that an endless loop ends with a sentence."""

from __future__ import annotations

import _thread
import ctypes
import signal
import threading
from collections.abc import Callable
from time import sleep
from typing import TypeVar

Result = TypeVar("Result")
here = threading.local()  # .waiting: whether a limit counts on this thread


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


def in_time(seconds: float, what: str, function: Callable[[], Result]) -> Result:
    """What *function* returns; after so many seconds it is stopped, as by Ctrl+C.

    A kernel runs cells on its main thread; the page's questions it may answer on others. This is no
    context manager, for an interrupt could come between its own code and the body.
    """
    if getattr(here, "waiting", False):
        return function()  # inside another limit, that one counts
    lock, running = threading.Lock(), threading.Lock()
    ended = fired = False
    thread = threading.current_thread()
    is_main = thread is threading.main_thread()

    def watch() -> None:
        nonlocal fired
        if running.acquire(timeout=seconds):
            return
        with lock:  # either this comes first, or the end does
            if not ended:
                fired = True
                interrupt(thread)

    running.acquire()
    before = signal.signal(signal.SIGINT, signal.default_int_handler) if is_main else None
    here.waiting = True
    try:
        try:
            _thread.start_new_thread(watch, ())  # a Thread would keep us until it runs
            return function()
        finally:
            with lock:
                ended = True
            running.release()
            if fired:  # the interrupt may still be on its way
                sleep(0.001)
    except KeyboardInterrupt as stopping:
        if fired:
            stopped = TookTooLongError(f"{what} took longer than {seconds:g} s, and was stopped")
            raise stopped.with_traceback(stopping.__traceback__) from None  # names the learner's line
        raise
    finally:
        here.waiting = False
        if is_main:
            signal.signal(signal.SIGINT, before)
