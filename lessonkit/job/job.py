"""A job: a learner's own loader and step, as a model that foretells what other settings would take."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean, median
from time import perf_counter
from typing import Any

from lessonkit import check
from lessonkit.dataset import Dataset
from lessonkit.engine.costs import Handling
from lessonkit.engine.fluid import between
from lessonkit.engine.machine import Machine, work
from lessonkit.engine.process import get_worker_info
from lessonkit.engine.trace import Trace
from lessonkit.engine.training import benchmark
from lessonkit.job.beside import find_sharing
from lessonkit.job.here import allowed_cores
from lessonkit.job.numbers import JobNumbers, measure_numbers
from lessonkit.job.own import OwnSubject
from lessonkit.job.watching import AGAIN, BUDGET, Subject, Watch, restored, size_of_batch
from lessonkit.loader import DataLoader
from lessonkit.words import milliseconds

PERIOD = 48  # batches of a long epoch, at least, after which the model repeats itself
LEAST_ROUNDS = 2  # batches of each worker in a period, at least
SIMULATED = 96  # batches of a run that is compared with one that was seen
SPREAD = 0.618  # golden: its multiples, less whole numbers, are spread evenly from 0 to 1
AS_MANY = 1.1  # times the samples of an epoch; as many, but for the rest of a batch
MOST_OFF = 2.0  # times; what the model leaves unexplained is never more
# Times that grow with a batch
HANDED_OVER = ("take", "take_busy", "take_core", "way", "way_busy")
LEAST_GROWN = 0.1  # of the growth of a batch; all that it takes grows at least so


class Forecast(tuple[float, ...]):
    """Seconds of the first and of a later epoch; *range* is that of the first, from and to."""

    range: tuple[float, float]


@dataclass(repr=False)
class Job:
    """What was measured of a loader and a step: a model of them, and its forecasts.

    *said* are the arguments of `forecast` as the loader has them. An epoch without workers
    has so many *samples* in so many *batches*; the job is *whole* if that is known, and else
    they are as many as were seen.
    """

    numbers: JobNumbers
    said: dict[str, Any]
    samples: int
    batches: int
    whole: bool
    subject: Subject | None = None  # for more runs, where it was measured

    def __repr__(self) -> str:
        fetch, step = map(
            milliseconds, (fmean(self.numbers.alone), self.pace(self.said["threads"]))
        )
        return f"<Job: {self.samples} samples, batches of {self.said['batch_size']}: {fetch}, a step: {step}>"

    def setting(self, **changes: Any) -> dict[str, Any]:
        """Return the arguments of `forecast` as the loader has them, with *changes*; they are checked."""
        for name in changes:
            check.one_of("setting", name, tuple(self.said))
        setting = self.said | {
            name: value for name, value in changes.items() if value is not None
        }
        for name, least in (
            ("num_workers", 0),
            ("prefetch_factor", 1),
            ("batch_size", 1),
            ("threads", 1),
        ):
            check.integer(name, setting[name], least=least)
        if setting["threads"] not in (timed := self.numbers.threads):
            raise ValueError(
                f"threads={setting['threads']}: must be one of {sorted(timed)}, as measured"
            )
        return setting

    # ---- the model ----

    def samples_of_workers(self, workers: int) -> Sequence[float]:
        """Return how many samples each worker gives of an iterable; without workers, one number."""
        alike = self.samples if self.repeats else self.samples / max(1, workers)
        return self.numbers.shares.get(workers) or [alike] * max(1, workers)

    @property
    def repeats(self) -> bool:
        """Whether workers give more samples of an iterable than it has: each of them gives all."""
        known = self.numbers.shares.values()
        return any(sum(shares) > AS_MANY * self.samples for shares in known)

    def given(self, workers: int) -> int:
        """Return how many samples an epoch has with a number of *workers*."""
        return round(sum(self.samples_of_workers(workers))) if workers else self.samples

    def as_many(self, workers: int, others: int) -> bool:
        """Whether an epoch has as many samples with a number of *workers* as with *others*."""
        few, many = sorted((self.given(workers), self.given(others)))
        return many <= AS_MANY * few

    def count(self, setting: dict[str, Any], most: float = math.inf) -> list[int]:
        """Return how many batches each worker makes of an iterable, or one number for all; *most* in all."""
        if self.numbers.stream:
            of_each = self.samples_of_workers(setting["num_workers"])
            each = [share / setting["batch_size"] for share in of_each]
        else:
            each = [self.batches * self.said["batch_size"] / setting["batch_size"]]
        return [math.ceil(min(batches, most / len(each))) for batches in each]

    def period(self, setting: dict[str, Any]) -> int:
        """Return after how many batches the costs repeat: after whole rounds of the workers.

        A short epoch is all modelled, as it was measured.
        """
        total, workers = sum(self.count(setting)), max(1, setting["num_workers"])
        if not total:
            raise ValueError(f"num_workers={workers}: an epoch has no batch then")
        period = workers * max(LEAST_ROUNDS, math.ceil(PERIOD / workers))
        return total if total < 3 * period else period

    def grown(self, setting: dict[str, Any], part: str) -> float:
        """Return how many times as long a *part* takes for a batch of another size than the loader's."""
        grown = setting["batch_size"] / self.said["batch_size"]
        return float(
            max(LEAST_GROWN * grown, 1 + (self.numbers.double[part] - 1) * (grown - 1))
        )

    def rest(self, setting: dict[str, Any]) -> float:
        """Return what the model leaves unexplained of a setting, as a factor."""
        return between(
            setting["num_workers"],
            self.numbers.threads[setting["threads"]].rest,
            self.numbers.cores,
        )

    def pace(self, threads: int) -> float:
        """Return the seconds that a step takes at least, here or on a device."""
        device = self.numbers.device
        return max(
            fmean(self.numbers.threads[threads].steps), device.train if device else 0.0
        )

    def loader(self, most: float = math.inf, **changes: Any) -> DataLoader:
        """Return the loader as our own `DataLoader`, of whole batches, with the costs that were measured.

        *changes* are the arguments of `forecast`; an epoch has at most *most* batches.
        """
        setting, known = self.setting(**changes), self.numbers
        rest, grown = self.rest(setting), setting["batch_size"] / self.said["batch_size"]
        make, hand = rest * self.grown(setting, "make"), rest * self.grown(setting, "hand")
        each, period = self.count(setting, most), self.period(setting)
        batches = (
            Dataset.range(sum(each))
            if len(each) == 1
            else Dataset.from_generator(shared_out(each))
        )
        more: dict[str, Any] = {"handling": Handling(ask=known.over * rest)}
        fetch, cost = None, in_turn(known.alone, period, make)
        if setting["num_workers"]:
            cost = in_turn(known.works, period, make, known.put * rest)
            if any(known.waits):
                fetch, cost = (
                    by_turns(in_turn(known.waits, period, rest * grown), cost),
                    lambda _: 0,
                )
            more = {
                name: setting[name]
                for name in ("num_workers", "prefetch_factor", "persistent_workers")
            }
            more["in_order"] = known.in_order
            more["start"] = tuple(seconds * rest for seconds in known.start)
            times = vars(known.handling).items()
            handling = {
                name: time * (hand if name in HANDED_OVER else rest) for name, time in times
            }
            more["handling"] = Handling(**handling)
        nbytes = round(known.nbytes * grown)
        batches = batches.map(fetch, cost=cost, kind="native", stage="Fetch", nbytes=nbytes)
        return DataLoader(batches, batch_size=None, **more)

    def step(self, **changes: Any) -> Callable[[Any], None]:
        """Return the step as a function for `benchmark`: it takes what was measured, and holds its cores."""
        setting = self.setting(**changes)
        known = self.numbers.threads[setting["threads"]]
        grown = 1.0 if self.numbers.device else self.grown(setting, "step")
        seconds = in_turn(known.steps, self.period(setting), self.rest(setting) * grown)
        kind = "native" if known.computes else "wait"
        return lambda number: work(seconds(number), kind=kind)

    def model(
        self, most: float = math.inf, **changes: Any
    ) -> tuple[DataLoader, dict[str, Any]]:
        """Return the loader and the options of `benchmark`, for all that takes both; see `loader`."""
        setting = self.setting(**changes)
        machine = Machine(
            self.numbers.cores, self.numbers.threads[setting["threads"]].sharing
        )
        options: dict[str, Any] = {"step": self.step(**changes), "machine": machine}
        if device := self.numbers.device:
            train = device.train * self.grown(setting, "step") * self.rest(setting)
            options |= {"train": train, "queue": device.queue}
        return self.loader(most, **changes), options

    def run(self, num_epochs: int = 2, most: float = math.inf, **changes: Any) -> Trace:
        """Run the model on the virtual clock, with the arguments of `forecast`; a trace for every picture."""
        loader, options = self.model(most, **changes)
        return benchmark(loader, num_epochs, **options)

    def forecast(
        self,
        num_workers: int | None = None,
        prefetch_factor: int | None = None,
        persistent_workers: bool | None = None,
        batch_size: int | None = None,
        threads: int | None = None,
    ) -> Forecast:
        """Foretell the seconds of the first and of a later epoch; what is not given stays as in the loader.

        *threads* are those of the step, one of the numbers that were measured. The result
        has a *range* for the first epoch. Raises TypeError or ValueError for a setting that
        a loader does not take.
        """
        setting = self.setting(
            **{name: value for name, value in locals().items() if name != "self"}
        )
        total, period = sum(self.count(setting)), self.period(setting)
        # What is left out are whole periods
        most = total if period == total else 2 * period + total % period
        times = []
        for epoch in self.run(2, most, **setting).epochs:
            last = min(period, epoch.count - 1)
            seconds = epoch.arrivals[-1] - epoch.arrivals[-1 - last]
            later = (total - epoch.count) * seconds / max(1, last)
            times.append(epoch.duration + later)
        found = Forecast(times)
        off = math.hypot(self.numbers.noise, self.rest(setting) - 1)
        found.range = (times[0] * (1 - off), times[0] * (1 + off))
        return found

    def like(self, seen: Watch, **setting: Any) -> tuple[Trace, int]:
        """Run the model as a run went that was *seen*; return its trace, and how many batches both have."""
        count = min(len(seen.batches), SIMULATED)
        # Workers go on when a run is left
        most = count if seen.whole else count + 8 * seen.workers
        return self.run(
            1, most, num_workers=seen.workers, persistent_workers=True, **setting
        ), count

    def compared(self, seen: Watch, **setting: Any) -> tuple[float, float, int]:
        """Return what a run took that was *seen*, what it takes in the model, and of how many batches."""
        trace, count = self.like(seen, **setting)
        took = seen.batches[count - 1].got - seen.began
        return took, trace.epochs[0].arrivals[:count][-1], count


