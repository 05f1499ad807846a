"""A stand-in for what we use of PyTorch, over our own loader, which makes the batches in real processes.

Here is only what PyTorch has and we do not: samplers with a state, datasets that are classes and that
a worker can ask for, states of random numbers, a device. A *timeout* is noted, and not kept.
`tests/databound/test_stand_in_torch.py` holds it against PyTorch itself where that is installed.
Whatever is tested with it asks for the fixture `library`, and so is tested with both.
"""

import random
import types
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice, repeat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import lessonkit
from lessonkit.engine.workers.main_process import end_workers_that_stay
from support.stand_in_device import Device

# Our loader has none of these, or means something else by it
NOT_OURS = ("timeout", "multiprocessing_context", "generator", "pin_memory_device")
# What a loader is if nothing else is said
USUAL: dict[str, Any] = {
    "shuffle": None,
    "sampler": None,
    "batch_sampler": None,
    "num_workers": 0,
    "collate_fn": None,
    "pin_memory": False,
    "drop_last": False,
    "timeout": 0,
    "worker_init_fn": None,
    "multiprocessing_context": None,
    "generator": None,
    "prefetch_factor": None,
    "persistent_workers": False,
    "pin_memory_device": "",
    "in_order": True,
}
# What a loader reads of itself when an epoch begins
READ_IN_AN_EPOCH = (
    "num_workers",
    "collate_fn",
    "pin_memory",
    "prefetch_factor",
    "persistent_workers",
    "in_order",
)
# Whatever number a sampler gives, a dataset is asked for it
NUMBERS = lessonkit.Dataset.range(2**62)

_dataset: Any = None  # in a worker, that of its loader


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


class DataLoader:
    """Says of itself what PyTorch's does; `ours` makes its batches, and refuses what PyTorch refuses."""

    shuffle: bool | None
    sampler: Any
    batch_sampler: Any
    num_workers: int
    collate_fn: Callable[[Any], Any] | None
    pin_memory: bool
    drop_last: bool
    timeout: float
    worker_init_fn: Callable[[int], object] | None
    multiprocessing_context: Any
    generator: Any
    prefetch_factor: int | None
    persistent_workers: bool
    pin_memory_device: str
    in_order: bool

    def __init__(self, dataset: Any, batch_size: int | None = 1, **said: Any) -> None:
        vars(self).update(USUAL | said)
        self.dataset = dataset
        self.batch_size = batch_size
        self._iterator: Batches | None = None  # of workers that stay
        if self.num_workers and self.prefetch_factor is None:
            self.prefetch_factor = 2
        if self.collate_fn is None:
            self.collate_fn = as_it_is if batch_size is None else list
        if self.is_stream:
            self.sampler = repeat(None)
        elif self.sampler is None:
            kind = partial(RandomSampler, generator=self.generator)
            self.sampler = (kind if self.shuffle else SequentialSampler)(dataset)
        told = {name: value for name, value in said.items() if name not in NOT_OURS}
        lessonkit.DataLoader(
            self.samples(), batch_size, **told
        )  # refuses what PyTorch refuses
        if self.batch_sampler is not None:
            self.batch_size = None
        elif batch_size is not None:
            self.batch_sampler = BatchSampler(self.sampler, batch_size, self.drop_last)

    @property
    def is_stream(self) -> bool:
        return isinstance(self.dataset, IterableDataset)

    def samples(self) -> lessonkit.Dataset:
        """Return the dataset as ours."""
        if self.is_stream:
            return lessonkit.Dataset.from_generator(partial(iter, self.dataset))
        return NUMBERS.map(partial(fetched, self.dataset))

    def ours(self) -> lessonkit.DataLoader:
        """Return our loader as this one is now: PyTorch, too, reads it when an epoch begins."""
        told: dict[str, Any] = {name: getattr(self, name) for name in READ_IN_AN_EPOCH}
        if self.batch_sampler is None:
            told |= {
                "batch_size": None,
                "sampler": None if self.is_stream else self.sampler,
            }
        elif self.is_stream:
            told |= {
                "batch_size": self.batch_sampler.batch_size,
                "drop_last": self.drop_last,
            }
        else:
            told["batch_sampler"] = self.batch_sampler
        told["worker_init_fn"] = partial(begin, self.dataset, self.worker_init_fn)
        return lessonkit.DataLoader(self.samples(), getitems=True, **told)

    def __len__(self) -> int:
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)

    def __iter__(self) -> Iterator[Any]:
        if not (self.persistent_workers and self.num_workers):
            return Batches(self.ours())
        if self._iterator is None:
            self._iterator = Batches(self.ours())
        else:
            self._iterator.begin()
        return self._iterator


class Batches(Iterator[Any]):
    """Goes over one of our loaders, again if it is told to."""

    def __init__(self, loader: lessonkit.DataLoader) -> None:
        self.loader = loader
        self.begin()

    def begin(self) -> None:
        self.inner: Any = iter(self.loader)

    def __next__(self) -> Any:
        return next(self.inner)

    def _shutdown_workers(self) -> None:
        """End the workers now, as PyTorch does; ours stay until nobody knows their loader any more.

        A thread that waits for the batch of one knows it, and so the worker could outlive this.
        """
        self.inner.close()
        end_workers_that_stay(self.loader.node)


def fetched(dataset: Any, task: Any) -> Any:
    """Return the sample of *dataset* that has a number, or the samples that have several."""
    if not isinstance(task, list):
        return dataset[task]
    at_once = getattr(dataset, "__getitems__", None)
    return at_once(task) if at_once else [dataset[index] for index in task]


def as_it_is(sample: Any) -> Any:
    return sample


def begin(dataset: Any, init: Callable[[int], object] | None, number: int) -> None:
    """Begin as worker *number*, before its first batch."""
    global _dataset
    _dataset = dataset
    if init:
        init(number)


def get_worker_info() -> Any:
    info = lessonkit.get_worker_info()
    return info and SimpleNamespace(**info._asdict(), dataset=_dataset)


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
