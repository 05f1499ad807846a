"""A stand-in for what we use of PyTorch: a loader with real workers, states, a device.

`tests/databound/test_stand_in_torch.py` holds it against PyTorch itself where that is installed.
Whatever is tested with it asks for the fixture `library`, and so is tested with both.
"""

import multiprocessing
import os
import random
import time
import traceback
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import cycle, islice
from multiprocessing.connection import wait
from typing import Any, NamedTuple

LAST_BATCH = 5.0  # s; how long a worker may still work on a batch when it is told to end
END, ERROR, MADE, STOP = "end", "error", "made", "stop"

_info: Any = None  # in a worker, who it is


class WorkerInfo(NamedTuple):
    id: int
    num_workers: int
    seed: int
    dataset: Any


def get_worker_info() -> Any:
    return _info


class Dataset:
    def __class_getitem__(cls, _: Any) -> Any:
        return cls


class IterableDataset(Dataset):
    pass


class SequentialSampler:
    def __init__(self, data_source: Any) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class Generator(random.Random):
    def manual_seed(self, seed: int) -> "Generator":
        self.seed(seed)
        return self

    get_state, set_state = random.Random.getstate, random.Random.setstate


class RandomSampler(SequentialSampler):
    def __init__(self, data_source: Any, generator: Any = None) -> None:
        super().__init__(data_source)
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        draw = self.generator or random
        return iter(draw.sample(range(len(self.data_source)), len(self.data_source)))


class BatchSampler:
    def __init__(self, sampler: Any, batch_size: int, drop_last: bool) -> None:
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(islice(indices, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        whole, left = divmod(len(self.sampler), self.batch_size)
        return whole + bool(left and not self.drop_last)


class Endless:
    """The sampler of an iterable data set."""

    def __iter__(self) -> Iterator[None]:
        return iter(lambda: None, 0)


def default_collate(samples: Any) -> Any:
    return [*samples]


def default_convert(sample: Any) -> Any:
    return sample


class DataLoader:
    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], object] | None = None,
        multiprocessing_context: Any = None,
        generator: Any = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        if not num_workers and (
            prefetch_factor is not None or multiprocessing_context is not None
        ):
            raise ValueError("prefetch_factor and multiprocessing_context are for workers")
        if not num_workers and persistent_workers:
            raise ValueError("persistent_workers option needs num_workers > 0")
        if batch_sampler is not None and (
            batch_size != 1 or shuffle or sampler is not None or drop_last
        ):
            raise ValueError(
                "batch_sampler option is mutually exclusive with batch_size and others"
            )
        if batch_size is None and (shuffle or drop_last):
            raise ValueError("batch_size=None option disables auto-batching")
        self.dataset, self.num_workers, self.timeout = dataset, num_workers, timeout
        self.pin_memory, self.pin_memory_device, self.in_order = (
            pin_memory,
            pin_memory_device,
            in_order,
        )
        self.drop_last, self.worker_init_fn, self.generator = (
            drop_last,
            worker_init_fn,
            generator,
        )
        self.prefetch_factor = (
            (2 if prefetch_factor is None else prefetch_factor) if num_workers else None
        )
        self.persistent_workers, self.multiprocessing_context = (
            persistent_workers,
            multiprocessing_context,
        )
        self.is_stream = isinstance(dataset, IterableDataset)
        if sampler is None:
            sampler = (
                RandomSampler(dataset, generator) if shuffle else SequentialSampler(dataset)
            )
            sampler = Endless() if self.is_stream else sampler
        self.sampler = sampler
        self.batch_size = batch_size = None if batch_sampler is not None else batch_size
        if batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_sampler = batch_sampler
        batched = batch_sampler is not None
        self.collate_fn = collate_fn or (default_collate if batched else default_convert)
        self._iterator: Any = None  # the one whose workers stay

    def tasks(self) -> Iterator[Any]:
        return iter(self.sampler if self.batch_sampler is None else self.batch_sampler)

    def __len__(self) -> int:
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)

    def __iter__(self) -> Iterator[Any]:
        if not self.num_workers:
            return Alone(self)
        if self._iterator is None or not self.persistent_workers:
            self._iterator = None
            workers = ByWorkers(self)
            self._iterator = workers if self.persistent_workers else None
            return workers
        self._iterator.begin()
        return self._iterator  # type: ignore[no-any-return]


