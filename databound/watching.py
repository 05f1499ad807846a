"""Short runs of a loader as its owner wrote it: each batch carries what it cost, and where."""

import os
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain, islice, pairwise
from statistics import median
from time import perf_counter, process_time
from types import SimpleNamespace
from typing import Any, NamedTuple

from lessonkit.dataset import Dataset
from lessonkit.engine.element import size_of, stack, whole
from lessonkit.engine.node import base_of, one_call, rebuilt, walk
from lessonkit.explain.measure import without_core
from lessonkit.loader import DataLoader

# Batches that are drawn from a sampler at most: it may never end
MOST_BATCHES = 2_000
# s; a worker that gives nothing for as long never will, not counting its start
NEVER = 20.0
# Arguments of the loader that its runs have, too
PASSED = ("worker_init_fn", "pin_memory", "in_order", "getitems")

LAUNCHES = 20  # steps that are timed on a device,
LONG_ENOUGH = 0.5  # s; or fewer, if they take longer
# Of the time of launching; a device that has less left to do then has no queue
SLIGHT_REST = 0.1
# Of the device's time for a step; a step that returns later has waited for room in the queue
WAITED = 0.3


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
        return self.done - self.began

    @property
    def step(self) -> float:
        return self.stepped - self.got

    @property
    def load(self) -> float:
        return self.got - self.asked

    @property
    def round(self) -> float:
        return self.stepped - self.asked


@dataclass
class Watch:
    """What a short run with a number of *workers* showed, at the times of one clock.

    It *began*, its iterator was *opened*, and its last step *ended*. A run is *whole* if it
    came to the end of the loader.
    """

    workers: int
    began: float = field(default_factory=perf_counter)
    opened: float = 0
    ended: float = 0
    whole: bool = False
    batches: list[WatchedBatch] = field(default_factory=list)

    def firsts(self) -> list[WatchedBatch]:
        """Return the first batch of each process."""
        return list({batch.pid: batch for batch in reversed(self.batches)}.values())


# ---- what is put around a dataset and a collate function ----

# When this process began the batch at hand, on both clocks, and how many samples it has yet
BEGUN: list[Any] = [0.0, 0.0, 0]


def not_waiting() -> float:
    """Return for how many seconds this process has had a core, or wanted one."""
    return process_time() + without_core()


def begin(samples: int) -> None:
    """Note the start of a batch, and add *samples* to it."""
    if not BEGUN[2]:
        BEGUN[:2] = perf_counter(), not_waiting()
    BEGUN[2] += samples


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
        begin(1)
        return self.inner[index]

    def __getitems__(self, indices: Any) -> Any:
        begin(len(indices))
        at_once = getattr(self.inner, "__getitems__", None)
        return at_once(indices) if at_once else [self.inner[index] for index in indices]

    def __iter__(self) -> Iterator[Any]:
        begin(0)
        for sample in self.inner:
            BEGUN[2] += 1
            yield sample
            begin(0)


def watched(inner: Any, base: type) -> Watched:
    """Return *inner* watched; the result is iterable, of class *base*, if that is."""
    if not isinstance(inner, base):
        return Watched(inner)
    reduce = {"__reduce__": lambda self: (watched, (self.inner, base))}
    return type("Stream", (Watched, base), reduce)(inner)  # type: ignore[no-any-return]


def noted(*parts: Any) -> Any:
    """Return a sample of one of our pipelines, and note it."""
    begin(1)
    return whole(parts)


def noted_batch(samples: Any) -> Any:
    """Return the samples of a batch that are fetched with one call, and note them."""
    begin(len(samples))
    return samples


def as_pytorch_says(loader: DataLoader) -> Any:
    """Return one of our loaders as PyTorch's describes itself, over a pipeline that is watched."""
    said = loader.node.arguments
    if said["batch_size"] is None:
        why = "must be a number, a loader without batches cannot be measured"
        raise ValueError(f"batch_size=None: {why}")
    inner = loader.node.inputs[0]
    first = base_of(inner) or next(walk(inner))
    note = noted_batch if one_call(loader.node) else noted
    told = said | {
        "dataset": Dataset(rebuilt(inner, {first: Dataset(first).map(note).node})),
        "batch_sampler": loader.batch_sampler,
        "collate_fn": said["collate_fn"] or stack,
    }
    if said["batch_sampler"] is not None:
        told["batch_size"] = None
    return SimpleNamespace(**told)


