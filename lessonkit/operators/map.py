"""`map`: a function for each element, one after the other or several at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

from lessonkit.check import AUTOTUNE
from lessonkit.element import END, Element, Failure, settle
from lessonkit.operators.base import Buffer, Bytes, Scope, Stream, Transform, attempt, measure
from lessonkit.runtime.base import Gate, Task
from lessonkit.work import Cost, charge, price


@dataclass(frozen=True, eq=False)
class Map(Transform):
    """`map(fn)`: what it costs, what kind of work it is, and how many calls at once."""

    method = "map"
    fn: Callable[..., Any] | None = None
    _: KW_ONLY
    cost: Cost = 0
    kind: str = "wait"
    num_parallel_calls: int | None = None
    deterministic: bool = True
    stage: str = "Map"
    nbytes: Bytes = None

    def element_type(self) -> type | None:
        return self.input.element_type() if self.fn is None else None

    def stream(self, scope: Scope) -> Stream:
        return SequentialMap(self, scope) if self.num_parallel_calls is None else ParallelMap(self, scope)


class SequentialMap(Stream):
    """Reads one element, maps it, gives it: nothing happens between two requests."""

    def __init__(self, node: Map, scope: Scope) -> None:
        super().__init__(scope, scope.open(node.input))
        self.node = node
        self.fn = node.fn
        self.kind = node.kind
        self.nbytes = node.nbytes
        self.input = self.inputs[0]
        self.price = price(node.cost, "cost")
        self.stage = scope.name(node.stage)

    async def next(self) -> Element:
        element = await self.input.next()
        if element is not END:
            await self.apply(element)
        return element

    def apply(self, element: Element) -> Awaitable[None]:
        """Put what the function makes of the element's value in its place; spend the cost."""
        price = self.price
        cost = price if type(price) is int else price(element)
        if self.fn is None and self.nbytes is None:
            return self.run.spend(cost, self.stage, element, self.kind)
        return self.call(element, cost)

    async def call(self, element: Element, cost: int) -> None:
        if self.fn is None:
            await self.run.spend(cost, self.stage, element, self.kind)
        else:
            element.value = await self.run.apply(self.fn, element, self.stage, cost, self.kind)
        if self.run.recorder is not None:
            element.nbytes = measure(element.value, self.nbytes, element.nbytes)


class Slot:
    """The place of one element in the window: empty until its call has ended."""

    result: Element | None = None


class ParallelMap(SequentialMap):
    """At most n calls at once, and at most n places for elements that nobody has claimed yet.

    A call reads its own input, one call at a time; so reading is inside the window.
    The element that a blocked `next` waits for counts as claimed.
    """

    def __init__(self, node: Map, scope: Scope) -> None:
        super().__init__(node, scope)
        calls = node.num_parallel_calls
        self.calls = self.run.machine.cores if calls == AUTOTUNE else calls or 1
        name = scope.name(f"{node.stage.lower()}({self.calls} calls)")
        self.window: deque[Slot] = deque()  # in the order of the inputs
        self.buffer = Buffer(self.run, name, self.calls)
        self.room = Gate(self.run, name)  # for a call to begin
        self.news = Gate(self.run, name)  # of a slot, or of what is in it
        self.workers: list[Task] = []
        self.reading = False
        self.ended = False

    async def next(self) -> Element:
        if not self.workers:
            self.hire()
        await self.run.until(self.news, self.can_claim, "buffer empty")
        if not self.window:
            return END
        slot = self.claim()
        self.room.changed()
        await self.run.until(self.news, lambda: slot.result, "buffer empty")
        assert slot.result is not None
        if slot.result is not END:
            self.buffer.leave(slot.result)
        return settle(slot.result)

    def can_claim(self) -> bool:
        if self.node.deterministic:
            return bool(self.window) or self.ended
        return any(slot.result for slot in self.window) or (self.ended and not self.window)

    def claim(self) -> Slot:
        """Take the first slot, or without an order to keep the first that has a result."""
        for slot in self.window:
            if self.node.deterministic or slot.result:
                self.window.remove(slot)
                return slot
        raise AssertionError("nothing to claim")

    # ---- the calls ----

    def hire(self) -> None:
        lane = len(self.workers)
        self.workers.append(self.run.start(self.work(), self.stage, lane))

    def can_begin(self) -> bool:
        return not self.reading and not self.ended and len(self.window) < self.calls

    async def work(self) -> None:
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
                if slot in self.window:
                    self.window.remove(slot)
                slot.result = END
                self.news.changed()
                return
            if len(self.workers) < self.calls and not self.room.waiting:
                self.hire()
            self.room.changed()
            slot.result = await self.outcome(element)
            self.buffer.enter(slot.result)
            self.news.changed()

    async def outcome(self, element: Element) -> Element:
        if type(element) is not Failure:
            try:
                await self.apply(element)
            except Exception as error:
                return Failure(error)
        return element

    def close(self) -> None:
        for worker in self.workers:
            self.run.cancel(worker)
        for slot in self.window:
            if slot.result:
                self.buffer.leave(slot.result)
        self.window.clear()
        super().close()