class Fetching:
    """Makes batches in one process."""

    def __init__(self, loader: DataLoader) -> None:
        self.loader = loader
        self.source = iter(loader.dataset) if loader.is_stream else None

    def make(self, task: Any) -> Any:
        """Make the batch of a *task*; StopIteration at the end of an iterable."""
        loader, data = self.loader, self.loader.dataset
        if loader.batch_sampler is None:
            return loader.collate_fn(
                data[task] if self.source is None else next(self.source)
            )
        if self.source is not None:
            samples = list(islice(self.source, len(task)))
            if not samples or (loader.drop_last and len(samples) < len(task)):
                raise StopIteration
        elif hasattr(data, "__getitems__") and data.__getitems__:
            samples = data.__getitems__(task)
        else:
            samples = [data[index] for index in task]
        return loader.collate_fn(samples)


class Alone(Iterator[Any]):
    """Goes over a loader without workers."""

    def __init__(self, loader: DataLoader) -> None:
        self.fetching, self.tasks = Fetching(loader), loader.tasks()

    def __next__(self) -> Any:
        return self.fetching.make(next(self.tasks))


class ByWorkers(Iterator[Any]):
    """Goes over a loader with workers: each has a pipe for its tasks and its answers."""

    def __init__(self, loader: DataLoader) -> None:
        self.loader, self.pipes, self.processes = loader, list[Any](), list[Any]()
        self.answers: dict[int, Any] = {}  # that have come, by the number of their task
        self.who: dict[int, int] = {}  # has which task
        self.is_shut = False
        context: Any = multiprocessing.get_context("fork")
        for number in range(loader.num_workers):
            ours, theirs = context.Pipe()
            process = context.Process(
                target=serve, args=(theirs, loader, number, [*self.pipes, ours])
            )
            process.daemon = True
            with warnings.catch_warnings():
                warnings.simplefilter(
                    "ignore", DeprecationWarning
                )  # of threads, which the child leaves alone
                process.start()
            theirs.close()
            self.pipes.append(ours)
            self.processes.append(process)
        self.begin()

    def begin(self) -> None:
        """Begin an epoch, when what was asked for in the one before has come."""
        while self.who.keys() - self.answers.keys():
            self.hear()
        self.tasks, self.sent, self.given = self.loader.tasks(), 0, 0
        self.answers, self.who = {}, {}
        self.alive = set(range(len(self.pipes)))
        self.turns = cycle(range(len(self.pipes)))
        for pipe in self.pipes:
            pipe.send(None)  # open the data set
        for _ in range(len(self.pipes) * (self.loader.prefetch_factor or 2)):
            self.send()

    def send(self) -> None:
        """Give the next task to the next worker that has not come to its end."""
        if self.alive and (task := next(self.tasks, END)) is not END:
            worker = next(turn for turn in self.turns if turn in self.alive)
            self.pipes[worker].send((self.sent, task))
            self.who[self.sent] = worker
            self.sent += 1

    def __next__(self) -> Any:
        while self.given < self.sent:
            in_order = self.loader.in_order
            while not self.answers or (in_order and self.given not in self.answers):
                self.hear()
            number = self.given if in_order else next(iter(self.answers))
            kind, value = self.answers.pop(number)
            worker = self.who.pop(number)
            self.given += 1
            if kind == END:
                self.alive.discard(worker)
                self.send()
                continue
            self.send()
            if kind == ERROR:
                raise value[0](value[1])
            return value
        if not self.loader.persistent_workers:
            self._shutdown_workers()
        raise StopIteration

    def hear(self) -> None:
        """Take the next answer of any worker."""
        limit = self.loader.timeout or None
        ready: list[Any] = wait(self.pipes, limit)
        if not ready:
            raise RuntimeError(f"DataLoader timed out after {limit} seconds")
        for pipe in ready:
            try:
                number, kind, value = pipe.recv()
            except (EOFError, OSError):
                pid = self.processes[self.pipes.index(pipe)].pid
                raise RuntimeError(
                    f"DataLoader worker (pid(s) {pid}) exited unexpectedly"
                ) from None
            self.answers[number] = (kind, value)

    def _shutdown_workers(self) -> None:
        if self.is_shut:
            return
        self.is_shut = True
        for pipe in self.pipes:
            with suppress(OSError):  # it has died
                pipe.send(STOP)
            pipe.close()
        for process in self.processes:
            process.join(LAST_BATCH)
            process.kill()
            process.join()
            process.close()

    def __del__(self) -> None:
        self._shutdown_workers()


