"""How one process makes a batch of a loader's data set: sample by sample, or with one call."""

from collections.abc import Iterable
from typing import Any

from lessonkit.engine.costs import Price, charge, price_of_bytes
from lessonkit.engine.element import END, Element, stack
from lessonkit.engine.node import Node, base_of, swap
from lessonkit.engine.operators.base import Scope, joined, operator
from lessonkit.engine.operators.cache import Kept
from lessonkit.engine.operators.map import SequentialMap
from lessonkit.engine.operators.sources import Listed
from lessonkit.engine.recorder import CALL

Indices = list[int] | int | None  # of a batch; of one sample without batches; None for an iterable's next


@operator("asked")
class Asked(Listed):
    """Gives what a worker has asked for: one sample, or all of a batch as one element."""

    kept: Kept | None  # what a cache before the workers holds
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


class Fetch:
    """Makes the batches that a process is told to make, from a pipeline of its own.

    It is opened for each epoch. *node* is the loader's.
    """

    def __init__(self, scope: Scope, node: Node, kept: Kept | None) -> None:
        self.run = scope.run
        said = node.arguments
        self.one_call = said["getitems"] and said["batch_size"] is not None
        self.batching = said["batch_size"] is not None
        self.size, self.drop_last = said["batch_size"] or 1, said["drop_last"]
        self.collate_fn = said["collate_fn"]
        self.collate = price_of_bytes(said["collate"], "collate")
        each = said["transfer"], said["collate"]  # of a batch; functions of its bytes are no plain costs
        self.once = sum(round(cost * 1e9) for cost in each if not callable(cost))
        self.stage = scope.name("Collate", CALL)
        self.base = base_of(node.inputs[0])
        self.ended = False
        pipeline = node.inputs[0]
        if self.base is not None:
            values: Any = self.base.arguments.get("values", ())
            if self.base.method == "range":
                values = range(*self.base.arguments["args"])
            asked = Node(
                "asked", (), {"values": values, "kept": kept, "nbytes": self.base.arguments.get("nbytes")}
            )
            pipeline = swap(pipeline, self.base, asked)
        self.stream = scope.open(pipeline)
        source: Any = self.stream
        while self.base is not None and not isinstance(source, Asked):
            source = source.opened[0]
        self.source: Asked = source
        self.is_plain, self.costs = False, list[Price]()
        # Out of order it would matter which of two batches that end at one moment was begun later.
        if said["in_order"] and self.batching and not (self.one_call or kept or self.collate_fn):
            self.find_plain_costs()

    def find_plain_costs(self) -> None:
        """See whether the maps only cost time, of which nobody takes anything down."""
        stream: Any = self.stream
        while isinstance(stream, SequentialMap) and stream.map_func is None and stream.kind == "wait":
            self.costs.append(stream.price)
            stream = stream.input
        self.is_plain = isinstance(stream, Asked) and not self.run.sized
        self.fixed = sum(cost for cost in self.costs if not callable(cost))  # of each sample
        self.costs = [cost for cost in self.costs if callable(cost)]

    def at_once(self, indices: Any) -> tuple[Element, int]:
        """A batch, and what it costs in all: one sum, where nobody can tell when each part was spent."""
        values = self.source.values
        samples = [values[index] for index in indices]
        element = Element(stack(samples))
        element.samples = count = len(samples)
        total = self.once + self.fixed * count
        for cost in self.costs:
            total += sum([self.run.charge(cost, Element(sample)) for sample in samples])
        return element, total

    async def batch(self, indices: Indices) -> Element:
        """Make one batch, or END where an iterable has no more."""
        if self.base is None:
            parts = await self.following()
        elif isinstance(indices, int):
            parts = [await self.sample(indices)]
        else:
            parts = await self.asked_for(indices or [])
        if not parts:
            return END
        element = parts[0]
        if self.batching and not (self.one_call and self.base is not None):
            element = joined(self.run, parts, [part.value for part in parts])
            if not self.collate_fn:
                element.value = stack(element.value)
        cost = charge(self.collate, element)
        if self.collate_fn:
            collate, value = self.collate_fn, element.value  # one argument, where `apply` takes a tuple apart
            element.value = await self.run.apply(lambda *_: collate(value), element, self.stage, cost)
        else:
            await self.run.spend(cost, self.stage, element)
        return element

    async def sample(self, index: int) -> Element:
        self.source.ask(index)
        return await self.stream.next()

    async def asked_for(self, indices: Iterable[int]) -> list[Element]:
        """Ask for the samples of a batch: one after another, or all with one call."""
        if not self.one_call:
            return [await self.sample(index) for index in indices]
        parts = [self.source.ask(index) for index in indices]
        self.source.element = joined(self.run, parts, stack([part.value for part in parts]))
        return [await self.stream.next()]

    async def following(self) -> list[Element]:
        """Take the next samples of an iterable; none when it has ended, or if the last are to be dropped."""
        parts: list[Element] = []
        while not self.ended and len(parts) < self.size:
            element = await self.stream.next()
            if element is END:
                self.ended = True
            else:
                parts.append(element)
        return [] if self.ended and self.drop_last else parts

    def close(self) -> None:
        self.stream.close()
