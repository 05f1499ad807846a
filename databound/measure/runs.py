"""A loader and a step that are run for a short time, again and again, as their owner wrote them."""

import math
import random
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain
from time import perf_counter
from types import ModuleType
from typing import Any

from lessonkit.loader import DataLoader

from ..ends import StepsEndedError
from ..machine import Others, allowed_cores
from ..thresholds import (
    BEHIND,
    COPIES,
    FILL,
    LATER_EPOCHS,
    NEVER,
    NEVER_BEGINS,
    PATIENCE,
)
from .device import OnDevice, on_device
from .drawn import NOTHING_DRAWN, Drawn, drawn_from
from .loaders import (
    as_pytorch_says,
    keeps_an_iterator,
    kind_of,
    of_a_subclass,
    placing,
    refuse_ranks,
    size_of_batch,
)
from .one_run import Run
from .sendable import refuse_unsendable, start_method
from .setting import Setting
from .state import Training, kept
from .subject import RunRequest
from .watching import Collated, Watch, WatchedBatch, watched

# `Any` in this module is a loader, a sampler, a dataset or a batch of somebody else: what PyTorch
# calls so, or something that only looks like it.

# Arguments of the loader that its runs have, too
PASSED = ("worker_init_fn", "pin_memory", "in_order", "getitems")
# Arguments of PyTorch's loader that a run may have otherwise
MAY_CHANGE = ("in_order", "pin_memory", "multiprocessing_context", "worker_init_fn")


