"""`shuffle`: a random one of the elements in a buffer, again and again."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import count

from lessonkit.element import END, Element
from lessonkit.operators.base import Buffer, Scope, Stream, Transform


@dataclass(frozen=True, eq=False)
class Shuffle(Transform):
    """`shuffle(buffer_size)`: a new order in every pass, unless told otherwise."""

    method = "shuffle"
    buffer_size: int
    seed: int | None = None
    reshuffle_each_iteration: bool = True

    def stream(self, scope: Scope) -> Stream:
        return ShuffleStream(self, scope)


class Orders:
    """The series of orders of one shuffle: the same on every run if there is a seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.passes = count()

    def next(self, *, reshuffle: bool) -> random.Random:
        return random.Random(f"{self.seed}:{next(self.passes) if reshuffle else 0}")


class ShuffleStream(Stream):
    """Fills its buffer before it gives the first element, and then reads one for each it gives."""

    def __init__(self, node: Shuffle, scope: Scope) -> None:
        super().__init__(scope, scope.open(node.input))
        store = self.run.store
        chance = 0 if store.fixed_seed else random.getrandbits(64)
        orders = store.state(node, lambda: Orders(chance if node.seed is None else node.seed))
        self.random = orders.next(reshuffle=node.reshuffle_each_iteration)
        self.size = node.buffer_size
        self.held: list[Element] = []
        self.buffer = Buffer(self.run, scope.name(f"shuffle({self.size})"), self.size)
        self.ended = False

    async def next(self) -> Element:
        while len(self.held) < self.size and not self.ended:
            element = await self.inputs[0].next()
            if element is END:
                self.ended = True
            else:
                self.held.append(element)
                self.buffer.enter(element)
        if not self.held:
            return END
        chosen = self.random.randrange(len(self.held))
        self.held[chosen], self.held[-1] = self.held[-1], self.held[chosen]
        element = self.held.pop()
        self.buffer.leave(element)
        return element

    def close(self) -> None:
        for element in self.held:
            self.buffer.leave(element)
        self.held.clear()
        super().close()
