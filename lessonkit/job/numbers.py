"""The numbers of a job: what its short runs come to, as the model of a loader wants them."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean, median
from time import perf_counter
from typing import Any

from lessonkit.engine.machine import Handling, Sharing
from lessonkit.job.watching import OnDevice, Subject, Watch, WatchedBatch

RUN = 1.25  # s; how long a run of a job goes on at most
# Of the time of fetching; batches that wait less do not wait
WAITS_ABOVE = 0.06
HICCUP = 3  # times the median; a longer time counts as this
COMPUTES = 0.3  # of a core; a step that holds less waits for an accelerator
TOO_FEW = 4  # batches; a median of fewer says nothing
HANDED = 0.0006  # s; a batch on its way to the loop, where no run shows it
# s; to end workers, and each of them, where no run came to its end
ENDED, ENDED_EACH = 0.012, 0.003
RESUME = 0.001  # s; until workers that stayed begin again
# s; a batch that was made as long before the loop asked for it was ready
READY_FOR = 0.002


@dataclass
class StepNumbers:
    """The times of a step with one number of threads, and how many *cores* it holds.

    *unexplained* are the factors by which real runs took longer than the model, beside one
    worker and beside as many as there are cores.
    """

    steps: list[float]
    cores: float
    sharing: Sharing = field(default_factory=Sharing)
    unexplained: tuple[float, float] = (1.0, 1.0)

    @property
    def computes(self) -> bool:
        """Whether the step holds cores of this computer."""
        return self.cores > COMPUTES


@dataclass
class JobNumbers:
    """What the model of a loader needs to know of a job, in seconds unless it says otherwise.

    Without workers, the loop takes *alone* for each batch, and *loop_overhead*. A worker
    *waits* and *works* for each batch, and needs *handover* to hand it over, however large.
    Workers slow each other down by the factor *workers*; their *start* takes time in the
    loop, and from there until they work. *growth* is what each part takes of a batch of
    twice the size, over what it takes of one. *noise* is the share by which the same run
    differed from itself. *shares* are the samples of each worker of an iterable (a *stream*),
    by the number of workers. *nbytes* is the size of a batch.
    """

    cores: int
    alone: list[float]
    loop_overhead: float
    waits: list[float]
    works: list[float]
    handover: float
    workers: float
    start: tuple[float, float]
    handling: Handling
    growth: dict[str, float]
    noise: float
    threads: dict[int, StepNumbers]
    stream: bool
    shares: dict[int, list[int]]
    nbytes: int
    device: OnDevice | None
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
    subject.device = subject.on_device()
    alone = go(0, RUN, step=True)
    if not alone.batches:
        raise ValueError("the loader gave no batch: there is nothing to measure")
    one, lazy, full = go(1, RUN), go(1, 0.5 * RUN, factor=1), go(cores, RUN)
    if not full.batches:
        why = "each has too few samples for one"
        raise ValueError(f"with {cores} workers the loader gave no batch: {why}")
    threads, beside = runs_beside_workers(subject, alone, cores, torch)
    together = [run for runs in beside.values() for run in runs]
    fetch, collate = costs("fetch", alone), costs("collate", alone)
    slower_fetch, slower_collate = ratio("fetch", one, alone), ratio("collate", one, alone)
    works, waits = [slower_fetch * each for each in fetch], [0.0] * len(fetch)
    waited = sum(batch.wait for batch in one.batches)
    if waited > WAITS_ABOVE * sum(batch.fetch for batch in one.batches):
        works, waits = costs("fetch_core", one), costs("wait", one)
    works = [a + slower_collate * b for a, b in zip(works, collate, strict=False)]
    handover = between_batches(one)
    start, handling = starts_and_ends([one, lazy, full, *together], cores)
    first = median(batch.make for batch in one.firsts() + full.firsts())
    handling["first"] = max(0.0, first - fmean(waits) - fmean(works) - handover)
    numbers = JobNumbers(
        cores=cores,
        alone=[a + b for a, b in zip(fetch, collate, strict=False)],
        loop_overhead=between_batches(alone),
        waits=waits,
        works=works,
        handover=handover,
        workers=1.0 if subject.stream else max(1.0, ratio("fetch_core", full, one)),
        start=start,
        handling=Handling(**handling, **hand_over(lazy, one, together)),
        growth=growth_of_parts(subject, alone, one),
        threads=threads,
        stream=subject.stream,
        shares=shares_of_workers(subject, {1: one, cores: full}) if subject.stream else {},
        noise=abs(ratio("round", go(0, 0.4 * RUN, step=True), alone) - 1),
        nbytes=subject.nbytes,
        device=subject.device,
        in_order=getattr(subject.loader, "in_order", True),
    )
    return numbers, alone, beside


# ---- runs for one purpose ----


def runs_beside_workers(
    subject: Subject, alone: Watch, cores: int, torch: Any
) -> tuple[dict[int, StepNumbers], dict[int, list[Watch]]]:
    """Return the step's numbers, and its runs beside workers, by the number of threads.

    There are one worker, and as many as cores. The runs are repeated while there is time:
    one may take half as long again as the next. The usual number of threads comes last.
    """
    usual = torch.get_num_threads() if torch else 1
    steps = {usual: step_numbers(subject, alone)}
    beside: dict[int, list[Watch]] = defaultdict(list)
    numbers = sorted({1, usual}) if torch and steps[usual].computes else [usual]
    began = now = perf_counter()
    while not beside or 2 * now - began < subject.repeat_until:
        began = now
        for threads in numbers:
            if torch:
                torch.set_num_threads(threads)
            if threads not in steps:
                steps[threads] = step_numbers(subject, subject.go(0, 0.5 * RUN, step=True))
            beside[threads].append(subject.go(1, 0.8 * RUN, step=True))
            beside[threads].append(subject.go(cores, RUN, step=True))
        now = perf_counter()
    return steps, beside


def step_numbers(subject: Subject, alone: Watch) -> StepNumbers:
    """Return the numbers of a step, from a run without workers."""
    if subject.device:  # waiting for room in the queue is not step time
        return StepNumbers([subject.device.launch], 0.0)
    batches = alone.batches[1:] or alone.batches
    core = sum(batch.step_core for batch in batches)
    took = sum(batch.step for batch in batches)
    return StepNumbers(without_hiccups("step", batches), core / max(1e-9, took))


def growth_of_parts(subject: Subject, alone: Watch, one: Watch) -> dict[str, float]:
    """Return how many times as long each part takes for a batch of twice the size."""
    if not subject.batch_size:
        return {"step": 2.0, "make": 2.0, "hand": 1.0}
    larger = subject.go(0, 0.5 * RUN, step=True, size=2)
    step, device = doubled("step", larger, alone), subject.on_device()
    if device and subject.device:
        step = device.train / subject.device.train
    worker = subject.go(1, 0.5 * RUN, size=2)
    hand = max(1.0, worker.core_of_each() / max(1e-6, one.core_of_each()))
    return {"step": step, "make": doubled("make", larger, alone), "hand": hand}


def shares_of_workers(subject: Subject, runs: dict[int, Watch]) -> dict[int, list[int]]:
    """Return how many samples of an iterable each worker gives, by the number of workers.

    Nothing but a run to the end shows that; *runs* were made already.
    """
    shares = {}
    for workers in (*runs, 2 * max(runs)):
        run = runs.get(workers)
        if run is None or not run.whole:
            run = subject.go(workers, 1.5 * RUN)
        if run.whole:
            by_pid = Counter[int]()
            for batch in run.batches:
                by_pid[batch.pid] += batch.samples
            shares[workers] = [*by_pid.values()] + [0] * (workers - len(by_pid))
    return shares


# ---- numbers from runs ----


def doubled(part: str, larger: Watch, alone: Watch) -> float:
    """Return what *part* takes of a batch of twice the size, over what it takes of a usual one."""
    pairs = zip(larger.batches, alone.batches[::2], alone.batches[1::2], strict=False)
    ratios = [
        getattr(both, part) / max(1e-9, getattr(one, part) + getattr(other, part))
        for both, one, other in pairs
    ]
    return 2 * float(median(ratios or [1.0]))


def ratio(part: str, run: Watch, base: Watch) -> float:
    """Return how many times as long *part* of a batch takes in *run* as in *base*."""
    ratios = [
        getattr(one, part) / getattr(same, part)
        for one, same in zip(run.batches, base.batches, strict=False)
        if one.samples == same.samples and getattr(same, part) > 0
    ]
    return float(median(ratios[run.workers :] or [1.0]))


def costs(part: str, run: Watch) -> list[float]:
    """Return what *part* took of each batch of a *run*, without a last one that is smaller."""
    *others, last = run.batches
    smaller = bool(others) and last.samples < others[-1].samples
    return without_hiccups(part, others if smaller else run.batches)


def without_hiccups(part: str, batches: list[WatchedBatch]) -> list[float]:
    """Return what *part* took of *batches*, at most a few times the usual for their size."""
    times = [getattr(batch, part) for batch in batches]
    sizes = [max(1, batch.samples) for batch in batches]
    usual = median(times)
    per_sample = median(time / size for time, size in zip(times, sizes, strict=True))
    return [
        min(time, HICCUP * max(usual, per_sample * size))
        for time, size in zip(times, sizes, strict=True)
    ]


def between_batches(run: Watch) -> float:
    """Return what usually passes between two batches, without the step."""
    gaps = [
        after.began - before.done - before.step for before, after in pairwise(run.batches)
    ]
    return median(gaps or [0.0])


def starts_and_ends(
    runs: list[Watch], cores: int
) -> tuple[tuple[float, float], dict[str, float]]:
    """Return a worker's `start`, and what `Handling` has of starts and ends."""
    one, full = ([run for run in runs if run.workers == many] for many in (1, cores))
    opening, closing = list[float](), list[float]()
    for group in (one, full):
        opening.append(median(run.opened - run.began for run in group))
        ends = [run.closed - run.ended for run in group if run.whole]
        closing.append(min(ends or [ENDED + ENDED_EACH * group[0].workers]))
    begin, each = fixed_and_each(cores, *opening)
    stop, stop_each = fixed_and_each(cores, *closing)
    booting = median(
        median(batch.began for batch in run.firsts()) - run.opened for run in full
    )
    handling = {"begin": begin, "resume": RESUME, "stop": stop, "stop_each": stop_each}
    return (each, max(0.0, booting + each * (cores - 1) / 2)), handling


