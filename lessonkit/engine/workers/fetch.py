"""How one process makes a batch: sample by sample, or with one call."""

from __future__ import annotations

from typing import Any

from lessonkit.engine.costs import charge, price_of_bytes
from lessonkit.engine.element import END, Element, stack
from lessonkit.engine.node import Node, one_call, swap
from lessonkit.engine.operators.base import Scope, Stream, joined, operator
from lessonkit.engine.operators.sources import Listed
from lessonkit.engine.recorder import CALL

# Of a batch; of one sample without batches; None for an iterable's next
Indices = list[int] | int | None


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
    """Makes the batches of a *loader* in one process and one epoch, with a pipeline of its own."""

    def __init__(self, loader: Any) -> None:
        self.loader = loader
        scope: Scope = loader.scope
        self.run = scope.run
        self.collating = scope.name("Collate", CALL)
        self.price = price_of_bytes(loader.collate, "collate")
        self.one_call = one_call(loader.node)
        self.ended = False
        pipeline, base = loader.node.inputs[0], loader.base
        if base is None:
            self.stream: Stream = scope.open(pipeline)
            return
        is_share = base.method == "shard"
        source = base.inputs[0] if is_share else base
        given = source.arguments
        values = given.get("values", ())
        if is_share:
            values = values[base.arguments["index"] :: base.arguments["num_shards"]]
        asked = Node(
            "asked",
            (),
            {"values": values, "kept": loader.kept, "nbytes": given.get("nbytes")},
        )
        self.stream = scope.open(swap(pipeline, base, asked))
        self.source: Asked = first_above(self.stream, Asked)

    async def batch(self, indices: Any) -> Element:
        """Make the batch of *indices*, or END where an iterable has no more."""
        if self.loader.base is None:
            parts = await self.following()
        elif not self.one_call:
            parts = []
            for index in (indices,) if self.loader.batch_size is None else indices:
                self.source.ask(index)
                parts.append(await self.stream.next())
        else:
            parts = [self.source.ask(index) for index in indices]
            self.source.element = joined(
                self.run, parts, stack([part.value for part in parts])
            )
            parts = [await self.stream.next()]
        return await self.collated(parts) if parts else END

    async def collated(self, parts: list[Element]) -> Element:
        """Make one element of the *parts* of a batch; without batches, or after one call, there is one."""
        run, element, collate_fn = self.run, parts[0], self.loader.collate_fn
        if self.loader.batch_size is not None and not self.one_call:
            element = joined(run, parts, [part.value for part in parts])
            if not collate_fn:
                run.stack(element, lambda: self.collating)
        cost = charge(self.price, element)
        if collate_fn:
            value = element.value  # one argument, where `apply` takes a tuple apart
            element.value = await run.apply(
                lambda *_: collate_fn(value), element, self.collating, cost
            )
        else:
            await run.spend(cost, self.collating, element)
        return element

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
