"""A job: a learner's own loader and step, as a model that foretells what other settings would take."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from statistics import fmean, median
from time import perf_counter
from typing import Any

from lessonkit import check
from lessonkit.dataset import Dataset
from lessonkit.engine.fluid import between
from lessonkit.engine.machine import Machine, work
from lessonkit.engine.process import get_worker_info
from lessonkit.engine.trace import Trace
from lessonkit.engine.training import benchmark
from lessonkit.engine.workers.handling import Handling
from lessonkit.job.beside import find_sharing
from lessonkit.job.here import allowed_cores
from lessonkit.job.numbers import JobNumbers, measure_numbers
from lessonkit.job.own import OwnSubject
from lessonkit.job.watching import AGAIN, BUDGET, MOST_ASKED, Subject, Watch, restored
from lessonkit.loader import DataLoader
from lessonkit.words import milliseconds

SIMULATED = 96  # batches of an epoch; the rest goes on as these do
SPREAD = 0.618  # golden: its multiples, less whole numbers, are spread evenly from 0 to 1
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

    *said* are the arguments of `forecast` as the loader has them. An epoch has so many
    *samples*; the job is *whole* if that is known, and else they are as many as were seen.
    """

    numbers: JobNumbers
    said: dict[str, Any]
    samples: int
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

    def count(self, setting: dict[str, Any], most: float = math.inf) -> list[int]:
        """Return how many batches each worker makes of an iterable, or one number for all; *most* in all."""
        workers = setting["num_workers"] if self.numbers.stream else 0
        alike = [self.samples / max(1, workers)] * max(1, workers)
        shares = self.numbers.shares.get(workers, alike)
        return [
            math.ceil(min(share / setting["batch_size"], most / len(shares)))
            for share in shares
        ]

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
        each = self.count(setting, most)
        total = sum(each)
        batches = (
            Dataset.range(total)
            if len(each) == 1
            else Dataset.from_generator(shared_out(each))
        )
        more: dict[str, Any] = {"handling": Handling(ask=known.over * rest)}
        fetch, cost = None, in_turn(known.alone, total, make)
        if setting["num_workers"]:
            cost = in_turn(known.works, total, make, known.put * rest)
            if any(known.waits):
                fetch, cost = (
                    by_turns(in_turn(known.waits, total, rest * grown), cost),
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
        seconds = in_turn(known.steps, SIMULATED, self.rest(setting) * grown)
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
        total = sum(self.count(setting))
        times = []
        for epoch in self.run(2, SIMULATED, **setting).epochs:
            half = epoch.count // 2
            seconds = epoch.arrivals[-1] - epoch.arrivals[half]
            later = (total - epoch.count) * seconds / max(1, epoch.count - 1 - half)
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

    def off(self, seen: Watch, **setting: Any) -> float:
        """Return how many times as long as in the model a run took that was *seen*."""
        trace, count = self.like(seen, **setting)
        took, foretold = (
            seen.batches[count - 1].got - seen.began,
            trace.epochs[0].arrivals[:count][-1],
        )
        return float(min(MOST_OFF, max(1 / MOST_OFF, took / foretold)))


def in_turn(
    costs: list[float], count: int, grown: float, more: float = 0
) -> Callable[[int], float]:
    """Return the cost of each batch by its number: *costs* times *grown*, and *more*, in turn.

    Where they are more than *count*, so many are chosen, evenly, with the mean that all have.
    """
    chosen = (
        [costs[number * len(costs) // count] for number in range(count)]
        if count < len(costs)
        else costs
    )
    scale = grown * fmean(costs) / (fmean(chosen) or 1)
    return lambda number: chosen[number % len(chosen)] * scale + more


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
    setting["batch_size"] = subject.batch_size or max(seen)
    setting["threads"] = torch.get_num_threads() if torch else 1
    samples, whole = sum(map(size_of_batch, subject.batches)), True
    if (asked := len(subject.batches)) == MOST_ASKED:  # and no more
        samples, whole = (
            round(samples * (subject.count or asked) / asked),
            subject.count is not None,
        )
    if subject.stream:
        known = next(iter(numbers.shares.values()), None)
        samples, whole = sum(known or seen), bool(known or alone.whole)
    job = Job(numbers, setting, samples, whole, subject)
    for threads, runs in by_threads.items():
        step = numbers.threads[threads]
        find_sharing(numbers, step, runs, partial(job.like, threads=threads))
        off = {
            many: [job.off(run, threads=threads) for run in runs if run.workers == many]
            for many in (1, cores)
        }
        step.rest = median(off[1]), median(off[cores])
    return job


def size_of_batch(indices: Any) -> int:
    """Count the samples of a batch; without batches there is one."""
    return len(indices) if hasattr(indices, "__len__") else 1
