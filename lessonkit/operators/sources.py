"""Where elements come from: numbers, lists, generators, and files that are slow on purpose."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any

from lessonkit import check
from lessonkit.element import END, Element
from lessonkit.operators.base import Bytes, Node, Scope, Stream, checked_bytes, measure
from lessonkit.work import Cost, charge, price


class Source(Stream):
    """A stream that makes elements and says who they are."""

    def __init__(self, scope: Scope, nbytes: Bytes = None) -> None:
        super().__init__(scope)
        self.nbytes = nbytes
        self.given = 0
        self.is_open = False
        recorder = self.run.recorder
        if recorder is not None:
            origin = recorder.identity(scope.origin.key) if scope.origin else None
            outer = (origin.instance, origin.sample) if origin else None  # the same file in every epoch
            self.instance, self.epoch = recorder.opened((scope.site, outer))

    def give(self, value: Any) -> Element:
        """An element that is the next of this source."""
        element = Element(value)
        recorder = self.run.recorder
        if recorder is not None:
            element.key = recorder.identify(self.instance, self.epoch, self.given)
            element.nbytes = measure(value, self.nbytes, 0)
        self.given += 1
        return element

    def file(self, change: int) -> None:
        """A file is opened (+1) or closed (-1)."""
        self.is_open = change > 0
        recorder = self.run.recorder
        if recorder is not None:
            recorder.files.append((self.run.time, change, self.instance))

    def close(self) -> None:
        if self.is_open:
            self.file(-1)


# ---- numbers and lists ----


@dataclass(frozen=True, eq=False)
class Range(Node):
    """`Dataset.range(start, stop, step)`."""

    method = "range"
    numbers: range

    def cardinality(self) -> float:
        return len(self.numbers)

    def element_type(self) -> type:
        return int

    def stream(self, scope: Scope) -> Stream:
        return Listed(scope, self.numbers, None)


@dataclass(frozen=True, eq=False)
class FromList(Node):
    """`Dataset.from_list(values)`."""

    method = "from_list"
    values: tuple[Any, ...]
    _: KW_ONLY
    nbytes: Bytes = None

    def cardinality(self) -> float:
        return len(self.values)

    def element_type(self) -> type | None:
        types = {type(value) for value in self.values}
        return types.pop() if len(types) == 1 else None

    def stream(self, scope: Scope) -> Stream:
        return Listed(scope, self.values, self.nbytes)


class Listed(Source):
    """Gives what is there already, in no time."""

    def __init__(self, scope: Scope, values: range | tuple[Any, ...], nbytes: Bytes) -> None:
        super().__init__(scope, nbytes)
        self.values = values

    async def next(self) -> Element:
        if self.given == len(self.values):
            return END
        return self.give(self.values[self.given])


# ---- generators ----


@dataclass(frozen=True, eq=False)
class FromGenerator(Node):
    """`Dataset.from_generator(fn, *args)`."""

    method = "from_generator"
    fn: Callable[..., Any]
    args: tuple[Any, ...]
    _: KW_ONLY
    nbytes: Bytes = None

    def stream(self, scope: Scope) -> Stream:
        return Generated(scope, self)


class Generated(Source):
    """Gives what a learner's generator yields; the generator is its file."""

    def __init__(self, scope: Scope, node: FromGenerator) -> None:
        super().__init__(scope, node.nbytes)
        self.node = node
        self.generator: Iterator[Any] | None = None
        self.ended = False

    async def next(self) -> Element:
        if self.ended:
            return END
        if not self.is_open:
            self.file(+1)
        try:
            value = await self.run.apply(self.advance, Element(()), "Read")
        except BaseException:  # a generator that raised has ended its file
            self.end()
            raise
        if value is END:
            self.end()
            return END
        return self.give(value)

    def advance(self) -> Any:
        if self.generator is None:
            made = self.node.fn(*self.node.args)
            try:
                self.generator = iter(made)
            except TypeError:
                name = getattr(self.node.fn, "__name__", self.node.fn)
                raise TypeError(f"from_generator: {name} returned {made!r}: must yield elements") from None
        return next(self.generator, END)

    def end(self) -> None:
        self.ended = True
        self.close()

    def close(self) -> None:
        super().close()
        if hasattr(self.generator, "close"):
            with contextlib.suppress(ValueError):  # it runs just now, on a thread that will stop
                self.generator.close()


# ---- files that are slow on purpose ----


@dataclass(frozen=True, eq=False)
class Artificial(Node):
    """`ArtificialDataset(num_samples)`: opens once, then reads sample by sample."""

    method = "ArtificialDataset"
    num_samples: int = 3
    _: KW_ONLY
    open: Cost = 0.030
    read: Cost = 0.015
    nbytes: Bytes = None

    def cardinality(self) -> float | None:
        return None  # as in tf.data, where it is a generator

    def element_type(self) -> type:
        return int

    def stream(self, scope: Scope) -> Stream:
        return SlowFile(scope, self)


class SlowFile(Source):
    """Spends time to open and to read, and gives 0, 1, 2, ..."""

    def __init__(self, scope: Scope, node: Artificial) -> None:
        super().__init__(scope, node.nbytes)
        self.num_samples = node.num_samples
        self.open_price = price(node.open, "open")
        self.read_price = price(node.read, "read")
        self.open_stage = scope.name("Open")
        self.read_stage = scope.name("Read")
        self.begun = False

    async def next(self) -> Element:
        if not self.begun:
            self.begun = True
            self.file(+1)
            await self.open_file()
        if self.given == self.num_samples:
            if self.is_open:
                self.file(-1)
            return END
        element = self.give(self.given)
        price = self.read_price
        await self.run.spend(price if type(price) is int else price(element), self.read_stage, element)
        return element

    async def open_file(self) -> None:
        origin = self.scope.origin
        opening = Element(origin.value if origin else 0)  # a cost may depend on which file it is
        recorder = self.run.recorder
        if recorder is not None:
            opening.key = recorder.identify(self.instance, self.epoch, -1)
        await self.run.spend(charge(self.open_price, opening), self.open_stage, opening)


def range_of(*args: Any) -> Range:
    """Check the arguments of `Dataset.range`, which are those of Python's `range`."""
    if not 1 <= len(args) <= 3:
        raise TypeError(f"range takes 1 to 3 numbers, got {len(args)}")
    names = ("stop",) if len(args) == 1 else ("start", "stop", "step")
    numbers = [check.integer(name, value) for name, value in zip(names, args, strict=False)]
    if len(numbers) == 3 and numbers[2] == 0:
        raise ValueError("step=0: must not be 0")
    return Range(range(*numbers))


def listed(values: Any, nbytes: Bytes) -> FromList:
    """Check the arguments of `Dataset.from_list`."""
    if isinstance(values, (str, bytes, dict)) or not hasattr(values, "__len__") or not hasattr(values, "__iter__"):
        raise TypeError(f"values={values!r}: must be a list of elements")
    return FromList(tuple(values), nbytes=checked_bytes(nbytes))
