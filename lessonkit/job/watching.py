"""Short runs of a loader as its owner wrote it, in which each batch carries what it cost, and where."""

from __future__ import annotations

import os
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from statistics import median
from time import perf_counter, process_time
from typing import Any, NamedTuple

from lessonkit.engine.element import size_of
from lessonkit.job.device import OnDevice, on_device

MOST_ASKED = 100_000  # that are asked of a sampler: one may never end
NEVER = 8.0  # s; a worker that has given nothing for so long never will
HICCUP = 3  # medians; a step that takes longer counts as this


class MadeBatch(NamedTuple):
    """How a batch was made: in which process, when, what that took of a core, of how many samples."""

    pid: int
    began: float
    fetched: float
    done: float
    fetch_core: float
    collate_core: float
    samples: int

    @property
    def fetch(self) -> float:
        return self.fetched - self.began

    @property
    def collate(self) -> float:
        return self.done - self.fetched


class Taken(NamedTuple):
    """What the loop did with a batch: when it asked, got it and had stepped, and the step's time on cores."""

    asked: float
    got: float
    stepped: float
    core: float

    @property
    def step(self) -> float:
        return self.stepped - self.got


@dataclass
class Watch:
    """What a short run showed; it is *whole* if it came to the end of the loader."""

    workers: int
    began: float = field(default_factory=perf_counter)
    opened: float = 0
    ended: float = 0
    closed: float = 0
    core: float = 0  # of the loop's own process, without the steps
    whole: bool = False
    taken: list[Taken] = field(default_factory=list)
    made: list[MadeBatch] = field(default_factory=list)

    def steps(self, skip: int = 1) -> list[float]:
        """Return the seconds of each step after the first ones; a hiccup is cut short."""
        times = [one.step for one in self.taken[skip:] or self.taken]
        most = HICCUP * median(times)
        return [min(time, most) for time in times]

    def pace(self) -> float:
        """Return the seconds that a batch took, with all that came before it."""
        return (self.ended - self.began) / max(1, len(self.made))

    def firsts(self) -> list[MadeBatch]:
        """Return the first batch of each process."""
        return list({made.pid: made for made in reversed(self.made)}.values())


# ---- what is put around a data set and a collate function ----

BEGUN: list[Any] = [
    0.0,
    0.0,
    0,
]  # in this process: when the batch was begun, on core, and its samples so far


class Watched:
    """A data set that takes down when a batch of it is begun; all else is that of the *inner* one."""

    def __init__(self, inner: Any) -> None:
        self.__dict__["inner"] = inner

    def __getattr__(self, name: str) -> Any:
        """Give what the data set has; a worker may ask for it."""
        if name.startswith("__") or name == "inner":  # not while it is being unpickled
            raise AttributeError(name)
        return getattr(self.inner, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.inner, name, value)

    def __len__(self) -> int:
        return len(self.inner)

    def __getitem__(self, index: Any) -> Any:
        BEGUN[:] = perf_counter(), process_time(), 1
        return self.inner[index]

    def __getitems__(self, indices: Any) -> Any:
        BEGUN[:] = perf_counter(), process_time(), len(indices)
        whole = getattr(self.inner, "__getitems__", None)
        return whole(indices) if whole else [self.inner[index] for index in indices]


class WatchedStream(Watched):
    """The same for an iterable data set."""

    def __iter__(self) -> Iterator[Any]:
        source = iter(self.inner)
        while True:
            began = perf_counter(), process_time()
            try:
                sample = next(source)
            except StopIteration:
                return
            BEGUN[:] = *(BEGUN[:2] if BEGUN[2] else began), BEGUN[2] + 1
            yield sample


def watched(inner: Any, base: type) -> Watched:
    """Put a watched data set around *inner*; one that is iterable is of the library's *base* for these."""
    if not isinstance(inner, base):
        return Watched(inner)
    kind = type("Stream", (WatchedStream, base), {"__reduce__": lambda self: (watched, (self.inner, base))})
    return kind(inner)  # type: ignore[no-any-return]


class Collated:
    """A collate function whose batches carry how they were made."""

    def __init__(self, inner: Callable[[Any], Any]) -> None:
        self.inner = inner

    def __call__(self, samples: Any) -> tuple[Any, MadeBatch]:
        fetched, core, (began, core_then, count) = perf_counter(), process_time(), BEGUN
        batch = self.inner(samples)
        done, core_now = perf_counter(), process_time()
        BEGUN[:] = done, core_now, 0
        return batch, MadeBatch(os.getpid(), began, fetched, done, core - core_then, core_now - core, count)


# ---- the runs ----


