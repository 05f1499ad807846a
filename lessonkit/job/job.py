"""A job: a learner's own loader and step, as a model that foretells what other settings would take."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from lessonkit import check
from lessonkit.dataset import Dataset
from lessonkit.engine.machine import Machine, work
from lessonkit.engine.process import get_worker_info
from lessonkit.engine.slices import between
from lessonkit.engine.trace import Trace
from lessonkit.engine.training import benchmark
from lessonkit.engine.workers.handling import Handling
from lessonkit.job.beside import sharing
from lessonkit.job.device import synchroniser
from lessonkit.job.here import allowed_cores
from lessonkit.job.numbers import Beside, JobNumbers, numbers_of, run_all
from lessonkit.job.own import OwnSubject
from lessonkit.job.watching import Subject, Watch, restored
from lessonkit.loader import DataLoader
from lessonkit.words import milliseconds

SIMULATED = 96  # batches of an epoch; the rest goes on as these do
MOST_OFF = 2.0  # times; what the model leaves unexplained is never more
RESUME = 0.001  # s; until workers that stayed begin again


class Forecast(tuple[float, ...]):
    """Seconds of the first and of a later epoch; *range* is that of the first, from and to."""

    range: tuple[float, float]


@dataclass(repr=False)
class Job:
    """What was measured of a loader and a step: a model of them, and its forecasts.

    *batch_size* is that of the loader, *samples* how many an epoch has; it is *whole* if that is known, and
    else as many as were seen. *notes* say what could not be measured.
    """

    numbers: JobNumbers
    said: dict[str, Any]  # the arguments of the loader as it was written
    batch_size: int
    samples: int
    whole: bool
    notes: list[str] = field(default_factory=list)
    subject: Subject | None = None  # for more runs, where it was measured

    def __repr__(self) -> str:
        usual = self.setting()
        fetch, step = milliseconds(fmean(self.numbers.alone)), milliseconds(self.pace(usual["threads"]))
        return f"<Job: {self.samples} samples, batches of {self.batch_size}: {fetch}, a step: {step}>"

    def setting(self, **changes: Any) -> dict[str, Any]:
        """Return the arguments of `forecast` as the loader has them, with *changes*; they are checked."""
        known = self.said | {"batch_size": self.batch_size, "threads": self.numbers.usual}
        for name in changes:
            check.one_of("setting", name, tuple(known))
        said = known | {name: value for name, value in changes.items() if value is not None}
        for name, least in (("num_workers", 0), ("prefetch_factor", 1), ("batch_size", 1), ("threads", 1)):
            check.integer(name, said[name], least=least)
        if said["threads"] not in (timed := self.numbers.threads):
            raise ValueError(f"threads={said['threads']}: must be one of {sorted(timed)}, as measured")
        return said

    # ---- the model ----

    def count(self, said: dict[str, Any]) -> list[int]:
        """Return how many batches each worker makes of an iterable, or one number for all."""
        workers, size = said["num_workers"], said["batch_size"]
        if not (self.numbers.stream and workers):
            return [math.ceil(self.samples / size)]
        shares = self.numbers.shares.get(workers) or [self.samples / workers] * workers
        return [math.ceil(share / size) for share in shares]

    def loader(self, most: int | None = None, **changes: Any) -> DataLoader:
        """Return the loader as our own `DataLoader`, of whole batches, with the costs that were measured.

        *changes* are the arguments of `forecast`; an epoch has at most *most* batches.
        """
        said, known = self.setting(**changes), self.numbers
        workers, grown, rest = said["num_workers"], said["batch_size"] / self.batch_size, self.rest(said)
        each = self.count(said)
        each = [min(count, math.ceil((most or count) / len(each))) for count in each]
        share = known.double["share of collate"]
        larger = (1 - share) * grown + share * max(
            0.1 * grown, 1 + (known.double["collate"] - 1) * (grown - 1)
        )
        if workers:
            computes = spread(known.works, sum(each), rest * larger)
            computes = [work + known.put * rest for work in computes]
            waits = spread(known.waits, sum(each), rest * grown)
        else:
            computes, waits = spread(known.alone, sum(each), rest * larger), []
        batches = Dataset.range(each[0])
        if len(each) > 1:
            batches = Dataset.from_generator(shared_out(each))
        if any(waits):
            batches = batches.map(cost=lambda number: waits[number % len(waits)], stage="Wait")
        fetch = {"kind": "native", "stage": "Fetch", "nbytes": round(known.nbytes * grown)}
        batches = batches.map(cost=lambda number: computes[number % len(computes)], **fetch)
        more: dict[str, Any] = {}
        if workers:
            hand = rest * (1 + (known.double["hand"] - 1) * (grown - 1))
            times = dict(
                zip(("way", "way_busy", "take", "take_busy"), (*known.way, *known.take), strict=True)
            )
            handling = Handling(
                begin=known.begin * rest,
                first=known.cold * rest,
                resume=RESUME * rest,
                stop=known.stop * rest,
                stop_each=known.stop_each * rest,
                take_core=known.take_core * hand,
                **{name: time * hand for name, time in times.items()},
            )
            more = {name: said[name] for name in ("prefetch_factor", "persistent_workers")}
            more |= {"start": (known.iter * rest, known.boot * rest), "handling": handling}
        else:
            more = {"handling": Handling(ask=known.over * rest)}
        return DataLoader(batches, batch_size=None, num_workers=workers, **more)

    def slower(self, said: dict[str, Any]) -> float:
        """Return how many times as long as with the loader's batches a step takes with others."""
        grown = said["batch_size"] / self.batch_size
        return float(max(0.1 * grown, 1 + (self.numbers.double["step"] - 1) * (grown - 1)))

    def pace(self, threads: int) -> float:
        """Return the seconds that a step takes at least, here or on a device."""
        device = self.numbers.device
        return max(fmean(self.numbers.threads[threads].steps), device.train if device else 0.0)

    def step(self, **changes: Any) -> Callable[[Any], None]:
        """Return the step as a function for `benchmark`: it takes what was measured, and holds its cores."""
        said = self.setting(**changes)
        known = self.numbers.threads[said["threads"]]
        slower = 1.0 if self.numbers.device else self.slower(said)
        steps = spread(known.steps, SIMULATED, self.rest(said) * slower)
        kind = "native" if known.computes else "wait"
        return lambda number: work(steps[number % len(steps)], kind=kind)

    def model(self, most: int | None = None, **changes: Any) -> tuple[DataLoader, dict[str, Any]]:
        """Return the loader and the options of `benchmark`, for all that takes both; see `loader`."""
        said = self.setting(**changes)
        machine = Machine(self.numbers.cores, self.numbers.threads[said["threads"]].sharing)
        options: dict[str, Any] = {"step": self.step(**changes), "machine": machine}
        if device := self.numbers.device:
            train = device.train * self.slower(said) * self.rest(said)
            options |= {"train": train, "queue": device.queue}
        return self.loader(most, **changes), options

    def run(self, num_epochs: int = 2, most: int | None = None, **changes: Any) -> Trace:
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

        *threads* are those of the step, one of the numbers that were measured. The result has a *range* for
        the first epoch. Raises TypeError or ValueError for a setting that a loader does not take.
        """
        changes = {"num_workers": num_workers, "prefetch_factor": prefetch_factor}
        changes |= {"persistent_workers": persistent_workers, "batch_size": batch_size, "threads": threads}
        said = self.setting(**changes)
        total = sum(self.count(said))
        trace = self.run(2, SIMULATED, **changes)
        times = []
        for epoch in trace.epochs:
            half = epoch.count // 2
            late = total - epoch.count
            rate = (
                (epoch.arrivals[-1] - epoch.arrivals[half]) / max(1, epoch.count - 1 - half)
                if late > 0
                else 0
            )
            times.append(epoch.duration + late * rate)
        found = Forecast(times)
        off = math.hypot(self.numbers.noise, self.rest(said) - 1)
        found.range = (times[0] * (1 - off), times[0] * (1 + off))
        return found

    def rest(self, said: dict[str, Any]) -> float:
        """Return what the model leaves unexplained of a setting, as a factor."""
        return between(said["num_workers"], self.numbers.threads[said["threads"]].rest, self.numbers.cores)

    def fit(self, threads: int, beside: Beside) -> None:
        """Find how step and workers slow each other down, and what the model leaves unexplained then."""
        step = self.numbers.threads[threads]
        step.sharing = sharing(self.numbers, step, beside)
        step.rest = self.off(beside.one, threads=threads), self.off(beside.full, threads=threads)

    def off(self, seen: Watch, **setting: Any) -> float:
        """Return how many times as long as in the model a run took that was *seen*, with other workers."""
        count = min(len(seen.made), 2 * SIMULATED)
        most = count if seen.whole else count + 8 * seen.workers  # workers go on when a run is left
        trace = self.run(1, most, num_workers=seen.workers, persistent_workers=True, **setting)
        took, foretold = seen.taken[count - 1].got - seen.began, trace.epochs[0].arrivals[:count][-1]
        return float(min(MOST_OFF, max(1 / MOST_OFF, took / foretold)))


def spread(costs: list[float], count: int, grown: float) -> list[float]:
    """Choose at most *count* of *costs*, evenly, times *grown*, with the mean that all have."""
    chosen = [costs[number * len(costs) // count] for number in range(count)] if count < len(costs) else costs
    mean = fmean(chosen)
    scale = grown * fmean(costs) / mean if mean else grown
    return [cost * scale for cost in chosen]


def shared_out(each: list[int]) -> Callable[[], Iterator[int]]:
    """Return a generator that gives each worker so many numbers of batches as *each* says."""

    def mine() -> Iterator[int]:
        info = get_worker_info()
        if info is not None:
            yield from range(info.id, info.id + len(each) * each[info.id], len(each))

    return mine


def measure_job(loader: Any, step: Callable[[Any], Any], synchronise: Callable[[], Any] | None = None) -> Job:
    """Measure a PyTorch *loader* and a *step* in short runs of both, about 14 seconds; return a `Job`.

    *synchronise* waits for what the step only launched; it is found if PyTorch has initialised a GPU.
    """
    check.function("step", step)
    if synchronise is not None:
        check.function("synchronise", synchronise)
    cores = allowed_cores()
    with restored():  # a sampler draws, too
        subject = (OwnSubject if isinstance(loader, DataLoader) else Subject)(loader, step)
        subject.synchronise = synchronise or synchroniser()
        runs = run_all(subject, cores)
    said = subject.usual | {"prefetch_factor": subject.usual["prefetch_factor"] or 2}
    size = subject.batch_size or max(made.samples for made in runs.alone.made)
    if subject.stream:
        samples = sum(next(iter(runs.shares.values()), [])) or sum(made.samples for made in runs.alone.made)
        whole = bool(runs.shares or runs.alone.whole)
    else:
        samples, whole = sum(map(size_of_batch, subject.batches)), True
    job = Job(numbers_of(runs, cores), said, size, samples, whole, subject=subject)
    for threads, beside in runs.by_threads.items():
        job.fit(threads, beside)
    return job


def size_of_batch(indices: Any) -> int:
    """Count the samples of a batch; without batches there is one."""
    return len(indices) if hasattr(indices, "__len__") else 1
