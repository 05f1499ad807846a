"""`batch` and `unbatch`: many elements made one, and one made many."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lessonkit.element import END, Element, split, stack
from lessonkit.operators.base import PATIENCE, EndlessError, Scope, Stream, Transform

SCALARS = (bool, int, float, complex, str, bytes)


@dataclass(frozen=True, eq=False)
class Batch(Transform):
    """`batch(batch_size)`: the last one may be short, or is dropped."""

    method = "batch"
    batch_size: int
    drop_remainder: bool = False

    def cardinality(self) -> float | None:
        many = self.input.cardinality()
        if many is None or many == math.inf:
            return many
        return many // self.batch_size if self.drop_remainder else math.ceil(many / self.batch_size)

    def element_type(self) -> type | None:
        return list if self.input.element_type() in SCALARS else None

    def stream(self, scope: Scope) -> Stream:
        return Batching(self, scope)


class Batching(Stream):
    """Reads its elements one after another, and only then gives them. An error loses the part it had."""

    def __init__(self, node: Batch, scope: Scope) -> None:
        super().__init__(scope, scope.open(node.input))
        self.node = node

    async def next(self) -> Element:
        parts: list[Element] = []
        while len(parts) < self.node.batch_size:
            element = await self.inputs[0].next()
            if element is END:
                break
            parts.append(element)
        if not parts or (self.node.drop_remainder and len(parts) < self.node.batch_size):
            return END
        return joined(self.run.recorder, parts, stack([part.value for part in parts]))


def joined(recorder: Any, parts: list[Element], value: Any) -> Element:
    """One element made of several, which it remembers."""
    element = Element(value)
    element.samples = sum(part.samples for part in parts)
    if recorder is not None:
        element.key = recorder.join(parts)
        element.nbytes = sum(part.nbytes for part in parts)
    return element


@dataclass(frozen=True, eq=False)
class Unbatch(Transform):
    """`unbatch()`: the parts of each batch, one by one."""

    method = "unbatch"

    def __post_init__(self) -> None:
        if self.input.element_type() in SCALARS:
            raise ValueError(f"unbatch: elements of type {self.input.element_type()} have no parts")

    def cardinality(self) -> float | None:
        many = self.input.cardinality()
        if many == math.inf or many == 0:
            return many
        known = isinstance(self.input, Batch) and self.input.drop_remainder and many is not None
        return many * self.input.batch_size if known else None  # type: ignore[operator, attr-defined]

    def element_type(self) -> type | None:
        return self.input.input.element_type() if isinstance(self.input, Batch) else None

    def stream(self, scope: Scope) -> Stream:
        return Unbatching(self, scope)


class Unbatching(Stream):
    """Gives the parts of a batch in a burst, then waits for the next batch."""

    def __init__(self, node: Unbatch, scope: Scope) -> None:
        super().__init__(scope, scope.open(node.input))
        self.parts: Iterator[Element] = iter(())

    async def next(self) -> Element:
        for _ in range(PATIENCE):
            part = next(self.parts, END)
            if part is not END:
                return part
            batch = await self.inputs[0].next()
            if batch is END:
                return END
            self.parts = self.taken_apart(batch)
        raise EndlessError(f"unbatch: {PATIENCE} batches in a row had no parts")

    def taken_apart(self, batch: Element) -> Iterator[Element]:
        values = list(split(batch.value))
        recorder = self.run.recorder
        keys = recorder.members.get(batch.key, ()) if recorder is not None else ()
        for index, value in enumerate(values):
            part = Element(value)
            part.samples = max(1, batch.samples // len(values))
            part.nbytes = batch.nbytes // len(values)
            part.key = keys[index] if len(keys) == len(values) else batch.key
            yield part