class Collated:
    """A collate function whose batches carry how they were made."""

    def __init__(self, inner: Callable[[Any], Any]) -> None:
        self.inner = inner

    def __call__(self, samples: Any) -> tuple[Any, WatchedBatch]:
        fetched, core, (began, core_then, count) = perf_counter(), not_waiting(), BEGUN
        batch = self.inner(samples)
        done = perf_counter()
        BEGUN[:] = done, core, 0
        wait = max(0.0, fetched - began - (core - core_then))
        return batch, WatchedBatch(os.getpid(), count, began, done, wait)


# ---- a device ----


@dataclass
class OnDevice:
    """A step that returns before it is done, as `benchmark` has it: `step=`, `train=` and `queue=`.

    Launching takes *launch* seconds and the device *train*; at most *queue* steps wait or
    run there.
    """

    launch: float
    train: float
    queue: int


def on_device(
    step: Callable[[Any], Any],
    batch: Any,
    synchronise: Callable[[], Any],
    clock: Callable[[], float] = perf_counter,
) -> OnDevice | None:
    """Return what *step* on *batch* takes to launch and on the device, and how deep its queue is.

    The step is timed with *synchronise*, which waits for the device, after each call
    (latency), then with one at the end of as many (throughput). None is returned for a step
    that waits for its own result, such as one that reads a loss.
    """

    def once() -> tuple[float, float]:
        """Return the seconds until the step returns, and until it is done."""
        began = clock()
        step(batch)
        returned = clock()
        synchronise()
        return returned - began, clock() - began

    once()  # compiles, and fetches memory
    many = min(LAUNCHES, max(4, int(LONG_ENOUGH / max(1e-6, once()[1]))))
    launch, latency = map(median, zip(*(once() for _ in range(many)), strict=True))
    if latency - launch <= SLIGHT_REST * launch:
        return None
    returned = [clock()]
    for _ in range(many):
        step(batch)
        returned.append(clock())
    synchronise()
    throughput = (clock() - returned[0] - launch) / many
    train = throughput if throughput > launch else latency - launch
    calls = [after - before for before, after in pairwise(returned)]
    late = [number for number, took in enumerate(calls) if took - launch > WAITED * train]
    queue = late[0] - int(late[0] * launch / train) if late else many
    return OnDevice(launch, train, max(1, queue))


# ---- the runs ----


