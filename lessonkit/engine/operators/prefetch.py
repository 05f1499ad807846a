"""`prefetch`: elements made ready in the background, before anybody asks for them."""

from collections import deque

from lessonkit.engine.check import AUTOTUNE
from lessonkit.engine.element import END, Element, Failure, settle
from lessonkit.engine.node import Node
from lessonkit.engine.run import Gate
from lessonkit.engine.trace import AHEAD, FILL

from .stream import Scope, Stream, as_its_input, operator


@operator("prefetch", count=as_its_input, keeps_values=True)
def open_prefetch(scope: Scope, node: Node) -> Stream:
    """Open *node*, or only its input: without slots there is nothing to do."""
    return (
        Prefetch(scope, node)
        if node.arguments["buffer_size"]
        else scope.open(node.inputs[0])
    )


class Prefetch(Stream):
    """A background reader fills the buffer; the consumer waits only if it is empty."""

    buffer_size: int
    stage = "Prefetch"
    label = "prefetch({})"

    def prepare(self) -> None:
        self.size = 1 if self.buffer_size == AUTOTUNE else self.buffer_size
        name = self.name(self.label.format(self.size), AHEAD)
        self.ready: deque[Element] = deque()  # and END after the last, to stay
        self.open_buffer(name, self.size)
        self.filled = Gate(self.run, name)
        self.freed = Gate(self.run, name)

    async def next(self) -> Element:
        if not self.helpers:  # nothing is produced before the first request
            self.hire(self.fill(), self.name(self.stage, FILL))
        if not self.ready:
            await self.run.until(self.filled, self.ready.__len__, "buffer empty")
        element = self.ready[0]
        if element is END:
            return END
        self.ready.popleft()
        self.leave(element)
        if self.freed.waiting:
            self.freed.changed()
        return settle(element)

    async def fill(self) -> None:
        element: Element | None = None
        while element is not END:
            # A slot must be free before the next element is even begun.
            if len(self.ready) >= self.size:
                await self.run.until(self.freed, self.has_room, "buffer full")
            try:
                element = await self.input.next()
            except Exception as error:
                element = Failure(error)
            self.ready.append(element)
            if element is not END:
                self.enter(element)
            if self.filled.waiting:
                self.filled.changed()

    def has_room(self) -> bool:
        return len(self.ready) < self.size

    def close(self) -> None:
        while self.ready and (element := self.ready.popleft()) is not END:
            self.leave(element)
        super().close()
