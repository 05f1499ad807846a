"""`filter`, `take`, `skip` and `shard`: some of the elements, as they are."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lessonkit.element import END, Element
from lessonkit.operators.base import PATIENCE, EndlessError, Scope, Stream, Transform


@dataclass(frozen=True, eq=False)
class Filter(Transform):
    """`filter(predicate)`: the elements of which it says yes."""

    method = "filter"
    predicate: Callable[..., Any]

    def cardinality(self) -> float | None:
        return math.inf if self.input.cardinality() == math.inf else None

    def stream(self, scope: Scope) -> Stream:
        return FilterStream(self, scope)


class FilterStream(Stream):
    def __init__(self, node: Filter, scope: Scope) -> None:
        super().__init__(scope, scope.open(node.input))
        self.node = node
        self.stage = scope.name("Filter")
        self.may_end = node.input.cardinality() not in (None, math.inf)

    async def next(self) -> Element:
        refused = 0
        while refused < PATIENCE or self.may_end:
            element = await self.inputs[0].next()
            if element is END or await self.run.apply(self.node.predicate, element, self.stage):
                return element
            refused += 1
        raise EndlessError(f"filter: refused {PATIENCE} elements in a row, of a source without end")


@dataclass(frozen=True, eq=False)
class Take(Transform):
    """`take(count)`: the first so many; all if negative. An error does not count."""

    method = "take"
    count: int

    def cardinality(self) -> float | None:
        many = self.input.cardinality()
        if self.count < 0 or self.count == 0:
            return many if self.count else 0
        return many if many is None else min(many, self.count)

    def stream(self, scope: Scope) -> Stream:
        return TakeStream(self, scope)


class TakeStream(Stream):
    def __init__(self, node: Take, scope: Scope) -> None:
        super().__init__(scope, scope.open(node.input))
        self.left = math.inf if node.count < 0 else node.count

    async def next(self) -> Element:
        if not self.left:
            return END
        element = await self.inputs[0].next()
        self.left -= 1
        return element


@dataclass(frozen=True, eq=False)
class Skip(Transform):
    """`skip(count)`: all but the first so many; none if negative."""

    method = "skip"
    count: int

    def cardinality(self) -> float | None:
        many = self.input.cardinality()
        return 0 if self.count < 0 else many if many is None else max(0, many - self.count)

    def stream(self, scope: Scope) -> Stream:
        return SkipStream(self, scope)


class SkipStream(Stream):
    def __init__(self, node: Skip, scope: Scope) -> None:
        super().__init__(scope, scope.open(node.input))
        self.count = node.count

    async def next(self) -> Element:
        if self.count < 0:
            return END
        for _ in range(self.count):  # an error on the way starts this anew, as in tf.data
            if await self.inputs[0].next() is END:
                break
        self.count = 0
        return await self.inputs[0].next()


@dataclass(frozen=True, eq=False)
class Shard(Transform):
    """`shard(num_shards, index)`: every so-manieth element, for one of several machines."""

    method = "shard"
    num_shards: int
    index: int

    def cardinality(self) -> float | None:
        many = self.input.cardinality()
        if many is None or many == math.inf:
            return many
        return max(0, math.ceil((many - self.index) / self.num_shards))

    def stream(self, scope: Scope) -> Stream:
        return ShardStream(self, scope)


class ShardStream(Stream):
    def __init__(self, node: Shard, scope: Scope) -> None:
        super().__init__(scope, scope.open(node.input))
        self.node = node
        self.position = 0

    async def next(self) -> Element:
        others = (self.node.index - self.position) % self.node.num_shards
        for _ in range(others):
            if await self.inputs[0].next() is END:
                return END
        self.position += others
        element = await self.inputs[0].next()
        self.position += 1
        return element
