"""`prefetch`: elements made ready in the background, before anybody asks for them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from lessonkit.check import AUTOTUNE
from lessonkit.element import END, Element, Failure, settle
from lessonkit.operators.base import Buffer, Scope, Stream, Transform
from lessonkit.runtime.base import Gate, Task


@dataclass(frozen=True, eq=False)
class Prefetch(Transform):
    """`prefetch(buffer_size)`: at most so many finished elements wait for the consumer."""

    method = "prefetch"
    buffer_size: int

    def stream(self, scope: Scope) -> Stream:
        if self.buffer_size == 0:
            return scope.open(self.input)
        return PrefetchStream(self, scope)


class PrefetchStream(Stream):
    """A helper fills the buffer; the consumer takes from it and waits only if it is empty."""

    def __init__(self, node: Prefetch, scope: Scope) -> None:
        super().__init__(scope, scope.open(node.input))
        self.size = 1 if node.buffer_size == AUTOTUNE else node.buffer_size
        name = scope.name(f"prefetch({self.size})")
        self.ready: deque[Element] = deque()
        self.buffer = Buffer(self.run, name, self.size)
        self.filled = Gate(self.run, name)
        self.freed = Gate(self.run, name)
        self.helper: Task | None = None
        self.ended = False

    async def next(self) -> Element:
        if self.helper is None:  # nothing is produced before the first request
            self.helper = self.run.start(self.fill(), "Prefetch")
        await self.run.until(self.filled, self.has_news, "buffer empty")
        if not self.ready:
            return END
        element = self.ready.popleft()
        self.buffer.leave(element)
        self.freed.changed()
        return settle(element)

    def has_news(self) -> bool:
        return bool(self.ready) or self.ended

    def has_place(self) -> bool:
        return len(self.ready) < self.size

    async def fill(self) -> None:
        while not self.ended:
            # A place must be free before the next element is even begun.
            await self.run.until(self.freed, self.has_place, "buffer full")
            try:
                element = await self.inputs[0].next()
            except Exception as error:
                element = Failure(error)
            if element is END:
                self.ended = True
            else:
                self.ready.append(element)
                self.buffer.enter(element)
            self.filled.changed()

    def close(self) -> None:
        if self.helper is not None:
            self.run.cancel(self.helper)
        for element in self.ready:
            self.buffer.leave(element)
        self.ready.clear()
        super().close()
