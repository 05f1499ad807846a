"""What all streams have, and where one is opened (`Scope`)."""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple, TypeVar

from lessonkit.engine.check import AUTOTUNE
from lessonkit.engine.element import BatchNumber, Element, Failure
from lessonkit.engine.node import COUNTS, KEEP_VALUES, Cardinality, Node, is_repeatable
from lessonkit.engine.run import Run, Task
from lessonkit.engine.trace import LOOP, Name, Position

MOST = 1_000  # operators in a row: more might not fit on a thread's stack

Opener = TypeVar("Opener", bound=Callable[..., "Stream"])
# By the method of `Dataset`, and whether calls are parallel or workers make batches
OPERATORS: dict[tuple[str, bool], Callable[[Scope, Node], Stream]] = {}


def operator(
    method: str,
    *,
    parallel: bool = False,
    count: Callable[..., Cardinality] | None = None,
    keeps_values: bool = False,
) -> Callable[[Opener], Opener]:
    """Register what opens streams of *method*, or only those with *parallel* calls.

    *count* counts the elements of a node of this method: it gets the node, and how many each
    input gives. Without one, the number of elements is not known. With *keeps_values* each
    element has the value that it had in the input.
    """

    def register(opener: Opener) -> Opener:
        OPERATORS[method, parallel] = opener
        return opener

    if count is not None:
        COUNTS[method] = count
    if keeps_values:
        KEEP_VALUES.add(method)
    return register


def as_its_input(node: Node, many: Cardinality) -> Cardinality:
    """Count the elements of an operator that gives one for each that its input gives."""
    return many


def endless_or_unknown(node: Node, many: Cardinality) -> Cardinality:
    """Count where a function decides how many there are: only a missing end is known before it is asked."""
    return many if many == math.inf else None


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
        return opener(scope, node)


class Stream(ABC):
    """One iteration over an operator's elements.

    What each of them keeps is listed in `docs/design/engine.md`: order, errors, ends, counts.

    The arguments of its node become its attributes; each class declares those that it reads.
    """

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

    @abstractmethod
    async def next(self) -> Element:
        """Return the next element, or END, and END again if asked again."""

    def name(self, wanted: str, role: str) -> Name:
        """Name a stage or a buffer of this operator, in its *role*: *wanted*, if that is free."""
        return self.run.name(wanted, self.scope.position, role)

    def calls_at_once(self, given: int) -> int:
        """Return how many calls go on at the same time: as many as *given*, for AUTOTUNE one a core."""
        return self.run.machine.cores if given == AUTOTUNE else given

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
            if capacity is None:
                rooms[name] = None
            else:
                rooms[name] = max(rooms.get(name) or 0, capacity * number[name])

    def enter(self, element: Element) -> None:
        """Record that *element* comes into the buffer."""
        recorder = self.recorder
        buffer = self.buffer
        if recorder is not None and buffer is not None:
            recorder.add_event(buffer, self.run.time, +1, element.key, element.nbytes)

    def leave(self, element: Element) -> None:
        """Record that *element* leaves the buffer."""
        recorder = self.recorder
        buffer = self.buffer
        if recorder is not None and buffer is not None:
            recorder.add_event(buffer, self.run.time, -1, element.key, element.nbytes)

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
    element = Element([part.value for part in parts])
    element.number = BatchNumber([part.number for part in parts])
    element.samples = sum([part.samples for part in parts])
    if run.recorder is not None:
        element.key = run.recorder.join([part.key for part in parts])
    if run.sized:
        element.nbytes = sum([part.nbytes for part in parts])
    return element
