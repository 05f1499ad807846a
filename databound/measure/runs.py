"""Short runs of a loader as its owner wrote it, beside its step or alone."""

import math
import os
import random
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain, islice
from time import perf_counter, process_time
from types import ModuleType
from typing import Any

from lessonkit.engine.workers.main_process import end_workers_that_stay
from lessonkit.loader import DataLoader

from ..ends import StepFailedError, StepsEndedError
from ..machine import Others, allowed_cores, private_memory
from ..thresholds import COPIES, DRAWN, KEPT, LATER_EPOCHS, NEVER, NEVER_BEGINS, PATIENCE
from .batches import bytes_of, own_copy
from .device import OnDevice, on_device
from .loaders import (
    as_pytorch_says,
    drawing_from,
    keeps_an_iterator,
    kind_of,
    of_a_subclass,
    placing,
    refuse_ranks,
    size_of_batch,
)
from .sendable import refuse_unsendable, start_method
from .setting import Setting
from .state import Training, kept
from .subject import RunRequest
from .uneven import spread
from .watching import IN_HAND, Collated, Watch, WatchedBatch, watched

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
        self.count: int | None = None
        self.batches: list[Any] = []
        self.places: list[float] = []
        self.numbers: list[int] = []  # of these batches in an epoch, from 1
        self.draw()
        self.sizes = [size_of_batch(indices) for indices in self.batches]
        self.nbytes = 0
        self.batch: Any = None  # one that no step has had, to time a device with
        self.device: OnDevice | None = None
        self.training: Training | None = None  # what the step trains, if that is put back
        self.reached = 0  # so many batches of these were made by runs
        self.longest = 0.0  # s; that a batch took
        self.start_of_one = 0.0  # s; until the first batch of a run with one worker
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

    def draw(self) -> None:
        """Draw the batches of one epoch, keep some from all over it, and count them."""
        if self.stream:
            return
        order = self.loader.batch_sampler
        if order is None:
            order = self.loader.sampler
        with suppress(Exception):  # a sampler needs no length
            self.count = len(order)
        every = max(1, (self.count or 0) // KEPT)
        with drawing_from(order, self.owner) as copied:
            if self.count is None:
                drawn = list(islice(copied, KEPT + 1))
                if len(drawn) <= KEPT:
                    self.count = len(drawn)
            else:
                drawn = list(islice(copied, 0, DRAWN, every))
                if every == 1:
                    self.count = len(drawn)  # a length may be wrong
        drawn = drawn[:KEPT] if self.count is None else drawn
        if self.count is None:
            with suppress(Exception):  # nor does a loader
                self.count = len(self.owner)
            drawn = drawn[: self.count]  # of a sampler that never ends
        order_of_run = spread(len(drawn))
        self.batches = [drawn[place] for place in order_of_run]
        self.places = [place / len(drawn) for place in order_of_run]
        self.numbers = [1 + every * place for place in order_of_run]

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

    def run_of(self, request: RunRequest, passes: int) -> "Run":
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


class Run:
    """One run over a loader whose batches carry how they were made."""

    def __init__(
        self,
        workers: int,
        loader: Iterable[tuple[Any, WatchedBatch]],
        step: Callable[[Any], object] | None,
        place: Callable[[Any], Any] | None,
        numbers: Sequence[int] = (),
        passes: int = 1,
    ) -> None:
        self.passes = passes
        self.loader = loader
        self.step = step
        self.place = place
        self.numbers = numbers  # of its batches in an epoch; none of an iterable
        self.source: Any = None
        self.nbytes = 0  # of its first batch
        self.keep = False  # a copy of its first batch, before a step takes that apart
        self.untouched: Any = None
        self.is_cut = False  # its steps have come to their end
        IN_HAND.forget()
        self.seen = Watch(workers)

    def until(self, seconds: float, least: int) -> Watch:
        """Return what the run showed when it is over; RuntimeError says what failed, and where.

        The *seconds* count from the first batch on: a worker may take longer than that to start.
        When it is over, its workers have ended.
        """
        seen = self.seen
        loads = "with a worker, the loader" if seen.workers else "the loader"
        at_work = loads
        try:
            for batch, made in self.all_batches():
                if self.place:
                    batch = self.place(batch)
                got = perf_counter()
                if not seen.batches:
                    self.look_at(batch)
                    got = perf_counter()
                on_core = process_time()
                if self.step:
                    at_work = "the step"
                    self.step(batch)
                    at_work = loads
                step_core = process_time() - on_core
                stepped = perf_counter()
                noted = made._replace(
                    asked=seen.ended, got=got, stepped=stepped, step_core=step_core
                )
                seen.batches.append(noted)
                seen.ended = stepped
                long_enough = stepped - seen.batches[0].got >= seconds
                if long_enough and len(seen.batches) >= least:
                    break
            else:
                seen.whole = True
            self.look_at_memory()
        except StepsEndedError:
            self.is_cut = True
        except StepFailedError:  # it says how by itself
            raise
        except Exception as error:
            kind = StepFailedError if at_work == "the step" else RuntimeError
            raise kind(f"{at_work} raised at {self.next()}: {error!r}") from error
        finally:
            self.end()
            seen.closed = perf_counter()
        return seen

    def all_batches(self) -> Iterator[tuple[Any, WatchedBatch]]:
        """Yield the batches of all passes; each but the first is a later epoch of the run."""
        seen = self.seen
        for number in range(self.passes):
            if number:
                seen.epochs.append(len(seen.batches))
            self.source = iter(self.loader)
            if not number:
                seen.opened = perf_counter()
                seen.ended = seen.opened
            yield from self.source

    def next(self) -> str:
        """Say which batch comes next: runs go over those of an epoch in an order of their own."""
        number = len(self.seen.batches)
        if number < len(self.numbers):
            return f"batch {self.numbers[number]} of an epoch"
        return f"batch {number + 1}"

    def look_at(self, batch: Any) -> None:
        """Note the size of the first batch, and keep a copy of it if that is wanted."""
        self.nbytes = bytes_of(batch)
        if self.keep:
            self.untouched = own_copy(batch)

    def look_at_memory(self) -> None:
        """Note what the workers have for themselves, while they live."""
        pids = {batch.pid for batch in self.seen.batches} - {os.getpid()}
        known = [size for pid in pids if (size := private_memory(pid))]
        if known:
            self.seen.private = max(known)

    def end(self) -> None:
        """End the workers, also where an error keeps the iterator."""
        for name in ("_shutdown_workers", "close"):
            end = getattr(self.source, name, None)
            if end is not None:
                end()
        self.source = None
        if isinstance(
            self.loader, DataLoader
        ):  # ours: workers that stay do so beyond its iterator
            end_workers_that_stay(self.loader.node)


def passes_for(least: int, count: int) -> int:
    """Return how often a run of at *least* so many batches goes over *count* of them.

    If not once, it is an epoch that shows how workers begin, and then as many as have so many
    batches: in a short epoch the beginning and the end are most of it.
    """
    if least <= count or not count:
        return 1
    return 1 + max(LATER_EPOCHS, math.ceil(least / count))


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
