"""`cache`: what the first complete pass gave, given again without making it."""

from lessonkit.engine.element import END, Element
from lessonkit.engine.node import Node, cardinality
from lessonkit.engine.operators.base import Buffer, Scope, Stream, Transform, operator
from lessonkit.engine.recorder import CACHE


class Kept:
    """What a cache holds, for all iterations over it: nothing, until a pass was complete."""

    elements: list[Element] | None = None


@operator("cache")
def open_cache(scope: Scope, node: Node) -> Stream:
    """The first passes fill the cache, later ones replay it."""
    kept = scope.run.store.state(node, Kept)
    return Keeping(scope, node) if kept.elements is None else Replaying(scope, node)


class Keeping(Transform):
    """Passes elements on and keeps a copy. It counts only if the pass gets to the end.

    An error is passed on and leaves no trace: the cache replays without it.
    """

    complete = False

    def prepare(self) -> None:
        self.kept = self.run.store.state(self.node, Kept)
        self.copies: list[Element] = []
        self.expected = cardinality(self.node.inputs[0])
        self.buffer = Buffer(self.run, self.scope.name("cache", CACHE), None)

    async def next(self) -> Element:
        element = await self.input.next()
        if element is not END and not self.complete:
            self.copies.append(element.copy())
            self.buffer.enter(element)
        if element is END or len(self.copies) == self.expected:  # known in advance: no need to see the end
            self.complete = True
            if self.kept.elements is None:
                self.kept.elements = self.copies
        return element

    def close(self) -> None:
        if self.kept.elements is not self.copies:  # a pass that was broken off keeps nothing
            self.buffer.leave(*self.copies)
            self.copies = []
        super().close()


class Replaying(Stream):
    """Gives copies of what is kept; nothing above the cache runs."""

    def prepare(self) -> None:
        self.elements = iter(self.run.store.state(self.node, Kept).elements or ())

    async def next(self) -> Element:
        element = next(self.elements, END)
        return element if element is END else element.copy()