class Subject:
    """A loader and a step that are watched; all runs go over the same samples in the same order."""

    nbytes = 0  # of a batch, as far as its parts know
    batch: Any = None  # the last one
    device: OnDevice | None = None  # if the step leaves something to one
    synchronise: Callable[[], Any] | None = None  # waits for what a step only launched
    count: int | None = None  # of the batches of an epoch, if that is known
    repeat_until = 0.0  # runs may be repeated
    start_of_one = 0.0  # s; until the first batch of a run with one worker

    def __init__(self, loader: Any, step: Callable[[Any], Any]) -> None:
        kinds = [kind for kind in type(loader).__mro__ if kind.__name__ == "DataLoader"]
        if not kinds:
            raise TypeError(f"loader={loader!r}: must be a DataLoader as PyTorch has it")
        self.kind, self.loader, self.step = kinds[-1], loader, step
        if isinstance(loader, DataLoader):
            self.loader = as_pytorch_says(loader)
            self.dataset = self.loader.dataset
            self.stream = self.loader.batch_sampler is None
        else:
            base = sys.modules[self.kind.__module__].IterableDataset
            self.dataset = watched(loader.dataset, base)
            self.stream = isinstance(loader.dataset, base)
        self.batches: list[Any] = []
        if not self.stream:
            batches = self.loader.batch_sampler
            self.draw(loader.sampler if batches is None else batches)
            if self.count is None:
                with suppress(Exception):  # a sampler needs no length
                    self.count = len(loader)

    def draw(self, order: Any) -> None:
        """Draw the batches of one epoch, and count them if they come to an end."""
        with ExitStack() as then:
            for sampler in (order, getattr(order, "sampler", None)):
                generator: Any = getattr(sampler, "generator", None)
                if hasattr(generator, "set_state"):  # it draws for this as for an epoch
                    then.callback(generator.set_state, generator.get_state())
            self.batches += islice(order, MOST_BATCHES)
        if len(self.batches) < MOST_BATCHES:
            self.count = len(self.batches)

    def go(
        self,
        workers: int,
        seconds: float,
        *,
        step: bool = False,
        factor: int = 2,
        size: int = 1,
    ) -> Watch:
        """Return what a run with *workers* showed, which ended after *seconds* or before.

        The run calls the *step* if that is asked for, has a prefetch *factor*, and batches
        that are *size* times as large.
        """
        said = self.loader
        options = {name: getattr(said, name) for name in PASSED if hasattr(said, name)}
        options |= {"collate_fn": Collated(said.collate_fn), "num_workers": workers}
        if workers:
            options["prefetch_factor"] = factor
            if hasattr(said, "timeout"):  # it is PyTorch's
                options["timeout"] = NEVER + workers * self.start_of_one
                options["multiprocessing_context"] = said.multiprocessing_context
        if self.stream:
            batch_size = said.batch_size and size * said.batch_size
            options |= {"batch_size": batch_size, "drop_last": said.drop_last}
        elif said.batch_sampler is None:
            options |= {"batch_size": None, "sampler": self.batches}
        else:
            groups = zip(*[iter(self.batches)] * size, strict=False)
            options["batch_sampler"] = [[*chain.from_iterable(group)] for group in groups]
        loader = self.kind(self.dataset, **options)
        return self.watch(loader, workers, seconds, self.step if step else None)

    def watch(
        self, loader: Any, workers: int, seconds: float, step: Callable[[Any], Any] | None
    ) -> Watch:
        """Return what a run over *loader* showed; RuntimeError says what failed, it or the step.

        The *seconds* count from the first batch on: a worker may take longer than that to start.
        """
        BEGUN[2], seen = 0, Watch(workers)
        at_work = loads = "with a worker, the loader" if workers else "the loader"
        source = None
        try:
            source = iter(loader)
            seen.opened = seen.ended = perf_counter()
            for self.batch, made in source:
                got, before = perf_counter(), process_time()
                self.nbytes = self.nbytes or size_of(self.batch, 0)
                if step:
                    at_work = "the step"
                    step(self.batch)
                    at_work = loads
                asked, seen.ended = seen.ended, perf_counter()
                on_core = process_time() - before
                seen.batches.append(
                    made._replace(
                        asked=asked, got=got, stepped=seen.ended, step_core=on_core
                    )
                )
                if seen.ended - seen.batches[0].got >= seconds:
                    break
            else:
                seen.whole = True
            if self.synchronise:
                self.synchronise()
        except Exception as error:
            why = f"{at_work} raised at batch {len(seen.batches) + 1}: {error!r}"
            raise RuntimeError(why) from error
        finally:
            # Also where an error keeps the iterator
            for name in ("_shutdown_workers", "close"):
                getattr(source, name, lambda: None)()
            source = None
        if seen.batches and workers == 1:
            self.start_of_one = max(self.start_of_one, seen.batches[0].got - seen.began)
        return seen


def size_of_batch(indices: Any) -> int:
    """Return how many samples a batch has; a sample that is in none counts as one."""
    return len(indices) if hasattr(indices, "__len__") else 1


@contextmanager
def restored() -> Iterator[Any]:
    """Restore random states and the number of threads after the block.

    The block gets PyTorch, or None if it is not imported. PyTorch's warning of more workers
    than cores is ignored: they are only tried here.
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
