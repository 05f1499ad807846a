"""`cache`: what the first complete pass gave, given again without making it."""

from __future__ import annotations

from dataclasses import dataclass

from lessonkit.element import END, Element
from lessonkit.operators.base import Buffer, Scope, Stream, Transform


@dataclass(frozen=True, eq=False)
class Cache(Transform):
    """`cache()`: in memory, and shared by all iterations over this very description."""

    method = "cache"

    def stream(self, scope: Scope) -> Stream:
        kept = scope.run.store.state(self, Kept)
        return Keeping(self, scope, kept) if kept.elements is None else Replaying(scope, kept.elements)


class Kept:
    """What a cache holds: nothing, until one pass was complete."""

    elements: list[Element] | None = None


class Keeping(Stream):
    """Passes elements on and keeps a copy. It counts only if the pass gets to the end.

    An error is passed on and leaves no trace: the cache replays without it.
    """

    def __init__(self, node: Cache, scope: Scope, kept: Kept) -> None:
        super().__init__(scope, scope.open(node.input))
        self.kept = kept
        self.copies: list[Element] = []
        self.complete = False
        self.expected = node.input.cardinality()
        self.buffer = Buffer(self.run, scope.name("cache"), None)

    async def next(self) -> Element:
        element = await self.inputs[0].next()
        if element is END:
            self.finish()
            return END
        if not self.complete:
            self.copies.append(element.copy())
            self.buffer.enter(element)
            if len(self.copies) == self.expected:  # known in advance: no need to see the end
                self.finish()
        return element

    def finish(self) -> None:
        self.complete = True
        if self.kept.elements is None:
            self.kept.elements = self.copies

    def close(self) -> None:
        if self.kept.elements is not self.copies:  # a pass that was broken off keeps nothing
            for element in self.copies:
                self.buffer.leave(element)
            self.copies = []
            self.complete = True
        super().close()


class Replaying(Stream):
    """Gives copies of what is kept; nothing above the cache runs."""

    def __init__(self, scope: Scope, elements: list[Element]) -> None:
        super().__init__(scope)
        self.elements = iter(elements)

    async def next(self) -> Element:
        element = next(self.elements, END)
        return element if element is END else element.copy()
