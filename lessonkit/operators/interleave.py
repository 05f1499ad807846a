"""`interleave` and `flat_map`: elements of many data sets, a few of them at a time.

In tf.data, sequential and parallel interleave give the same order, if an order is kept,
by quite different ways; so there are two streams here.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

from lessonkit.check import AUTOTUNE
from lessonkit.element import END, Element, Failure, settle
from lessonkit.operators.base import (
    PATIENCE,
    Buffer,
    EndlessError,
    Node,
    Scope,
    Stream,
    Transform,
    attempt,
)
from lessonkit.runtime.base import Gate, Resource, Task


@dataclass(frozen=True, eq=False)
class Interleave(Transform):
    """`interleave(map_func)`: the function makes a data set of each element."""

    method = "interleave"
    map_func: Callable[..., Any]
    _: KW_ONLY
    cycle_length: int | None = None
    block_length: int = 1
    num_parallel_calls: int | None = None
    deterministic: bool = True

    def cardinality(self) -> float | None:
        return math.inf if self.input.cardinality() == math.inf else None

    def element_type(self) -> type | None:
        return None

    def cycle(self, cores: int) -> int:
        """How many data sets take turns; if it is not said, as many as tf.data chooses."""
        calls = self.num_parallel_calls
        if self.cycle_length not in (None, AUTOTUNE):
            return self.cycle_length  # type: ignore[return-value]
        if calls is None:
            return cores
        return math.ceil(cores / 3) if calls == AUTOTUNE else min(calls, cores)

    def calls(self, cores: int) -> int:
        """How many of them are worked on at once."""
        calls = self.num_parallel_calls
        return min(cores if calls in (None, AUTOTUNE) else calls, self.cycle(cores))  # type: ignore[type-var]

    def stream(self, scope: Scope) -> Stream:
        stream = SequentialInterleave if self.num_parallel_calls is None else ParallelInterleave
        return stream(self, scope)


@dataclass(frozen=True, eq=False)
class FlatMap(Transform):
    """`flat_map(map_func)`: an interleave of one data set at a time."""

    method = "flat_map"
    map_func: Callable[..., Any]

    def cardinality(self) -> float | None:
        return math.inf if self.input.cardinality() == math.inf else None

    def element_type(self) -> type | None:
        return None

    def stream(self, scope: Scope) -> Stream:
        return SequentialInterleave(Interleave(self.input, self.map_func, cycle_length=1), scope)


class InterleaveStream(Stream):
    """What the two have in common: from an element to the stream of its data set."""

    def __init__(self, node: Interleave, scope: Scope) -> None:
        super().__init__(scope, scope.open(node.input))
        self.node = node
        self.cycle = node.cycle(self.run.machine.cores)
        self.stage = scope.name("Interleave")
        self.position = 0  # whose turn it is
        self.block = 0  # how many elements of this turn are given

    async def open_next(self) -> Stream | None:
        """The stream of the next data set; None if the input has ended."""
        element = await self.inputs[0].next()
        if element is END:
            return None
        made = await self.run.apply(self.node.map_func, element, self.stage)
        inner = getattr(made, "node", None)
        if not isinstance(inner, Node):
            raise TypeError(f"interleave: the function returned {made!r}: must return a Dataset")
        return self.scope.open(inner, 1, element)

    def next_turn(self, slots: int) -> None:
        self.position = (self.position + 1) % slots
        self.block = 0

    def count_element(self, slots: int) -> None:
        self.block += 1
        if self.block == self.node.block_length:
            self.next_turn(slots)


class SequentialInterleave(InterleaveStream):
    """Opens a data set when its turn comes, and reads nothing ahead.

    A slot found exhausted gives up its turn and is filled again on its next one.
    An error keeps its turn: the same slot is asked again.
    """

    def __init__(self, node: Interleave, scope: Scope) -> None:
        super().__init__(node, scope)
        self.slots: list[Stream | None] = [None] * self.cycle
        self.ended = False

    async def next(self) -> Element:
        for _ in range(PATIENCE):
            stream = self.slots[self.position]
            if stream is not None:
                element = await stream.next()
                if element is not END:
                    self.count_element(self.cycle)
                    return element
                stream.close()
                self.slots[self.position] = None
                self.next_turn(self.cycle)
            elif not self.ended:
                stream = self.slots[self.position] = await self.open_next()
                if stream is None:
                    self.ended = True
            elif any(self.slots):
                self.next_turn(self.cycle)
            else:
                return END
        raise EndlessError(f"interleave: {PATIENCE} data sets in a row gave nothing")

    def close(self) -> None:
        for stream in filter(None, self.slots):
            stream.close()
        super().close()


class File:
    """One of the data sets: its stream, and what has been read from it and not yet given."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream  # None once it has ended
        self.results: deque[Element] = deque()
        self.active = False  # somebody is reading from it
        self.slot: int | None = None  # its place in the cycle; None while it is a future file


