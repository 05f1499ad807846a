"""A loader of somebody else: whether it is one, whose class it is, and what it draws and gives."""

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from copy import deepcopy
from types import ModuleType, SimpleNamespace
from typing import Any

from lessonkit.dataset import Dataset
from lessonkit.engine.element import stack
from lessonkit.engine.node import base_of, one_call, rebuilt, walk
from lessonkit.loader import DataLoader

from .watching import WatchedBatch, noted, noted_batch

# `Any` in this module is a loader, a sampler, a dataset or a batch of somebody else: what PyTorch
# calls so, or something that only looks like it.


def size_of_batch(indices: Any) -> int:
    """Return how many samples a batch has; a sample that is in none counts as one."""
    return len(indices) if hasattr(indices, "__len__") else 1


def kind_of(loader: Any) -> type:
    """Return the class of PyTorch's loader, or of ours, of which *loader* is one.

    Raises TypeError for what is none. A class of another library may have the same name.
    """
    kinds: tuple[type, ...] = loader.__class__.__mro__
    for kind in reversed(kinds):
        module = sys.modules.get(kind.__module__)
        if kind is DataLoader:
            return kind
        if kind.__name__ == "DataLoader" and hasattr(module, "IterableDataset"):
            return kind
    raise TypeError(f"loader={loader!r}: must be a DataLoader as PyTorch has it")


def placing(loader: Any) -> Callable[[Any], Any] | None:
    """Return the function that moves a batch to the device, where a wrapped loader would move it."""
    device = getattr(loader, "device", None)
    if not hasattr(loader, "base_dataloader") or device is None:
        return None
    module = sys.modules.get(type(loader).__module__)
    send: Callable[[Any, Any], Any] | None = getattr(module, "send_to_device", None)
    return (lambda batch: send(batch, device)) if send else None


def refuse_ranks(torch: ModuleType | None) -> None:
    """Raise RuntimeError if this process is one of several that train together."""
    distributed = getattr(torch, "distributed", None)
    if distributed is None or not distributed.is_available():
        return
    if distributed.is_initialized() and distributed.get_world_size() > 1:
        ranks = distributed.get_world_size()
        raise RuntimeError(
            f"this process is one of {ranks} ranks, which make all steps together: measure the "
            "job with one, as `torchrun --nproc-per-node=1` starts it"
        )


def as_pytorch_says(loader: DataLoader) -> SimpleNamespace:
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


def keeps_an_iterator(loader: Any) -> bool:
    """Whether *loader* is of a subclass that goes on with one iterator in all epochs.

    Its sampler never ends, so its workers never do: timm and Ultralytics have such loaders, and
    had them before PyTorch could keep workers. PyTorch's own attribute for that is another.
    """
    if type(loader) is kind_of(loader):
        return False
    others = {"_iterator", "dataset", "sampler", "batch_sampler"}
    return any(
        name not in others and hasattr(type(value), "__next__")
        for name, value in vars(loader).items()
    )


class Unwrapping:
    """Goes over an iterator's pairs: gives the batches, and keeps how they were made."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.made: deque[WatchedBatch] = deque()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        batch, how = next(self.inner)
        self.made.append(how)
        return batch

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


class Paired:
    """A loader of a subclass whose own iterator saw plain batches; here they come in pairs again."""

    def __init__(self, loader: Any, unwrapped: list[Unwrapping]) -> None:
        self.loader = loader
        self.unwrapped = unwrapped  # one, when it has begun

    def __iter__(self) -> Iterator[tuple[Any, WatchedBatch]]:
        try:
            for batch in self.loader:
                made = self.unwrapped[-1].made if self.unwrapped else None
                if not made:
                    why = "its own __iter__ gives other batches than those that it takes"
                    raise TypeError(f"loader={self.loader!r}: {why}")
                yield batch, made.popleft()
        finally:
            for one in self.unwrapped:
                getattr(one.inner, "_shutdown_workers", int)()


def of_a_subclass(
    owner: Any, kind: type, dataset: Any, options: dict[str, Any]
) -> Iterable[tuple[Any, WatchedBatch]]:
    """Return a loader that iterates as the class of *owner* does, over a *dataset* that is watched.

    A subclass may change batches in its own `__iter__` or `_get_iterator`: move them to a device,
    for example. It sees batches as they are, so between it and *kind* stands a class that takes
    from each how it was made. Attributes that the subclass gave to *owner* are in the new one.
    """
    unwrapped: list[Unwrapping] = []
    hook = "_get_iterator" if hasattr(kind, "_get_iterator") else "__iter__"

    def unwrapping(self: Any) -> Unwrapping:
        unwrapped.append(Unwrapping(getattr(super(between, self), hook)()))
        return unwrapped[-1]

    between: type = type("Unwrapped", (kind,), {hook: unwrapping})
    mixed: type = type(type(owner).__name__, (type(owner), between), {})
    loader: Any = object.__new__(mixed)
    kind.__init__(loader, dataset, **options)  # type: ignore[misc]
    for name, value in vars(owner).items():
        vars(loader).setdefault(name, value)
    return Paired(loader, unwrapped)


@contextmanager
def drawing_from(order: Any, owner: Any) -> Iterator[Iterator[Any]]:
    """Give an iterator over a copy of a sampler, which stays as it is.

    Its dataset is not copied. A sampler that cannot be copied is asked itself, and its
    generators are set back, as far as they say how.
    """
    generators = [
        generator
        for sampler in (order, getattr(order, "sampler", None))
        if (generator := getattr(sampler, "generator", None)) is not None
        and hasattr(generator, "set_state")
    ]
    shared = [owner, getattr(owner, "dataset", None), *generators]
    with ExitStack() as then:
        for generator in generators:  # it draws for this as for an epoch
            then.callback(generator.set_state, generator.get_state())
        copied = order
        with suppress(Exception):  # whatever its owner's class raises
            copied = deepcopy(order, {id(one): one for one in shared})
        yield iter(copied)
