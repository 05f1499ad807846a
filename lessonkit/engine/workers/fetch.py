"""How one process makes a batch: sample by sample, or with one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from lessonkit.engine.costs import Price, charge
from lessonkit.engine.element import END, Element, stack
from lessonkit.engine.node import Node, swap
from lessonkit.engine.operators.base import Scope, Stream, joined, operator
from lessonkit.engine.operators.cache import Kept
from lessonkit.engine.operators.sources import Listed
from lessonkit.engine.recorder import Name

Indices = list[int] | int | None  # of a batch; of one sample without batches; None for an iterable's next


class Batching(NamedTuple):
    """All that a process has to know to make batches: it is the same for each worker, modelled or real."""

    scope: Scope  # where the loader is; its run is that of the process
    pipeline: Node
    base: Node | None  # of the pipeline: what samples can be asked of by number, if anything can
    kept: Kept | None  # what a cache there holds
    batch_size: int | None
    drop_last: bool
    one_call: bool  # for all samples of a batch
    collate_fn: Callable[[Any], Any] | None
    collate: Price
    init: Callable[[int], object] | None  # called with the number of a worker
    collating: Name  # the stages
    starting: Name


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
    """Makes batches by a *batching* in one epoch: the pipeline is opened for this process alone."""

    def __init__(self, batching: Batching) -> None:
        self.batching, self.run = batching, batching.scope.run
        self.ended = False
        base = batching.base
        if base is None:
            self.stream: Stream = batching.scope.open(batching.pipeline)
            return
        is_share = base.method == "shard"
        source = base.inputs[0] if is_share else base
        given = source.arguments
        values = range(*given["args"]) if source.method == "range" else given.get("values", ())
        if is_share:
            values = values[base.arguments["index"] :: base.arguments["num_shards"]]
        asked = Node("asked", (), {"values": values, "kept": batching.kept, "nbytes": given.get("nbytes")})
        self.stream = batching.scope.open(swap(batching.pipeline, base, asked))
        self.source: Asked = first_above(self.stream, Asked)

    async def batch(self, indices: Any) -> Element:
        """Make the batch of *indices*, or END where an iterable has no more."""
        batching = self.batching
        if batching.base is None:
            parts = await self.following()
        elif batching.batch_size is None:
            parts = [await self.sample(indices)]
        elif not batching.one_call:
            parts = [await self.sample(index) for index in indices]
        else:
            parts = [self.source.ask(index) for index in indices]
            self.source.element = joined(self.run, parts, stack([part.value for part in parts]))
            parts = [await self.stream.next()]
        return await self.collated(parts) if parts else END

    async def collated(self, parts: list[Element]) -> Element:
        """Make one element of the *parts* of a batch; without batches, or after one call, there is one."""
        batching, element = self.batching, parts[0]
        collate_fn, puts_together = (
            batching.collate_fn,
            batching.batch_size is not None and not batching.one_call,
        )
        if puts_together:
            element = joined(self.run, parts, [part.value for part in parts])
            if not collate_fn:
                self.run.stack(element, lambda: batching.collating)
        cost = charge(batching.collate, element)
        if collate_fn:
            value = element.value  # one argument, where `apply` takes a tuple apart
            element.value = await self.run.apply(
                lambda *_: collate_fn(value), element, batching.collating, cost
            )
        else:
            await self.run.spend(cost, batching.collating, element)
        return element

    async def sample(self, index: int) -> Element:
        """Make sample number *index*."""
        self.source.ask(index)
        return await self.stream.next()

    async def following(self) -> list[Element]:
        """Take the next samples of an iterable; none when it has ended, or if the last are to be dropped."""
        parts: list[Element] = []
        while not self.ended and len(parts) < (self.batching.batch_size or 1):
            element = await self.stream.next()
            if element is END:
                self.ended = True
            else:
                parts.append(element)
        return [] if self.ended and self.batching.drop_last else parts
