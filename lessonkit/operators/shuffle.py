"""`shuffle`: a random one of the elements in a buffer, again and again."""

from __future__ import annotations

import random
from itertools import count

from lessonkit.element import END, Element
from lessonkit.node import Node
from lessonkit.operators.base import Buffer, Scope, Transform, operator


class Orders:
    """The series of orders of one shuffle, for all iterations over the same description."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.passes = count()

    def next(self, *, reshuffle: bool) -> random.Random:
        return random.Random(f"{self.seed}:{next(self.passes) if reshuffle else 0}")


@operator("shuffle")
class Shuffle(Transform):
    """Fills its buffer before it gives the first element, and then reads one for each it gives."""

    buffer_size: int
    seed: int | None
    reshuffle_each_iteration: bool
    ended = False

    def __init__(self, scope: Scope, node: Node) -> None:
        super().__init__(scope, node)
        chance = 0 if self.run.store.fixed_seed else random.getrandbits(64)
        orders = self.run.store.state(node, lambda: Orders(chance if self.seed is None else self.seed))
        self.random = orders.next(reshuffle=self.reshuffle_each_iteration)
        self.held: list[Element] = []
        self.buffer = Buffer(self.run, scope.name(f"shuffle({self.buffer_size})"), self.buffer_size)

    async def next(self) -> Element:
        while len(self.held) < self.buffer_size and not self.ended:
            element = await self.input.next()
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
        self.buffer.drop(self.held)
        self.held.clear()
        super().close()
