"""The model of a job: its loader as our own, on the virtual clock, and what an epoch of it takes."""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from lessonkit.dataset import Dataset
from lessonkit.engine.machine import Handling, Machine, work
from lessonkit.engine.trace import Trace
from lessonkit.engine.training import benchmark
from lessonkit.explain.fitted import GOLDEN
from lessonkit.loader import DataLoader

from ..measure.numbers import JobNumbers
from ..measure.setting import Setting
from ..thresholds import (
    FILL,
    PERIOD,
    PERIOD_ROUNDS,
    PERIODS,
    SAME_PACE,
    SIMULATED,
    STOP,
    STOP_EACH,
    UNEVEN,
)
from .arrivals import Arrivals, Loop, Piece, Workers

Options = dict[str, Any]
"""Keywords of `benchmark`."""


class Epochs(NamedTuple):
    """The seconds of the *first* and of a *later* epoch of a training."""

    first: float
    later: float


class Model(NamedTuple):
    """A job with a *setting*, whose batches are *times* as large as those that were measured.

    An epoch has *batches*. In one that is *watched* they come in the order of the runs, which
    is spread over an epoch; otherwise in that of a training. *steps_before* it have been made.
    """

    numbers: JobNumbers
    setting: Setting
    batches: int
    times: float = 1.0
    watched: bool = False
    steps_before: int = 0

    def grown(self, part: str) -> float:
        """Return the factor by which a *part* takes longer for batches of this size."""
        of_two = self.numbers.growth.get(part, 1.0)
        return max(0.0, 1 + (of_two - 1) * (self.times - 1))

    @property
    def unexplained(self) -> float:
        """The factor by which real runs beside as many workers took longer than the model."""
        step = self.numbers.threads[self.setting.threads]
        return between(step.unexplained, self.setting.num_workers)

    @property
    def crowded(self) -> float:
        """The factor by which batches take longer still, beside more workers than were run."""
        step = self.numbers.threads[self.setting.threads]
        return crowding(step.unexplained, self.setting.num_workers)

    @property
    def stop(self) -> float:
        """The seconds to end the workers, as they were seen to take; as they usually take if not."""
        known = self.numbers.stop
        return STOP + STOP_EACH * self.setting.num_workers if known is None else known

    @property
    def train(self) -> float:
        """The seconds of a device for a step; 0 without one."""
        device = self.numbers.device
        return device.train * self.grown("step") if device else 0.0

    @property
    def drained(self) -> int:
        """How many batches are made, or launched, while the loader makes no more of them."""
        device = self.numbers.device
        return self.setting.ahead + (device.queue if device else 0)

    # ---- the loader and the step ----

    def loader(self, most: int | None = None) -> DataLoader:
        """Return the loader as our own, with the costs of whole batches that were measured."""
        known = self.numbers
        setting = self.setting
        count = self.batches if most is None else min(most, self.batches)
        batches = Dataset.range(count).map(
            self.fetch(count), stage="Fetch", nbytes=known.nbytes
        )
        if not setting.num_workers:
            return DataLoader(batches, batch_size=None)
        handling = Handling(
            first=known.first - known.first_works,
            take=known.take * self.unexplained * self.grown("take"),
            stop=self.stop,
        )
        return DataLoader(
            batches,
            batch_size=None,
            num_workers=setting.num_workers,
            prefetch_factor=setting.prefetch_factor,
            persistent_workers=setting.persistent_workers,
            in_order=known.in_order,
            start=(known.start.in_loop, known.start.until_ready),
            handling=handling,
        )

    def fetch(self, count: int) -> Callable[[int], int]:
        """Return a function that makes a batch, one of *count*, on the engine's clock."""
        pieces = self.pieces(count)

        def fetch(number: int) -> int:
            for piece in pieces(number):
                kind = "native" if piece.cores else "wait"
                work(piece.seconds, kind=kind, stage=piece.stage)
            return number

        return fetch

    def pieces(self, count: int) -> Callable[[int], list[Piece]]:
        """Return a function that says what it takes to make a batch, one of *count*, by its number.

        It waits before it computes and after, in shares that differ from batch to batch. If all
        waited first, workers that began together would compute together ever after, and want more
        cores. Workers that stay make one first batch each.
        """
        known = self.numbers
        longer = self.unexplained * self.crowded * self.grown("make")
        if self.setting.num_workers:
            waits = known.waits * longer
            works = known.works * longer
        else:
            waits = 0.0
            works = known.threads[self.setting.threads].alone * longer
        if self.watched:
            factors = [known.uneven.of_batch_in_run(number) for number in range(count)]
        else:
            factors = known.uneven.of_epoch(count)
        # Each worker opens an iterable; else the first sample of an epoch opens what it needs
        opens = self.setting.workers_at_work if known.stream else 1
        workers = self.setting.num_workers if known.first_works else 0
        begun = set[int]()

        def pieces(number: int) -> list[Piece]:
            share = GOLDEN * number % 1
            wait = waits * factors[number]
            found = []
            if number < workers and number not in begun:  # the first one of a worker
                found.append(Piece(known.first_works, 1.0, "First"))
                if self.setting.persistent_workers:
                    begun.add(number)
            if known.opening and number < opens:
                found.append(Piece(known.opening, stage="Open"))
            if wait:
                found.append(Piece(share * wait, stage="Wait"))
            found.append(Piece(works * factors[number], 1.0))
            if wait:
                found.append(Piece((1 - share) * wait, stage="Wait"))
            return found

        return pieces

    def steps(self) -> Callable[[int], Piece]:
        """Return a function that says what the loop does for a step, by the number of its batch.

        Of a step on a device that is to launch it.
        """
        known = self.numbers
        step = known.threads[self.setting.threads]
        longer = self.unexplained
        if not known.device:
            longer *= self.grown("step")
        seconds = step.seconds * longer
        cores = self.step_cores if step.computes else 0.0
        before = self.steps_before
        return lambda number: Piece(seconds * known.uneven.of_step(before + number), cores)

    @property
    def step_cores(self) -> float:
        """The cores that a step holds, of those that there are."""
        step = self.numbers.threads[self.setting.threads]
        return min(max(1.0, step.cores), self.numbers.cores)

    def options(self) -> Options:
        """Return the options of `benchmark` for the step, with the costs that were measured."""
        known = self.numbers
        steps = self.steps()

        def step(number: int) -> None:
            piece = steps(number)
            work(piece.seconds, kind="native" if piece.cores else "wait")

        options: Options = {"step": step, "machine": Machine(known.cores, self.step_cores)}
        if known.device:
            options["train"] = self.train
            options["queue"] = known.device.queue
        return options

    def run(self, num_epochs: int, most: int | None = None) -> Trace:
        """Return a trace of the model on the virtual clock."""
        return benchmark(self.loader(most), num_epochs, **self.options())

    def arrivals(self, num_epochs: int, most: int | None = None) -> list[Arrivals]:
        """Return when batches arrive in `run`, which takes eight times as long to say so."""
        known = self.numbers
        setting = self.setting
        if not known.in_order:
            told = self.run(num_epochs, most).epochs
            return [Arrivals(epoch.arrivals, epoch.duration) for epoch in told]
        count = self.batches if most is None else min(most, self.batches)
        workers = None
        if setting.num_workers:
            workers = Workers(
                setting.num_workers,
                setting.ahead,
                setting.persistent_workers,
                start=known.start.in_loop,
                until_ready=known.start.until_ready,
                first=known.first - known.first_works,
                take=known.take * self.unexplained * self.grown("take"),
                stop=self.stop,
            )
        device = known.device
        queue = device.queue if device else 0
        loop = Loop(
            count,
            known.cores,
            self.pieces(count),
            self.steps(),
            workers,
            self.train,
            queue,
            goes_on=self.watched,
        )
        return loop.epochs(num_epochs)

    # ---- a forecast ----

    def period(self) -> int:
        """Return after how many batches costs repeat: whole rounds of workers."""
        workers = self.setting.workers_at_work
        return workers * max(PERIOD_ROUNDS, math.ceil(PERIOD / workers))

    def epochs(self) -> Epochs:
        """Return the seconds of the first and of a later epoch.

        A short epoch is run to its end. Of a long one, as many whole periods are left out as
        make no difference: what is run has the start of the workers, two periods of one pace, and
        then the end, in which no more batches are made and the step has the cores for itself.
        If two periods differ, buffers or the queue of a device still fill, and more is run. An
        epoch is never shorter than what its device has to do.
        """
        period = self.period()
        rest = self.batches % period
        margin = math.ceil((FILL * self.setting.workers_at_work + self.drained) / period)
        periods = PERIODS + margin
        if self.numbers.uneven:  # no two periods are alike, and stragglers are few
            periods += math.ceil(UNEVEN / period)
        while True:
            most = min(self.batches, periods * period + rest)
            num_epochs = 2 if self.setting.persistent_workers else 1
            ran = self.arrivals(num_epochs, most)
            if most == self.batches:
                break
            paces = [self.paces(epoch, period) for epoch in ran]
            steady = all(abs(one / other - 1) <= SAME_PACE for one, other in paces)
            if steady or self.numbers.uneven or most >= SIMULATED:
                break
            periods *= 2
        left_out = self.batches - most
        least = self.batches * self.train
        times = []
        for epoch in ran:
            more = left_out * self.pace(epoch, period) if left_out else 0.0
            times.append(max(least, epoch.duration + more))
        return Epochs(times[0], times[-1])

    def paces(self, epoch: Arrivals, period: int) -> tuple[float, float]:
        """Return the seconds per batch of the last two periods before the end of an *epoch*."""
        last = len(epoch.came) - 1 - self.drained
        ends = [epoch.came[last - number * period] for number in range(PERIODS + 1)]
        return (ends[0] - ends[1]) / period, (ends[1] - ends[2]) / period

    def pace(self, epoch: Arrivals, period: int) -> float:
        """Return the seconds per batch of an *epoch*, without its beginning and its end.

        If batches are uneven, no period is like another, and all of them count.
        """
        if not self.numbers.uneven:
            return self.paces(epoch, period)[0]
        last = len(epoch.came) - 1 - self.drained
        first = FILL * self.setting.workers_at_work
        return (epoch.came[last] - epoch.came[first]) / (last - first)


