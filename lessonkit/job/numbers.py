"""The numbers of a job: what its short runs come to, as the model of a loader wants them."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean, median
from time import perf_counter
from typing import Any

from lessonkit.engine.costs import Handling
from lessonkit.engine.machine import Sharing
from lessonkit.job.device import OnDevice
from lessonkit.job.watching import Subject, Watch, WatchedBatch

RUN = 1.25  # s; how long a run of a job goes on at most
WAITS_ABOVE = 0.06  # of the time of fetching; who waits less does not wait
HICCUP = 3  # medians; what takes longer counts as this
COMPUTES = 0.3  # of a core; a step that holds less waits for an accelerator
TOO_FEW = 4  # batches; a median of fewer says nothing
HANDED = 0.0006  # s; a batch on its way to the loop, where no run shows it
# S; to end workers, and each of them, where no run came to its end
ENDED, ENDED_EACH = 0.012, 0.003
RESUME = 0.001  # s; until workers that stayed begin again
READY_FOR = 0.002  # s; a batch that was made so long before the loop asked for it was ready


@dataclass
class StepNumbers:
    """What the model of a step needs to know: its times, with one number of threads."""

    steps: list[float]
    cores: float  # that it holds
    sharing: Sharing = field(default_factory=Sharing)
    rest: tuple[float, float] = (1.0, 1.0)  # what the model leaves unexplained, as factors

    @property
    def computes(self) -> bool:
        """Whether the step holds cores of this computer."""
        return self.cores > COMPUTES


@dataclass
class JobNumbers:
    """What the model of a loader needs to know of a job; seconds, if nothing else is said."""

    cores: int
    alone: list[float]  # to make each batch in the loop's process
    over: float  # and the loop's own time for it
    waits: list[float]  # for each batch in a worker: what it waits,
    works: list[float]  # what it computes,
    put: float  # and what it takes to hand it over, however large
    workers: float  # the factor by which workers slow each other down
    start: tuple[float, float]  # of a worker: in the loop, and from there until it works
    handling: Handling
    # What a batch of twice the size takes, over what one takes, of each part
    double: dict[str, float]
    noise: float  # the share by which the same run differed from itself
    threads: dict[int, StepNumbers]
    stream: bool  # no sample can be asked for
    shares: dict[int, list[int]]
    nbytes: int  # of a batch
    device: OnDevice | None
    in_order: bool = True


def measure_numbers(
    subject: Subject, cores: int, torch: Any = None
) -> tuple[JobNumbers, Watch, dict[int, list[Watch]]]:
    """Make all short runs of a job, in about 14 seconds, and work out its numbers.

    Also return the run without workers, and those beside workers for each number of
    threads. RuntimeError says what failed.
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
    threads, beside = with_threads(subject, alone, cores, torch)
    together = [run for runs in beside.values() for run in runs]
    slower = ratio("fetch", one, alone), ratio("collate", one, alone)
    fetch, collate = costs("fetch", alone), costs("collate", alone)
    works, waits = [each * slower[0] for each in fetch], [0.0] * len(fetch)
    if sum(batch.wait for batch in one.batches) > WAITS_ABOVE * sum(
        batch.fetch for batch in one.batches
    ):
        works, waits = costs("fetch_core", one), costs("wait", one)
    works = [work + again * slower[1] for work, again in zip(works, collate, strict=False)]
    put = between_batches(one)
    first = median(batch.make for batch in one.firsts() + full.firsts())
    runs = [one, lazy, full, *together]
    begin, each = fixed_and_each(starting(runs, 1), starting(runs, cores), cores)
    boot = (
        median(booting(run) for run in runs if run.workers == cores)
        + each * (cores - 1) / 2
    )
    stop, stop_each = fixed_and_each(ending(runs, 1), ending(runs, cores), cores)
    handling = {"begin": begin, "resume": RESUME, "stop": stop, "stop_each": stop_each}
    handling["first"] = max(0.0, first - fmean(waits) - fmean(works) - put)
    numbers = JobNumbers(
        cores=cores,
        alone=[a + b for a, b in zip(fetch, collate, strict=False)],
        over=between_batches(alone),
        waits=waits,
        works=works,
        put=put,
        workers=1.0 if subject.stream else max(1.0, ratio("fetch_core", full, one)),
        start=(each, max(0.0, boot)),
        handling=Handling(**handling, **hand_over(lazy, one, together)),
        double=growth(subject, alone, one),
        threads=threads,
        stream=subject.stream,
        shares=shares_of_workers(subject, one, full, cores),
        noise=abs(ratio("turn", go(0, 0.4 * RUN, step=True), alone) - 1),
        nbytes=subject.nbytes,
        device=subject.device,
        in_order=getattr(subject.loader, "in_order", True),
    )
    return numbers, alone, beside


