"""The form in which a loader and its loop are described. All costs are seconds, spent in `time.sleep`."""

from typing import Literal, Required, TypedDict


class Straggler(TypedDict, total=False):
    """Every so many samples, counted from *offset*, one costs something else."""

    every: Required[int]
    offset: int
    cost: Required[float]


class Data(TypedDict, total=False):
    """A data set: samples by number (`map`), or files that are read in turn (`iterable`).

    The value of sample i of file f is 100 f + i. A cost is looked up in *file_costs* by file, in *costs* by
    number, in *straggler*, and else is *cost*.
    """

    kind: Required[Literal["map", "iterable"]]
    cost: float
    costs: list[float]
    straggler: Straggler
    fail_on: list[int]  # samples that raise an error, of this type:
    error: Literal["ValueError", "KeyError", "IndexError", "RuntimeError", "OSError"]
    # map
    n: int
    lazy_open: float  # at the first sample of each process
    getitems: bool  # one call for a batch, which costs:
    getitems_cost: float
    stop_on: list[int]  # samples that raise StopIteration
    exit_on: list[int]  # samples at which the process ends
    # iterable
    files: list[int]  # samples in each
    open: float
    file_costs: list[float]
    # Who reads what: `files` file f by worker f modulo workers; `samples` each worker goes through all,
    # and gives every so many; `none` each worker gives all
    shard: Literal["none", "files", "samples"]
    skip_free: bool  # a sample of another worker costs nothing, which is usual
    style: Literal["generator", "class"]  # only a class goes on after an error
    len: int


class Options(TypedDict, total=False):
    """The arguments of the loader that are given."""

    num_workers: int
    prefetch_factor: int
    batch_size: int | None
    drop_last: bool
    persistent_workers: bool
    in_order: bool
    shuffle: bool
    seed: int  # of the generator
    timeout: float
    batch_sampler: list[list[int]]
    pin_memory: bool


class Spec(TypedDict, total=False):
    """A loader and its loop."""

    name: Required[str]
    dataset: Required[Data]
    loader: Required[Options]
    worker_init: float  # in worker_init_fn
    init_fail: list[int]  # workers whose worker_init_fn raises an error
    collate: float  # for each batch
    train: float | list[float]  # after each batch; a list is gone through again and again
    epochs: int
    consume: list[int | None]  # leave an epoch after so many batches
    max_errors: int  # after an error the loop asks again, so many times
    extra_next: int  # after the end it does
    plain_shuffle: bool  # leave the sampler to PyTorch


def cost_of(said: Data, index: int, file: int = 0) -> float:
    """Return what a sample costs."""
    if costs := said.get("file_costs"):
        return costs[file % len(costs)]
    if costs := said.get("costs"):
        return costs[index % len(costs)]
    slow = said.get("straggler")
    if slow and index % slow["every"] == slow.get("offset", 0):
        return slow["cost"]
    return said.get("cost", 0)
