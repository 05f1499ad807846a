"""`for element in dataset:` the pipeline really runs, wherever the loop stands."""

from __future__ import annotations

import threading
from typing import Any

from lessonkit.engine.operators.stream import Scope

from .element import END, Element
from .machine import FOUR_CORES, this_process
from .node import Node, shared
from .run import Stopped
from .threads import Threads, ThreadTask
from .trace import LOOP, TRAIN


class Iterator:
    """One pass over a dataset. Its background readers end when it ends, is closed or is let go.

    An error in a learner's function comes out of `next` in the place of its element,
    and iteration can go on after it. A process that is forked has no threads of
    these readers, so RuntimeError comes in the place of the elements that they would make.
    """

    def __init__(self, node: Node) -> None:
        self._pass = _Pass(node)

    def __iter__(self) -> Iterator:
        return self

    def __next__(self) -> Any:
        current_pass = self._pass
        del self  # an error keeps the frames, and they must not keep helpers at work
        return current_pass.next()

    def close(self) -> None:
        """End the background readers, close the files and drop elements that were made ahead."""
        with self._pass.lock():
            self._pass.close()

    def __enter__(self) -> Iterator:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __del__(self) -> None:
        # Collection may come while a helper of this very run holds the lock: then it is
        # enough to say so, and the helpers end by themselves.
        if hasattr(self, "_pass"):
            run = self._pass.run
            run.stop.set()
            if run.lock.acquire(blocking=False):
                try:
                    self._pass.close()
                finally:
                    run.lock.release()


class _Pass:
    """The run of an iterator, which ends it when the iterator is let go."""

    def __init__(self, node: Node) -> None:
        self.run = Threads(FOUR_CORES, shared, None)
        stage = self.run.name("Loop", LOOP, TRAIN)
        self.task = ThreadTask(self.run, self.run.process, None, stage)
        self.run.current = self.task
        self.stream = Scope(self.run).open(node)
        self.is_open = True
        self.asking = False
        self.pid = this_process.pid

    def lock(self) -> threading.Lock:
        """Return the lock of the run; after a fork a new one, which no helper can have held."""
        if self.pid != this_process.pid:
            self.pid = this_process.pid
            self.run.lock = threading.Lock()
        return self.run.lock

    def next(self) -> Any:
        if self.asking:
            raise RuntimeError(
                "this iterator is being asked for an element already, on another thread"
            )
        try:
            # Ctrl+C may come at any time from here on, also while it waits for the lock
            self.asking = True
            with self.lock():
                element = self.ask()
        finally:
            self.asking = False
        if element is END:
            raise StopIteration
        return element.value

    def ask(self) -> Element:
        """Return the next element or END, after which all is closed; so it is after Ctrl+C."""
        run = self.run
        task = self.task
        element = END
        try:
            if self.is_open:
                task.due = run.real
                if run.lacks_threads:
                    run.catch_up(task)
                element = run.step(task, self.stream.next())
        except Exception:
            element = Element(None)  # iteration may go on after it
            raise
        except Stopped:
            if run.crash:
                raise run.crash from None
        finally:
            if element is END:
                self.close()
        return element

    def close(self) -> None:
        if self.is_open:
            self.is_open = False
            self.run.stop.set()
            self.run.current = self.task
            self.stream.close()
