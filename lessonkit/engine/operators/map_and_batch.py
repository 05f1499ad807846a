"""`map_and_batch`: calls write their results into the batches that come next."""

import math
from collections import deque
from dataclasses import dataclass, field

from lessonkit.engine.element import END, Element, Failure, settle
from lessonkit.engine.run import Gate
from lessonkit.engine.trace import AHEAD, FILL
from lessonkit.words import counted

from .batch import SequentialBatch, count_batches
from .map import SequentialMap
from .stream import attempt, joined, operator

MOST_BATCHES = 16  # that may be begun at a time, as in tf.data


@dataclass(eq=False)
class Begun:
    """A batch that has been begun: a slot for each of its elements, filled when its call ends."""

    slots: list[Element | None] = field(default_factory=list)

    def elements(self) -> list[Element]:
        """Return what is in the slots whose calls have ended."""
        return [one for one in self.slots if one is not None]

    def failure(self) -> Failure | None:
        """Return the first error in the slot of an element, if there is one."""
        return next((one for one in self.slots if type(one) is Failure), None)


@operator("map_and_batch", count=count_batches)
class OneByOne(SequentialBatch):
    """Makes one call after another, when a batch is asked for: no method makes such a node.

    `measure` runs functions so, because calls at the same time would take longer.
    """

    def open_input(self, index: int = 0) -> None:
        self.input = SequentialMap(self.scope, self.node)
        self.opened.append(self.input)


@operator("map_and_batch", parallel=True)
class MapAndBatch(SequentialMap):
    """At most n calls at the same time, for the elements of as many batches as that takes.

    A batch is claimed as a whole, when its last call has ended, and makes room for another one.
    Calls that would be idle while somebody waits for a batch begin one more. An error loses its
    whole batch, and no further call is made for that.
    """

    batch_size: int
    drop_remainder: bool
    num_parallel_calls: int
    reading = False  # one call asks the input
    ended = False  # the input
    is_awaited = False  # somebody waits for a batch

    def prepare(self) -> None:
        super().prepare()
        self.most = self.calls_at_once(self.num_parallel_calls)
        self.most_begun = min(MOST_BATCHES, math.ceil(self.most / self.batch_size))
        self.begun: deque[Begun] = deque()  # the first is the next to be given
        name = self.name(f"{self.stage} and batch: {counted(self.most, 'calls')}", AHEAD)
        self.open_buffer(name, MOST_BATCHES * self.batch_size)
        self.room = Gate(self.run, name)  # for a call to begin
        self.news = Gate(self.run, name)  # of a call that has ended

    async def next(self) -> Element:
        if not self.helpers:
            self.hire(self.work(), self.stage)
        if not self.has_batch():
            self.is_awaited = True
            await self.run.until(self.news, self.has_batch, "buffer empty")
            self.is_awaited = False
        if not self.begun:
            return END
        batch = self.begun.popleft()
        self.room.changed()
        parts = batch.elements()
        for part in parts:
            self.leave(part)
        if failure := batch.failure():
            settle(failure)
        if self.drop_remainder and len(parts) < self.batch_size:
            return END
        element = joined(self.run, parts)
        self.run.stack(element, lambda: self.name("Batch", FILL))
        return element

    def has_batch(self) -> bool:
        """Whether the next batch is made, or there is none."""
        if not self.begun:
            return self.ended
        slots = self.begun[0].slots
        is_whole = self.ended or len(slots) == self.batch_size
        return is_whole and None not in slots

    def has_slot(self) -> bool:
        """Whether an element has a slot, in the batch that was begun last or in another one."""
        is_open = bool(self.begun) and len(self.begun[-1].slots) < self.batch_size
        return is_open or len(self.begun) < self.most_begun

    def can_begin(self) -> bool:
        return not self.reading and not self.ended and self.has_slot()

    def begin_more(self) -> None:
        """Allow one more batch if somebody waits, and this call would wait too."""
        if self.is_awaited and not self.has_slot() and self.most_begun < MOST_BATCHES:
            self.most_begun += 1

    async def work(self) -> None:
        """Make the calls of one helper, one after another."""
        while True:
            self.begin_more()
            await self.run.until(self.room, self.can_begin, "buffer full")
            self.reading = True
            element = await attempt(self.input)
            self.reading = False
            if element is END:
                self.ended = True
                self.news.changed()
                return
            if not self.begun or len(self.begun[-1].slots) == self.batch_size:
                self.begun.append(Begun())
            batch = self.begun[-1]
            slot = len(batch.slots)
            batch.slots.append(None)
            if self.room.waiting:
                self.begin_more()
                self.room.changed()
            elif len(self.helpers) < self.most:
                self.hire(self.work(), self.stage)
            if type(element) is not Failure and batch.failure() is None:
                try:
                    await self.work_on(element)
                except Exception as error:
                    element = Failure(error)
            batch.slots[slot] = element
            self.enter(element)
            self.news.changed()

    def close(self) -> None:
        for batch in self.begun:
            for element in batch.elements():
                self.leave(element)
        self.begun.clear()
        super().close()
