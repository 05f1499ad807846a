"""Where elements come from: lists and ranges, generators, and files that are slow on purpose."""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from lessonkit.engine.element import END, Bytes, Element, as_specified
from lessonkit.engine.machine import Function
from lessonkit.engine.node import Node
from lessonkit.engine.run import Price, price
from lessonkit.engine.trace import OPEN, READ, BufferEvent, Name, OuterSample

from .stream import Stream, operator


class Source(Stream):
    """A stream that makes elements and numbers them.

    *steps* has what each element costs: the price, the stage and the kind of work. A map that only
    costs time is one more step of the source that it reads.
    """

    nbytes: Bytes = None
    read_stage: Name  # of a source that is a file
    given = 0  # the position of the next sample
    stride = 1  # from one sample to the next
    is_open = False  # as a file is

    def prepare(self) -> None:
        recorder = self.recorder
        self.origin = self.scope.origin
        self.steps: list[tuple[Price, Name, str]] = []
        if recorder is not None:
            outer: OuterSample = None
            if self.origin:  # the same file in every epoch
                instance, _, sample = recorder.identities[self.origin.key]
                outer = instance, sample
            self.instance = recorder.opened(self.scope.position, outer)
            self.epoch = next(self.run.current.process.passes[self.instance])

    def make(self, value: Any) -> Element:
        """Make the next element of this source, and go on to the next sample."""
        element = Element(value)
        sample = self.given
        self.given += self.stride
        element.number = sample if self.origin is None else (self.origin.number, sample)
        if self.recorder is not None:
            element.key = self.recorder.identify(self.instance, self.epoch, sample)
        return element

    def file(self, change: int) -> None:
        """Record that a file is opened (*change* is 1) or closed (-1)."""
        self.is_open = change > 0
        if self.recorder is not None:
            event = BufferEvent(self.read_stage, self.run.time, change, element=0, nbytes=0)
            self.recorder.files.append(event)

    def close(self) -> None:
        if self.is_open:
            self.file(-1)


def count_listed(node: Node) -> int:
    """Count the values that are there already."""
    return len(node.arguments["values"])


@operator("from_list", count=count_listed)
@operator("from_tensor_slices", count=count_listed)
@operator("range", count=count_listed)
class Listed(Source):
    """Gives values that are there already; only the steps take time."""

    values: Sequence[Any]

    async def next(self) -> Element:
        element = self.take()
        if element is not END:
            for cost, stage, kind in self.steps:
                await self.run.spend(cost, stage, element, kind)
        return element

    def take(self) -> Element:
        """Return the next element, or END."""
        if self.given >= len(self.values):
            return END
        element = self.make(self.values[self.given])
        if self.run.sized:
            self.run.measure(element, self.nbytes)
        return element


@operator("from_generator")
class Generated(Source):
    """Gives the values that a learner's generator yields; the generator is its file."""

    generator: Function
    args: tuple[Any, ...] | None
    output_signature: Any
    iterator: Iterator[Any] | None = None
    ended = False

    def prepare(self) -> None:
        super().prepare()
        self.read_stage = self.name("Read", READ)

    async def next(self) -> Element:
        if self.ended:
            return END
        if not self.is_open:
            self.file(+1)
        value = END
        element = self.make(())
        try:
            value = await self.run.apply(self.advance, element, self.read_stage)
        finally:
            if value is END:  # also a generator that raised has ended its file
                self.ended = True
                self.close()
        if value is END:
            return END
        if self.output_signature is not None:
            # Or an error in its place: the next may fit
            value = as_specified(value, self.output_signature)
        element.value = value
        if self.run.sized:
            self.run.measure(element, self.nbytes)
        return element

    def advance(self) -> Any:
        if self.iterator is None:
            made = self.generator(*(self.args or ()))
            if not hasattr(made, "__iter__"):
                raise TypeError(
                    f"from_generator: {self.generator} returned {made!r}: must yield elements"
                )
            self.iterator = iter(made)
        return next(self.iterator, END)

    def close(self) -> None:
        super().close()
        if hasattr(self.iterator, "close"):
            # It runs just now, on a thread that will stop
            with contextlib.suppress(ValueError):
                self.iterator.close()  # type: ignore[union-attr]


@operator("ArtificialDataset")
class SlowFile(Source):
    """Opens once, then reads sample by sample: 0, 1, 2, ..."""

    num_samples: int
    begun = False

    def prepare(self) -> None:
        super().prepare()
        costs = self.node.arguments
        self.open_stage = self.name("Open", OPEN)
        self.read_stage = self.name("Read", READ)
        self.price_of_open = price(costs["open"], "open")
        self.steps.append((price(costs["read"], "read"), self.read_stage, "wait"))

    async def next(self) -> Element:
        if not self.begun:
            self.begun = True
            self.file(+1)
            # A cost may depend on which file it is
            opening = self.origin.copy() if self.origin else Element(0)
            if self.recorder is not None:
                opening.key = self.recorder.identify(self.instance, self.epoch, -1)
            await self.run.spend(self.price_of_open, self.open_stage, opening)
        if self.given == self.num_samples:
            self.close()
            return END
        element = self.make(self.given)
        if self.run.sized:
            self.run.measure(element, self.nbytes)
        for cost, stage, kind in self.steps:
            await self.run.spend(cost, stage, element, kind)
        return element