class LoaderAndStep:
    """A loader and a step that are watched: the `Subject` that is real.

    Raises TypeError for what is no loader, and RuntimeError in a process that trains with
    others: ranks that make different numbers of steps would wait for each other for ever.
    """

    training: Training | None = None  # what the step trains, if that is put back
    device: OnDevice | None = None
    # What runs have shown so far:
    nbytes = 0  # of a batch
    batch: Any = None  # one that no step has had, to time a device with
    reached = 0  # so many of the batches were made
    longest = 0.0  # s; that a batch took
    start_of_one = 0.0  # s; until the first batch of a run with one worker

    def __init__(
        self,
        loader: Any,
        step: Callable[[Any], object],
        synchronise: Callable[[], object] | None = None,
        torch: ModuleType | None = None,
    ) -> None:
        refuse_ranks(torch)
        self.step = step
        self.synchronise = synchronise
        self.may_launch = synchronise is not None
        self.torch = torch
        self.others = Others()
        self.place = placing(loader)
        loader = getattr(loader, "base_dataloader", loader)  # as Accelerate wraps it
        self.kind = kind_of(loader)
        stays = keeps_an_iterator(loader)
        # Such a subclass gives PyTorch's batches as they are
        self.made_by = self.kind if stays else type(loader)
        self.owner: Any = loader
        self.loader: Any = loader
        if isinstance(loader, DataLoader):
            self.loader = as_pytorch_says(loader)
            self.dataset: Any = self.loader.dataset
            self.stream = self.loader.batch_sampler is None
        else:
            refuse_unsendable(loader)
            module = sys.modules[self.kind.__module__]
            names = ("IterDataPipe", "IterableDataset")
            bases = tuple(getattr(module, name) for name in names if hasattr(module, name))
            self.dataset = watched(loader.dataset, bases)
            self.stream = isinstance(loader.dataset, bases)
        self.in_order: bool = getattr(self.loader, "in_order", True)
        self.batch_size: int | None = self.loader.batch_size
        drawn = self.draw()
        self.batches = drawn.batches
        self.places = drawn.places
        self.numbers = drawn.numbers
        self.count = drawn.count
        self.sizes = [size_of_batch(indices) for indices in drawn.batches]
        self.now = Setting(
            num_workers=self.loader.num_workers,
            prefetch_factor=self.loader.prefetch_factor or 2,
            persistent_workers=self.loader.persistent_workers
            or (stays and self.loader.num_workers > 0),
            threads=self.threads()[-1],
            batch_size=self.batch_size,
        )

    @property
    def may_change(self) -> Mapping[str, object]:
        """The arguments of the loader that a run may have otherwise, as they are now."""
        if isinstance(self.owner, DataLoader):  # ours
            return {"in_order": self.in_order}
        said = self.loader
        return {name: getattr(said, name) for name in MAY_CHANGE if hasattr(said, name)}

    # ---- what the step trains ----

    @contextmanager
    def put_back(self) -> Iterator[None]:
        """Put back after the block what the step trains; `training` says then what that was."""
        with kept(self.step) as self.training:
            yield

    @property
    def repeated_step(self) -> Callable[[Any], object]:
        """The step, which may be called more often than its schedules allow while they are kept."""
        return self.training.without_end(self.step) if self.training else self.step

    # ---- what the runs go over ----

    def draw(self) -> Drawn:
        """Draw the batches that all runs go over; none of an iterable, which gives what it gives."""
        if self.stream:
            return NOTHING_DRAWN
        order = self.loader.batch_sampler
        if order is None:
            order = self.loader.sampler
        return drawn_from(order, self.owner)

    # ---- the machine, threads, and a device ----

    def clock(self) -> float:
        """Return the seconds of the clock on which its runs take their time."""
        return perf_counter()

    def other_programs(self) -> float:
        """Return how many cores other programs used since the subject was made."""
        return self.others.cores()

    def threads(self) -> list[int]:
        """Return the numbers of threads that its step can have, the usual one last."""
        if self.torch is None:
            return [1]
        usual: int = self.torch.get_num_threads()
        # A step on a device computes there, whatever threads it may have here
        return [usual] if self.synchronise else sorted({1, usual})

    def use_threads(self, threads: int) -> None:
        """Let the step compute with so many *threads* from now on."""
        if self.torch is not None:
            self.torch.set_num_threads(threads)

    def time_device(self) -> OnDevice | None:
        """Return what the step leaves to a device, timed now; None if it leaves nothing."""
        if self.synchronise is None or self.batch is None:
            return None
        copies = max(1, COPIES // max(1, self.nbytes))
        for _ in range(2):  # when steps have come to their end, they have all begun anew
            with suppress(StepsEndedError):
                return on_device(
                    self.repeated_step, self.batch, self.synchronise, most=copies
                )
        return None

    # ---- a run ----

    def go(self, request: RunRequest) -> Watch:
        """Return what a run showed that is as the *request* wants it.

        A run whose steps have come to their end is shorter. Raises RuntimeError if the loader or
        the step does.
        """
        least = request.least
        size = request.size
        passes = passes_for(least * size, len(self.batches))
        if passes > 1:  # all of them: what counts is whole epochs
            least = passes * (len(self.batches) // size)
        run = self.run_of(request, passes)
        seen = run.until(request.seconds, least)
        if run.is_cut and len(seen.batches) < max(1, least):
            # The loop of the steps had come to its end; it has begun anew, and has all of them left
            run = self.run_of(request, passes)
            seen = run.until(request.seconds, least)
        if request.step and self.synchronise:
            self.synchronise()
        ahead = request.workers * request.factor  # are made, and not taken
        self.reached = max(self.reached, size * (len(seen.batches) + ahead))
        self.nbytes = self.nbytes or run.nbytes
        if request.step and run.untouched is not None:
            self.batch = run.untouched
        self.longest = max([self.longest, *(one.make / size for one in seen.batches)])
        if seen.batches and request.workers == 1:
            start = seen.batches[0].got - seen.began
            self.start_of_one = max(self.start_of_one, start)
        return seen

    def run_of(self, request: RunRequest, passes: int) -> Run:
        """Return a run that may begin, in so many *passes* over the batches."""
        options = self.options(request.workers, request.factor, request.size, passes)
        loader = self.made(options | dict(request.also))
        numbers = self.numbers[:: request.size] * passes
        step = self.repeated_step if request.step else None
        run = Run(request.workers, loader, step, self.place, numbers, passes)
        run.keep = self.may_launch
        return run

    def not_yet_read(self) -> int:
        """Return the number of the first batch that no run has made; 0 if there are not two of them."""
        return self.reached if len(self.batches) - self.reached > 1 else 0

    def options(
        self, workers: int, factor: int, size: int, passes: int = 1
    ) -> dict[str, Any]:
        """Return the arguments of the loader of a run, which goes over an epoch in so many *passes*."""
        said = self.loader
        options = {name: getattr(said, name) for name in PASSED if hasattr(said, name)}
        options["collate_fn"] = Collated(said.collate_fn)
        options["num_workers"] = workers
        if workers:
            options["prefetch_factor"] = factor
            options["persistent_workers"] = passes > 1
            if hasattr(said, "timeout"):  # it is PyTorch's
                options["timeout"] = self.patience(workers, size)
                options["multiprocessing_context"] = said.multiprocessing_context
        if self.stream:
            options["batch_size"] = said.batch_size and size * said.batch_size
            options["drop_last"] = said.drop_last
        elif said.batch_sampler is None:
            options["batch_size"] = None
            options["sampler"] = self.batches
        else:
            groups = zip(*[iter(self.batches)] * size, strict=False)
            options["batch_sampler"] = [[*chain.from_iterable(group)] for group in groups]
        return options

    def patience(self, workers: int, size: int) -> float:
        """Return after how many seconds without a batch a worker counts as one that never gives one.

        What the loader itself says counts if it is longer; workers that share cores take longer. The
        first one that is not forked may import for minutes what this process has imported.
        """
        shared = max(1.0, workers / allowed_cores())
        expected = PATIENCE * size * shared * self.longest
        said: float = self.loader.timeout
        start = workers * self.start_of_one
        if not start and start_method(self.loader.multiprocessing_context) != "fork":
            start = NEVER_BEGINS
        return max(said, NEVER, expected) + start

    def made(self, options: dict[str, Any]) -> Iterable[tuple[Any, WatchedBatch]]:
        """Return a loader with these *options*, of the class of the one that is measured."""
        if self.made_by is self.kind or isinstance(self.owner, DataLoader):
            return self.kind(self.dataset, **options)  # type: ignore[no-any-return]
        return of_a_subclass(self.owner, self.kind, self.dataset, options)


def passes_for(least: int, count: int) -> int:
    """Return how often a run of at *least* so many batches goes over *count* of them.

    If not once, it is an epoch that shows how workers begin, and then as many as have the batches
    that are compared: in a short epoch the beginning and the end are most of it.
    """
    if least <= count or not count:
        return 1
    are_compared = least * BEHIND / (FILL + BEHIND)
    return 1 + max(LATER_EPOCHS, math.ceil(are_compared / count))


def batches_of_run(least: int, count: int) -> int:
    """Return how many batches a run of at *least* so many has, if an epoch has *count* of them."""
    passes = passes_for(least, count)
    return passes * count if passes > 1 else least


@contextmanager
def restored() -> Iterator[ModuleType | None]:
    """Restore random states and the number of threads after the block.

    The block gets PyTorch, or None if it is not imported. PyTorch's warning of more workers
    than cores is ignored: they are only tried here.
    """
    torch: Any = sys.modules.get("torch")
    numpy: Any = sys.modules.get("numpy")
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