class ParallelInterleave(InterleaveStream):
    """Reads several data sets at once, each into a buffer of its own.

    A reader stays with one file until its buffer is full or the file ends. Beside the
    cycle, *future* files are opened and filled ahead of need, by readers of their own.
    All this is how tf.data does it; so `num_parallel_calls` does not bound the open files.
    """

    def __init__(self, node: Interleave, scope: Scope) -> None:
        super().__init__(node, scope)
        self.calls = node.calls(self.run.machine.cores)
        self.room = 2 * node.block_length + 1  # in the buffer of one file
        self.most_future = 2 * self.cycle
        name = scope.name(f"interleave({self.cycle})")
        self.current: list[File | None] = []
        self.future: deque[File] = deque()
        self.to_read: deque[int] = deque()  # slots whose file may have room
        self.buffer = Buffer(self.run, name, (self.cycle + self.most_future) * self.room)
        self.news = Gate(self.run, name)  # for the consumer: an element, or an end
        self.work = Gate(self.run, name)  # for the readers of the cycle
        self.places = Gate(self.run, name)  # for the readers of future files
        self.input_lock = Resource(self.run, name, 1)  # inputs are read one at a time
        self.tasks: list[Task] = []
        self.future_readers = 0
        self.opening = 0  # future files that are being made just now
        self.ended = False

    # ---- the consumer ----

    async def next(self) -> Element:
        if not self.tasks:
            await self.begin()
        for _ in range(PATIENCE):
            result = await self.consume()
            if result is not None:
                return settle(result)
            await self.run.until(self.news, self.anything_new, "buffer empty")
        raise EndlessError(f"interleave: {PATIENCE} data sets in a row gave nothing")

    async def begin(self) -> None:
        """Make the first files, then start the readers."""
        while len(self.current) < self.cycle and (file := await self.make_file()):
            self.put_in_cycle(file, len(self.current))
        for lane in range(self.calls):
            self.tasks.append(self.run.start(self.read_cycle(), self.stage, lane))
        self.open_ahead()

    def anything_new(self) -> bool:
        if not self.node.deterministic:
            return any(file and (file.results or not file.stream) for file in self.current)
        file = self.current[self.position]
        return file is None or bool(file.results) or file.stream is None

    async def consume(self) -> Element | None:
        """A result if there is one; None if one has to wait for it."""
        if self.node.deterministic:
            return await self.consume_in_turn()
        for _ in range(self.cycle):
            result = await self.consume_in_turn()
            if result is not None:
                return result
            self.next_turn(len(self.current))
        return None

    async def consume_in_turn(self) -> Element | None:
        for _ in range(PATIENCE):
            while self.current and self.current[-1] is None:
                self.current.pop()
            if not self.current:
                return END
            if self.position >= len(self.current):
                self.position, self.block = 0, 0
            file = self.current[self.position]
            if file is None:
                self.next_turn(len(self.current))
            elif file.results:
                return self.take_from(file)
            elif file.stream is not None:
                return None
            else:  # exhausted: it gives up its turn, and another file takes its place
                await self.replace(self.position)
                self.next_turn(len(self.current))
        raise EndlessError(f"interleave: {PATIENCE} data sets in a row gave nothing")

    def take_from(self, file: File) -> Element:
        result = file.results.popleft()
        self.buffer.leave(result)
        if not file.active:
            self.ask_for(self.position)
        self.count_element(len(self.current))
        return result

    async def replace(self, slot: int) -> None:
        """Put the next file into the cycle: a future one, or one that is opened now."""
        self.current[slot] = None
        if self.future:
            file = self.future.popleft()
            file.slot = slot
            self.current[slot] = file
            self.open_ahead()
        elif made := await self.make_file():
            self.put_in_cycle(made, slot)

    def put_in_cycle(self, file: File, slot: int) -> None:
        file.slot = slot
        self.current[slot:slot + 1] = [file]
        self.ask_for(slot)

    def ask_for(self, slot: int) -> None:
        self.to_read.append(slot)
        self.work.changed()

    # ---- the readers ----

    async def make_file(self) -> File | None:
        """A file for the next input; None if there is none. An error is its only result."""
        await self.input_lock.acquire("buffer empty")
        try:
            if self.ended:
                return None
            stream = await self.open_next()
            self.ended = stream is None
            return File(stream) if stream else None
        except Exception as error:
            file = File(None)
            file.results.append(Failure(error))
            self.buffer.enter(file.results[0])
            return file
        finally:
            self.input_lock.release()

    async def read_cycle(self) -> None:
        """Reads files of the cycle: one until it is full or ends, then another."""
        while True:
            await self.run.until(self.work, lambda: self.to_read, "buffer full")
            slot = self.to_read.popleft()
            file = self.current[slot] if slot < len(self.current) else None
            if file and not file.active:
                await self.fill(file)

    async def read_future(self) -> None:
        """Opens the files that come after the cycle and fills their buffers."""
        while True:
            await self.run.until(self.places, self.may_open, "buffer full")
            self.opening += 1
            file = await self.make_file()
            self.opening -= 1
            if file is None:
                return
            self.future.append(file)
            self.open_ahead()
            await self.fill(file)
            if file.slot is not None:  # it has moved into the cycle meanwhile
                self.ask_for(file.slot)

    def may_open(self) -> bool:
        return len(self.future) + self.opening < self.most_future

    def open_ahead(self) -> None:
        """Have one more future file opened, if there is room, by whoever is free or by a new reader."""
        if self.places.waiting:
            self.places.changed()
        elif self.future_readers < self.most_future + self.cycle and self.may_open():
            self.future_readers += 1
            lane = self.calls + self.future_readers - 1
            self.tasks.append(self.run.start(self.read_future(), self.stage, lane))

    async def fill(self, file: File) -> None:
        file.active = True
        while file.stream is not None and len(file.results) < self.room:
            result = await attempt(file.stream)
            if result is END:
                file.stream.close()
                file.stream = None
            else:
                file.results.append(result)
                self.buffer.enter(result)
            self.news.changed()
        file.active = False

    def close(self) -> None:
        for task in self.tasks:
            self.run.cancel(task)
        for file in [*filter(None, self.current), *self.future]:
            for result in file.results:
                self.buffer.leave(result)
            if file.stream is not None:
                file.stream.close()
        self.current, self.future = [], deque()
        super().close()
