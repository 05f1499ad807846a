"""Short runs of a loader as its owner wrote it, in which each batch carries what it cost, and where."""

from __future__ import annotations

import os
import random
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain, islice
from math import inf
from time import perf_counter, process_time
from typing import Any, NamedTuple

from lessonkit.engine.element import size_of
from lessonkit.job.device import OnDevice, on_device

# Samples, and batches, that are asked of a sampler: one may never end
MOST_SAMPLES, MOST_BATCHES = 1_000_000, 100_000
# S; a worker that has given nothing for so long never will, beside the time in which workers
# start: a spawned one imports a lot first
NEVER = 20.0
AGAIN = 9.5  # s; until then runs are repeated
# S; all runs of a job take about 14, and no more than this where each batch takes long
BUDGET = 25.0


class WatchedBatch(NamedTuple):
    """A batch: how it was made, in which process, of how many samples, and what the loop did with it.

    All times are of one clock, which processes share; *fetch_core* and *step_core* are
    times on cores.
    """

    pid: int
    samples: int
    began: float
    done: float
    fetch: float
    collate: float
    fetch_core: float
    asked: float = 0
    got: float = 0
    stepped: float = 0
    step_core: float = 0

    @property
    def make(self) -> float:
        return self.done - self.began

    @property
    def wait(self) -> float:
        return max(1e-9, self.fetch - self.fetch_core)

    @property
    def step(self) -> float:
        return self.stepped - self.got

    @property
    def turn(self) -> float:
        return self.stepped - self.asked


@dataclass
class Watch:
    """What a short run showed; it is *whole* if it came to the end of the loader."""

    workers: int
    began: float = field(default_factory=perf_counter)
    opened: float = 0
    ended: float = 0  # the last step
    closed: float = 0
    core: float = 0  # of the loop's own process, without the steps
    whole: bool = False
    batches: list[WatchedBatch] = field(default_factory=list)

    def core_of_each(self) -> float:
        """Return what the loop's own process computed for a batch."""
        return self.core / max(1, len(self.batches))

    def firsts(self) -> list[WatchedBatch]:
        """Return the first batch of each process."""
        return list({batch.pid: batch for batch in reversed(self.batches)}.values())


def size_of_batch(indices: Any) -> int:
    """Count the samples of a batch; without batches there is one."""
    return len(indices) if hasattr(indices, "__len__") else 1


# ---- what is put around a data set and a collate function ----

# In this process: when the batch was begun, on core, and its samples so far.
BEGUN: list[Any] = [0.0, 0.0, 0]


def begin(samples: int) -> None:
    """Take down that a batch is begun, if none is, and that so many *samples* more of it are."""
    if not BEGUN[2]:
        BEGUN[:2] = perf_counter(), process_time()
    BEGUN[2] += samples


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
        begin(1)
        return self.inner[index]

    def __getitems__(self, indices: Any) -> Any:
        begin(len(indices))
        whole = getattr(self.inner, "__getitems__", None)
        return whole(indices) if whole else [self.inner[index] for index in indices]


class WatchedStream(Watched):
    """The same for an iterable data set."""

    def __iter__(self) -> Iterator[Any]:
        begin(0)
        for sample in self.inner:
            BEGUN[2] += 1
            yield sample
            begin(0)


def watched(inner: Any, base: type) -> Watched:
    """Put a watched data set around *inner*; one that is iterable is of the library's *base* for these."""
    if not isinstance(inner, base):
        return Watched(inner)
    kind = type(
        "Stream",
        (WatchedStream, base),
        {"__reduce__": lambda self: (watched, (self.inner, base))},
    )
    return kind(inner)  # type: ignore[no-any-return]


class Collated:
    """A collate function whose batches carry how they were made."""

    def __init__(self, inner: Callable[[Any], Any]) -> None:
        self.inner = inner

    def __call__(self, samples: Any) -> tuple[Any, WatchedBatch]:
        fetched, core, (began, core_then, count) = perf_counter(), process_time(), BEGUN
        batch = self.inner(samples)
        done = perf_counter()
        BEGUN[:] = done, process_time(), 0
        took = fetched - began, done - fetched, core - core_then
        return batch, WatchedBatch(os.getpid(), count, began, done, *took)


# ---- the runs ----


