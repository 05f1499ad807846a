"""`map`: a function for each element, one after the other or several at the same time."""

from collections import deque

from lessonkit.engine.element import END, Bytes, Element, Failure, settle
from lessonkit.engine.machine import Cost, Function
from lessonkit.engine.node import Node
from lessonkit.engine.run import Gate, price
from lessonkit.engine.trace import AHEAD, CALL
from lessonkit.words import counted

from .source import Listed, SlowFile
from .stream import Scope, Stream, as_its_input, attempt, operator


@operator("map", count=as_its_input)
def open_map(scope: Scope, node: Node) -> Stream:
    """Open *node*; if it only costs time, as one more step of the source that it reads."""
    stream = SequentialMap(scope, node)
    if stream.calls or not isinstance(stream.input, (Listed, SlowFile)):
        return stream
    stream.input.steps.append((stream.price, stream.stage, stream.kind))
    return stream.input


class SequentialMap(Stream):
    """Reads one element, maps it, gives it: nothing happens between two requests."""

    map_func: Function | None
    cost: Cost
    kind: str
    nbytes: Bytes

    def prepare(self) -> None:
        self.price = price(self.cost, "cost")
        self.calls = self.map_func is not None or self.nbytes is not None
        self.stage = self.name(self.node.arguments["stage"], CALL)

    async def next(self) -> Element:
        element = await self.input.next()
        if element is not END:
            await self.work_on(element)
        return element

    async def work_on(self, element: Element) -> None:
        """Put what the function makes of the value of *element* in its place; spend the cost."""
        run = self.run
        if not self.calls:  # the cost alone
            await run.spend(self.price, self.stage, element, self.kind)
            return
        function = self.map_func or (lambda *value: element.value)
        element.value = await run.apply(
            function, element, self.stage, self.price, self.kind
        )
        if run.sized:
            run.measure(element, self.nbytes)


@operator("map", parallel=True)
class ParallelMap(SequentialMap):
    """At most n calls at the same time, and at most n slots for elements that are not claimed yet.

    A call reads its own input, one call at a time; so reading is inside the window.
    The element that a blocked `next` waits for counts as claimed.
    """

    num_parallel_calls: int
    deterministic: bool
    begun = 0  # calls
    reading = False
    ended = False

    def prepare(self) -> None:
        super().prepare()
        self.most = self.calls_at_once(self.num_parallel_calls)
        name = self.name(f"{self.stage}: {counted(self.most, 'calls')}", AHEAD)
        # The numbers of the calls whose elements are not claimed, in the order of the inputs
        self.window: deque[int] = deque()
        self.results: dict[int, Element] = {}  # of calls that have ended
        self.open_buffer(name, self.most)
        self.room = Gate(self.run, name)  # for a call to begin
        self.news = Gate(self.run, name)  # of a call, or of its result

    async def next(self) -> Element:
        if not self.helpers:
            self.hire(self.work(), self.stage)
        await self.run.until(self.news, self.has_news, "buffer empty")
        call = self.claimable()
        if call is None:
            return END
        self.window.remove(call)
        self.room.changed()
        try:
            await self.run.until(self.news, lambda: call in self.results, "buffer empty")
        finally:  # it has left the window: `close` finds nothing of it there
            element = self.results.pop(call, END)
            if element is not END:
                self.leave(element)
        return settle(element)

    def claimable(self) -> int | None:
        """Return the first call, or if no order is to be kept the first that has a result."""
        return next(
            (call for call in self.window if self.deterministic or call in self.results),
            None,
        )

    def has_news(self) -> bool:
        return self.claimable() is not None or (self.ended and not self.window)

    def can_begin(self) -> bool:
        return not self.reading and not self.ended and len(self.window) < self.most

    async def work(self) -> None:
        """Make the calls of one helper, one after another."""
        while True:
            await self.run.until(self.room, self.can_begin, "buffer full")
            call = self.begun
            self.begun += 1
            self.window.append(call)
            self.reading = True
            self.news.changed()
            element = await attempt(self.input)
            self.reading = False
            if element is END:
                self.ended = True
                self.results[call] = END
                if call in self.window:
                    self.window.remove(call)
                self.news.changed()
                return
            if len(self.helpers) < self.most and not self.room.waiting:
                self.hire(self.work(), self.stage)
            self.room.changed()
            if type(element) is not Failure:
                try:
                    await self.work_on(element)
                except Exception as error:
                    element = Failure(error)
            self.results[call] = element
            self.enter(element)
            self.news.changed()

    def close(self) -> None:
        for call in self.window:
            if call in self.results:
                self.leave(self.results[call])
        self.window.clear()
        super().close()
