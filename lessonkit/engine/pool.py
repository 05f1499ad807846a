"""Threads for helpers: kept for a moment when idle, and then let go.

A job begins at once: it never waits for another one, since jobs wait for each other. A thread
that is idle holds nothing of its last job, ends after a second, and never keeps Python from
ending. A forked process has none of its parent's threads and starts its own.
"""

import os
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

IDLE_FOR = 1.0  # s; how long a thread waits for new work before it ends

_Jobs = queue.SimpleQueue[tuple[Callable[[Any], object], Any]]
_idle: list[_Jobs] = []  # where the threads wait that have nothing to do

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)


def submit(function: Callable[[Any], object], argument: Any) -> bool:
    """Run `function(argument)` on a thread, an idle one if there is one; False if none can be started.

    *function* must not raise.
    """
    try:
        jobs = _idle.pop()
    except IndexError:
        jobs = queue.SimpleQueue()
        try:
            threading.Thread(target=_loop, args=(jobs,), name="lessonkit", daemon=True).start()
        except RuntimeError:
            return False
    jobs.put((function, argument))
    return True


def _loop(jobs: _Jobs) -> None:
    while True:
        try:
            function, argument = jobs.get(timeout=IDLE_FOR)
        except queue.Empty:
            with suppress(ValueError):  # not there: a job is on its way
                _idle.remove(jobs)
                return
            continue
        function(argument)
        del function, argument  # a thread that waits keeps nothing alive
        _idle.append(jobs)
