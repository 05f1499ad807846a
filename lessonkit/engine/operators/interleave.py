"""`interleave` and `flat_map`: elements of many datasets, a few of them at a time.

Sequential and parallel interleave give the same order, if an order is kept, but by quite
different ways: the parallel one reads ahead. How far is a rule of tf.data.
"""

import math
from collections import deque

from lessonkit.engine.check import AUTOTUNE
from lessonkit.engine.element import END, Element, Failure, settle
from lessonkit.engine.machine import Function
from lessonkit.engine.node import Description
from lessonkit.engine.run import Gate, Resource, StuckError
from lessonkit.engine.trace import AHEAD, CALL

from .stream import Stream, attempt, endless_or_unknown, operator


class Interleave(Stream):
    """The common part of both kinds: the turns, and the way from an element to a dataset."""

    map_func: Function
    cycle_length: int | None
    block_length: int
    num_parallel_calls: int | None
    turn = 0  # the slot of the cycle that gives the next element
    block = 0  # how many elements it has given in this turn

    def prepare(self) -> None:
        self.stage = self.name("Interleave", CALL)
        self.cycle = cycle_length(
            self.cycle_length, self.num_parallel_calls, self.run.machine.cores
        )

    async def open_next(self) -> Stream | None:
        """Open the next dataset; None if the input has ended."""
        element = await self.input.next()
        if element is END:
            return None
        made = await self.run.apply(self.map_func, element, self.stage)
        if not isinstance(made, Description):
            raise TypeError(
                f"{self.node.method}: map_func returned {made!r}: must return a Dataset"
            )
        return self.scope.open(made.node, 1, element)

    def next_turn(self, slots: int) -> None:
        self.turn = (self.turn + 1) % slots
        self.block = 0

    def count_element(self, slots: int) -> None:
        self.block += 1
        if self.block == self.block_length:
            self.next_turn(slots)


def cycle_length(given: int | None, calls: int | None, cores: int) -> int:
    """Return the length of the cycle: as *given*, or as tf.data chooses by *calls* and *cores*."""
    if given is not None and given != AUTOTUNE:
        return given
    if calls is None:
        return cores
    return math.ceil(cores / 3) if calls == AUTOTUNE else min(calls, cores)


@operator("flat_map", count=endless_or_unknown)
@operator("interleave", count=endless_or_unknown)
class SequentialInterleave(Interleave):
    """Opens a dataset when its turn comes, and reads nothing ahead.

    A slot found exhausted gives up its turn and is filled again on its next one.
    An error keeps its turn: the same slot is asked again. `flat_map` has one slot.
    """

    cycle_length = 1
    block_length = 1
    num_parallel_calls = None
    ended = False

    def prepare(self) -> None:
        super().prepare()
        self.slots: list[Stream | None] = [None] * self.cycle

    async def next(self) -> Element:
        for _ in range(StuckError.after):
            stream = self.slots[self.turn]
            if stream is not None:
                element = await stream.next()
                if element is not END:
                    self.count_element(self.cycle)
                    return element
                stream.close()
                self.slots[self.turn] = None
                self.next_turn(self.cycle)
            elif not self.ended:
                self.slots[self.turn] = stream = await self.open_next()
                self.ended = stream is None
            elif any(self.slots):
                self.next_turn(self.cycle)
            else:
                return END
        raise StuckError(
            f"{self.node.method}: {StuckError.after} datasets in a row gave nothing"
        )

    def close(self) -> None:
        for stream in filter(None, self.slots):
            stream.close()
        super().close()


class File:
    """One of the datasets: its stream, and what has been read from it and not yet given."""

    active = False  # a call is reading from it

    def __init__(self, stream: Stream | None, *results: Element) -> None:
        self.stream = stream  # None once it has ended
        self.results = deque(results)


