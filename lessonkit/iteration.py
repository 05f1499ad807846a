"""`for element in dataset:` the pipeline really runs, on threads, wherever the loop stands."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any

from lessonkit.element import END
from lessonkit.node import Node
from lessonkit.operators.base import Scope
from lessonkit.runtime.store import shared
from lessonkit.runtime.threads import Stopped, Threads
from lessonkit.work import Machine, current


class Iterator:
    """One pass over a data set. It ends its helpers when it ends, is closed or is let go.

    An error in a learner's function comes out of `next` in the place of its element,
    and iteration can go on after it.
    """

    def __init__(self, node: Node, machine: Machine | None = None) -> None:
        self._run = Threads(machine or Machine(), shared, None)
        self._task = self._run.consumer("Loop")
        self._run.current = self._task
        self._stream = Scope(self._run).open(node)
        self._open = True
        self._asking = False

    def __iter__(self) -> Iterator:
        return self

    def __next__(self) -> Any:
        run, task = self._run, self._task
        if self._asking:
            raise RuntimeError("this iterator is being asked for an element already, on another thread")
        if not self._open:
            raise StopIteration
        self._asking = True
        outside, current.worker = current.worker, task
        try:
            with run.lock:
                task.due = time.perf_counter_ns() - run.origin
                element = run.step(task, self._stream.next())
        except Exception:
            raise
        except Stopped:
            self.close()
            raise run.crash or StopIteration from None
        except BaseException:  # Ctrl+C: nobody will go on from here
            self.close()
            raise
        finally:
            current.worker = outside
            self._asking = False
        if element is END:
            self.close()
            raise StopIteration
        return element.value

    def close(self) -> None:
        """End the helpers, close the files and forget what was made ahead."""
        with self._run.lock:
            self._close()

    def _close(self) -> None:
        if self._open:
            self._open = False
            self._run.stop.set()
            self._run.current = self._task
            self._stream.close()

    def __enter__(self) -> Iterator:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        # Collection may come while a helper of this very run holds the lock: then it is
        # enough to say so, and the helpers end by themselves.
        if getattr(self, "_open", False):
            self._run.stop.set()
            if self._run.lock.acquire(blocking=False):
                try:
                    self._close()
                finally:
                    self._run.lock.release()