def crowding(numbers: dict[int, float], workers: int) -> float:
    """Return by which factor batches of as many *workers* take longer than those of the most that ran.

    *numbers* has factors by the workers of real runs, and goes on to grow as it did last. Where twice
    the workers gave as many batches a second as half of them, because a storage gives no more,
    their factor doubled, and so it will again.

    >>> crowding({0: 1.0, 1: 1.0, 2: 1.1, 4: 2.2}, 16), crowding({0: 1.0, 2: 1.5, 4: 1.5}, 16)
    (4.0, 1.0)
    """
    most = max(numbers)
    before = max((count for count in numbers if 0 < count <= most / 2), default=most)
    if workers <= most or before == most:
        return 1.0
    grown = math.log(max(1.0, numbers[most] / numbers[before])) / math.log(most / before)
    return math.pow(workers / most, min(1.0, grown))


def between(numbers: Mapping[int, float], workers: int) -> float:
    """Return the number for as many *workers*, from *numbers* by the workers of real runs.

    It is interpolated between them, and constant above them and below.

    >>> between({0: 1.0, 2: 1.4}, 1), between({0: 1.0, 2: 1.4}, 8)
    (1.2, 1.4)
    """
    below, above = beside(numbers, workers)
    part = (workers - below) / max(1, above - below)
    return numbers[below] + part * (numbers[above] - numbers[below])


def beside(numbers: Mapping[int, float], workers: int) -> tuple[int, int]:
    """Return the nearest keys of *numbers*, from below and from above; twice the same beyond all of them.

    >>> beside({0: 1.0, 2: 1.4}, 1), beside({0: 1.0, 2: 1.4}, 2), beside({0: 1.0, 2: 1.4}, 8)
    ((0, 2), (2, 2), (2, 2))
    """
    below = max((count for count in numbers if count <= workers), default=min(numbers))
    above = min((count for count in numbers if count >= workers), default=below)
    return below, above
