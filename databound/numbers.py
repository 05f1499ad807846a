"""The numbers of a job: what its short runs come to, as the model of a loader wants them."""

from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from statistics import fmean, median
from time import perf_counter
from typing import Any

from .watching import OnDevice, Subject, Watch, WatchedBatch, on_device

RUN = 1.0  # s; how long a run of a job goes on at most
# Of the time of making; batches that wait less do not wait
WAITS_ABOVE = 0.06
HICCUP = 3  # times the median; a longer time counts as this
COMPUTES = 0.3  # of a core; a step that holds less waits for an accelerator
TOO_FEW = 4  # batches; a median of fewer says nothing
# s; a batch that was made as long before the loop asked for it was ready
READY_FOR = 0.002


@dataclass
class StepNumbers:
    """The *seconds* of a step with one number of threads, and how many *cores* it holds.

    Without workers, the loop takes *alone* for each batch: to collate one may use threads as well.
    By the number of workers beside the step, *unexplained* has the factor by which real runs
    took longer than the model, and *missed* the share by which they still differ from it.
    """

    seconds: float
    cores: float
    alone: float
    unexplained: dict[int, float] = field(default_factory=lambda: {0: 1.0})
    missed: dict[int, float] = field(default_factory=lambda: {0: 0.0})

    @property
    def computes(self) -> bool:
        """Whether the step holds cores of this computer."""
        return self.cores > COMPUTES


@dataclass
class JobNumbers:
    """What the model of a loader needs to know of a job, in seconds unless it says otherwise.

    A worker *waits* and *works* for each batch, for its *first* one longer, and the loop needs
    *take* for a batch that is ready.
    The *start* of a worker takes time in the loop, and from there until it works. *noise* is the
    share by which the same run differed from itself. *totals* are the samples of an epoch
    of an iterable (a *stream*), by the number of workers. *nbytes* is the size of a batch.
    *growth* has the factors by which making a batch of twice the size, a step on it, and the loop's
    own time for it take longer; it is empty if the loader does not say how large its batches are.
    """

    cores: int
    waits: float
    works: float
    first: float
    take: float
    start: tuple[float, float]
    noise: float
    threads: dict[int, StepNumbers]
    stream: bool
    totals: dict[int, int]
    nbytes: int
    device: OnDevice | None
    growth: dict[str, float] = field(default_factory=dict)
    in_order: bool = True


def measure_numbers(
    subject: Subject, cores: int, torch: Any = None
) -> tuple[JobNumbers, Watch, dict[int, list[Watch]]]:
    """Return the numbers of a job, from short runs that take about 14 seconds.

    Also return the run without workers, and those beside workers for each number of
    threads. Raises ValueError for a loader that gives nothing, RuntimeError for what failed.
    """
    go = subject.go
    go(0, 0.1 * RUN, step=True)  # warm
    if subject.synchronise and subject.batch is not None:
        subject.device = on_device(subject.step, subject.batch, subject.synchronise)
    alone = go(0, RUN, step=True)
    one = go(1, RUN)
    if not (alone.batches and one.batches):
        raise ValueError("the loader gave no batch: there is nothing to measure")
    threads, beside = runs_beside_workers(subject, alone, cores, torch)
    together = [run for runs in beside.values() for run in runs]
    make, waits = mean_of("make", one.batches), mean_of("wait", one.batches)
    if waits < WAITS_ABOVE * make:
        waits = 0.0
    alike = [run for run in (one, *together) if run.workers <= cores]
    first = median(batch.make for run in alike for batch in run.firsts())
    numbers = JobNumbers(
        cores=cores,
        waits=waits,
        works=max(0.0, make - waits),
        first=max(0.0, first - make),
        take=take(one, together),
        start=start([one, *together]),
        threads=threads,
        stream=subject.stream,
        totals=totals(subject, [one, *together], cores) if subject.stream else {},
        noise=abs(longer("round", go(0, 0.4 * RUN, step=True), alone, 1) - 1),
        nbytes=subject.nbytes,
        device=subject.device,
        growth=growth(subject, alone, one),
        in_order=getattr(subject.loader, "in_order", True),
    )
    return numbers, alone, beside


# ---- runs for one purpose ----


def runs_beside_workers(
    subject: Subject, alone: Watch, cores: int, torch: Any
) -> tuple[dict[int, StepNumbers], dict[int, list[Watch]]]:
    """Return the step's numbers, and its runs beside workers, by the number of threads.

    The numbers of workers are 1, 2, 4 and so on up to *cores*, but up to 4 at least; one
    with which the loader fails, perhaps for want of memory, is left out. The runs are made in
    rounds, two at least if there is time. The usual number of threads comes last.
    """
    powers = (2**power for power in range(max(3, cores.bit_length())))
    counts = {cores, *powers}
    usual = torch.get_num_threads() if torch else 1
    steps = {usual: step_numbers(subject, alone)}
    beside: dict[int, list[Watch]] = defaultdict(list)
    numbers, seconds = [usual], 0.6 * RUN
    # A step on a device computes there, whatever threads it may have here
    if torch and steps[usual].computes and not subject.synchronise:
        numbers, seconds = sorted({1, usual}), 0.45 * RUN
    began = perf_counter()
    for rounds in count(1):
        for threads in numbers:
            if torch:
                torch.set_num_threads(threads)
            if threads not in steps:
                steps[threads] = step_numbers(subject, subject.go(0, 0.5 * RUN, step=True))
            for workers in sorted(counts):
                try:
                    run = subject.go(workers, seconds, step=True)
                except RuntimeError:
                    if workers == 1:
                        raise
                    counts.remove(workers)
                    continue
                if run.batches:
                    beside[threads].append(run)
        now = perf_counter()
        # Two rounds if there is time, and more if there is time for one more
        needs = 0 if rounds < 2 else (now - began) / rounds
        if now + needs > subject.repeat_until:
            break
    return steps, beside


