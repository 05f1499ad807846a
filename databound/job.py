"""A job: a learner's own loader and step, as a model that forecasts what other settings take."""

import json
import math
import os
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from statistics import fmean, variance
from time import perf_counter
from typing import IO, Any

from lessonkit.dataset import Dataset
from lessonkit.engine import check
from lessonkit.engine.machine import Handling, Machine, work
from lessonkit.engine.trace import Trace
from lessonkit.engine.training import benchmark
from lessonkit.loader import DataLoader

from .numbers import JobNumbers, StepNumbers, measure_numbers
from .watching import OnDevice, Subject, Watch, restored, size_of_batch

AGAIN = 13.0  # s; runs are repeated until then
LONGEST = 1_000_000  # batches of an epoch that is simulated to its end
SIMULATED = 400  # batches of a run that is compared with one that was seen
GOLDEN = 0.618  # its multiples, less whole numbers, are spread evenly from 0 to 1
# Times; epochs whose samples differ by no more have as many, but for the rests of batches
AS_MANY = 1.1
LEAST = {"num_workers": 0, "prefetch_factor": 1, "batch_size": 1, "threads": 1}

# Of a container: microseconds, in as many
QUOTA = Path("/sys/fs/cgroup/cpu.max")


@dataclass(repr=False)
class Job:
    """What was measured of a loader and a step: a model of them, and its forecasts.

    *said* are the arguments of `forecast` as the loader has them. *samples* and *batches*
    count an epoch without workers, or, if the job is not *whole*, only what was seen of it.
    The *subject* makes more runs, unless the job was stored.
    """

    numbers: JobNumbers
    said: dict[str, Any]
    samples: int
    batches: int
    batch_size: int
    whole: bool
    subject: Subject | None = None

    def __repr__(self) -> str:
        return f"<Job: samples={self.samples}, batch_size={self.batch_size}>"

    def setting(self, **changes: Any) -> dict[str, Any]:
        """Return the arguments of `forecast` as the loader has them, with *changes*, checked."""
        for name in changes:
            check.one_of("setting", name, tuple(self.said))
        setting = self.said | changes
        for name, value in setting.items():
            if name in LEAST:
                check.integer(name, value, least=LEAST[name])
        if setting["threads"] not in (timed := self.numbers.threads):
            allowed = f"must be one of {sorted(timed)}, as measured"
            raise ValueError(f"threads={setting['threads']}: {allowed}")
        return setting

    # ---- how much there is of an epoch ----

    def total(self, workers: int) -> float:
        """Return how many samples an epoch has with as many *workers*."""
        alike = self.samples * max(1, workers) if self.repeats else self.samples
        return self.numbers.totals.get(workers, alike)

    @property
    def repeats(self) -> bool:
        """Whether each worker gives all samples of an iterable, so an epoch has more of them."""
        return any(total > AS_MANY * self.samples for total in self.numbers.totals.values())

    def as_many(self, workers: int) -> bool:
        """Whether an epoch has as many samples with a number of *workers* as it has now."""
        few, many = sorted(map(self.total, (workers, self.said["num_workers"])))
        return many <= AS_MANY * few

    def count(self, setting: dict[str, Any]) -> int:
        """Return how many batches an epoch has with a *setting*."""
        size: int = setting.get("batch_size", self.batch_size)
        if not self.numbers.stream:
            return math.ceil(self.batches * self.batch_size / size)
        each: int = max(1, setting["num_workers"])  # has a last batch of its own
        total = self.total(setting["num_workers"])
        return each * math.ceil(total / each / size)

    def period(self, setting: dict[str, Any]) -> int:
        """Return after how many batches costs repeat: a short epoch, or whole rounds of workers.

        These are two rounds at least, and 48 batches.
        """
        total, workers = self.count(setting), max(1, setting["num_workers"])
        if not total:
            raise ValueError(f"num_workers={workers}: an epoch has no batch then")
        period = workers * max(2, math.ceil(48 / workers))
        return total if total < 3 * period else period

    # ---- the model ----

    def uncertainty(self, **changes: Any) -> float:
        """Return the share by which a forecast may be off, with the arguments of `forecast`.

        It is what the model missed with the numbers of workers next to the setting's that
        were really run, and no less than what the same run differed from itself.
        """
        setting = self.setting(**changes)
        missed = self.numbers.threads[setting["threads"]].missed
        return max(self.numbers.noise, between(missed, setting["num_workers"]))

    def grown(self, setting: dict[str, Any], part: str) -> float:
        """Return the factor by which a *part* takes longer for batches of the *setting*'s size."""
        times: float = setting.get("batch_size", self.batch_size) / self.batch_size
        of_two = self.numbers.growth.get(part, 1.0)
        return max(0.0, 1 + (of_two - 1) * (times - 1))

    def pace(self, threads: int) -> float:
        """Return the seconds that a step takes at least, here or on a device."""
        step, device = self.numbers.threads[threads], self.numbers.device
        seconds = max(step.seconds, device.train if device else 0.0)
        return seconds * min(step.unexplained.values())

    def model(
        self, most: int = LONGEST, **changes: Any
    ) -> tuple[DataLoader, dict[str, Any]]:
        """Return the loader as our own, and the options of `benchmark` for the step.

        Both have the costs that were measured, of whole batches. *changes* are the
        arguments of `forecast`; an epoch has at most *most* batches.
        """
        setting, known = self.setting(**changes), self.numbers
        step, device = known.threads[setting["threads"]], known.device
        factor = between(step.unexplained, setting["num_workers"])
        parts = ("make", "step", "take")
        make, longer, take = (factor * self.grown(setting, part) for part in parts)
        fetch, workers = waiting_and_working(0, step.alone * make), dict[str, Any]()
        if setting["num_workers"]:
            fetch = waiting_and_working(known.waits * make, known.works * make)
            names = "num_workers", "prefetch_factor", "persistent_workers"
            workers = {name: setting[name] for name in names}
            workers["in_order"] = known.in_order
            workers["start"] = tuple(known.start)
            workers["handling"] = Handling(
                first=known.first,
                take=known.take * take,
                stop=0.015,  # to end workers
                stop_each=0.001,
            )
        batches = Dataset.range(min(self.count(setting), most)).map(
            fetch, stage="Fetch", nbytes=known.nbytes
        )
        seconds = step.seconds * (factor if device else longer)
        kind = "native" if step.computes else "wait"
        options: dict[str, Any] = {
            "step": lambda number: work(seconds, kind=kind),
            "machine": Machine(known.cores, min(max(1.0, step.cores), known.cores)),
        }
        if device:
            options |= {"train": device.train * longer, "queue": device.queue}
        return DataLoader(batches, batch_size=None, **workers), options

    def run(self, num_epochs: int = 2, most: int = LONGEST, **changes: Any) -> Trace:
        """Return a trace of the model on the virtual clock, with the arguments of `forecast`."""
        loader, options = self.model(most, **changes)
        return benchmark(loader, num_epochs, **options)

    def forecast(self, **changes: Any) -> tuple[float, float]:
        """Return the seconds that the first and a later epoch would take.

        *changes* are `num_workers`, `prefetch_factor`, `persistent_workers`, `batch_size`, and
        `threads`, those of the step, one of the numbers that were measured. An argument that is
        not given stays as in the loader, and without workers those of workers change nothing.
        Raises TypeError or ValueError for a value that no loader takes.
        """
        setting = self.setting(**changes)
        total, period = self.count(setting), self.period(setting)
        # What is left out are whole periods
        most = total if period == total else 2 * period + total % period
        times = []
        for epoch in self.run(2, most, **setting).epochs:
            last = min(period, epoch.count - 1)
            seconds = epoch.arrivals[-1] - epoch.arrivals[-1 - last]
            left_out = (total - epoch.count) * seconds / max(1, last)
            times.append(epoch.duration + left_out)
        return times[0], times[1]

    # ---- the model beside real runs ----

    def compared(self, seen: Watch, **setting: Any) -> tuple[float, float, int]:
        """Return what a run took as *seen*, in the model, and for how many batches.

        The first three batches of each worker are left out: until then buffers are filled. Of
        a loader without an end a run may see more batches than the model has.
        """
        setting |= {"num_workers": seen.workers, "persistent_workers": True}
        count = min(len(seen.batches), SIMULATED, self.count(setting))
        most = count + 8 * seen.workers  # which go on when a run is left
        forecast = [0.0, *self.run(1, most, **setting).epochs[0].arrivals]
        came = [seen.began, *(batch.got for batch in seen.batches)]
        first = min(3 * seen.workers, count // 2)
        return came[count] - came[first], forecast[count] - forecast[first], count - first


def between(numbers: dict[int, float], workers: int) -> float:
    """Return the number for as many *workers*, from *numbers* by the workers of real runs.

    It is interpolated between them, and constant above them.
    """
    below = max(count for count in numbers if count <= workers)
    above = min((count for count in numbers if count >= workers), default=below)
    part = (workers - below) / max(1, above - below)
    return numbers[below] + part * (numbers[above] - numbers[below])


def waiting_and_working(wait: float, cost: float) -> Callable[[int], int]:
    """Return a function that makes a batch: it waits before it computes and after.

    The shares differ from batch to batch. If all waited first, workers that began together
    would compute together ever after, and want more cores.
    """

    def fetch(number: int) -> int:
        share = GOLDEN * number % 1
        work(share * wait, stage="Wait")
        work(cost, kind="native")
        work((1 - share) * wait, stage="Wait")
        return number

    return fetch


# ---- measured ----


def allowed_cores() -> int:
    """Return how many cores one process of this job may use, by its binding and its quota.

    Where several processes of one job run here, as `LOCAL_WORLD_SIZE` says, they share the cores.
    """
    bound = os.cpu_count() or 1
    with suppress(AttributeError):  # not on every system
        bound = len(os.sched_getaffinity(0))
    with suppress(OSError, ValueError):
        most, period = QUOTA.read_text().split()
        bound = min(bound, max(1, int(most) // int(period)))
    beside = os.environ.get("LOCAL_WORLD_SIZE", "")
    return max(1, bound // max(1, int(beside) if beside.isdigit() else 1))


def measure_job(
    loader: Any,
    step: Callable[[Any], Any],
    *,
    synchronise: Callable[[], Any] | None = None,
) -> Job:
    """Measure a training job: a *loader*, PyTorch's or ours, with the *step* that it feeds.

    Both are run for about 14 seconds in short runs, without and with workers, alone and
    together. The `forecast` of the `Job` says what other settings would take; its `model` and
    `run` show them in every picture and analysis of lessonkit. The step is really called, so
    give it a model that may be trained. Random states and the number of threads are
    restored. If the step only launches work on a device, *synchronise* is a function that
    waits for it, and the model has the device's queue; by default it is
    `torch.cuda.synchronize` if a GPU is in use.

    Raises TypeError if *loader* is no loader, ValueError for one that gives nothing, and
    RuntimeError that says at which batch the loader or the step raised.
    """
    check.function("step", step)
    if synchronise is not None:
        check.function("synchronise", synchronise)
    with restored() as torch:  # a sampler draws, too
        subject = Subject(loader, step)
        if synchronise is None and torch and torch.cuda.is_initialized():
            synchronise = torch.cuda.synchronize
        subject.synchronise, subject.repeat_until = synchronise, perf_counter() + AGAIN
        return measure_subject(subject, allowed_cores(), torch)


def measure_subject(subject: Subject, cores: int, torch: Any = None) -> Job:
    """Return the job of a *subject*: its numbers, and what the model leaves unexplained."""
    numbers, alone, by_threads = measure_numbers(subject, cores, torch)
    if subject.stream:
        sizes = [batch.samples for batch in alone.batches]
        known = 0 if alone.whole else next(iter(numbers.totals.values()), 0)
        samples, whole = known or sum(sizes), bool(known or alone.whole)
        size = subject.loader.batch_size or max(sizes)
        batches = math.ceil(samples / size)
    else:
        sizes = [size_of_batch(indices) for indices in subject.batches]
        batches, whole = subject.count or len(sizes), subject.count is not None
        samples = round(sum(sizes) * batches / len(sizes))
        size = subject.loader.batch_size or max(1, round(fmean(sizes)))
    said = {
        "num_workers": subject.loader.num_workers,
        "persistent_workers": subject.loader.persistent_workers,
        "prefetch_factor": subject.loader.prefetch_factor or 2,
        "threads": torch.get_num_threads() if torch else 1,
    }
    if numbers.growth:
        said["batch_size"] = size
    job = Job(numbers, said, samples, batches, size, whole, subject)
    for threads, runs in by_threads.items():
        correct(job, threads, runs)
    return job


def correct(job: Job, threads: int, runs: list[Watch]) -> None:
    """Set what the model leaves unexplained of a step with as many *threads*, from real *runs*.

    The factors are trusted as far as runs with as many workers agree. If such runs differ
    from each other as much as they differ from the model, it is better without factors.
    """
    logarithms = defaultdict[int, list[float]](list)
    for run in runs:
        took, forecast, _ = job.compared(run, threads=threads)
        logarithms[run.workers].append(math.log(took / forecast))
    means = {workers: fmean(each) for workers, each in logarithms.items()}
    effect = fmean(mean**2 for mean in means.values())
    repeated = [each for each in logarithms.values() if len(each) > 1]
    noise = fmean([variance(each) / len(each) for each in repeated] or [0.0])
    trust = max(0.0, 1 - noise / (effect or 1))
    step = job.numbers.threads[threads]
    for workers, mean in means.items():
        step.unexplained[workers] = math.exp(trust * mean)
        left = [abs(math.expm1(each - trust * mean)) for each in logarithms[workers]]
        step.missed[workers] = fmean(left)


# ---- in a file ----


def save_job(job: Job, path: str | Path) -> None:
    """Write what was measured of a *job* to a file at *path*: all but the loader and the step."""
    Path(path).write_text(json.dumps(asdict(replace(job, subject=None))), encoding="utf-8")


def load_job(path: str | Path | IO[Any]) -> Job:
    """Return the job that `save_job` wrote to the file at *path*: it forecasts, and nothing is run.

    *path* may be an open file as well. Raises ValueError if the file holds something else.
    """
    text = Path(path).read_bytes() if isinstance(path, (str, Path)) else path.read()
    try:
        return check.instance("path", json.loads(text, object_hook=of_our_classes), Job)
    except (TypeError, ValueError) as error:
        why = "must be a file that save_job wrote"
        raise ValueError(f"path={str(path)!r}: {why}") from error


def of_our_classes(told: dict[str, Any]) -> Any:
    """Return the object that has just the fields *told*, else *told*, with numbers as keys."""
    for kind in (OnDevice, StepNumbers, JobNumbers, Job):
        if told.keys() == {field.name for field in fields(kind)}:
            return kind(**told)
    return {int(key) if key.isdigit() else key: value for key, value in told.items()}