class Subject:
    """A loader and a step that are watched: all runs go over the same samples in the same order."""

    nbytes = 0  # of a batch, as far as its parts know
    batch: Any = None  # the last one
    synchronise: Callable[[], Any] | None = None  # waits for what a step only launched

    def __init__(self, loader: Any, step: Callable[[Any], Any]) -> None:
        kinds = [kind for kind in type(loader).__mro__ if kind.__name__ == "DataLoader"]
        if not kinds or not hasattr(loader, "dataset"):
            raise TypeError(f"loader={loader!r}: must be a DataLoader as PyTorch has it")
        self.kind, self.loader, self.step = kinds[0], loader, step
        library = sys.modules[self.kind.__module__]
        self.stream = isinstance(loader.dataset, library.IterableDataset)
        self.batch_size = loader.batch_size or 0  # without one, the batches are the data set's
        self.dataset = watched(loader.dataset, library.IterableDataset)
        self.batches: list[Any] = []
        if not self.stream:
            order = loader.sampler if loader.batch_sampler is None else loader.batch_sampler
            self.batches = list(islice(order, MOST_ASKED))

    def go(self, workers: int, limit: float, *, step: bool = False, factor: int = 2, size: int = 1) -> Watch:
        """Go over the loader once, or for *limit* seconds, with *size* times as many samples in a batch."""
        said = {name: getattr(self.loader, name) for name in ("collate_fn", "worker_init_fn")}
        said |= {"collate_fn": Collated(said["collate_fn"]), "num_workers": workers}
        if workers:
            said |= {"prefetch_factor": factor, "timeout": NEVER}
            said["multiprocessing_context"] = self.loader.multiprocessing_context
        if self.stream:
            many = self.batch_size * size or None
            said |= {"batch_size": many, "drop_last": bool(many and self.loader.drop_last)}
        elif self.loader.batch_sampler is None:
            said |= {"batch_size": None, "sampler": self.batches}
        else:
            said["batch_sampler"] = self.grouped(size)
        return self.watch(self.kind(self.dataset, **said), workers, limit, self.step if step else None)

    def on_device(self) -> OnDevice | None:
        """Time the step on the last batch; None if it leaves nothing to a device."""
        if self.synchronise is None or self.batch is None:
            return None
        return on_device(self.step, self.batch, self.synchronise)

    @property
    def usual(self) -> dict[str, Any]:
        """The arguments of the loader as it was written that a forecast may change."""
        said = {name: getattr(self.loader, name) for name in ("num_workers", "prefetch_factor")}
        return said | {"persistent_workers": bool(self.loader.persistent_workers)}

    def grouped(self, size: int) -> list[Any]:
        """Return the numbers of the samples of each batch, of *size* batches together."""
        groups = zip(*[iter(self.batches)] * size, strict=False)
        return [[index for batch in group for index in batch] for group in groups]

    def watch(self, loader: Any, workers: int, limit: float, step: Callable[[Any], Any] | None) -> Watch:
        """Go over *loader*; RuntimeError says what failed, the loader or the step.

        The *limit* holds from the first batch on: a worker may take longer than that to start.
        """
        BEGUN[2], seen = 0, Watch(workers)
        where = "with a worker, the loader" if workers else "the loader"
        source = None
        try:
            source = iter(loader)
            seen.opened = asked = perf_counter()
            core = process_time()
            while not seen.made or asked - seen.taken[0].got < limit:
                if (given := next(source, None)) is None:
                    seen.whole = True
                    break
                batch, made = given
                self.nbytes = self.nbytes or size_of(batch, 0)
                got, before = perf_counter(), process_time()
                if step:
                    where, other = "the step", where
                    step(batch)
                    where = other
                asked = perf_counter()
                seen.taken.append(Taken(seen.ended or seen.opened, got, asked, process_time() - before))
                seen.ended = asked
                seen.made.append(made)
                self.batch = batch
            seen.core = process_time() - core - sum(one.core for one in seen.taken)
            if self.synchronise:
                self.synchronise()
            seen.ended = perf_counter()
        except Exception as error:
            raise RuntimeError(f"{where} raised after {len(seen.made)} batches: {error!r}") from error
        finally:
            batch = given = None
            for name in ("_shutdown_workers", "close"):  # also where an error keeps the iterator
                getattr(source, name, lambda: None)()
            source = None
        seen.closed = perf_counter()
        return seen


@contextmanager
def restored() -> Iterator[Any]:
    """Restore random states and the number of threads; the block gets PyTorch, if that is imported.

    PyTorch warns of more workers than cores, which are only tried here: nobody has asked for them.
    """
    torch: Any
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    drawn = random.getstate()
    drawn_by_numpy = numpy and numpy.random.get_state()
    by_torch: Any = torch and (torch.get_rng_state(), torch.get_num_threads())
    by_gpus: Any = torch and torch.cuda.is_initialized() and torch.cuda.get_rng_state_all()
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "This DataLoader will create")
            yield torch
    finally:
        random.setstate(drawn)
        if numpy:
            numpy.random.set_state(drawn_by_numpy)
        if torch:
            torch.set_rng_state(by_torch[0])
            torch.set_num_threads(by_torch[1])
        if by_gpus:
            torch.cuda.set_rng_state_all(by_gpus)
