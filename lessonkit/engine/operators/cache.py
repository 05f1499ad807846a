"""`cache`: gives the elements of the first complete pass again, without making them."""

from collections.abc import Iterator

from lessonkit.engine.element import END, Element
from lessonkit.engine.node import cardinality
from lessonkit.engine.trace import CACHE

from .stream import Stream, as_its_input, operator


class Kept:
    """Holds the elements of a cache for all iterations: none until a pass was complete."""

    elements: list[Element] | None = None


@operator("cache", count=as_its_input, keeps_values=True)
class Cache(Stream):
    """Keeps copies of the elements of a pass, and replays them if the pass got to its end.

    An error is passed on and leaves no trace: the cache replays without it.
    """

    opens_inputs = False
    replayed: Iterator[Element] | None = None

    def prepare(self) -> None:
        self.kept = self.run.states.of(self.node, Kept)
        self.copies: list[Element] = []
        if self.kept.elements is not None:
            self.replayed = iter(self.kept.elements)
            return
        self.open_input()
        self.expected = cardinality(self.node.inputs[0])
        self.open_buffer(self.name("cache", CACHE), None)

    async def next(self) -> Element:
        if self.replayed is not None:
            element = next(self.replayed, END)
            return element if element is END else element.copy()
        element = await self.input.next()
        if element is not END:
            self.copies.append(element.copy())
            self.enter(element)
        # Known in advance: no need to see the end
        is_complete = element is END or len(self.copies) == self.expected
        if is_complete and self.kept.elements is None:
            self.kept.elements = self.copies
        return element

    def close(self) -> None:
        # A pass that was broken off keeps nothing
        if self.copies and self.kept.elements is not self.copies:
            for element in self.copies:
                self.leave(element)
            self.copies = []
        super().close()
