"""`map_and_batch`: one operator in place of two, as tf.data makes it."""

import math
from itertools import islice

from lessonkit.engine.element import Element, Failure, settle
from lessonkit.engine.operators.base import batched, operator
from lessonkit.engine.operators.map import ParallelMap

MOST_BATCHES = 16  # that are put together at once, as in tf.data


@operator("map_and_batch")
class MapAndBatch(ParallelMap):
    """At most n calls at once, on the elements of as many batches as that needs.

    A batch is claimed as a whole, when its last call has ended; only then is there room
    for another. But calls that idle while somebody waits for a batch begin one more.
    """

    asked = False  # somebody waits for a batch

    def prepare(self) -> None:
        super().prepare()
        self.at_once = min(MOST_BATCHES, math.ceil(self.most / self.batch_size))

    def most_places(self) -> int:
        return MOST_BATCHES * int(self.batch_size)

    def can_begin(self) -> bool:
        if self.reading or self.ended:
            return False
        if len(self.window) < self.at_once * self.batch_size:
            return True
        more = self.asked and not self.has_batch() and self.at_once < MOST_BATCHES
        self.at_once += more
        return more

    def has_batch(self) -> bool:
        """Whether the next batch is complete, or an error has spoilt it."""
        for slot in islice(self.window, self.batch_size):
            if not slot.result or type(slot.result) is Failure:
                return bool(slot.result)
        return len(self.window) >= self.batch_size or self.ended

    async def next(self) -> Element:
        if not self.helpers:
            self.hire(self.work(), self.stage)
        self.asked = True
        self.room.changed()
        await self.run.until(self.news, self.has_batch, "buffer empty")
        self.asked = False
        parts: list[Element] = []
        while self.window and len(parts) < self.batch_size:
            result = self.window.popleft().result
            assert result is not None
            self.buffer.leave(result)
            self.room.changed()
            parts.append(settle(result))
        return batched(self, parts)
