"""`filter`, `take_while`, `take`, `skip`, `shard` and `repeat`: which elements, and how often."""

import math
from collections.abc import Awaitable
from typing import Any

from lessonkit.engine.element import END, Element
from lessonkit.engine.machine import Function
from lessonkit.engine.node import Cardinality, Node, cardinality
from lessonkit.engine.run import StuckError
from lessonkit.engine.trace import CALL

from .source import Listed
from .stream import Scope, Stream, endless_or_unknown, operator


@operator("filter", count=endless_or_unknown, keeps_values=True)
class Filter(Stream):
    """Gives the elements of which the predicate says yes."""

    predicate: Function

    def prepare(self) -> None:
        self.stage = self.name(self.node.arguments.get("stage", "Filter"), CALL)
        self.may_end = cardinality(self.node.inputs[0]) not in (None, math.inf)

    async def next(self) -> Element:
        refused = 0
        while refused < StuckError.after or self.may_end:
            element = await self.input.next()
            if element is END or await self.keeps(element):
                return element
            refused += 1
        raise StuckError(
            f"{self.node.method}: refused {refused} elements in a row, "
            "of a source without a known end"
        )

    def keeps(self, element: Element) -> Awaitable[Any]:
        """Ask the predicate about *element*."""
        return self.run.apply(self.predicate, element, self.stage)


@operator("take_while", keeps_values=True)
class TakeWhile(Stream):
    """Gives the elements before the first of which the predicate says no; an error is none."""

    predicate: Function
    ended = False

    def prepare(self) -> None:
        self.stage = self.name("Take while", CALL)

    async def next(self) -> Element:
        if self.ended:
            return END
        element = await self.input.next()
        if element is END or await self.run.apply(self.predicate, element, self.stage):
            return element
        self.ended = True
        return END


def count_taken(node: Node, many: Cardinality) -> Cardinality:
    """Count the first `count` elements, or all that there are."""
    count: int = node.arguments["count"]
    if count == 0:
        return 0
    return many if many is None or count < 0 else min(many, count)


@operator("take", count=count_taken, keeps_values=True)
class Take(Stream):
    """Gives the first `count` elements; all if it is negative. An error does not count."""

    count: int
    given = 0

    async def next(self) -> Element:
        if self.given == self.count:
            return END
        element = await self.input.next()
        self.given += 1
        return element


def count_after_skip(node: Node, many: Cardinality) -> Cardinality:
    """Count the elements after the first `count`."""
    count: int = node.arguments["count"]
    if count < 0:
        return 0
    return None if many is None else max(0, many - count)


@operator("skip", count=count_after_skip, keeps_values=True)
class Skip(Stream):
    """Gives all but the first `count` elements; none if it is negative."""

    count: int

    async def next(self) -> Element:
        if self.count < 0:
            return END
        for _ in range(self.count):  # an error on the way starts this anew, as in tf.data
            if await self.input.next() is END:
                return END
        self.count = 0
        return await self.input.next()


def count_of_shard(node: Node, many: Cardinality) -> Cardinality:
    """Count the elements that one of several machines gets."""
    if many is None or many == math.inf:
        return many
    index: int = node.arguments["index"]
    shards: int = node.arguments["num_shards"]
    return max(0, -((index - many) // shards))


@operator("shard", count=count_of_shard, keeps_values=True)
def open_shard(scope: Scope, node: Node) -> Stream:
    """Open the shard *node*; of a list or a range nothing is made that other shards give."""
    shard = Shard(scope, node)
    source = shard.input
    if not isinstance(source, Listed) or source.steps:
        return shard
    source.given += shard.index % shard.num_shards * source.stride
    source.stride *= shard.num_shards
    return source


class Shard(Stream):
    """Gives every `num_shards`-th element, from number `index` on, for one of several machines."""

    num_shards: int
    index: int
    passed = 0  # elements of its input

    async def next(self) -> Element:
        others = (self.index - self.passed) % self.num_shards
        for _ in range(others):
            if await self.input.next() is END:
                return END
        self.passed += others
        element = await self.input.next()
        self.passed += 1
        return element


def count_repeated(node: Node, many: Cardinality) -> Cardinality:
    """Count the elements of all passes."""
    passes: int | None = node.arguments["count"]
    if 0 in (passes, many):
        return 0
    if passes is None or passes < 0:
        # As in tf.data, also if it is not known whether there is anything to repeat
        return math.inf
    return None if many is None else many * passes


@operator("repeat", count=count_repeated, keeps_values=True)
class Repeat(Stream):
    """Opens its input anew for each pass; what that held or had open is gone."""

    count: int | None
    opens_inputs = False
    asked = False  # in this pass

    def prepare(self) -> None:
        self.left = math.inf if self.count is None or self.count < 0 else self.count
        if self.left:
            # Now, so that the parts of a pipeline get their names in its order
            self.open_input()

    async def next(self) -> Element:
        while self.left:
            empty = not self.asked
            self.asked = True
            element = await self.input.next()
            if element is not END:
                return element
            self.close()
            # An input that is empty would be repeated for ever: that is the end.
            self.left = 0 if empty and self.left == math.inf else self.left - 1
            if self.left:
                self.open_input()
                self.asked = False
        return END
