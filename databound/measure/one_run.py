"""One short run over a loader, beside a step or alone: when each batch was asked for, came, and was done."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from time import perf_counter, process_time
from typing import Any

from lessonkit.engine.workers.main_process import end_workers_that_stay
from lessonkit.loader import DataLoader

from ..ends import StepFailedError, StepsEndedError
from ..machine import private_memory
from .batches import bytes_of, own_copy
from .watching import IN_HAND, Watch, WatchedBatch

# `Any` in this module is a batch, or the iterator of a loader, of somebody else.


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
