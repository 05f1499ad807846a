"""`map`, also with its batch: a function for each element, one after the other or several at once."""

import math
from collections import deque
from collections.abc import Awaitable
from itertools import islice

from lessonkit.check import AUTOTUNE
from lessonkit.engine.costs import price
from lessonkit.engine.element import END, Element, Failure, settle
from lessonkit.engine.operators.base import Transform, attempt, batched, operator
from lessonkit.engine.recorder import AHEAD, CALL
from lessonkit.engine.run import Gate

MOST_BATCHES = 16  # that are put together at once, as in tf.data


@operator("map")
class SequentialMap(Transform):
    """Reads one element, maps it, gives it: nothing happens between two requests."""

    def prepare(self) -> None:
        self.price = cost = price(self.cost, "cost")
        self.calls = self.map_func is not None or self.nbytes is not None
        # Most that call nothing are a wait, for each element as long.
        self.wait = (
            cost
            if isinstance(cost, int) and self.kind == "wait" and not self.calls
            else None
        )
        self.stage = self.scope.name(self.node.arguments["stage"], CALL)

    async def next(self) -> Element:
        element = await self.input.next()
        if element is not END:
            await self.apply(element)
        return element

    def apply(self, element: Element) -> Awaitable[None]:
        """Put what the function makes of the value of *element* in its place; spend the cost."""
        if self.wait is not None:
            return self.run.spend(self.wait, self.stage, element)
        if self.calls:
            return self.call(element, self.run.charge(self.price, element))
        return self.run.pay(self.price, self.stage, element, self.kind)

    async def call(self, element: Element, cost: int) -> None:
        function = self.map_func or (lambda *value: element.value)
        element.value = await self.run.apply(function, element, self.stage, cost, self.kind)
        if self.run.sized:
            element.nbytes = self.run.measure(element.value, self.nbytes, element.nbytes)


class Slot:
    """The place of one element in the window: empty until its call has ended."""

    result: Element | None = None


@operator("map", parallel=True)
class ParallelMap(SequentialMap):
    """At most n calls at once, and at most n places for elements that nobody has claimed yet.

    A call reads its own input, one call at a time; so reading is inside the window.
    The element that a blocked `next` waits for counts as claimed.
    """

    reading = False
    ended = False

    def prepare(self) -> None:
        super().prepare()
        calls = self.num_parallel_calls
        self.most = self.run.machine.cores if calls == AUTOTUNE else calls
        name = self.scope.name(f"{self.stage}: {self.most} calls", AHEAD)
        self.window: deque[Slot] = deque()  # in the order of the inputs
        self.buffer = self.holds(name, self.most_places())
        self.room = Gate(self.run, name)  # for a call to begin
        self.news = Gate(self.run, name)  # of a slot, or of what is in it

    async def next(self) -> Element:
        if not self.helpers:
            self.hire(self.work(), self.stage)
        await self.run.until(self.news, self.has_news, "buffer empty")
        slot = self.claimable()
        if slot is None:
            return END
        self.window.remove(slot)
        self.room.changed()
        await self.run.until(self.news, lambda: slot.result, "buffer empty")
        assert slot.result is not None
        if slot.result is not END:
            self.buffer.leave(slot.result)
        return settle(slot.result)

    def most_places(self) -> int:
        """How many elements there is room for that nobody has claimed yet."""
        return self.most

    def claimable(self) -> Slot | None:
        """Return the first slot, or if no order is to be kept the first that has a result."""
        return next(
            (slot for slot in self.window if self.deterministic or slot.result), None
        )

    def has_news(self) -> bool:
        return self.claimable() is not None or (self.ended and not self.window)

    def can_begin(self) -> bool:
        return not self.reading and not self.ended and len(self.window) < self.most

    async def work(self) -> None:
        """Make one worker's calls, one after another."""
        while True:
            await self.run.until(self.room, self.can_begin, "buffer full")
            slot = Slot()
            self.window.append(slot)
            self.reading = True
            self.news.changed()
            element = await attempt(self.input)
            self.reading = False
            if element is END:
                self.ended = True
                slot.result = END
                if slot in self.window:
                    self.window.remove(slot)
                self.news.changed()
                return
            if len(self.helpers) < self.most and not self.room.waiting:
                self.hire(self.work(), self.stage)
            self.room.changed()
            if type(element) is not Failure:
                try:
                    await self.apply(element)
                except Exception as error:
                    element = Failure(error)
            slot.result = element
            self.buffer.enter(element)
            self.news.changed()

    def close(self) -> None:
        self.buffer.leave(*(slot.result for slot in self.window if slot.result))
        self.window.clear()
        super().close()


@operator("map_and_batch")
class MapAndBatch(ParallelMap):
    """At most n calls at once, on the elements of as many batches as that needs.

    A batch is claimed as a whole, when its last call has ended; only then is there room
    for another. But calls that idle while somebody waits for a batch begin one more.
    """

    asked = False  # somebody waits for a batch

    def prepare(self) -> None:
        super().prepare()
        self.at_once = min(MOST_BATCHES, math.ceil(self.most / self.batch_size))

    def most_places(self) -> int:
        return MOST_BATCHES * int(self.batch_size)

    def can_begin(self) -> bool:
        if self.reading or self.ended:
            return False
        if len(self.window) < self.at_once * self.batch_size:
            return True
        more = self.asked and not self.has_batch() and self.at_once < MOST_BATCHES
        self.at_once += more
        return more

    def has_batch(self) -> bool:
        """Whether the next batch is complete, or an error has spoilt it."""
        for slot in islice(self.window, self.batch_size):
            if not slot.result or type(slot.result) is Failure:
                return bool(slot.result)
        return len(self.window) >= self.batch_size or self.ended

    async def next(self) -> Element:
        if not self.helpers:
            self.hire(self.work(), self.stage)
        self.asked = True
        self.room.changed()
        await self.run.until(self.news, self.has_batch, "buffer empty")
        self.asked = False
        parts: list[Element] = []
        while self.window and len(parts) < self.batch_size:
            result = self.window.popleft().result
            assert result is not None
            self.buffer.leave(result)
            self.room.changed()
            parts.append(settle(result))
        return batched(self, parts)