def fixed_and_each(cores: int, one: float, full: float) -> tuple[float, float]:
    """Return the seconds that any number of workers takes, and those of each of them."""
    each = max(0.0, full - one) / (cores - 1) if cores > 1 else one
    return max(0.0, one - each), each


def hand_over(lazy: Watch, one: Watch, beside: list[Watch]) -> dict[str, float]:
    """Return a batch's way to the loop and the loop's time for it, as `Handling` has them.

    *lazy* shows both where the worker is idle, *one* where it is at work, and runs *beside*
    a step the latter for batches that were ready before the loop asked for them.
    """
    idle = median(handed(lazy) or [HANDED])
    busy = median(handed(one) or [idle])
    # By whether their worker was at work again
    ready: dict[bool, list[float]] = {False: [], True: []}
    for run in beside:
        for batch in run.batches:
            if batch.done < batch.asked - READY_FOR - busy:
                at_work = any(
                    other.pid == batch.pid and other.began < batch.asked < other.done
                    for other in run.batches
                )
                ready[at_work].append(batch.got - batch.asked)
    take, take_busy = (
        min(hand, median(times)) if len(times) > TOO_FEW else 0.8 * hand
        for hand, times in zip((idle, busy), ready.values(), strict=True)
    )
    ways = {"way": idle - take, "way_busy": busy - take_busy}
    return ways | {"take": take, "take_busy": take_busy, "take_core": one.core_of_each()}


def handed(run: Watch) -> list[float]:
    """Return how long batches took from their worker to the loop that waited for them."""
    return [batch.got - batch.done for batch in run.batches if batch.done > batch.asked][2:]
