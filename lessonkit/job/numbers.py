"""The numbers of a job: what its short runs come to, as the model of a loader wants them."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import count, pairwise
from statistics import fmean, median
from time import perf_counter
from typing import Any

from lessonkit.engine.machine import Handling

from .watching import OnDevice, Subject, Watch, WatchedBatch, on_device

RUN = 1.0  # s; how long a run of a job goes on at most
# Of the time of making; batches that wait less do not wait
WAITS_ABOVE = 0.06
HICCUP = 3  # times the median; a longer time counts as this
COMPUTES = 0.3  # of a core; a step that holds less waits for an accelerator
TOO_FEW = 4  # batches; a median of fewer says nothing
HANDED = 0.0006  # s; a batch on its way to the loop, where no run shows it
ENDED = 0.015  # s; to end workers, where no run came to its end
ENDED_EACH = 0.001  # s; of it for each worker
RESUME = 0.001  # s; until workers that stayed begin again
# s; a batch that was made as long before the loop asked for it was ready
READY_FOR = 0.002


@dataclass
class StepNumbers:
    """The times of a step with one number of threads, and how many *cores* it holds.

    By the number of workers beside the step, *unexplained* has the factor by which real runs
    took longer than the model, and *missed* the share by which they still differ from it.
    """

    steps: list[float]
    cores: float
    unexplained: dict[int, float] = field(default_factory=lambda: {0: 1.0})
    missed: dict[int, float] = field(default_factory=lambda: {0: 0.0})

    @property
    def computes(self) -> bool:
        """Whether the step holds cores of this computer."""
        return self.cores > COMPUTES


@dataclass
class JobNumbers:
    """What the model of a loader needs to know of a job, in seconds unless it says otherwise.

    Without workers, the loop takes *alone* for each batch, and *loop_overhead*. A worker
    *waits* and *works* for each batch, and needs *handover* to hand it over, however large.
    The *start* of a worker takes time in the loop, and from there until it works. *noise* is the
    share by which the same run differed from itself. *shares* are the samples of each worker
    of an iterable (a *stream*), by the number of workers. *nbytes* is the size of a batch.
    *growth* has the factor by which each part takes longer for a batch of twice the size; it
    is empty if the loader does not say how large its batches are.
    """

    cores: int
    alone: list[float]
    loop_overhead: float
    waits: list[float]
    works: list[float]
    handover: float
    start: tuple[float, float]
    handling: Handling
    noise: float
    threads: dict[int, StepNumbers]
    stream: bool
    shares: dict[int, list[int]]
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
    if not alone.batches:
        raise ValueError("the loader gave no batch: there is nothing to measure")
    one = go(1, RUN)
    threads, beside = runs_beside_workers(subject, alone, cores, torch)
    together = [run for runs in beside.values() for run in runs]
    works, waits = costs("make", one.batches), costs("wait", one.batches)
    if sum(waits) < WAITS_ABOVE * sum(works):
        waits = [0.0] * len(works)
    works = [max(0.0, make - wait) for make, wait in zip(works, waits, strict=True)]
    handover = between_batches(one)
    start, handling = starts_and_ends([one, *together])
    alike = [run for run in (one, *together) if run.workers <= cores]
    first = median(batch.make for run in alike for batch in run.firsts())
    handling["first"] = max(0.0, first - fmean(waits) - fmean(works) - handover)
    handling["resume"] = RESUME + handling["first"]  # all begin at the same time again
    numbers = JobNumbers(
        cores=cores,
        alone=costs("make", alone.batches),
        loop_overhead=between_batches(alone),
        waits=waits,
        works=works,
        handover=handover,
        start=start,
        handling=Handling(**handling, **hand_over(one, together)),
        threads=threads,
        stream=subject.stream,
        shares=shares_of_workers(subject, [one, *together], cores)
        if subject.stream
        else {},
        noise=noise_of(alone, go(0, 0.4 * RUN, step=True)),
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
    above *cores* with which the loader fails is left out. The runs are made in rounds, two
    at least if there is time. The usual number of threads comes last. Raises ValueError if
    the loader gives no batch with as many workers as cores.
    """
    powers = range(max(3, cores.bit_length()))
    cores = max(2, cores)
    counts = sorted({cores, *(2**power for power in powers)})
    usual = torch.get_num_threads() if torch else 1
    steps = {usual: step_numbers(subject, alone)}
    beside: dict[int, list[Watch]] = defaultdict(list)
    numbers = [usual]
    # A step on a device computes there, whatever threads it may have here
    if torch and steps[usual].computes and not subject.synchronise:
        numbers = sorted({1, usual})
    began = perf_counter()
    for rounds in count(1):
        for threads in numbers:
            if torch:
                torch.set_num_threads(threads)
            if threads not in steps:
                steps[threads] = step_numbers(subject, subject.go(0, 0.5 * RUN, step=True))
            for workers in counts:
                try:
                    run = subject.go(workers, 0.6 * RUN, step=True)
                except RuntimeError:
                    if workers <= cores:
                        raise
                    continue
                if run.batches:
                    beside[threads].append(run)
                elif workers == cores:
                    why = "each has too few samples for one"
                    raise ValueError(
                        f"with {cores} workers the loader gave no batch: {why}"
                    )
        now = perf_counter()
        # Two rounds if there is time, and more if there is time for one more
        needs = 0 if rounds < 2 else (now - began) / rounds
        if now + needs > subject.repeat_until:
            break
    return steps, beside


