"""Run a described loop over real PyTorch's `DataLoader`: batches, who made them, when, and which errors."""

import gc
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

# numpy.random: or each forked worker would import it anew, when PyTorch seeds it
import numpy.random
import torch
from torch.utils.data import DataLoader, RandomSampler, SequentialSampler

from evidence.loaders.data import Sample, dataset
from evidence.loaders.form import Spec
from evidence.record import Json

HANDED_ON = (  # arguments that the loader gets as they are said
    "batch_size",
    "drop_last",
    "in_order",
    "persistent_workers",
    "pin_memory",
    "prefetch_factor",
    "timeout",
)
READY: float | None = None  # in a worker: when its worker_init_fn began


@dataclass
class Batch:
    """What the loop gets: the samples, and when their worker was ready."""

    samples: list[Sample]
    ready: float | None


@dataclass
class Collate:
    """Makes a batch; this takes a while."""

    seconds: float

    def __call__(self, samples: Any) -> Batch:
        time.sleep(self.seconds)
        # Without batches it gets one sample
        return Batch([samples] if isinstance(samples, Sample) else samples, READY)


@dataclass
class Init:
    """Begins a worker; this takes a while, and may fail."""

    seconds: float
    fails: list[int]

    def __call__(self, worker: int) -> None:
        global READY
        READY = time.perf_counter()
        time.sleep(self.seconds)
        if worker in self.fails:
            raise RuntimeError(f"init failed in worker {worker}")


class Watched:
    """A sampler whose orders are remembered."""

    def __init__(self, sampler: Any) -> None:
        self.sampler = sampler
        self.orders: list[list[int]] = []

    def __len__(self) -> int:
        return len(self.sampler)

    def __iter__(self) -> Iterator[int]:
        return self.indices()

    def indices(self) -> Iterator[int]:
        """Give the indices, each as it is asked for."""
        order: list[int] = []
        self.orders.append(order)
        for index in self.sampler:
            order.append(index)
            yield index


@dataclass
class Epoch:
    """One pass of the loop. All times are seconds from its call of `iter`."""

    batches: list[list[int]] = field(default_factory=list)
    worker: list[int | None] = field(default_factory=list)
    arrivals: list[float] = field(default_factory=list)
    sequence: list[Json] = field(
        default_factory=list
    )  # of all requests, errors and the end too
    outcome: str = "end"
    error: Json = None  # of `iter`
    iter_s: float = 0.0
    whole_s: float = 0.0  # until its iterator is gone
    ready: dict[int, float] = field(default_factory=dict)
    order: list[int] | None = None


@dataclass
class Ran:
    """The loader ran."""

    length: int | None
    epochs: list[Epoch]


@dataclass
class Refused:
    """The loader could not be built."""

    error: Exception


def described(error: BaseException) -> Json:
    """Return an error as the files have it."""
    return {"type": type(error).__name__, "msg": str(error).split("\n")[0][:160]}


def run(spec: Spec) -> Ran | Refused:
    """Build the loader of *spec* and go through its epochs."""
    try:
        loader, sampler = built(spec)
    except (ValueError, TypeError, AssertionError) as error:
        return Refused(error)
    try:
        length = len(loader)
    except TypeError:
        length = None
    epochs = [
        one_epoch(spec, loader, sampler, number) for number in range(spec.get("epochs", 1))
    ]
    loader._iterator = None  # persistent workers end here
    gc.collect()
    return Ran(length, epochs)


def built(spec: Spec) -> tuple[Any, Watched | None]:
    """Make the loader, and the sampler whose orders it has, if it is ours."""
    said = spec["loader"]
    data = dataset(spec["dataset"])
    given: dict[str, Any] = {
        name: value
        for name, value in said.items()
        if name in HANDED_ON and value is not None
    }
    if "batch_size" in said:
        given["batch_size"] = said["batch_size"]  # None is a value, too
    generator = None
    if "seed" in said:
        generator = given["generator"] = torch.Generator().manual_seed(said["seed"])
    sampler = None
    if "batch_sampler" in said:
        given.pop("batch_size", None)
        given["batch_sampler"] = said["batch_sampler"]
    elif spec["dataset"]["kind"] == "map" and not spec.get("plain_shuffle"):
        is_shuffled = said.get("shuffle", False)
        drawn = (
            RandomSampler(data, generator=generator)
            if is_shuffled
            else SequentialSampler(data)
        )
        sampler = given["sampler"] = Watched(drawn)
    elif said.get("shuffle"):
        given["shuffle"] = True
    if workers := said.get("num_workers", 0):
        given["worker_init_fn"] = Init(
            spec.get("worker_init", 0), spec.get("init_fail", [])
        )
    collate = Collate(spec.get("collate", 0))
    return DataLoader(data, num_workers=workers, collate_fn=collate, **given), sampler


def one_epoch(spec: Spec, loader: Any, sampler: Watched | None, number: int) -> Epoch:
    """Go through the loader once, as the description says."""
    gc.collect()
    epoch = Epoch()
    began = time.perf_counter()
    try:
        iterator = iter(loader)
    except Exception as error:  # whatever it is, it is what is asked for
        epoch.outcome = "iter_error"
        epoch.error = described(error)
        return epoch
    epoch.iter_s = time.perf_counter() - began
    loop(spec, iterator, epoch, began, number)
    del iterator  # which joins its workers
    epoch.whole_s = time.perf_counter() - began
    if sampler and sampler.orders:
        epoch.order = sampler.orders[-1]
    return epoch


def loop(
    spec: Spec, iterator: Iterator[Batch], epoch: Epoch, began: float, number: int
) -> None:
    """Ask for batches until the end, or until the description says that it is enough."""
    limits = spec.get("consume") or []
    limit = limits[number] if number < len(limits) else None
    said = spec.get("train", 0)
    train = said if isinstance(said, list) else [said]
    errors = ends = 0
    while limit is None or len(epoch.batches) < limit:
        try:
            batch = next(iterator)
        except StopIteration:
            epoch.sequence.append({"end": True})
            ends += 1
            if ends > spec.get("extra_next", 0):
                return
            continue
        except Exception as error:  # whatever a learner's function raises
            epoch.outcome = "error"
            epoch.sequence.append({"error": described(error)})
            errors += 1
            if errors > spec.get("max_errors", 0):
                return
            continue
        epoch.arrivals.append(time.perf_counter() - began)
        note(epoch, batch, began)
        time.sleep(train[(len(epoch.batches) - 1) % len(train)])
    epoch.outcome = "abandoned"


def note(epoch: Epoch, batch: Batch, began: float) -> None:
    """Take down what is in a batch."""
    values = [sample.value for sample in batch.samples]
    worker = batch.samples[0].worker if batch.samples else None
    epoch.batches.append(values)
    epoch.worker.append(worker)
    epoch.sequence.append({"batch": values})
    if worker is not None and batch.ready is not None:
        epoch.ready[worker] = batch.ready - began


def warm_up() -> None:
    """Have what happens once behind us.

    `gc.freeze` keeps the collector from walking through all objects of PyTorch in each child.
    """
    warnings.filterwarnings("ignore")
    numpy.random.random()
    run({"name": "warm", "dataset": {"kind": "map", "n": 4}, "loader": {"num_workers": 2}})
    gc.collect()
    gc.freeze()