def in_turn(
    costs: list[float], count: int, grown: float, more: float = 0
) -> Callable[[int], float]:
    """Return the cost of each batch by its number: *costs* times *grown*, and *more*.

    They repeat after *count* batches. If that is fewer than there are *costs*, so many are
    chosen that have the mean of all, in an order in which any few in a row nearly have it.
    """
    if count < len(costs):
        chosen = [costs[int(SPREAD * number % 1 * len(costs))] for number in range(count)]
        grown *= fmean(costs) / (fmean(chosen) or 1)
        costs = chosen
    return lambda number: costs[number % count % len(costs)] * grown + more


def by_turns(
    wait: Callable[[int], float], cost: Callable[[int], float]
) -> Callable[[int], int]:
    """Return what makes a batch in a worker, which waits before it computes and after, in shares that differ.

    If all waited first, workers that began together would for ever compute together, and
    want more cores.
    """

    def fetch(number: int) -> int:
        share = SPREAD * number % 1
        work(share * wait(number), stage="Wait")
        work(cost(number), kind="native")
        work((1 - share) * wait(number), stage="Wait")
        return number

    return fetch


def shared_out(each: list[int]) -> Callable[[], Iterator[int]]:
    """Return a generator that gives each worker so many numbers of batches as *each* says."""

    def mine() -> Iterator[int]:
        info = get_worker_info()
        if info is not None:
            yield from range(info.id, info.id + len(each) * each[info.id], len(each))

    return mine