class Subject:
    """A loader and a step that are watched: all runs go over the same samples in the same order."""

    nbytes = 0  # of a batch, as far as its parts know
    batch: Any = None  # the last one
    device: OnDevice | None = None  # if the step leaves something to one
    synchronise: Callable[[], Any] | None = None  # waits for what a step only launched
    # To each run, if it has them
    passed: tuple[str, ...] = ("worker_init_fn", "pin_memory", "in_order")
    count: int | None = None  # of the batches of an epoch, if that is known
    again = 0.0  # until when runs may be repeated
    until = inf  # when no further run may begin
    start = 0.0  # s; what a run with one worker took until its first batch

    def __init__(self, loader: Any, step: Callable[[Any], Any]) -> None:
        kinds = [kind for kind in type(loader).__mro__ if kind.__name__ == "DataLoader"]
        if not kinds or not hasattr(loader, "dataset"):
            raise TypeError(f"loader={loader!r}: must be a DataLoader as PyTorch has it")
        self.kind, self.loader, self.step = kinds[-1], loader, step
        library = sys.modules[self.kind.__module__]
        self.stream = isinstance(loader.dataset, library.IterableDataset)
        # 0: who makes batches says how large they are
        self.batch_size = loader.batch_size or 0
        self.dataset: Any = watched(loader.dataset, library.IterableDataset)
        self.has_batches = loader.batch_sampler is not None  # else they are the data set's
        order = loader.batch_sampler if self.has_batches else loader.sampler
        with ExitStack() as then:
            for sampler in (order, getattr(order, "sampler", None)):
                generator: Any = getattr(sampler, "generator", None)
                if hasattr(generator, "set_state"):  # it draws for this as for an epoch
                    then.callback(generator.set_state, generator.get_state())
            self.ask(() if self.stream else order)

    def ask(self, order: Iterable[Any]) -> None:
        """Ask for the batches in their *order*, and how many there are, if that is known."""
        self.batches, samples = [], 0
        for batch in islice(order, MOST_BATCHES):
            self.batches.append(batch)
            samples += size_of_batch(batch)
            if samples >= MOST_SAMPLES:
                break
        else:
            if len(self.batches) < MOST_BATCHES:
                self.count = len(self.batches)
        if self.count is None:
            with suppress(Exception):  # a sampler needs no length
                self.count = len(order)  # type: ignore[arg-type]

    def go(
        self,
        workers: int,
        limit: float,
        *,
        step: bool = False,
        factor: int = 2,
        size: int = 1,
    ) -> Watch:
        """Go over the loader once, or for *limit* seconds, with *size* times as many samples in a batch."""
        options = {
            name: getattr(self.loader, name)
            for name in self.passed
            if hasattr(self.loader, name)
        }
        options |= {"collate_fn": Collated(self.loader.collate_fn), "num_workers": workers}
        if workers:
            options |= {"prefetch_factor": factor} | self.for_workers(workers)
        if self.stream:
            options |= {
                "batch_size": self.batch_size * size or None,
                "drop_last": self.loader.drop_last,
            }
        elif self.has_batches:
            groups = zip(*[iter(self.batches)] * size, strict=False)
            larger = (list(chain(*group)) for group in groups)
            options["batch_sampler"] = self.batches if size == 1 else larger
        else:
            options |= {"batch_size": None, "sampler": self.batches}
        return self.watch(
            self.kind(self.dataset, **options), workers, limit, self.step if step else None
        )

    def for_workers(self, workers: int) -> dict[str, Any]:
        """Return the options of a loader with *workers* that are PyTorch's alone."""
        context = self.loader.multiprocessing_context
        return {"timeout": NEVER + workers * self.start, "multiprocessing_context": context}

    def on_device(self) -> OnDevice | None:
        """Time the step on the last batch; None if it leaves nothing to a device."""
        if self.synchronise is None or self.batch is None:
            return None
        return on_device(self.step, self.batch, self.synchronise)

    def watch(
        self, loader: Any, workers: int, limit: float, step: Callable[[Any], Any] | None
    ) -> Watch:
        """Go over *loader*; RuntimeError says what failed, the loader or the step.

        The *limit* holds from the first batch on: a worker may take longer than that to start.
        """
        if perf_counter() > self.until:
            raise RuntimeError(
                f"measuring takes more than {BUDGET:g} s: make the batches smaller for it"
            )
        BEGUN[2], seen = 0, Watch(workers)
        at_work = loads = "with a worker, the loader" if workers else "the loader"
        source = None
        try:
            source = iter(loader)
            seen.opened = seen.ended = perf_counter()
            core = process_time()
            for self.batch, made in source:
                got, before = perf_counter(), process_time()
                self.nbytes = self.nbytes or size_of(self.batch, 0)
                if step:
                    at_work = "the step"
                    step(self.batch)
                    at_work = loads
                asked, seen.ended, step_core = (
                    seen.ended,
                    perf_counter(),
                    process_time() - before,
                )
                taken = made._replace(
                    asked=asked, got=got, stepped=seen.ended, step_core=step_core
                )
                seen.batches.append(taken)
                if seen.ended - seen.batches[0].got >= limit:
                    break
            else:
                seen.whole = True
            seen.core = (
                process_time() - core - sum(batch.step_core for batch in seen.batches)
            )
            if self.synchronise:
                self.synchronise()
        except Exception as error:
            raise RuntimeError(
                f"{at_work} raised after {len(seen.batches)} batches: {error!r}"
            ) from error
        finally:
            # Also where an error keeps the iterator
            for name in ("_shutdown_workers", "close"):
                getattr(source, name, lambda: None)()
            source = None
        seen.closed = perf_counter()
        if seen.batches:  # what workers take to start is no fault of the batches
            took = seen.batches[0].got - seen.began
            self.until += took
            if workers == 1:
                self.start = max(self.start, took)
        return seen


@contextmanager
def restored() -> Iterator[Any]:
    """Restore random states and the number of threads; the block gets PyTorch, if that is imported.

    PyTorch warns of more workers than cores, which are only tried here: nobody has asked for them.
    """
    torch: Any
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    with ExitStack() as then, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "This DataLoader will create")
        then.callback(random.setstate, random.getstate())
        if numpy:
            then.callback(numpy.random.set_state, numpy.random.get_state())
        if torch:
            then.callback(torch.set_rng_state, torch.get_rng_state())
            then.callback(torch.set_num_threads, torch.get_num_threads())
        if torch and torch.cuda.is_initialized():
            then.callback(torch.cuda.set_rng_state_all, torch.cuda.get_rng_state_all())
        yield torch
