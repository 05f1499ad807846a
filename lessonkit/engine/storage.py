"""Resources that many share at the same time: cores in slices, the bandwidth of a storage system.

All that flows is served at one rate, so one heap tells which task ends first, and nothing has to
look at the others.
"""

from __future__ import annotations

import types
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import ceil, inf
from typing import Any

from . import check
from .element import Element
from .run import Resource, Run, StorageRead, Task, Waits
from .trace import TRAIN, Name

NOTHING_LEFT = 0.01  # of an amount; less than this is an error of rounding
SAME_TIME = 2  # ns; an alarm that rings this close to the due time is not set again


@dataclass(order=True)
class Portion:
    """What one task is served, in the order in which tasks get all of theirs.

    Of two that get all at the same time, the one that began first comes first.
    """

    complete_at: float  # the service after which the task has got all
    number: int
    task: Task | None = field(compare=False)  # None when it has left
    weight: float = field(compare=False)


class Fluid(ABC):
    """Serves all that flows in a run at one rate; an alarm rings for the first to end.

    So each task ends when the service has grown by its amount since it began: one heap tells which
    is first. In a trace, the time that a task lost to others is a wait of kind *reason* at *place*.
    """

    reason = ""
    place = ""

    def __init__(self, run: Run) -> None:
        self.run = run  # in which the alarm is: the first in which something flows
        self.weight = 0.0  # of all that flows
        self.served = 0.0  # what a task that was there always has got
        self.heap: list[Portion] = []
        self.since = 0  # the time up to which all were served
        self.count = 0  # portions so far
        self.armed: float = 0  # when the alarm rings next
        self.alarm: Task | None = None

    @abstractmethod
    def rate(self) -> float:
        """Return how much each task is served per nanosecond."""

    @types.coroutine
    def flow(self, run: Run, amount: float, weight: float = 1) -> Waits:
        """Let *amount* flow for the current task of *run*, which has this *weight* among others."""
        if self.alarm is None:
            self.run = run
            self.alarm = run.start(self.wake_finished(), Name(self.place))
        self.advance(run.time)
        self.count += 1
        portion = Portion(self.served + amount, self.count, run.current, weight)
        heappush(self.heap, portion)
        self.weight += weight
        self.run.wake_at(run.time, self.alarm)
        try:
            while portion.task:
                yield None
        finally:
            if portion.task:  # it was cancelled: others have more from now on
                self.advance(run.time)
                self.leave(portion)
                self.run.wake_at(run.time, self.alarm)

    def leave(self, portion: Portion) -> None:
        self.weight -= portion.weight
        portion.task = None

    @types.coroutine
    def wake_finished(self) -> Waits:
        """Wake each task that has got its whole amount, whenever one may have."""
        heap = self.heap
        while True:
            now = self.run.time
            self.advance(now)
            reached = self.served + NOTHING_LEFT
            while heap and (heap[0].task is None or heap[0].complete_at <= reached):
                portion = heappop(heap)
                if task := portion.task:
                    self.leave(portion)
                    task.run.wake_at(now, task)
            if not heap:
                yield None
                continue
            first = now + ceil((heap[0].complete_at - self.served) / self.rate())
            if self.armed > now and abs(first - self.armed) <= SAME_TIME:
                yield None
            else:
                self.armed = first
                yield first

    def advance(self, now: int) -> None:
        """Serve all up to *now*."""
        if passed := now - self.since:
            self.served += passed * self.rate()
            self.since = now

    def record(
        self,
        run: Run,
        began: int,
        alone: int,
        stage: Name | None,
        element: Element,
        kind: str,
        last: int,
    ) -> None:
        """Record a wait since *began*, made possible by *last*, and work that takes *alone*."""
        lost = max(0, run.time - began - alone)
        run.current.last = last
        if lost:  # the wait is on the way to the work, in a critical path
            run.record_span(stage, self.reason, began, began + lost, element, self.place)
        run.record_span(stage, kind, began + lost, run.time, element)


class SharedCores(Fluid):
    """Cores in slices, as a system shares them: all work goes on, each more slowly.

    The work of a step holds *step_cores* cores, any other work one.
    """

    reason = "no core"
    place = "cores"

    def __init__(self, run: Run, cores: int, step_cores: float) -> None:
        super().__init__(run)
        self.cores = cores
        self.step_cores = step_cores

    async def compute(
        self, duration: int, stage: Name | None, element: Element, kind: str
    ) -> None:
        """Do *duration* nanoseconds of work; a trace shows the time lost to others as a wait."""
        run = self.run
        began = self.run.time
        last = self.run.current.last
        is_step = stage is not None and stage.role == TRAIN
        await self.flow(run, duration, self.step_cores if is_step else 1)
        self.record(run, began, duration, stage, element, kind, last)

    def rate(self) -> float:
        return min(1.0, self.cores / max(1.0, self.weight))


