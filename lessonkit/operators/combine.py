"""`repeat`, `concatenate`, `zip` and `enumerate`: passes and data sets, put together."""

from __future__ import annotations

import math
from dataclasses import dataclass

from lessonkit.element import END, Element, Failure, settle
from lessonkit.operators.base import PATIENCE, EndlessError, Node, Scope, Stream, Transform, attempt, times
from lessonkit.operators.batch import joined


@dataclass(frozen=True, eq=False)
class Repeat(Transform):
    """`repeat(count)`: so many passes over the input; without end if None or negative."""

    method = "repeat"
    count: int | None = None

    @property
    def passes(self) -> float:
        return math.inf if self.count is None or self.count < 0 else self.count

    def cardinality(self) -> float | None:
        return 0 if self.passes == 0 else times(self.input.cardinality(), self.passes)

    def stream(self, scope: Scope) -> Stream:
        return RepeatStream(self, scope)


class RepeatStream(Stream):
    """Opens its input anew for each pass; what that held or had open is gone."""

    def __init__(self, node: Repeat, scope: Scope) -> None:
        super().__init__(scope)
        self.node = node
        self.left = node.passes

    async def next(self) -> Element:
        for _ in range(PATIENCE):
            if not self.left:
                return END
            fresh = not self.inputs
            if fresh:
                self.inputs = [self.scope.open(self.node.input)]
            element = await self.inputs[0].next()
            if element is not END:
                return element
            self.close()
            self.inputs = []
            # An input that is empty would be repeated for ever: that is the end.
            self.left = 0 if fresh and self.left == math.inf else self.left - 1
        raise EndlessError(f"repeat: {PATIENCE} passes in a row gave nothing")


@dataclass(frozen=True, eq=False)
class Concatenate(Node):
    """`concatenate(other)`: first all of one, then all of the other."""

    method = "concatenate"
    input: Node
    other: Node

    def __post_init__(self) -> None:
        ours, theirs = self.input.element_type(), self.other.element_type()
        if ours and theirs and ours is not theirs:
            raise TypeError(f"concatenate: elements of type {ours.__name__} and {theirs.__name__} do not mix")

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input, self.other)

    def cardinality(self) -> float | None:
        ours, theirs = self.input.cardinality(), self.other.cardinality()
        if math.inf in (ours, theirs):
            return math.inf
        return None if ours is None or theirs is None else ours + theirs

    def element_type(self) -> type | None:
        return self.input.element_type()

    def stream(self, scope: Scope) -> Stream:
        return ConcatenateStream(self, scope)


class ConcatenateStream(Stream):
    def __init__(self, node: Concatenate, scope: Scope) -> None:
        super().__init__(scope, scope.open(node.input, 0))
        self.node = node
        self.first = True

    async def next(self) -> Element:
        element = await self.inputs[0].next()
        if element is END and self.first:
            self.first = False
            self.close()
            self.inputs = [self.scope.open(self.node.other, 1)]
            element = await self.inputs[0].next()
        return element


@dataclass(frozen=True, eq=False)
class Zip(Node):
    """`Dataset.zip(a, b, ...)`: tuples of one element of each, until the shortest ends."""

    method = "zip"
    parts: tuple[Node, ...]

    @property
    def inputs(self) -> tuple[Node, ...]:
        return self.parts

    def cardinality(self) -> float | None:
        many = [part.cardinality() for part in self.parts]
        known = [number for number in many if number is not None]
        return 0 if 0 in many else min(known) if len(known) == len(many) else None

    def element_type(self) -> type:
        return tuple

    def stream(self, scope: Scope) -> Stream:
        return ZipStream(scope, *(scope.open(part, index) for index, part in enumerate(self.parts)))


class ZipStream(Stream):
    """Asks every input each time, also after an error in one: they stay in step."""

    async def next(self) -> Element:
        parts = [await attempt(stream) for stream in self.inputs]
        if END in parts:
            return END
        for part in parts:
            if type(part) is Failure:
                settle(part)
        element = joined(self.run.recorder, parts, tuple(part.value for part in parts))
        element.samples = max(part.samples for part in parts)
        return element


@dataclass(frozen=True, eq=False)
class Enumerate(Transform):
    """`enumerate(start)`: tuples of a number and the element."""

    method = "enumerate"
    start: int = 0

    def element_type(self) -> type:
        return tuple

    def stream(self, scope: Scope) -> Stream:
        return EnumerateStream(self, scope)


class EnumerateStream(Stream):
    def __init__(self, node: Enumerate, scope: Scope) -> None:
        super().__init__(scope, scope.open(node.input))
        self.number = node.start - 1

    async def next(self) -> Element:
        self.number += 1  # an error has a number too, as if this were a zip with a range
        element = await self.inputs[0].next()
        if element is not END:
            element.value = (self.number, element.value)
        return element


