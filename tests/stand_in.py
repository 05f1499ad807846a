"""A stand-in for PyTorch's `DataLoader`: its interface, and the arguments that a measured job uses."""

from collections.abc import Callable, Iterator
from typing import Any

import lessonkit
from lessonkit import Dataset


class IterableDataset:
    """What an iterable data set inherits from, so that it can be told from others."""


class RandomSampler:
    def __init__(self, count: int) -> None:
        self.count = count

    def __iter__(self) -> Iterator[int]:
        import random

        return iter(random.sample(range(self.count), self.count))


class BatchSampler:
    def __init__(self, sampler: Any, size: int, drop_last: bool) -> None:
        self.sampler, self.size, self.drop_last = sampler, size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        batch: list[int] = []
        for index in self.sampler:
            batch.append(index)
            if len(batch) == self.size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch


class DataLoader:
    """Batches made by `lessonkit`'s own processes, so that workers are real."""

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool = False,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], object] | None = None,
        multiprocessing_context: Any = None,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
    ) -> None:
        self.dataset, self.num_workers = dataset, num_workers
        self.prefetch_factor = prefetch_factor or (2 if num_workers else None)
        self.persistent_workers, self.drop_last, self.timeout = persistent_workers, drop_last, timeout
        self.worker_init_fn, self.multiprocessing_context = worker_init_fn, multiprocessing_context
        self.batch_size = None if batch_sampler is not None else batch_size
        self.sampler: Any = None
        self.batch_sampler: Any = None
        if not isinstance(dataset, IterableDataset):
            count = 0 if sampler is not None or batch_sampler is not None else len(dataset)
            self.sampler = sampler or (RandomSampler(count) if shuffle else range(count))
            if batch_size is not None:
                self.batch_sampler = batch_sampler or BatchSampler(self.sampler, batch_size, drop_last)
        self.collate_fn = collate_fn or (list if batch_size is not None else lambda sample: sample)

    def __iter__(self) -> Iterator[Any]:
        ours: dict[str, Any] = {"num_workers": self.num_workers, "worker_init_fn": self.worker_init_fn}
        if self.num_workers:
            ours |= {"prefetch_factor": self.prefetch_factor, "timeout": self.timeout}
        if isinstance(self.dataset, IterableDataset):
            batches = Dataset.from_generator(self.streamed)
        else:
            order = self.batch_sampler if self.batch_sampler is not None else self.sampler
            batches = Dataset.from_list([[indices] for indices in order]).map(self.fetched)
        return iter(lessonkit.DataLoader(batches, batch_size=None, collate_fn=None, **ours))

    def fetched(self, wrapped: list[Any]) -> Any:
        (indices,) = wrapped
        return self.collate_fn(self.samples(indices))

    def samples(self, indices: Any) -> Any:
        if self.batch_sampler is None:
            return self.dataset[indices]
        many = getattr(self.dataset, "__getitems__", None)
        return many(indices) if many else [self.dataset[index] for index in indices]

    def streamed(self) -> Iterator[Any]:
        batch = []
        for sample in self.dataset:
            batch.append(sample)
            if len(batch) == (self.batch_size or 1):
                yield self.collate_fn(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.collate_fn(batch)
