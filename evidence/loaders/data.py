"""The data sets that a description means, for real PyTorch. Each sample says when and where it was made."""

import os
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from torch.utils.data import Dataset, IterableDataset, get_worker_info

from evidence.loaders.form import Data, cost_of

ERRORS: dict[str, type[Exception]] = {
    error.__name__: error
    for error in (ValueError, KeyError, IndexError, RuntimeError, OSError)
}


class Sample(NamedTuple):
    """A sample, the worker that made it (-1 is none), and from when to when."""

    value: int
    worker: int
    began: float
    ended: float


class Worker(NamedTuple):
    """Who works: a number, of how many. Without workers the loop's process is the only one."""

    id: int
    total: int
    told: int  # in samples


def worker() -> Worker:
    """Return who works here."""
    info = get_worker_info()
    return Worker(info.id, info.num_workers, info.id) if info else Worker(0, 1, -1)


def fail(said: Data, value: int) -> None:
    """Raise the error that is planned for this sample."""
    if value in said.get("fail_on", ()):
        raise ERRORS[said.get("error", "ValueError")](f"bad sample {value}")
    if value in said.get("stop_on", ()):
        raise StopIteration
    if value in said.get("exit_on", ()):
        os._exit(3)


class Samples(Dataset):
    """Samples by number."""

    def __init__(self, said: Data) -> None:
        self.said = said
        self.is_open = False

    def __len__(self) -> int:
        return self.said["n"]

    def __getitem__(self, index: int) -> Sample:
        began = time.perf_counter()
        if self.said.get("lazy_open") and not self.is_open:
            self.is_open = True
            time.sleep(self.said["lazy_open"])
        if cost := cost_of(self.said, index):
            time.sleep(cost)
        fail(self.said, index)
        return Sample(index, worker().told, began, time.perf_counter())


class SamplesByBatch(Samples):
    """Samples that are also given by one call for a batch."""

    def __getitems__(self, indices: list[int]) -> list[Sample]:
        """Give all samples of a batch."""
        began = time.perf_counter()
        time.sleep(self.said.get("getitems_cost", 0))
        for index in indices:
            fail(self.said, index)
        ended = time.perf_counter()
        return [Sample(index, worker().told, began, ended) for index in indices]


class Files(IterableDataset):
    """Files that are read in turn."""

    def __init__(self, said: Data) -> None:
        self.said = said

    def __iter__(self) -> Iterator[Sample]:
        goes_on = self.said.get("style") == "class"
        return Reader(self.said) if goes_on else read(self.said)


class FilesOfKnownLength(Files):
    """The same with a length, true or not."""

    def __len__(self) -> int:
        return self.said["len"]


def read(said: Data) -> Iterator[Sample]:
    """Read what is this worker's; an error ends the generator."""
    me = worker()
    shard = said.get("shard", "none")
    number = 0
    for file, count in enumerate(said["files"]):
        if shard == "files" and file % me.total != me.id:
            continue
        began = time.perf_counter()
        time.sleep(said.get("open", 0))
        for index in range(count):
            is_mine = shard != "samples" or number % me.total == me.id
            number += 1
            if is_mine or not said.get("skip_free", True):
                time.sleep(cost_of(said, index, file))
            if is_mine:
                fail(said, 100 * file + index)
                yield Sample(100 * file + index, me.told, began, time.perf_counter())
                began = time.perf_counter()


class Reader:
    """An iterator that goes on after an error, as a generator does not."""

    def __init__(self, said: Data) -> None:
        self.said = said
        me = worker()
        places = [
            (file, i) for file, count in enumerate(said["files"]) for i in range(count)
        ]
        if said.get("shard") == "files":
            places = [(file, i) for file, i in places if file % me.total == me.id]
        if said.get("shard") == "samples":
            places = places[me.id :: me.total]
        self.places = iter(places)
        self.file: int | None = None

    def __iter__(self) -> Iterator[Sample]:
        return self

    def __next__(self) -> Sample:
        file, index = next(self.places)
        began = time.perf_counter()
        if file != self.file:
            self.file = file
            time.sleep(self.said.get("open", 0))
        time.sleep(cost_of(self.said, index, file))
        fail(self.said, 100 * file + index)
        return Sample(100 * file + index, worker().told, began, time.perf_counter())


def dataset(said: Data) -> Any:
    """Make the data set that a description means."""
    if said["kind"] == "map":
        return SamplesByBatch(said) if said.get("getitems") else Samples(said)
    return FilesOfKnownLength(said) if "len" in said else Files(said)
