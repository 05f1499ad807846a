"""`zip`, `enumerate` and `concatenate`: elements of several datasets, or with numbers."""

import math
from typing import Any, NamedTuple

from lessonkit.engine.element import END, Element, settle
from lessonkit.engine.node import Cardinality, Node

from .stream import Stream, as_its_input, attempt, joined, operator


def count_tuples(node: Node, *many: Cardinality) -> Cardinality:
    """Count the tuples: as many as the shortest input gives."""
    if 0 in many:
        return 0
    known = [one for one in many if one is not None]
    return min(known) if len(known) == len(many) else None


@operator("zip", count=count_tuples)
class Zip(Stream):
    """Gives tuples until one input ends. After an error it still asks each: they stay in step."""

    async def next(self) -> Element:
        parts = [await attempt(stream) for stream in self.opened]
        parts = [settle(part) for part in parts]  # an error is told before an end
        if END in parts:
            return END
        element = joined(self.run, parts)
        element.value = tuple(element.value)
        element.samples = max(part.samples for part in parts)
        element.number = tuple(element.number)  # its parts are no samples
        return element


@operator("enumerate", count=as_its_input)
class Enumerate(Stream):
    """Gives tuples of a number and an element. An error has a number, too."""

    start: int
    passed = 0

    async def next(self) -> Element:
        number = self.start + self.passed
        self.passed += 1
        element = await self.input.next()
        if element is not END:
            element.value = (number, element.value)
        return element


def count_both(node: Node, first: Cardinality, second: Cardinality) -> Cardinality:
    """Count the elements of both inputs."""
    if math.inf in (first, second):
        return math.inf
    return None if first is None or second is None else first + second


class After(NamedTuple):
    """The number of an element of a second input: how many the first gave, and its own there."""

    first: int
    number: Any


@operator("concatenate", count=count_both, keeps_values=True)
class Concatenate(Stream):
    """Gives all elements of one input, and then opens the other and gives all of that."""

    opens_inputs = False
    passed = 0  # elements of the first
    in_first = True

    def prepare(self) -> None:
        self.open_input(0)

    async def next(self) -> Element:
        element = await self.input.next()
        if element is END and self.in_first:
            self.in_first = False
            self.opened.pop().close()
            self.open_input(1)
            element = await self.input.next()
        if self.in_first:
            self.passed += 1
        elif element is not END:
            element.number = After(self.passed, element.number)
        return element
