"""`shuffle` and `shuffle_and_repeat`: a random one of the elements in a buffer, again and again."""

import math
import random
from collections import deque
from collections.abc import Iterator
from itertools import count, repeat

from lessonkit.engine.element import END, Element
from lessonkit.engine.trace import CHOICE

from .select import count_repeated
from .stream import Stream, as_its_input, operator

# Of so many passes elements are held; with one element of the next, reading stops, as in tf.data
MOST_PASSES = 3


@operator("shuffle", count=as_its_input, keeps_values=True)
class Shuffle(Stream):
    """Fills its buffer before it gives the first element, and then reads one for each it gives."""

    buffer_size: int
    seed: int | None
    reshuffle_each_iteration: bool

    def prepare(self) -> None:
        self.seeds = self.run.states.of(self.node, self.new_seeds)
        self.random = random.Random(next(self.seeds))
        self.held: list[Element] = []
        name = self.name(f"{self.node.method}({self.buffer_size})", CHOICE)
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
        return self.draw() if self.held else END

    def draw(self) -> Element:
        """Take a random one out of the buffer."""
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


@operator("shuffle_and_repeat", count=count_repeated, keeps_values=True)
class ShuffleAndRepeat(Shuffle):
    """Goes on filling its buffer with the next pass while it gives what is left of this one.

    What is held of each pass is apart, and all of one pass is given before any of the next. So
    each pass has the order that it would have by itself.
    """

    count: int | None
    opens_inputs = False
    asked = False  # the pass that is read, for its first element

    def prepare(self) -> None:
        self.open_input()
        super().prepare()
        # Passes that are still to be read, with the one that is being read
        self.left = math.inf if self.count is None else self.count
        # What is held of each pass: the first is the one that is given, the last is being read
        self.passes = deque([self.held])

    async def next(self) -> Element:
        while self.opened and sum(map(len, self.passes)) < self.buffer_size:
            await self.read()
            if len(self.passes) > MOST_PASSES:
                break
        while not self.held and len(self.passes) > 1:
            self.passes.popleft()
            self.held = self.passes[0]
            self.random = random.Random(next(self.seeds))
        return self.draw() if self.held else END

    async def read(self) -> None:
        """Put one more element into the buffer: if a pass has ended, one of the next."""
        while self.opened:
            is_empty = not self.asked
            self.asked = True
            element = await self.input.next()
            if element is not END:
                self.passes[-1].append(element)
                self.enter(element)
                return
            self.opened.pop().close()
            # An input that is empty would be repeated for ever: that is the end.
            self.left = 0 if is_empty and self.left == math.inf else self.left - 1
            if self.left:
                self.open_input()
                self.asked = False
                self.passes.append([])

    def close(self) -> None:
        for held in self.passes:
            for element in held:
                self.leave(element)
            held.clear()
        super().close()
