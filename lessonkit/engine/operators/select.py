"""`filter`, `take`, `skip`, `shard` and `repeat`: which elements, and how often."""

import math

from lessonkit.engine.element import END, Element
from lessonkit.engine.node import Node, cardinality
from lessonkit.engine.run import StuckError
from lessonkit.engine.trace import CALL

from .stream import Listed, Scope, Stream, operator


@operator("filter")
class Filter(Stream):
    """Gives the elements of which the predicate says yes."""

    def prepare(self) -> None:
        self.stage = self.run.name("Filter", self.scope.position, CALL)
        self.may_end = cardinality(self.node.inputs[0]) not in (None, math.inf)

    async def next(self) -> Element:
        refused = 0
        while refused < StuckError.after or self.may_end:
            element = await self.input.next()
            if element is END or await self.run.apply(self.predicate, element, self.stage):
                return element
            refused += 1
        raise StuckError(
            f"filter: refused {refused} elements in a row, of a source without a known end"
        )


@operator("take")
class Take(Stream):
    """Gives the first `count` elements; all if it is negative. An error does not count."""

    given = 0

    async def next(self) -> Element:
        if self.given == self.count:
            return END
        element = await self.input.next()
        self.given += 1
        return element


@operator("skip")
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


@operator("shard")
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


@operator("repeat")
class Repeat(Stream):
    """Opens its input anew for each pass; what that held or had open is gone."""

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