@operator("interleave", parallel=True)
class ParallelInterleave(Interleave):
    """Reads several datasets at the same time, each into a buffer of its own, ahead of need.

    A reader stays with one file until its buffer is full or the file ends. Beside the
    cycle, *future* files are opened and filled ahead of need, by readers of their own;
    so `num_parallel_calls` does not bound how many files are open.
    """

    deterministic: bool
    num_parallel_calls: int
    ended = False

    def prepare(self) -> None:
        super().prepare()
        self.readers = min(self.calls_at_once(self.num_parallel_calls), self.cycle)
        self.most_results = 2 * self.block_length + 1  # in the buffer of one file
        self.most_future = 2 * self.cycle
        self.most_helpers = self.readers + 3 * self.cycle
        name = self.name(f"interleave({self.cycle})", AHEAD)
        self.files: list[File | None] = []  # of the cycle
        self.future: deque[File] = deque()
        self.to_read: deque[int] = deque()  # slots whose file may have room
        self.open_buffer(name, (self.cycle + self.most_future) * self.most_results)
        self.news = Gate(self.run, name)  # for the consumer: an element, or an end
        self.work = Gate(self.run, name)  # for the readers of the cycle
        self.room = Gate(self.run, name)  # for the readers of future files
        # The input is asked by one at a time, or files would get out of order.
        self.asking = Resource(self.run, name, 1, "buffer empty")

    # ---- the consumer ----

    async def next(self) -> Element:
        if not self.helpers:
            await self.begin()
        for _ in range(StuckError.after):  # each wait in vain is for a file that ends
            if result := await self.consume():
                return settle(result)
            await self.run.until(self.news, self.has_news, "buffer empty")
        raise StuckError(f"interleave: {StuckError.after} datasets in a row gave nothing")

    async def begin(self) -> None:
        """Make the first files, then start the readers."""
        while len(self.files) < self.cycle and not self.ended:
            self.files.append(None)
            await self.refill(len(self.files) - 1)
        for _ in range(self.readers):
            self.hire(self.read_cycle(), self.stage)
        self.open_ahead()

    def has_news(self) -> bool:
        files = [self.files[self.turn]] if self.deterministic else self.files
        return any(file and (file.results or file.stream is None) for file in files)

    async def consume(self) -> Element | None:
        """Take a result; None if one has to wait. Without an order to keep any slot may give it."""
        waiting = 0  # slots that have nothing yet
        while waiting < self.cycle:
            while self.files and self.files[-1] is None:
                self.files.pop()
            if not self.files:
                return END
            if self.turn >= len(self.files):
                self.turn = 0
                self.block = 0
            file = self.files[self.turn]
            if file and file.results:
                result = file.results.popleft()
                self.leave(result)
                if file.stream is not None and not file.active:
                    self.ask_for(self.turn)
                self.count_element(len(self.files))
                return result
            if file and file.stream is not None:
                if self.deterministic:
                    return None
                waiting += 1
            elif file:  # exhausted: it gives up its turn, and another file takes its place
                await self.refill(self.turn)
            self.next_turn(len(self.files))
        return None

    async def refill(self, slot: int) -> None:
        """Put the next file into *slot* of the cycle: a future one, or one that is opened now."""
        async with self.asking:
            if self.future:
                file: File | None = self.future.popleft()
                self.open_ahead()
            elif file := await self.make_file():
                self.ask_for(slot)
            self.files[slot] = file

    def ask_for(self, slot: int) -> None:
        self.to_read.append(slot)
        self.work.changed()

    # ---- the readers ----

    async def make_file(self) -> File | None:
        """Make a file for the next input; None if there is none. An error is its only result."""
        try:
            stream = None if self.ended else await self.open_next()
        except Exception as error:
            failure = Failure(error)
            self.enter(failure)
            return File(None, failure)
        self.ended = stream is None
        return None if self.ended else File(stream)

    async def read_cycle(self) -> None:
        """Read files of the cycle: one until it is full or ends, then another."""
        while True:
            await self.run.until(self.work, lambda: self.to_read, "buffer full")
            slot = self.to_read.popleft()
            file = self.files[slot] if slot < len(self.files) else None
            if file and not file.active:
                await self.fill(file)

    def open_ahead(self) -> None:
        """Have a future file opened if there is room: by whoever is free, or by a new reader."""
        if self.room.waiting:
            self.room.changed()
        elif len(self.helpers) < self.most_helpers and self.has_room():
            self.hire(self.read_future(), self.stage)

    def has_room(self) -> bool:
        return len(self.future) < self.most_future

    async def read_future(self) -> None:
        """Open files that come after the cycle, and fill their buffers."""
        while not self.ended:
            await self.run.until(self.room, self.has_room, "buffer full")
            async with self.asking:
                file = await self.make_file() if self.has_room() else None
                if file:
                    self.future.append(file)
            if file:
                self.open_ahead()
                await self.fill(file)

    async def fill(self, file: File) -> None:
        file.active = True
        while file.stream is not None and len(file.results) < self.most_results:
            result = await attempt(file.stream)
            if result is END:
                file.stream.close()
                file.stream = None
            else:
                file.results.append(result)
                self.enter(result)
            self.news.changed()
        file.active = False

    def close(self) -> None:
        for file in [*filter(None, self.files), *self.future]:
            for result in file.results:
                self.leave(result)
            if file.stream is not None:
                file.stream.close()
        self.files = []
        self.future = deque()
        super().close()