# Ns; how often a reader on the real clock looks how fast it reads now
LOOK_AGAIN = 2_000_000


@dataclass(frozen=True)
class Storage:
    """A storage system that all readers of a run share, on any lane, in any worker and rank.

    Streams share the *bandwidth*, in bytes per second, evenly, and each has at most *cap*. At
    most *streams* of them go on at the same time, and others queue; None allows any number. A
    stream waits *first_byte* seconds, and takes no bandwidth in this time. Two storage systems
    that are equal are one, so a function of the rank may make it. Raises TypeError or ValueError
    for a value that is no such number.
    """

    bandwidth: float = None  # type: ignore[assignment]  # which is refused
    first_byte: float = 0
    streams: int | None = None
    cap: float | None = None

    def __post_init__(self) -> None:
        positive = "bytes per second", "more than 0"
        check.amount("bandwidth", self.bandwidth, *positive)
        if self.cap is not None:
            check.amount("cap", self.cap, *positive)
        check.amount("first_byte", self.first_byte)
        if self.streams is not None:
            check.integer("streams", self.streams, least=1)

    def read(self, nbytes: float | Callable[[Any], float]) -> Read:
        """Return the cost of reading *nbytes*, a number or a function of the element.

        It goes where a cost is of an element: `map(cost=...)`, `open` and `read` of
        ArtificialDataset, `load` and `train` of `benchmark`.

        >>> from lessonkit import Dataset, Storage, benchmark
        >>> storage = Storage(bandwidth=1e6, first_byte=0.010)
        >>> images = Dataset.range(4).map(cost=storage.read(10_000), num_parallel_calls=2)
        >>> benchmark(images, num_epochs=1, train=0).duration
        0.06
        """
        return Read(
            self,
            nbytes if callable(nbytes) else check.amount("nbytes", nbytes, "bytes"),
        )

    def streams_in(self, run: Run) -> StorageStreams:
        """Return its streams in *run*, or in all ranks; ValueError if the run cannot share it."""
        if not run.shares_storages:
            raise ValueError(
                f"{self!r}: worker processes do not share it on the real clock, "
                "so clock must be 'virtual', or num_workers 0"
            )
        if self not in run.storages:
            run.storages[self] = StorageStreams(run, self)
        return run.storages[self]

    @property
    def most(self) -> float:
        """The bytes per second that one stream can have."""
        return min(self.bandwidth, self.cap or inf)


@dataclass(frozen=True)
class Read:
    """The cost of reading some bytes of a storage."""

    storage: Storage
    nbytes: float | Callable[[Any], float]

    def __call__(self, value: Any) -> float:
        """Return the seconds of the read of *value* if nothing else is read."""
        return self.storage.first_byte + self.bytes_of(value) / self.storage.most

    def price_of(self, element: Element) -> StorageRead:
        return StorageRead(self.storage, self.bytes_of(element.value))

    def bytes_of(self, value: Any) -> float:
        """Return how many bytes are read for *value*."""
        if not callable(self.nbytes):
            return self.nbytes
        return check.amount(check.ArgumentOf("nbytes", value), self.nbytes(value), "bytes")

    def __repr__(self) -> str:
        nbytes = (
            getattr(self.nbytes, "__name__", "a function")
            if callable(self.nbytes)
            else self.nbytes
        )
        return f"{self.storage!r}.read({nbytes})"


class StorageStreams(Fluid):
    """The streams of a *storage* in a run, or in all ranks."""

    reason = "storage busy"
    place = "storage"

    def __init__(self, run: Run, storage: Storage) -> None:
        super().__init__(run)
        self.storage = storage
        self.streams = Resource(run, self.place, storage.streams or inf, self.reason)

    def rate(self) -> float:
        storage = self.storage
        return min(storage.most, storage.bandwidth / max(1.0, self.weight)) / 1e9

    async def read(
        self, run: Run, nbytes: float, stage: Name | None, element: Element
    ) -> None:
        """Read *nbytes*: wait for a stream, then for the first byte, and then for all others."""
        if stage is not None:
            stage.storage = self.storage
        await run.keep_step()
        await self.streams.acquire(run)
        try:
            began = run.time
            last = run.current.last
            first = round(self.storage.first_byte * 1e9)
            await run.spend(first)
            if run.is_real:
                await self.trickle(run, nbytes)
            elif nbytes:
                await self.flow(run, nbytes)
            alone = first + round(nbytes / self.storage.most * 1e9)
            self.record(run, began, alone, stage, element, "storage", last)
        finally:
            self.streams.release(run)

    async def trickle(self, run: Run, left: float) -> None:
        """Let bytes flow on the real clock: little by little, since others come and go."""
        self.weight += 1
        try:
            while left > 0:
                rate = self.rate()
                piece = min(left, rate * LOOK_AGAIN)
                await run.spend(round(piece / rate))
                left -= piece
        finally:
            self.weight -= 1
