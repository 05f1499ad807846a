"""`shuffle`: a random one of the elements in a buffer, again and again."""

import random
from collections.abc import Iterator
from itertools import count, repeat

from lessonkit.engine.element import END, Element
from lessonkit.engine.trace import CHOICE

from .stream import Stream, as_its_input, operator


@operator("shuffle", count=as_its_input, keeps_values=True)
class Shuffle(Stream):
    """Fills its buffer before it gives the first element, and then reads one for each it gives."""

    buffer_size: int
    seed: int | None
    reshuffle_each_iteration: bool

    def prepare(self) -> None:
        seeds = self.run.states.of(self.node, self.new_seeds)
        self.random = random.Random(next(seeds))
        self.held: list[Element] = []
        name = self.name(f"shuffle({self.buffer_size})", CHOICE)
        self.open_buffer(name, self.buffer_size)

    def new_seeds(self) -> Iterator[str]:
        """Give the seeds of all passes, for all iterations over the same description."""
        seed = self.run.states.seed(self.seed)
        passes = count() if self.reshuffle_each_iteration else repeat(0)
        return (f"{seed}:{number}" for number in passes)

    async def next(self) -> Element:
        while self.opened and len(self.held) < self.buffer_size:
            element = await self.input.next()
            if element is END:
                self.opened.pop().close()
            else:
                self.held.append(element)
                self.enter(element)
        if not self.held:
            return END
        chosen = self.random.randrange(len(self.held))
        self.held[chosen], self.held[-1] = self.held[-1], self.held[chosen]
        element = self.held.pop()
        self.leave(element)
        return element

    def close(self) -> None:
        for element in self.held:
            self.leave(element)
        self.held.clear()
        super().close()
