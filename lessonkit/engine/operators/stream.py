"""What all streams have, where one is opened (`Scope`), and the sources that begin a pipeline.

A source gives numbers, the values of a list or of a generator, or a file that is slow on purpose.
"""

from __future__ import annotations

import contextlib
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterator
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from lessonkit.engine.element import END, BatchNumber, Bytes, Element, Failure, as_specified
from lessonkit.engine.node import Node, is_repeatable
from lessonkit.engine.run import Price, Run, Task, price
from lessonkit.engine.trace import LOOP, OPEN, READ, Name, Position

MOST = 1_000  # operators in a row: more might not fit on a thread's stack

Opener = TypeVar("Opener", bound=Callable[..., "Stream"])
# By the method of `Dataset`, and whether calls are parallel or workers make batches
OPERATORS: dict[tuple[str, bool], Any] = {}


def operator(method: str, *, parallel: bool = False) -> Callable[[Opener], Opener]:
    """Register what opens streams of *method*, or only those with *parallel* calls."""

    def register(opener: Opener) -> Opener:
        OPERATORS[method, parallel] = opener
        return opener

    return register


class Scope(NamedTuple):
    """Where a stream is opened: in which run, where in the pipeline, for which outer element."""

    run: Run
    position: Position = LOOP
    origin: Element | None = None

    def open(self, node: Node, index: int = 0, origin: Element | None = None) -> Stream:
        """Open *node* as the input number *index* of the operator that stands here.

        A description may be longer than Python lets calls nest by itself. Raises RecursionError if
        it is too long for that, too: MOST operators in a row can run, in some versions of Python
        400.
        """
        sites = self.run.sites
        site = (*self.position.site, index)
        depth = len(site)
        if depth > MOST + 1:  # and the source
            raise RecursionError(
                f"more than {MOST} operators in a row: Python cannot nest them"
            )
        # One operator takes up to 7 frames of the stack while it opens its input; the others are
        # for the caller
        sys.setrecursionlimit(max(sys.getrecursionlimit(), 7 * depth + 500))
        position = Position(
            site, sites.get(site, self.position.operator), site not in sites
        )
        given = node.arguments
        parallel = (
            bool(given.get("num_workers")) or given.get("num_parallel_calls") is not None
        )
        opener = OPERATORS.get((node.method, parallel)) or OPERATORS[node.method, False]
        scope = Scope(self.run, position, origin or self.origin)
        return opener(scope, node)  # type: ignore[no-any-return]


class Stream(ABC):
    """One iteration over an operator's elements. The arguments of its node are its attributes."""

    opens_inputs = True  # before it is asked for anything
    input: Stream  # the one that was opened last
    buffer: Name | None = None  # what a trace calls the elements that it holds

    def __init__(self, scope: Scope, node: Node) -> None:
        self.run = scope.run
        self.recorder = scope.run.recorder
        self.scope = scope
        self.node = node
        self.opened: list[Stream] = []  # the inputs that are open
        self.helpers: list[Task] = []
        # An object whose __dict__ is used is slower
        for name, value in node.arguments.items():
            setattr(self, name, value)
        if self.recorder is not None and scope.position.inside:
            self.recorder.is_repeatable &= is_repeatable(node)
        if self.opens_inputs:
            for index in range(len(node.inputs)):
                self.open_input(index)
        self.prepare()

    def prepare(self) -> None:  # noqa: B027 - most need nothing
        """Prepare this iteration before the first element is asked for."""

    def open_input(self, index: int = 0) -> None:
        """Open input number *index*."""
        self.input = self.scope.open(self.node.inputs[index], index)
        self.opened.append(self.input)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return the argument *name*, of a type that is checked where it is given."""

    @abstractmethod
    async def next(self) -> Element:
        """Return the next element, or END, and END again if asked again."""

    def hire(self, coro: Coroutine[Any, None, None], stage: Name) -> None:
        """Start *coro* as a helper, which waits as *stage*, in a lane of its own."""
        self.helpers.append(self.run.start(coro, stage, lane=len(self.helpers)))

    def open_buffer(self, name: Name, capacity: int | None) -> None:
        """Record from now on what this holds: at most *capacity* elements, or any number for None.

        Several buffers of one *name* may be open at the same time, in the files of an interleave
        or in several workers; then there is room for *capacity* elements in each.
        """
        self.buffer = name
        if self.recorder is not None:
            rooms = self.recorder.capacities
            number = self.recorder.open
            number[name] += 1
            most = capacity and capacity * number[name]
            rooms[name] = most and max(rooms.get(name) or 0, most)

    def enter(self, element: Element) -> None:
        """Record that *element* comes into the buffer."""
        if self.recorder is not None:
            event = self.buffer, self.run.time, 1, element.key, element.nbytes
            self.recorder.events += event

    def leave(self, *elements: Element) -> None:
        """Record that *elements* leave the buffer."""
        if self.recorder is not None:
            for element in elements:
                event = self.buffer, self.run.time, -1, element.key, element.nbytes
                self.recorder.events += event

    def close(self) -> None:
        """End helpers, close files and forget all that is held."""
        for helper in self.helpers:
            self.run.cancel(helper)
        for stream in self.opened:
            stream.close()
        self.opened.clear()
        if self.recorder is not None and self.buffer is not None:
            self.recorder.open[self.buffer] -= 1
            self.buffer = None


async def attempt(stream: Stream) -> Element:
    """Return the next element of *stream*; if an error was raised, a Failure that holds it."""
    try:
        return await stream.next()
    except Exception as error:
        return Failure(error)


def joined(run: Run, parts: list[Element]) -> Element:
    """Make one element of *parts*, which it remembers; its value is the list of theirs."""
    element = Element([*map(attrgetter("value"), parts)])
    element.number = BatchNumber(map(attrgetter("number"), parts))
    element.samples = sum(map(attrgetter("samples"), parts))
    if run.recorder is not None:
        element.key = run.recorder.join([*map(attrgetter("key"), parts)])
    if run.sized:
        element.nbytes = sum(map(attrgetter("nbytes"), parts))
    return element


# ---- where elements come from ----


class Source(Stream):
    """A stream that makes elements and numbers them.

    *steps* has what each element costs: the price, the stage and the kind of work. A map that only
    costs time is one more step of the source that it reads.
    """

    nbytes: Bytes = None
    given = 0  # the position of the next sample
    stride = 1  # from one sample to the next
    is_open = False  # as a file is

    def prepare(self) -> None:
        recorder = self.recorder
        self.origin = self.scope.origin
        self.steps: list[tuple[Price, Name, str]] = []
        if recorder is not None:
            outer = None
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
            self.recorder.files.append((self.read_stage, self.run.time, change, 0, 0))

    def close(self) -> None:
        if self.is_open:
            self.file(-1)


@operator("from_list")
@operator("range")
class Listed(Source):
    """Gives values that are there already; only the steps take time."""

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

    iterator: Iterator[Any] | None = None
    ended = False

    def prepare(self) -> None:
        super().prepare()
        self.read_stage = self.run.name("Read", self.scope.position, READ)

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

    begun = False

    def prepare(self) -> None:
        super().prepare()
        costs = self.node.arguments
        position = self.scope.position
        self.open_stage = self.run.name("Open", position, OPEN)
        self.read_stage = self.run.name("Read", position, READ)
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
