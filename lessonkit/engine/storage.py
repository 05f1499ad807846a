"""A storage that all who read share: its bandwidth, its streams, and the wait for a first byte."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lessonkit import check
from lessonkit.engine.costs import Priced, StorageRead
from lessonkit.engine.element import Element
from lessonkit.engine.fluid import Fluid
from lessonkit.engine.recorder import Name
from lessonkit.engine.run import Resource

# Ns; how often a reader on the real clock looks how fast it reads now
LOOK_AGAIN = 2_000_000


@dataclass(frozen=True)
class Storage:
    """What all readers of a run share, on whichever lanes, in whichever workers and ranks they read.

    Streams share the *bandwidth*, in bytes a second, evenly, and each has at most *cap*.
    Only so many *streams* go on at once, others queue; None is no limit. A stream waits
    *first_byte* seconds, and takes no bandwidth then. Two that are equal are one: a
    function of the rank may make it. Raises TypeError or ValueError for what is no such
    number.
    """

    bandwidth: float = None  # type: ignore[assignment]  # refused as what is no number
    first_byte: float = 0
    streams: int | None = None
    cap: float | None = None

    def __post_init__(self) -> None:
        for name in ("bandwidth", "cap"):
            value = getattr(self, name)
            if name == "bandwidth" or value is not None:
                check.amount(name, value, "bytes a second", "more than 0")
        check.duration("first_byte", self.first_byte)
        if self.streams is not None:
            check.integer("streams", self.streams, least=1)

    def read(self, nbytes: float | Callable[[Any], float]) -> Read:
        """Return a cost: to read *nbytes*, or what this function says of the element, from this storage.

        It goes where a cost is of an element: `map(cost=...)`, `open` and `read` of
        ArtificialDataset, `load` and `train` of `benchmark`.

        >>> from lessonkit import Dataset, Storage, benchmark
        >>> storage = Storage(bandwidth=1e6, first_byte=0.010)
        >>> images = Dataset.range(4).map(cost=storage.read(10_000), num_parallel_calls=2)
        >>> benchmark(images, num_epochs=1, train=0).duration
        0.06
        """
        return Read(
            self, nbytes if callable(nbytes) else check.amount("nbytes", nbytes, "bytes")
        )

    def streams_in(self, run: Any) -> StorageStreams:
        """Open it for *run*."""
        return StorageStreams(run, self)

    @property
    def most(self) -> float:
        """The bytes a second that one stream can have."""
        return min(self.bandwidth, self.cap or math.inf)


@dataclass(frozen=True)
class Read(Priced):
    """A cost that a storage decides: to read so many bytes of it."""

    storage: Storage
    nbytes: float | Callable[[Any], float]

    def __call__(self, value: Any) -> float:
        """Return the seconds that it takes with nobody else there."""
        return self.storage.first_byte + self.bytes_of(value) / self.storage.most

    def price(self, element: Element) -> StorageRead:
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

    reason, place = "storage busy", "storage"

    def __init__(self, run: Any, storage: Storage) -> None:
        super().__init__(run)
        self.storage = storage
        self.streams = Resource(run, self.place, storage.streams or math.inf, self.reason)

    def rates(self) -> dict[Any, float]:
        storage = self.storage
        return {
            "read": min(storage.most, storage.bandwidth / max(1, self.flowing["read"]))
            / 1e9
        }

    async def read(self, run: Any, nbytes: float, stage: Name, element: Element) -> None:
        """Read *nbytes*: wait for a stream, then for the first byte, and then for all others."""
        stage.storage = self.storage
        if not run.is_real:
            await run.keep_step()
        await self.streams.acquire(run)
        try:
            began, last, first = (
                run.time,
                run.current.last,
                round(self.storage.first_byte * 1e9),
            )
            await run.spend(first)
            if run.is_real:
                await self.trickle(run, nbytes)
            elif nbytes:
                await self.flow(run, nbytes, "read")
            alone = first + round(nbytes / self.storage.most * 1e9)
            self.record(run, began, alone, stage, element, "storage", last)
        finally:
            self.streams.release(run)

    async def trickle(self, run: Any, left: float) -> None:
        """Let bytes flow on the real clock: little by little, since others come and go."""
        self.flowing["read"] += 1
        try:
            while left > 0:
                rate = self.rates()["read"]
                piece = min(left, rate * LOOK_AGAIN)
                await run.spend(round(piece / rate))
                left -= piece
        finally:
            self.flowing["read"] -= 1
