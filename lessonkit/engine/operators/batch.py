"""`batch` and `unbatch`: many elements made one, and one made many."""

import math
from collections.abc import Iterator

from lessonkit.engine.element import END, BatchNumber, Element, split
from lessonkit.engine.node import Cardinality, Node, batches
from lessonkit.engine.run import StuckError
from lessonkit.engine.trace import FILL

from .prefetch import Prefetch
from .stream import Stream, joined, operator


def count_batches(node: Node, many: Cardinality) -> Cardinality:
    """Count the batches, with the last one if it is given too."""
    given = node.arguments
    return batches(many, given["batch_size"], given["drop_remainder"])


@operator("batch", count=count_batches)
class SequentialBatch(Stream):
    """Reads all its elements before it gives them. An error loses those that it had."""

    batch_size: int
    drop_remainder: bool

    async def next(self) -> Element:
        parts: list[Element] = []
        while len(parts) < self.batch_size:
            element = await self.input.next()
            if element is END:
                break
            parts.append(element)
        if not parts or (self.drop_remainder and len(parts) < self.batch_size):
            return END
        element = joined(self.run, parts)
        self.run.stack(element, lambda: self.name("Batch", FILL))
        return element


@operator("batch", parallel=True)
class ParallelBatch(Prefetch):
    """Makes batches ahead, one after another: at most n are complete or under way.

    In tf.data it is only the copying of elements into batches that runs in parallel. That
    costs nothing here, so batches are complete in their order, also if none is to be kept.
    """

    stage = "Batch"
    label = "Batch: {} at a time"

    def prepare(self) -> None:
        self.buffer_size = self.calls_at_once(self.node.arguments["num_parallel_calls"])
        super().prepare()

    def open_input(self, index: int = 0) -> None:
        self.input = SequentialBatch(self.scope, self.node)
        self.opened.append(self.input)


def count_parts(node: Node, many: Cardinality) -> Cardinality:
    """Count the parts of batches, which is known if all have the same size."""
    if many is None or many in (0, math.inf):
        return many
    given = node.inputs[0].arguments
    return many * given["batch_size"] if given.get("drop_remainder") else None


@operator("unbatch", count=count_parts)
class Unbatch(Stream):
    """Gives the parts of a batch in a burst, then waits for the next batch."""

    parts: Iterator[Element] = iter(())

    async def next(self) -> Element:
        for _ in range(StuckError.after):
            part = next(self.parts, END)
            if part is not END:
                return part
            batch = await self.input.next()
            if batch is END:
                return END
            self.parts = iter(self.taken_apart(batch))
        raise StuckError(f"unbatch: {StuckError.after} batches in a row had no parts")

    def taken_apart(self, batch: Element) -> list[Element]:
        """Return the parts of *batch*, with the names that they had before it was made."""
        parts = [Element(value) for value in split(batch.value)]
        count = len(parts)
        number = batch.number
        recorder = self.recorder
        keys = recorder.members.get(batch.key, ()) if recorder is not None else ()
        if len(keys) != count:
            keys = (batch.key,) * count
        if type(number) is not BatchNumber or len(number) != count:
            number = [(number, index) for index in range(count)]
        for part, key, own in zip(parts, keys, number, strict=True):
            part.key = key
            part.number = own
            part.samples = max(1, batch.samples // count)
            part.nbytes = batch.nbytes // count
        return parts