def step_numbers(subject: Subject, alone: Watch) -> StepNumbers:
    """Return the numbers of a step, from a run without workers."""
    if subject.device:  # waiting for room in the queue is not step time
        return StepNumbers([subject.device.launch], 0.0)
    batches = alone.batches[1:] or alone.batches
    core = sum(batch.step_core for batch in batches)
    cores = core / max(1e-9, sum(batch.step for batch in batches))
    # A step on a device launches from one thread; others only wait busily for what comes
    return StepNumbers(
        costs("step", batches), min(1.0, cores) if subject.synchronise else cores
    )


def growth(subject: Subject, alone: Watch, one: Watch) -> dict[str, float]:
    """Return how many times as long each part takes for a batch of twice the size.

    The parts are the step, making a batch *alone* in the loop's process or in a worker, as in
    the run with *one*, and taking it from a worker. Nothing is returned if there are no such
    batches, or if the step or the loader refuses them: they may not fit into memory.
    """
    if not subject.loader.batch_size:
        return {}
    device = subject.device
    try:
        larger = subject.go(0, 0.5 * RUN, step=True, size=2)
        worker = subject.go(1, 0.5 * RUN, size=2)
    except RuntimeError:
        return {}
    if not (larger.batches and worker.batches):
        return {}
    step = doubled("step", larger, alone)
    if device and subject.synchronise:
        again = on_device(subject.step, subject.batch, subject.synchronise)
        step = again.train / device.train if again else 1.0
    usual = one.core / len(one.batches)
    take = worker.core / len(worker.batches) / max(1e-6, usual)
    times = {
        "alone": doubled("make", larger, alone),
        "make": doubled("make", worker, one),
        "step": step,
        "take": take,
    }
    return {part: max(1.0, factor) for part, factor in times.items()}


def doubled(part: str, larger: Watch, usual: Watch) -> float:
    """Return the factor by which *part* takes longer in a run whose batches are twice as large."""
    pairs = zip(usual.batches[::2], usual.batches[1::2], strict=False)
    factors = [1.0] * (len(usual.batches) < 2)
    for batch, pair in zip(larger.batches, pairs, strict=False):
        singly = fmean(getattr(one, part) for one in pair)
        factors.append(getattr(batch, part) / max(1e-9, singly))
    return float(median(factors))


def shares_of_workers(
    subject: Subject, seen: list[Watch], cores: int
) -> dict[int, list[int]]:
    """Return how many samples of an iterable each worker gives, by the number of workers.

    Nothing but a run to the end shows that; those *seen* were made already.
    """
    whole = {run.workers: run for run in seen if run.whole}
    for workers in {1, cores, 2 * cores} - whole.keys():
        whole[workers] = subject.go(workers, 1.5 * RUN)
    shares = {}
    for workers, run in whole.items():
        if run.whole:
            by_pid = Counter[int]()
            for batch in run.batches:
                by_pid[batch.pid] += batch.samples
            shares[workers] = [*by_pid.values()] + [0] * (workers - len(by_pid))
    return shares


# ---- numbers from runs ----


def noise_of(run: Watch, again: Watch) -> float:
    """Return the share by which a run differed when it was made *again*, batch by batch."""
    pairs = zip(run.batches, again.batches, strict=False)
    return abs(median(two.round / max(1e-9, one.round) for one, two in pairs) - 1)


def costs(part: str, batches: list[WatchedBatch]) -> list[float]:
    """Return what *part* took of *batches*, at most a few times the usual for their size.

    A last batch that is smaller than the one before is left out.
    """
    if len(batches) > 1 and batches[-1].samples < batches[-2].samples:
        batches = batches[:-1]
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
    runs: list[Watch],
) -> tuple[tuple[float, float], dict[str, float]]:
    """Return a worker's `start`, and what `Handling` has of starts and ends.

    Runs with one worker show how long a worker needs to be ready. Others do not: of several
    workers, all but the last are ready when the loop first asks for a batch.
    """
    begin, each = fixed_and_each([(run.workers, run.opened - run.began) for run in runs])
    ready = [run.batches[0].began - run.opened for run in runs if run.workers == 1]
    ends = [(run.workers, run.closed - run.ended) for run in runs if run.whole]
    stop, stop_each = fixed_and_each(ends) if ends else (ENDED, ENDED_EACH)
    handling = {
        "begin": begin,
        "stop": stop,
        "stop_each": stop_each,
    }
    return (each, max(0.0, median(ready))), handling


def fixed_and_each(times: list[tuple[int, float]]) -> tuple[float, float]:
    """Return what handling takes however many workers there are, and for each of them.

    *times* are those of all workers, beside their number; fewest and most are compared.
    """
    by_workers = defaultdict[int, list[float]](list)
    for workers, seconds in times:
        by_workers[workers].append(seconds)
    few, many = min(by_workers), max(by_workers)
    fewest, most = median(by_workers[few]), median(by_workers[many])
    each = max(0.0, most - fewest) / max(1, many - few)
    return max(0.0, fewest - few * each), each


def hand_over(one: Watch, beside: list[Watch]) -> dict[str, float]:
    """Return a batch's way to the loop and the loop's time for it, as `Handling` has them.

    The run with *one* worker shows both together, by batches for which the loop waited. All
    runs show the loop's time, by batches that were ready before the loop asked for them.
    """
    waited = [batch.got - batch.done for batch in one.batches if batch.done > batch.asked]
    both, core = median(waited[2:] or [HANDED]), one.core / max(1, len(one.batches))
    ready = [
        batch.got - batch.asked
        for run in (one, *beside)
        for batch in run.batches
        if batch.done < batch.asked - READY_FOR - both
    ]
    take = median(ready) if len(ready) > TOO_FEW else min(both, core)
    return {"way": max(0.0, both - take), "take": take, "take_core": core}
