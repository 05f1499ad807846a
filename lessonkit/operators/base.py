"""What every operator has: a description (`Node`) and, while it runs, a `Stream`."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from lessonkit import check
from lessonkit.element import Element, Failure, size_of
from lessonkit.runtime.base import Run, Site

Bytes = int | Callable[[Any], int] | None  # the size of an element, where it does not know its own

# tf.data would loop for ever here; so many elements in vain, and we say so instead.
PATIENCE = 1_000_000


class EndlessError(RuntimeError):
    """A pipeline asks for ever more elements and gives none."""


@dataclass(frozen=True, eq=False)
class Node:
    """The description of one operator. Two are equal only if they are the same one."""

    method: ClassVar[str]  # how `Dataset` spells it

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The nodes that this one takes its elements from."""
        return ()

    def cardinality(self) -> float | None:
        """How many elements there will be; infinity for no end, None if nobody knows."""
        return None

    def element_type(self) -> type | None:
        """What its elements are, where the description alone can tell."""
        return None

    def replace(self, **changes: Any) -> Node:
        """The same with some arguments changed: a new node, with nothing in its caches."""
        return dataclasses.replace(self, **changes)

    def stream(self, scope: Scope) -> Stream:
        """A new iteration over its elements."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Transform(Node):
    """An operator with one input, which passes on its elements as many as they are."""

    input: Node

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input,)

    def cardinality(self) -> float | None:
        return self.input.cardinality()

    def element_type(self) -> type | None:
        return self.input.element_type()


@dataclass(frozen=True)
class Scope:
    """Where a stream is opened: in which run, where in the pipeline, for which outer element."""

    run: Run
    site: Site = ()
    origin: Element | None = None

    def open(self, node: Node, index: int = 0, origin: Element | None = None) -> Stream:
        """Open *node* as the input number *index* of the operator that stands here."""
        return node.stream(Scope(self.run, (*self.site, index), origin or self.origin))

    def name(self, wanted: str) -> str:
        """A name for what stands here, that nothing elsewhere in the pipeline has."""
        return self.run.name(self.site, wanted)


class Stream(ABC):
    """One iteration over an operator's elements."""

    def __init__(self, scope: Scope, *inputs: Stream) -> None:
        self.run = scope.run
        self.scope = scope
        self.inputs = list(inputs)

    @abstractmethod
    async def next(self) -> Element:
        """The next element, or END, and END again if asked again."""

    def close(self) -> None:
        """Nobody asks any more: end helpers, close files, forget what is held."""
        for stream in self.inputs:
            stream.close()


class Buffer:
    """Tells the trace what an operator holds: every element that enters or leaves."""

    def __init__(self, run: Run, name: str, capacity: int | None) -> None:
        self.run = run
        self.recorder = run.recorder
        self.number = self.recorder.buffer(name, capacity) if self.recorder is not None else 0

    def enter(self, element: Element) -> None:
        if self.recorder is not None:
            self.recorder.events += (self.number, self.run.time, 1, element.key, element.nbytes)

    def leave(self, element: Element) -> None:
        if self.recorder is not None:
            self.recorder.events += (self.number, self.run.time, -1, element.key, element.nbytes)


async def attempt(stream: Stream) -> Element:
    """The next element of *stream*, or the error that stands in its place."""
    try:
        return await stream.next()
    except Exception as error:
        return Failure(error)


def measure(value: Any, said: Bytes, before: int) -> int:
    """The bytes of an element: what was said of it, its own, or what it had before."""
    if said is None:
        return size_of(value, before)
    return check.integer(f"nbytes of {value!r}", said(value) if callable(said) else said, least=0)


def times(cardinality: float | None, factor: float) -> float | None:
    """So many times as many; none at all stay none, even for ever."""
    if cardinality is None:
        return None
    return 0 if 0 in (cardinality, factor) else cardinality * factor


def checked_bytes(value: Bytes) -> Bytes:
    """`nbytes=` as a number or a function, or an error that says what is allowed."""
    return value if value is None or callable(value) else check.integer("nbytes", value, least=0)


INFINITE = math.inf
