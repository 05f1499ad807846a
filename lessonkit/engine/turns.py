"""Helpers that got no thread: they take turns on the thread that asks for elements.

So it is where no thread can be started, as in a browser. Waits go on side by side there too:
each helper goes on when it is due, in the virtual clock's order. What functions compute does not.
A helper stands still while a function computes, or nobody asks. After that its own clock is
behind (its `lag`) and goes on from where it stood, so the waits that it missed take no time.
"""

from collections import deque
from heapq import heappop, heappush
from typing import Any

from lessonkit.engine.run import Stopped

HASTE = 3_000_000  # ns; so long helpers may catch up before an element is given


class Turns:
    """The helpers of a run that have no thread, in the order in which they are due."""

    def __init__(self, run: Any) -> None:
        self.run = run
        self.ready: deque[Any] = deque()  # can go on, in the order in which they were woken
        self.sleeping: list[tuple[int, int, Any]] = []  # a heap by due time
        self.slept = 0  # sleeps so far: among equal times, the first to fall asleep wakes first
        self.since = 0  # the end of the last time in which all stood still

    def catch_up(self, asker: Any) -> None:
        """Somebody asks again: let helpers go through what they have missed."""
        asked = self.since = asker.due
        while self.run.real - asked < HASTE and self.give(asker, asked):
            pass
        if self.run.must_stop(asker):
            raise Stopped

    def give(self, asker: Any, until: float) -> bool:
        """Let the first helper go on that is due by *until*; False if there is none.

        That may be later: *asker* sleeps until then, unless it is woken before.
        """
        if self.run.must_stop(asker):
            return False
        if self.ready:
            helper = self.ready.popleft()
        elif self.sleeping and self.sleeping[0][0] <= until:
            if not self.run.sleep(asker, self.sleeping[0][0]):
                return True
            due, _, helper = heappop(self.sleeping)
            helper.due = due
        else:
            return False
        if not helper.done:
            self.send(helper)
            self.run.current = asker
        return True

    def send(self, helper: Any) -> None:
        """Run *helper* until it waits again."""
        helper.lag = max(0, self.since - helper.due)
        self.run.current = helper
        try:
            due = helper.context.run(helper.coro.send, None)
        except (StopIteration, Stopped):
            self.run.end(helper)
        except BaseException as error:
            self.run.crash = error
            self.run.end(helper)
        else:
            if due is not None:
                self.slept += 1
                heappush(self.sleeping, (due, self.slept, helper))