def serve(pipe: Any, loader: DataLoader, number: int, others: list[Any]) -> None:
    """Answer the tasks that come through *pipe*, until the parent says stop or is gone."""
    global _info
    for other in others:
        other.close()  # or nobody would notice that the parent has closed it
    seed = random.getrandbits(40) + number
    random.seed(seed)
    _info = WorkerInfo(number, loader.num_workers, seed, loader.dataset)
    failed, fetching = None, None
    try:
        if loader.worker_init_fn:
            loader.worker_init_fn(number)
    except Exception as error:
        failed = error
    while True:
        try:
            asked = pipe.recv()
            if asked == STOP:
                os._exit(0)
            if asked is None:  # another epoch
                fetching = None
                continue
            told: Any = END, None
            try:
                if failed:
                    raise failed
                fetching = fetching or Fetching(loader)
                told = MADE, fetching.make(asked[1])
            except StopIteration:
                pass
            except Exception as error:
                text = "".join(traceback.format_exception(error))
                name = (
                    f"Caught {type(error).__name__} in DataLoader worker process {number}."
                )
                told = ERROR, (type(error), f"{name}\nOriginal {text}")
            pipe.send((asked[0], *told))
        except (EOFError, OSError, KeyboardInterrupt):
            os._exit(0)


# ---- the rest of the library ----


class Clock:
    """Time that goes on when somebody spends it."""

    now = 0.0

    def __call__(self) -> float:
        return self.now

    def spend(self, seconds: float) -> None:
        self.now += seconds


class Device:
    """A stand-in for an accelerator: launches wait in its queue, and are done one by one.

    Launching takes the host *launch* seconds, and the device *busy*. At most *depth*
    launches wait or are at work; who launches one more waits for the first of them. A
    *clock* can be called for the time, and has `spend`.
    """

    def __init__(
        self, launch: float, busy: float, depth: int = 1000, clock: Clock | None = None
    ) -> None:
        self.launching, self.busy, self.depth = launch, busy, depth
        self.clock: Callable[[], float] = clock or time.perf_counter
        self.sleep: Callable[[float], None] = clock.spend if clock else time.sleep
        self.ends: list[float] = []  # when each launch will be done

    def launch(self, _: Any = None) -> None:
        """Begin a step on the device."""
        self.sleep(self.launching)
        if len(self.ends) >= self.depth:
            self.wait_until(self.ends[-self.depth])
        self.ends.append(max([self.clock(), *self.ends[-1:]]) + self.busy)

    def synchronize(self, _: Any = None) -> None:
        """Wait until all that was launched is done."""
        self.wait_until(max(self.ends, default=0))

    def wait_until(self, due: float) -> None:
        """Sleep until *due*."""
        if (left := due - self.clock()) > 0:
            self.sleep(left)


def library(device: Device | None = None) -> types.ModuleType:
    """Return a module that stands for `torch`; with a *device*, CUDA is initialised."""
    torch: Any = types.ModuleType("torch")
    torch.utils = types.ModuleType("torch.utils")
    torch.utils.data = types.ModuleType("torch.utils.data")
    for kind in (
        DataLoader,
        Dataset,
        IterableDataset,
        BatchSampler,
        RandomSampler,
        SequentialSampler,
    ):
        setattr(torch.utils.data, kind.__name__, kind)
    torch.utils.data.get_worker_info = get_worker_info
    torch.Generator = Generator
    torch.cuda = types.ModuleType("torch.cuda")
    torch.cuda.is_available = torch.cuda.is_initialized = lambda: device is not None
    torch.cuda.synchronize = device.synchronize if device else None
    state: dict[str, Any] = {"threads": 2, "drawn": 1, "gpus": [1]}
    torch.cuda.get_rng_state_all = lambda: state["gpus"]
    torch.cuda.set_rng_state_all = lambda drawn: state.update(gpus=drawn)
    torch.get_num_threads = lambda: state["threads"]
    torch.set_num_threads = lambda count: state.update(threads=count)
    torch.get_rng_state = lambda: state["drawn"]
    torch.set_rng_state = lambda drawn: state.update(drawn=drawn)
    return torch  # type: ignore[no-any-return]
