"""Threads for helpers: kept for a moment when idle, and then let go."""

import threading
from collections.abc import Callable
from typing import Any

IDLE = 1.0  # s; how long a thread waits for new work before it ends

Job = tuple[Callable[[Any], object], Any]


class _Worker:
    """One thread, and the job that is handed to it next."""

    def __init__(self, job: Job) -> None:
        self.job: Job | None = job
        self.handed = threading.Lock()
        self.handed.acquire()
        threading.Thread(target=self.loop, name="lessonkit", daemon=True).start()

    def loop(self) -> None:
        while self.job is not None:
            function, argument = self.job
            self.job = None
            function(argument)
            del function, argument  # a thread that waits keeps nothing alive
            _idle.append(self)
            if not self.handed.acquire(timeout=IDLE):
                try:
                    _idle.remove(self)
                except ValueError:  # a job is on its way
                    self.handed.acquire()


_idle: list[_Worker] = []


def submit(function: Callable[[Any], object], argument: Any) -> None:
    """Run `function(argument)` on a thread, an idle one if there is one."""
    try:
        worker = _idle.pop()
    except IndexError:
        _Worker((function, argument))
    else:
        worker.job = (function, argument)
        worker.handed.release()
