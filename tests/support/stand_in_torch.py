"""A stand-in for what we use of PyTorch: a loader with real workers, states, a device.

`tests/databound/test_stand_in_torch.py` holds it against PyTorch itself where that is installed.
Whatever is tested with it asks for the fixture `library`, and so is tested with both.
"""

import multiprocessing
import os
import random
import traceback
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import cycle, islice, repeat
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, NamedTuple

from support.stand_in_device import Device

LAST_BATCH = 5.0  # s; how long a worker may still work on a batch when it is told to end
# What a worker answers.
END = "end"
ERROR = "error"
MADE = "made"
# What a worker is told beside its tasks.
ANEW = "anew"  # open the data set for another epoch
STOP = "stop"

_info: Any = None  # in a worker, who it is


class WorkerInfo(NamedTuple):
    id: int
    num_workers: int
    seed: int
    dataset: Any


def get_worker_info() -> Any:
    return _info


class Dataset:
    pass


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
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(islice(indices, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        whole, left = divmod(len(self.sampler), self.batch_size)
        return whole + bool(left and not self.drop_last)


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
        for_workers = prefetch_factor, multiprocessing_context, persistent_workers or None
        if not num_workers and any(value is not None for value in for_workers):
            raise ValueError("an option of workers without workers")
        is_said_twice = batch_size != 1 or shuffle or sampler is not None or drop_last
        if batch_sampler is not None and is_said_twice:
            raise ValueError("batch_sampler excludes batch_size and others")
        if batch_size is None and (shuffle or drop_last):
            raise ValueError("without batches there is nothing to shuffle or to drop")
        self.is_stream = isinstance(dataset, IterableDataset)
        if sampler is None:
            if self.is_stream:
                sampler = repeat(None)
            elif shuffle:
                sampler = RandomSampler(dataset, generator)
            else:
                sampler = SequentialSampler(dataset)
        if batch_sampler is not None:
            batch_size = None
        elif batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        if collate_fn is None:
            collate_fn = default_convert if batch_sampler is None else default_collate
        self.dataset = dataset
        self.batch_size = batch_size
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.num_workers = num_workers
        self.collate_fn = collate_fn
        self.pin_memory = pin_memory
        self.drop_last = drop_last
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.generator = generator
        unsaid = 2 if num_workers else None
        self.prefetch_factor = unsaid if prefetch_factor is None else prefetch_factor
        self.persistent_workers = persistent_workers
        self.pin_memory_device = pin_memory_device
        self.in_order = in_order
        self._iterator: ByWorkers | None = None  # the one whose workers stay

    def tasks(self) -> Iterator[Any]:
        return iter(self.sampler if self.batch_sampler is None else self.batch_sampler)

    def __len__(self) -> int:
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)

    def __iter__(self) -> Iterator[Any]:
        if not self.num_workers:
            return Alone(self)
        if not self.persistent_workers:
            return ByWorkers(self)
        if self._iterator is None:
            self._iterator = ByWorkers(self)
        else:
            self._iterator.begin()
        return self._iterator


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
        self.fetching = Fetching(loader)
        self.tasks = loader.tasks()

    def __next__(self) -> Any:
        return self.fetching.make(next(self.tasks))


class ByWorkers(Iterator[Any]):
    """Goes over a loader with workers: each has a pipe for its tasks and its answers."""

    def __init__(self, loader: DataLoader) -> None:
        self.loader = loader
        self.pipes: list[Any] = []
        self.processes: list[Any] = []
        # What has come, and which worker was asked, by the number of the task
        self.answers: dict[int, tuple[str, Any]] = {}
        self.who: dict[int, int] = {}
        self.is_shut = False
        context = multiprocessing.get_context("fork")
        for number in range(loader.num_workers):
            ours, theirs = context.Pipe()
            process = context.Process(
                target=serve,
                args=(theirs, loader, number, [*self.pipes, ours]),
                daemon=True,
            )
            with warnings.catch_warnings():
                # Of threads, which the child leaves alone
                warnings.simplefilter("ignore", DeprecationWarning)
                process.start()
            theirs.close()
            self.pipes.append(ours)
            self.processes.append(process)
        self.begin()

    def begin(self) -> None:
        """Begin an epoch, when what was asked for in the one before has come."""
        while self.who.keys() - self.answers.keys():
            self.hear()
        self.tasks = self.loader.tasks()
        self.sent = 0
        self.given = 0
        self.answers.clear()
        self.who.clear()
        self.alive = set(range(len(self.pipes)))
        self.turns = cycle(range(len(self.pipes)))
        for pipe in self.pipes:
            pipe.send(ANEW)
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
            if kind == ERROR:
                raise value[0](value[1])
            if kind == MADE:
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
    failed: Exception | None = None
    try:
        if loader.worker_init_fn:
            loader.worker_init_fn(number)
    except Exception as error:
        failed = error
    fetching: Fetching | None = None
    with suppress(EOFError, OSError, KeyboardInterrupt):  # nobody listens any more
        while (told := pipe.recv()) != STOP:
            if told == ANEW:
                fetching = None
                continue
            place, task = told
            try:
                if failed:
                    raise failed
                fetching = fetching or Fetching(loader)
                answer: tuple[str, Any] = MADE, fetching.make(task)
            except StopIteration:
                answer = END, None
            except Exception as error:
                caught = (
                    f"Caught {type(error).__name__} in DataLoader worker process {number}."
                )
                original = "".join(traceback.format_exception(error))
                answer = ERROR, (type(error), f"{caught}\nOriginal {original}")
            pipe.send((place, *answer))
    os._exit(0)


class NoGrad:
    """Within it no gradients are computed."""

    def __init__(self, state: dict[str, Any]) -> None:
        self.state = state

    def __enter__(self) -> None:
        self.state["grad"] = False

    def __exit__(self, *_: object) -> None:
        self.state["grad"] = True


def library(device: Device | None = None) -> types.ModuleType:
    """Return a module that stands for `torch`; with a *device*, CUDA is initialised."""
    torch: Any = types.ModuleType("torch")
    torch.utils = types.ModuleType("torch.utils")
    torch.utils.data = types.ModuleType("torch.utils.data")
    samplers = BatchSampler, RandomSampler, SequentialSampler
    for kind in (DataLoader, Dataset, IterableDataset, *samplers):
        setattr(torch.utils.data, kind.__name__, kind)
    torch.utils.data.get_worker_info = get_worker_info
    torch.Generator = Generator
    torch.cuda = types.ModuleType("torch.cuda")
    torch.cuda.is_available = torch.cuda.is_initialized = lambda: device is not None
    torch.cuda.synchronize = device.synchronize if device else None
    state: dict[str, Any] = {"threads": 2, "drawn": 1, "gpus": [1], "grad": True}
    torch.cuda.get_rng_state_all = lambda: state["gpus"]
    torch.cuda.set_rng_state_all = lambda drawn: state.update(gpus=drawn)
    torch.get_num_threads = lambda: state["threads"]
    torch.set_num_threads = lambda count: state.update(threads=count)
    torch.autograd = types.ModuleType("torch.autograd")
    torch.autograd.backward = torch.autograd.grad = lambda *given: None
    torch.is_grad_enabled = lambda: state["grad"]
    torch.is_inference_mode_enabled = lambda: False
    torch.no_grad = lambda: NoGrad(state)
    torch.save = lambda model, path: Path(path).write_text(str(model), "utf-8")
    torch.get_rng_state = lambda: state["drawn"]
    torch.set_rng_state = lambda drawn: state.update(drawn=drawn)
    return torch  # type: ignore[no-any-return]
