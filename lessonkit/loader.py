"""`DataLoader`: PyTorch's, described over one of our pipelines."""

import random
from collections.abc import Callable, Iterable, Sequence
from math import inf
from typing import Annotated, Any

from lessonkit.engine.check import AtLeast, InstanceOf, checked
from lessonkit.engine.machine import Cost, Handling, StartTime
from lessonkit.engine.node import METHODS, Node, base_of, batches, cardinality
from lessonkit.engine.workers.main_process import indices_of

from .dataset import Dataset
from .engine import check

FREE = Handling()


class DataLoader(Dataset):
    """Make batches of *dataset* in worker processes, as PyTorch's `DataLoader` makes them.

    If *dataset* is a `range` or a list, or ends in a `cache`, and has nothing but
    sequential maps after it, it gives any sample by its number: it is map-style. A
    cache is filled before the workers start. Any other *dataset* is iterable: each worker
    runs all of it, unless a function in it asks `get_worker_info`.

    These arguments say what a batch is, and in which order samples come:

    - *batch_size* samples make a batch; None gives samples one by one. *drop_last* leaves out
      a last batch that has fewer.
    - *shuffle* draws a new order for each epoch, from the seed *generator* if that is a number.
    - *sampler* is an iterable of sample numbers, which is read again in each epoch;
      *batch_sampler* is an iterable of lists of them, and replaces the others. The numbers
      may be NumPy's, and neither needs a length.
    - *collate_fn* makes a batch of a list of samples; without it they are put together as by
      `batch`.

    These say which processes make the batches:

    - *num_workers* processes; with 0 the loop makes each batch itself when it asks for it.
    - *prefetch_factor* tasks wait at each worker, or are at work; None stands for 2.
    - *persistent_workers* stay from one epoch to the next, with what they have in memory.
    - *in_order* hands batches over in the order in which they were asked for; False, as
      soon as they are ready.
    - *worker_init_fn* is called in each worker with its number, before its first batch.
    - *pin_memory* puts each batch into pinned memory, from which a second stream can copy it.

    A model needs more than PyTorch does; all of these are 0 or False by default:

    - *getitems* calls the maps once for a batch, as a dataset with `__getitems__` does.
    - *start* is a pair of seconds per worker: in `iter`, one worker after another, and from
      then until it is ready. Each may be a function of the epoch and of the worker's number.
    - *collate* and *transfer* to the main process are seconds per batch, or functions of its
      bytes.
    - *handling*, a `Handling`, has the times that handling processes takes.

    Raises TypeError for an argument of a wrong type, and ValueError where PyTorch raises
    it: for a number that is too small, for *prefetch_factor* or *persistent_workers*
    without workers, for *shuffle*, *sampler* or *batch_sampler* with an iterable or with
    each other, for *drop_last* without batches, and for *shuffle* without samples.

    >>> from lessonkit import benchmark
    >>> images = Dataset.range(8).map(cost=0.010)
    >>> list(DataLoader(images, batch_size=3, drop_last=True))
    [[0, 1, 2], [3, 4, 5]]
    >>> benchmark(DataLoader(images, batch_size=2, num_workers=2), num_epochs=1).epochs[0].arrivals
    [0.02, 0.03, 0.04, 0.05]
    """

    @checked
    def __init__(
        self,
        dataset: Annotated[Dataset, InstanceOf(Dataset)],
        batch_size: Annotated[int | None, AtLeast(1)] = 1,
        shuffle: Annotated[bool | None, check.flag] = None,
        sampler: Iterable[int] | None = None,
        batch_sampler: Iterable[Sequence[int]] | None = None,
        num_workers: Annotated[int, AtLeast(0)] = 0,
        collate_fn: Annotated[Callable[[Any], Any] | None, check.function] = None,
        pin_memory: Annotated[bool, check.flag] = False,
        drop_last: Annotated[bool, check.flag] = False,
        worker_init_fn: Annotated[Callable[[int], object] | None, check.function] = None,
        generator: Annotated[int | None, check.integer] = None,
        *,
        prefetch_factor: Annotated[int | None, AtLeast(0)] = None,
        persistent_workers: Annotated[bool, check.flag] = False,
        in_order: Annotated[bool, check.flag] = True,
        getitems: Annotated[bool, check.flag] = False,
        start: Annotated[tuple[StartTime, StartTime], check.two_times] = (0, 0),
        collate: Annotated[Cost, check.cost_of_bytes] = 0,
        transfer: Annotated[Cost, check.cost_of_bytes] = 0,
        handling: Annotated[Handling, InstanceOf(Handling)] = FREE,
    ) -> None:
        options = {
            "batch_size": batch_size,
            "shuffle": shuffle,
            "sampler": sampler,
            "batch_sampler": batch_sampler,
            "num_workers": num_workers,
            "collate_fn": collate_fn,
            "pin_memory": pin_memory,
            "drop_last": drop_last,
            "worker_init_fn": worker_init_fn,
            "generator": generator,
            "prefetch_factor": prefetch_factor,
            "persistent_workers": persistent_workers,
            "in_order": in_order,
            "getitems": getitems,
            "start": start,
            "collate": collate,
            "transfer": transfer,
            "handling": handling,
        }
        refuse_together(dataset.node, options)
        super().__init__(Node("DataLoader", (dataset.node,), options))

    @property
    def num_workers(self) -> int:
        """The number of processes that make batches."""
        return int(self.node.arguments["num_workers"])

    @property
    def batch_sampler(self) -> Iterable[Any] | None:
        """The numbers of each batch's samples, newly drawn; None for an iterable."""
        base = base_of(self.node.inputs[0])
        if base is None:
            return None
        known = cardinality(base) or len(list(Dataset(base)))
        return indices_of(self.node, known, str(random.random()))

    def __len__(self) -> int:
        """Return the number of batches; for an iterable as PyTorch does, whatever workers give."""
        options = self.node.arguments
        many = cardinality(self.node)
        if many is None and options["sampler"] is options["batch_sampler"] is None:
            samples = cardinality(self.node.inputs[0])
            many = batches(samples, options["batch_size"], options["drop_last"])
        if many is None or many == inf:
            raise TypeError(f"{self!r}: has no length that is known")
        return int(many)


def refuse_together(node: Node, options: dict[str, Any]) -> None:
    """Raise ValueError if PyTorch refuses these *options* of a loader over *node* together."""
    alone = not options["num_workers"]
    apart = base_of(node) is None
    shuffle = options["shuffle"]
    size = options["batch_size"]
    last = options["drop_last"]
    ahead = options["prefetch_factor"] is not None
    sampler = options["sampler"] is not None
    batch = options["batch_sampler"] is not None
    refused = {
        "prefetch_factor: without workers nothing is made ahead": alone and ahead,
        "persistent_workers: there are no workers to keep": alone
        and options["persistent_workers"],
        "shuffle: an iterable can only be read in its own order": apart and shuffle,
        "sampler: an iterable cannot be asked for a sample": apart and (sampler or batch),
        "sampler: it says the order already, so shuffle must go": sampler and shuffle,
        "batch_sampler: it says all of batches, "
        "so batch_size, shuffle, sampler, drop_last must go": batch
        and (size != 1 or shuffle or sampler or last),
        "drop_last: without batches there is no last one to drop": size is None and last,
        "shuffle: there are no samples": shuffle and cardinality(node) == 0,
    }
    for reason, is_so in refused.items():
        if is_so:
            raise ValueError(reason)


METHODS["DataLoader"] = DataLoader