def measure_job(
    loader: Any, step: Callable[[Any], Any], synchronise: Callable[[], Any] | None = None
) -> Job:
    """Measure a PyTorch *loader* and a *step* in short runs of both, about 14 seconds; return a `Job`.

    *synchronise* waits for what the step only launched; it is found if PyTorch has
    initialised a GPU.
    """
    check.function("step", step)
    if synchronise is not None:
        check.function("synchronise", synchronise)
    with restored() as torch:  # a sampler draws, too
        subject = (OwnSubject if isinstance(loader, DataLoader) else Subject)(loader, step)
        if synchronise is None and torch and torch.cuda.is_initialized():
            synchronise = torch.cuda.synchronize
        subject.synchronise, subject.again = synchronise, perf_counter() + AGAIN
        return measure_subject(subject, allowed_cores(), torch)


def measure_subject(subject: Subject, cores: int, torch: Any = None) -> Job:
    """Measure a *subject*: its numbers, and what the model leaves unexplained of runs beside workers."""
    subject.until = perf_counter() + BUDGET
    numbers, alone, by_threads = measure_numbers(subject, cores, torch)
    subject.until = math.inf
    seen = [batch.samples for batch in alone.batches]
    setting = {
        name: getattr(subject.loader, name)
        for name in ("num_workers", "persistent_workers")
    }
    setting["prefetch_factor"] = subject.loader.prefetch_factor or 2
    setting["threads"] = torch.get_num_threads() if torch else 1
    if subject.stream:
        known = None if alone.whole else next(iter(numbers.shares.values()), None)
        samples, whole = sum(known or seen), bool(known or alone.whole)
        setting["batch_size"] = subject.batch_size or max(seen)
        batches = math.ceil(samples / setting["batch_size"])
    else:
        sizes = [*map(size_of_batch, subject.batches)]
        batches, whole = subject.count or len(sizes), subject.count is not None
        samples = round(sum(sizes) * batches / len(sizes))
        setting["batch_size"] = subject.batch_size or max(1, round(fmean(sizes)))
    job = Job(numbers, setting, samples, batches, whole, subject)
    for threads, runs in by_threads.items():
        step = numbers.threads[threads]
        find_sharing(numbers, step, runs, partial(job.like, threads=threads))
        off = defaultdict[int, list[float]](list)
        for run in runs:
            took, foretold, _ = job.compared(run, threads=threads)
            off[run.workers].append(took / foretold)
        one, many = (
            min(MOST_OFF, max(1 / MOST_OFF, median(off[workers]))) for workers in (1, cores)
        )
        step.rest = one, many
    return job