def with_threads(
    subject: Subject, alone: Watch, cores: int, torch: Any
) -> tuple[dict[int, StepNumbers], dict[int, list[Watch]]]:
    """Run the step with each number of threads that it may have: by itself, beside one worker and many.

    That is repeated while there is time: one run may take half as long again as the next.
    The usual number of threads comes last.
    """
    usual = torch.get_num_threads() if torch else 1
    steps = {usual: step_numbers(subject, alone)}
    beside: dict[int, list[Watch]] = defaultdict(list)
    numbers = sorted({1, usual}) if torch and steps[usual].computes else [usual]
    began = now = perf_counter()
    while not beside or 2 * now - began < subject.again:
        began = now
        for threads in numbers:
            if torch:
                torch.set_num_threads(threads)
            if threads not in steps:
                steps[threads] = step_numbers(subject, subject.go(0, 0.5 * RUN, step=True))
            beside[threads] += (
                subject.go(1, 0.8 * RUN, step=True),
                subject.go(cores, RUN, step=True),
            )
        now = perf_counter()
    return steps, beside


def step_numbers(subject: Subject, alone: Watch) -> StepNumbers:
    """Work out the numbers of a step from a run without workers."""
    if subject.device:  # what a step waits for the queue is none of its own time
        return StepNumbers([subject.device.launch], 0.0)
    batches = alone.batches[1:] or alone.batches
    times = [batch.step for batch in batches]
    core = sum(batch.step_core for batch in batches)
    return StepNumbers(without_hiccups("step", batches), core / max(1e-9, sum(times)))


def growth(subject: Subject, alone: Watch, one: Watch) -> dict[str, float]:
    """Run with batches of twice the size; return what each part takes of one, over what it takes usually.

    The parts are the step, making a batch, and handing it over.
    """
    if not subject.batch_size:
        return {"step": 2.0, "make": 2.0, "hand": 1.0}
    larger = subject.go(0, 0.5 * RUN, step=True, size=2)
    step, device = doubled("step", larger, alone), subject.on_device()
    if device and subject.device:
        step = device.train / subject.device.train
    worker = subject.go(1, 0.5 * RUN, size=2)
    hand = max(1.0, worker.core_of_each() / max(1e-6, one.core_of_each()))
    return {"step": step, "make": doubled("make", larger, alone), "hand": hand}


def doubled(part: str, larger: Watch, alone: Watch) -> float:
    """Return what *part* takes of a batch of twice the size, over what it takes of a usual one."""
    pairs = zip(larger.batches, alone.batches[::2], alone.batches[1::2], strict=False)
    parts = [[getattr(batch, part) for batch in pair] for pair in pairs]
    return 2 * float(
        median([both / max(1e-9, one + other) for both, one, other in parts] or [1.0])
    )


def shares_of_workers(
    subject: Subject, one: Watch, full: Watch, cores: int
) -> dict[int, list[int]]:
    """Go through an iterable with workers, for nothing else shows how many samples each of them has."""
    found = {}
    known = {1: one, cores: full}
    for workers in (1, cores, 2 * cores) if subject.stream else ():
        run = known.get(workers)
        if run is None or not run.whole:
            run = subject.go(workers, 1.5 * RUN)
        if run.whole:
            by_pid = Counter[int]()
            for batch in run.batches:
                by_pid[batch.pid] += batch.samples
            found[workers] = [*by_pid.values()] + [0] * (workers - len(by_pid))
    return found


