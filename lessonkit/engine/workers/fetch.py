"""How one process makes a batch of a loader's data set: sample by sample, or with one call."""

from typing import Any

from lessonkit.engine.batches import Batch
from lessonkit.engine.costs import Price, charge, price_of_bytes
from lessonkit.engine.element import END, Element, stack
from lessonkit.engine.node import Node, one_call, swap
from lessonkit.engine.operators.base import Stream, joined, operator
from lessonkit.engine.operators.map import SequentialMap
from lessonkit.engine.operators.sources import Listed
from lessonkit.engine.recorder import CALL

Indices = list[int] | int | None  # of a batch; of one sample without batches; None for an iterable's next


@operator("asked")
class Asked(Listed):
    """Gives what a worker has asked for: one sample, or all of a batch as one element."""

    element: Element

    async def next(self) -> Element:
        return self.element

    def ask(self, index: int) -> Element:
        """Take sample number *index*; as PyTorch, count from the end if it is negative."""
        if self.kept is not None:
            self.element = (self.kept.elements or [])[index].copy()
        else:
            self.given = index if index >= 0 else index + len(self.values)
            self.element = self.give(self.values[index])
        return self.element


def first_above(stream: Any, kind: type[Stream]) -> Any:
    """Find the stream of this *kind* that *stream* reads from."""
    while not isinstance(stream, kind):
        stream = stream.opened[0]
    return stream


class Fetch:
    """Makes the batches that a process of *loader* is told to make in one epoch: its pipeline is its own."""

    def __init__(self, loader: Any) -> None:
        self.loader, self.run, self.base = loader, loader.run, loader.base
        self.batching = loader.batch_size is not None
        self.one_call = one_call(loader.node)
        self.price = price_of_bytes(loader.collate, "collate")
        self.stage = loader.scope.name("Collate", CALL)
        self.ended = False
        self.costs: list[Price] | None = None  # of the maps, if a batch is plain
        pipeline = loader.node.inputs[0]
        if self.base is None:
            self.stream: Stream = loader.scope.open(pipeline)
            return
        said = self.base.arguments
        values = range(*said["args"]) if self.base.method == "range" else said.get("values", ())
        asked = Node("asked", (), {"values": values, "kept": loader.kept, "nbytes": said.get("nbytes")})
        self.stream = loader.scope.open(swap(pipeline, self.base, asked))
        self.source: Asked = first_above(self.stream, Asked)
        # Out of order it would matter which of two batches that end at one moment was begun later.
        if self.batching and loader.in_order and not (self.one_call or loader.collate_fn or self.run.sized):
            self.find_plain_costs()

    def find_plain_costs(self) -> None:
        """See whether the maps only cost time, of which nobody takes anything down."""
        stream: Any = self.stream
        costs = []
        while isinstance(stream, SequentialMap) and stream.map_func is None and stream.kind == "wait":
            costs.append(stream.price)
            stream = stream.input
        if stream is self.source and stream.kept is None:
            self.costs = [cost for cost in costs if callable(cost)]
            self.each = sum(cost for cost in costs if not callable(cost))  # sample
            values, loader = self.source.values, self.loader
            said = loader.sampler is not None or loader.batch_sampler is not None
            self.are_numbers = not said and values == range(len(values))  # the samples are their indices
            self.once = round(self.loader.transfer * 1e9) + charge(self.price, Element(None))

    def at_once(self, indices: Any) -> tuple[Element, int] | None:
        """Make the batch of *indices* and return its cost as one sum, if nobody can tell when it is spent."""
        if self.costs is None:
            return None
        try:
            samples = indices if self.are_numbers else [self.source.values[index] for index in indices]
            element = Element(Batch(samples) if self.are_numbers else stack(samples))
            element.samples = count = len(samples)
            total = self.once + self.each * count
            for cost in self.costs:
                total += sum([self.run.charge(cost, Element(sample)) for sample in samples])
            return element, total
        except Exception:
            return None  # sample by sample it shows when that happens

    async def batch(self, indices: Any) -> Element:
        """Make the batch of *indices*, or END where an iterable has no more."""
        if self.base is None:
            parts = await self.following()
        elif not self.batching:
            parts = [await self.sample(indices)]
        elif not self.one_call:
            parts = [await self.sample(index) for index in indices]
        else:
            parts = [self.source.ask(index) for index in indices]
            self.source.element = joined(self.run, parts, stack([part.value for part in parts]))
            parts = [await self.stream.next()]
        if not parts:
            return END
        element: Element = parts[0]
        collate_fn = self.loader.collate_fn
        if self.batching and not self.one_call:
            element = joined(self.run, parts, [part.value for part in parts])
            if not collate_fn:
                element.value = stack(element.value)
        cost = charge(self.price, element)
        if collate_fn:
            value = element.value  # one argument, where `apply` takes a tuple apart
            element.value = await self.run.apply(lambda *_: collate_fn(value), element, self.stage, cost)
        else:
            await self.run.spend(cost, self.stage, element)
        return element

    async def sample(self, index: int) -> Element:
        """Make sample number *index*."""
        self.source.ask(index)
        return await self.stream.next()

    async def following(self) -> list[Element]:
        """Take the next samples of an iterable; none when it has ended, or if the last are to be dropped."""
        parts: list[Element] = []
        while not self.ended and len(parts) < (self.loader.batch_size or 1):
            element = await self.stream.next()
            if element is END:
                self.ended = True
            else:
                parts.append(element)
        return [] if self.ended and self.loader.drop_last else parts
