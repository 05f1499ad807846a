"""What is put around a dataset and a collate function: each batch carries what it cost, and where.

All of it runs in the processes of the loader, so it can be sent to them, and needs nothing else.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter, process_time
from typing import Any, NamedTuple

from lessonkit.engine.element import whole
from lessonkit.explain.calls import without_core

# `Any` in this module is the sample, the batch or the index of somebody else's dataset.


class WatchedBatch(NamedTuple):
    """The times of a batch, in seconds on the one clock that all processes share.

    A process *pid* *began* to fetch its *samples*, had to *wait* for them,
    collated them, and was *done*. The loop *asked* for it, *got* it and had *stepped*;
    *step_core* is the step's time on cores.
    """

    pid: int
    samples: int
    began: float
    done: float
    wait: float
    asked: float = 0
    got: float = 0
    stepped: float = 0
    step_core: float = 0

    @property
    def make(self) -> float:
        """The seconds in which it was made."""
        return self.done - self.began

    @property
    def step(self) -> float:
        """The seconds of the step."""
        return self.stepped - self.got

    @property
    def load(self) -> float:
        """The seconds that the loop needed to get it: waiting, or making it."""
        return self.got - self.asked

    @property
    def round(self) -> float:
        """The seconds of one turn of the loop."""
        return self.stepped - self.asked


@dataclass
class Watch:
    """What a short run with a number of *workers* showed, at the times of one clock.

    It *began*, its iterator was *opened*, its last step *ended*, and it was *closed* when its workers
    had ended. A run is *whole* if it
    came to the end of the loader. Its *epochs* after the first one begin at these places, with
    workers that stayed. *private* is the memory that each of its workers had for
    itself, in bytes, if that was looked at.
    """

    workers: int
    began: float = field(default_factory=perf_counter)
    opened: float = 0
    ended: float = 0
    closed: float = 0
    whole: bool = False
    private: int | None = None
    batches: list[WatchedBatch] = field(default_factory=list)
    epochs: list[int] = field(default_factory=list)

    def firsts(self) -> list[tuple[int, WatchedBatch]]:
        """Return the first batch of each process, with its place in the run."""
        found: dict[int, tuple[int, WatchedBatch]] = {}
        for place, batch in enumerate(self.batches):
            found.setdefault(batch.pid, (place, batch))
        return list(found.values())


# ---- the batch in hand ----


@dataclass
class BatchInHand:
    """The batch that this process is making: when it *began*, and how many *samples* it has yet.

    *on_core* is the time at which it began on the clock that stands still while this process
    waits.
    """

    began: float = 0.0
    on_core: float = 0.0
    samples: int = 0

    def add(self, samples: int) -> None:
        """Add *samples* to the batch; the first ones begin it."""
        if self.samples == 0:
            self.began = perf_counter()
            self.on_core = not_waiting()
        self.samples += samples

    def forget(self) -> None:
        """Begin another batch with the next sample: the run was left, or begins."""
        self.samples = 0

    def finish(self, fetched: float, on_core: float) -> WatchedBatch:
        """Return what the batch cost, which was *fetched* at that time, and is collated now.

        *on_core* is the time at which it was fetched on the clock that stands still while
        this process waits. The next batch may have begun: an iterable goes on after it gave
        the last sample.
        """
        done = perf_counter()
        waited = max(0.0, fetched - self.began - (on_core - self.on_core))
        made = WatchedBatch(os.getpid(), self.samples, self.began, done, waited)
        self.began = done
        self.on_core = on_core
        self.samples = 0
        return made


IN_HAND = BatchInHand()


def not_waiting() -> float:
    """Return for how many seconds this process has had a core, or wanted one."""
    return process_time() + without_core()


class Watched:
    """A dataset that notes when a batch of it is begun, and is the *inner* one in all else."""

    def __init__(self, inner: Any) -> None:
        self.__dict__["inner"] = inner

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "inner":  # not while it is being unpickled
            raise AttributeError(name)
        return getattr(self.inner, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.inner, name, value)

    def __len__(self) -> int:
        return len(self.inner)

    def __getitem__(self, index: Any) -> Any:
        IN_HAND.add(1)
        return self.inner[index]

    def __getitems__(self, indices: Sequence[Any]) -> Any:
        IN_HAND.add(len(indices))
        at_once = getattr(self.inner, "__getitems__", None)
        return at_once(indices) if at_once else [self.inner[index] for index in indices]

    def __iter__(self) -> Iterator[Any]:
        IN_HAND.add(0)
        for sample in self.inner:
            IN_HAND.samples += 1
            yield sample
            IN_HAND.add(0)


def watched(inner: Any, bases: tuple[type, ...]) -> Watched:
    """Return *inner* watched; the result is of the first of *bases* that *inner* is one of.

    PyTorch asks with isinstance whether a dataset is iterable, and whether it is a DataPipe,
    whose samples are shared out among workers.
    """
    base = next((base for base in bases if isinstance(inner, base)), None)
    if base is None:
        return Watched(inner)
    reduce = {"__reduce__": lambda self: (watched, (self.inner, bases))}
    stream: Watched = type("Stream", (Watched, base), reduce)(inner)
    return stream


def noted(*parts: Any) -> Any:
    """Return a sample of one of our pipelines, and note it."""
    IN_HAND.add(1)
    return whole(parts)


def noted_batch(samples: Sequence[Any]) -> Sequence[Any]:
    """Return the samples of a batch that are fetched with one call, and note them."""
    IN_HAND.add(len(samples))
    return samples


class Collated:
    """A collate function whose batches carry how they were made."""

    def __init__(self, inner: Callable[[Any], Any]) -> None:
        self.inner = inner

    def __call__(self, samples: Any) -> tuple[Any, WatchedBatch]:
        fetched = perf_counter()
        on_core = not_waiting()
        batch = self.inner(samples)
        return batch, IN_HAND.finish(fetched, on_core)
