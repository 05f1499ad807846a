"""Helpers that got no thread: they take turns on the thread that asks for elements.

So it is where no thread can be started, as in a browser. Waits go on side by side there too:
each helper goes on when it is due, in the virtual clock's order. What functions compute does not.
A helper stands still while a function computes, or nobody asks. After that its own clock is
behind (its `lag`) and goes on from where it stood, so the waits that it missed take no time.
"""

from heapq import heappop, heappush
from typing import Any

from lessonkit.engine.run import Stopped

HASTE = 3_000_000  # ns; so long helpers may catch up before an element is given


class Turns:
    """The helpers of a run that have no thread, in the order in which they are due."""

    def __init__(self, run: Any) -> None:
        self.run = run
        self.line: list[tuple[int, int, Any]] = []  # a heap by due time
        self.count = 0  # among equal times the first to come goes first
        self.since = 0  # the end of the last time in which all stood still

    def join(self, helper: Any, due: int) -> None:
        """Let *helper* go on when it is *due*."""
        self.count += 1
        heappush(self.line, (due, self.count, helper))

    def catch_up(self, asker: Any) -> None:
        """Let helpers go through what they have missed: *asker* asks again."""
        asked = self.since = asker.due
        while self.run.real - asked < HASTE and self.give(asker, asked):
            pass
        if self.run.must_stop(asker):
            raise Stopped

    def give(self, asker: Any, until: float) -> bool:
        """Let the first helper go on that is due by *until*; False if there is none.

        That may be later: *asker* sleeps until then, unless it is woken before.
        """
        if not self.line or self.line[0][0] > until or self.run.must_stop(asker):
            return False
        if self.run.sleep(asker, self.line[0][0]):
            due, _, helper = heappop(self.line)
            if not helper.done:
                helper.due, helper.lag = due, max(0, self.since - due)
                self.send(helper)
            self.run.current = asker
        return True

    def send(self, helper: Any) -> None:
        """Run *helper* until it waits again."""
        self.run.current = helper
        try:
            due = helper.context.run(helper.coro.send, None)
        except BaseException as error:
            self.run.ended(helper, error)
        else:
            if due is not None:
                self.join(helper, due)