def step_numbers(subject: Subject, alone: Watch) -> StepNumbers:
    """Return the numbers of a step, from a run without workers."""
    load = mean_of("load", alone.batches)
    if subject.device:  # waiting for room in the queue is not step time
        return StepNumbers(subject.device.launch, 0.0, load)
    batches = alone.batches[1:] or alone.batches
    core = sum(batch.step_core for batch in batches)
    cores = core / max(1e-9, sum(batch.step for batch in batches))
    # A step on a device launches from one thread; others only wait busily for what comes
    cores = min(1.0, cores) if subject.synchronise else cores
    return StepNumbers(mean_of("step", batches), cores, load)


def growth(subject: Subject, alone: Watch, one: Watch) -> dict[str, float]:
    """Return the factors by which a batch of twice the size takes longer, by its parts.

    The step is compared with the run *alone*, and the rest with the run with *one* worker. A factor
    is 1 to 2: what seems more is a computer that became slower meanwhile. Nothing is returned if
    there are no such batches, or if the step or the loader refuses them: they may not fit into
    memory.
    """
    if not subject.loader.batch_size:
        return {}
    try:
        larger = subject.go(1, 0.5 * RUN, size=2)
        stepped = subject.go(0, 0.5 * RUN, step=True, size=2)
        if not (larger.batches and stepped.batches):
            return {}
        factors = {
            "make": longer("make", larger, one, 2),
            "step": longer("step", stepped, alone, 2),
            "take": on_its_way(larger) / max(1e-9, on_its_way(one)),
        }
        if subject.device and subject.synchronise:
            again = on_device(subject.step, subject.batch, subject.synchronise)
            factors["step"] = again.train / subject.device.train if again else 1.0
    except RuntimeError:
        return {}
    return {part: min(2.0, max(1.0, factor)) for part, factor in factors.items()}


def totals(subject: Subject, seen: list[Watch], cores: int) -> dict[int, int]:
    """Return how many samples an epoch of an iterable has, by the number of workers.

    Nothing but a run to the end shows that; those *seen* were made already.
    """
    whole = {run.workers: run for run in seen if run.whole}
    for workers in {1, cores, 2 * cores} - whole.keys():
        with suppress(RuntimeError):  # as above
            whole[workers] = subject.go(workers, 1.5 * RUN)
    return {
        workers: sum(batch.samples for batch in run.batches)
        for workers, run in whole.items()
        if run.whole
    }


# ---- numbers from runs ----


def mean_of(part: str, batches: list[WatchedBatch]) -> float:
    """Return what *part* took of *batches*, each at most a few times the usual for its size."""
    times = [(getattr(batch, part), max(1, batch.samples)) for batch in batches]
    most = HICCUP * median(time / size for time, size in times)
    return fmean(min(time, most * size) for time, size in times)


def longer(part: str, run: Watch, usual: Watch, size: int) -> float:
    """Return the factor by which *part* took longer in a *run* over the same samples.

    Its batches are *size* times as large.
    """
    same = usual.batches[: size * len(run.batches)]
    batches = run.batches[: len(same) // size or 1]
    return mean_of(part, batches) / max(1e-9, mean_of(part, same))


def start(runs: list[Watch]) -> tuple[float, float]:
    """Return how long the loop needs to start a worker, and the worker then until it works.

    Runs with one worker show how long a worker needs to be ready. Others do not: of several
    workers, all but the last are ready when the loop first asks for a batch.
    """
    each = median((run.opened - run.began) / run.workers for run in runs)
    ready = [run.batches[0].began - run.opened for run in runs if run.workers == 1]
    return each, max(0.0, median(ready))


def on_its_way(run: Watch) -> float:
    """Return how long a batch is on its way to the loop, by batches for which the loop waited."""
    waited = [batch.got - batch.done for batch in run.batches if batch.done > batch.asked]
    return median(waited[2:] or [0.0])


def take(one: Watch, beside: list[Watch]) -> float:
    """Return the loop's own time for a batch, by those that were ready before it asked for them.

    Where there are too few, it is what a batch of the run with *one* worker is on its way.
    """
    way = on_its_way(one)
    ready = [
        batch.load
        for run in (one, *beside)
        for batch in run.batches
        if batch.done < batch.asked - READY_FOR - way
    ]
    return median(ready) if len(ready) > TOO_FEW else way
