"""`shuffle`, also repeated: a random one of the elements in a buffer, again and again."""

import math
import random
from collections import deque
from collections.abc import Iterator
from itertools import count, repeat

from lessonkit.engine.element import END, Element
from lessonkit.engine.operators.base import Stream, operator
from lessonkit.engine.recorder import CHOICE

# In the buffer of a repeated shuffle, as in tf.data; and one that has just begun
MOST_PASSES = 3


@operator("shuffle")
@operator("shuffle_and_repeat")
class Shuffle(Stream):
    """Fills its buffer before it gives the first element, and then reads one for each it gives.

    Repeated, it fills on across the end of a pass, but gives all of one pass before it
    draws from the next: so each pass has the order that it would have by itself.
    """

    count: int | None = 1  # passes
    fresh = True  # nothing has come from this pass yet

    def prepare(self) -> None:
        self.seeds = self.run.store.state(self.node, self.new_seeds)
        self.left = math.inf if self.count is None or self.count < 0 else self.count
        self.held: deque[list[Element]] = deque()  # by passes
        self.in_buffer = 0
        if self.left:
            self.open_pass()
            self.random = random.Random(next(self.seeds))
        name = self.scope.name(f"shuffle({self.buffer_size})", CHOICE)
        self.buffer = self.holds(name, self.buffer_size)

    def new_seeds(self) -> Iterator[str]:
        """Give the seeds of all passes, for all iterations over the same description."""
        passes = count() if self.reshuffle_each_iteration else repeat(0)
        return map("{}:{}".format, repeat(self.run.store.seed(self.seed)), passes)

    def open_pass(self) -> None:
        self.open_input()
        self.held.append([])
        self.left -= 1
        self.fresh = True

    async def next(self) -> Element:
        while (
            self.opened and self.in_buffer < self.buffer_size and self.has_room_for_pass()
        ):
            await self.read()
        while len(self.held) > 1 and not self.held[0]:  # that pass is over
            self.held.popleft()
            self.random = random.Random(next(self.seeds))
        if not self.in_buffer:
            return END
        held = self.held[0]
        chosen = self.random.randrange(len(held))
        held[chosen], held[-1] = held[-1], held[chosen]
        element = held.pop()
        self.in_buffer -= 1
        self.buffer.leave(element)
        return element

    def has_room_for_pass(self) -> bool:
        return len(self.held) <= MOST_PASSES or not self.in_buffer

    async def read(self) -> None:
        """Put the next element into the buffer, or open the next pass."""
        element = await self.opened[0].next()
        if element is not END:
            self.fresh = False
            self.held[-1].append(element)
            self.in_buffer += 1
            self.buffer.enter(element)
            return
        self.close_inputs()
        # An input that is empty would be repeated for ever: that is the end.
        if self.left and not (self.fresh and self.left == math.inf):
            self.open_pass()

    def close(self) -> None:
        for held in self.held:
            self.buffer.leave(*held)
        self.held.clear()
        self.in_buffer = 0
        super().close()