def ratio(part: str, run: Watch, base: Watch) -> float:
    """Return what *part* of a batch takes in *run*, over what that of the same batch took in *base*."""
    pairs = [
        pair
        for pair in zip(run.batches, base.batches, strict=False)
        if getattr(pair[1], part) > 0
    ]
    ratios = [
        getattr(one, part) / getattr(same, part)
        for one, same in pairs
        if one.samples == same.samples
    ]
    return float(median(ratios[run.workers :] or [1.0]))


def costs(part: str, run: Watch) -> list[float]:
    """Return what *part* took of each batch of a *run*, without a last one that is smaller."""
    *others, last = run.batches
    smaller = bool(others) and last.samples < others[-1].samples
    return without_hiccups(part, others if smaller else run.batches)


def without_hiccups(part: str, batches: list[WatchedBatch]) -> list[float]:
    """Return what *part* took of *batches*, and no more than many times what batches of their size take."""
    times = [getattr(batch, part) for batch in batches]
    usual = median(times)
    of_sample = median(
        time / max(1, batch.samples) for time, batch in zip(times, batches, strict=True)
    )
    return [
        min(time, HICCUP * max(usual, of_sample * batch.samples))
        for time, batch in zip(times, batches, strict=True)
    ]


def between_batches(run: Watch) -> float:
    """Return what usually passes between two batches, beside the step."""
    gaps = [
        after.began - before.done - before.step for before, after in pairwise(run.batches)
    ]
    return median(gaps or [0.0])


def fixed_and_each(one: float, full: float, cores: int) -> tuple[float, float]:
    """Part what handling takes of one worker, and of *cores*: what it always takes, and that of each."""
    each = max(0.0, full - one) / (cores - 1) if cores > 1 else one
    return max(0.0, one - each), each


def starting(runs: list[Watch], workers: int) -> float:
    """Return the seconds that it takes to start so many *workers*."""
    return median(run.opened - run.began for run in runs if run.workers == workers)


def booting(run: Watch) -> float:
    """Return the seconds from the start of the workers of a *run* until they begin a batch."""
    return median(batch.began for batch in run.firsts()) - run.opened


def ending(runs: list[Watch], workers: int) -> float:
    """Return the seconds that it takes to end so many *workers*."""
    times = [run.closed - run.ended for run in runs if run.workers == workers and run.whole]
    return min(times or [ENDED + ENDED_EACH * workers])


def hand_over(lazy: Watch, one: Watch, beside: list[Watch]) -> dict[str, float]:
    """Work out the way of a batch to the loop and the loop's time for it, as `Handling` has them.

    *lazy* shows it where the worker is idle, *one* where it is at work, and runs *beside* a
    step for batches that were ready before the loop asked for them.
    """
    idle = median(handed(lazy) or [HANDED])
    busy = median(handed(one) or [idle])
    # By whether their worker was at work again
    ready: dict[bool, list[float]] = {False: [], True: []}
    for run in beside:
        for batch in run.batches:
            if batch.done < batch.asked - READY_FOR - busy:
                its_own = (one for one in run.batches if one.pid == batch.pid)
                at_work = any(one.began < batch.asked < one.done for one in its_own)
                ready[at_work].append(batch.got - batch.asked)
    take, take_busy = (
        min(hand, median(times)) if len(times) > TOO_FEW else 0.8 * hand
        for hand, times in zip((idle, busy), ready.values(), strict=True)
    )
    ways = {"way": idle - take, "way_busy": busy - take_busy}
    return ways | {"take": take, "take_busy": take_busy, "take_core": one.core_of_each()}


def handed(run: Watch) -> list[float]:
    """List how long batches took from their worker to the loop that waited for them."""
    return [batch.got - batch.done for batch in run.batches if batch.done > batch.asked][2:]
