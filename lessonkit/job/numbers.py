"""The numbers of a job: what its short runs come to, as the model of a loader wants them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import NamedTuple

from lessonkit.engine.machine import Sharing
from lessonkit.job.device import OnDevice
from lessonkit.job.watching import MadeBatch, Subject, Watch, restored

RUN = 1.25  # s; how long a run of a job goes on at most
WAITS_ABOVE = 0.06  # of the time of fetching; who waits less does not wait
COMPUTES = 0.3  # of a core; a step that holds less waits for an accelerator
TOO_FEW = 4  # batches; a median of fewer says nothing
HANDED = 0.0006  # s; a batch on its way to the loop, where no run shows it
ENDED, ENDED_EACH = 0.012, 0.003  # s; to end workers, and each of them, where no run came to its end
READY_FOR = 0.002  # s; a batch that was made so long before the loop asked for it was ready

PartOf = Callable[[MadeBatch], float]


class Beside(NamedTuple):
    """Runs of the step with one number of threads: *alone*, beside one worker and beside many."""

    alone: Watch
    one: Watch
    full: Watch


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


class Runs(NamedTuple):
    """All short runs of a job; batches of *double* and *wide* (with a worker) are twice as large."""

    subject: Subject
    usual: int  # threads
    alone: Watch
    one: Watch
    lazy: Watch
    full: Watch
    by_threads: dict[int, Beside]
    double: Watch | None
    wide: Watch | None
    again: Watch
    shares: dict[int, list[int]]  # of an iterable: samples by worker, for numbers of workers
    device: OnDevice | None = None  # if the step only launches what it does
    device_double: OnDevice | None = None  # the same for batches twice as large


def step_numbers(alone: Watch, device: OnDevice | None) -> StepNumbers:
    """Work out the numbers of a step from a run without workers."""
    if device:  # what a step waits for the queue is none of its own time
        return StepNumbers([device.launch], 0.0)
    taken = alone.taken[1:] or alone.taken
    core, seconds = sum(one.core for one in taken), sum(one.step for one in taken)
    return StepNumbers(alone.steps(), core / max(1e-9, seconds))


def run_all(subject: Subject, cores: int) -> Runs:
    """Make all short runs of a job, in about 14 seconds; RuntimeError says what failed."""
    go, shares = subject.go, dict[int, list[int]]()
    with restored() as torch:
        usual = torch.get_num_threads() if torch else 1
        go(0, 0.1 * RUN, step=True)  # warm
        device = subject.on_device()
        alone = go(0, RUN, step=True)
        if not alone.made:
            raise ValueError("the loader gave no batch: there is nothing to measure")
        one, lazy, full = go(1, RUN), go(1, 0.5 * RUN, factor=1), go(cores, RUN)
        if not full.made:
            raise ValueError(
                f"with {cores} workers the loader gave no batch: each has too few samples for one"
            )
        computes = step_numbers(alone, device).computes
        by_threads = {}
        for threads in {1, usual} if torch and computes else {usual}:
            if torch:
                torch.set_num_threads(threads)
            own = alone if threads == usual else go(0, 0.5 * RUN, step=True)
            by_threads[threads] = Beside(own, go(1, 0.8 * RUN, step=True), go(cores, RUN, step=True))
        if torch:
            torch.set_num_threads(usual)
        double = wide = device_double = None
        if subject.batch_size and (subject.stream or len(subject.batches) > 1):
            double = go(0, 0.5 * RUN, step=True, size=2)
            device_double = device and subject.on_device()
            wide = go(1, 0.5 * RUN, size=2)
        for workers in (cores, 2 * cores) if subject.stream else ():
            run = full if workers == cores and full.whole else go(workers, 1.5 * RUN)
            if run.whole:
                by_pid = {made.pid: 0 for made in run.made}
                for made in run.made:
                    by_pid[made.pid] += made.samples
                shares[workers] = list(by_pid.values()) + [0] * (workers - len(by_pid))
        if computes:
            # With threads of both, one run may take half as long again as the next, and hiccups only add.
            beside = by_threads[usual]
            full_beside = min(beside.full, go(cores, RUN, step=True), key=Watch.pace)
            by_threads[usual] = beside._replace(full=full_beside)
        again = go(0, 0.4 * RUN, step=True)
    runs = (alone, one, lazy, full, by_threads, double, wide, again, shares, device, device_double)
    return Runs(subject, usual, *runs)


@dataclass
class JobNumbers:
    """What the model of a loader needs to know of a job; seconds, if nothing else is said."""

    cores: int
    alone: list[float]  # to make each batch in the loop's process
    waits: list[float]  # for each batch in a worker: what it waits,
    works: list[float]  # and what it computes
    over: float  # the loop's own time for a batch without workers
    workers: float  # the factor by which workers slow each other down
    iter: float  # to start a worker, in the loop
    begin: float  # and for the first one in addition
    boot: float  # from there until it works
    cold: float  # what its first batch takes in addition
    stop: float  # to end all workers,
    stop_each: float  # and for each of them in addition
    way: tuple[float, float]  # of a batch to the loop: from a worker that is idle, or at work
    take: tuple[float, float]  # the loop's time for a batch, likewise
    take_core: float  # how much of it is work
    double: dict[str, float]  # what a batch of twice the size takes, over what one takes, of each part
    noise: float  # the share by which the same run differed from itself
    usual: int  # threads of the step
    threads: dict[int, StepNumbers]
    stream: bool  # no sample can be asked for
    shares: dict[int, list[int]]
    nbytes: int  # of a batch
    device: OnDevice | None
    put: float = 0.0  # a worker's time to hand a batch over, however large


def ratio(part: PartOf, run: Watch, base: Watch) -> float:
    """Return what *part* of making a batch takes in *run*, over what the same batch took in *base*."""
    pairs = [(made, same) for made, same in zip(run.made, base.made, strict=False) if part(same) > 0]
    ratios = [part(made) / part(same) for made, same in pairs if made.samples == same.samples]
    return median(ratios[run.workers :] or [1.0])


def usual_costs(part: PartOf, base: Watch, runs: list[Watch]) -> list[float]:
    """Return what *part* usually takes of each batch of *base*: *runs* tell of the same batches, scaled."""
    scales = [(run, 1.0 if run is base else ratio(part, run, base) or 1.0) for run in runs]
    pick = min if len(runs) < 3 else median  # hiccups only add
    most = max(made.samples for made in base.made)
    return [
        pick([part(run.made[number]) / scale for run, scale in scales if number < len(run.made)])
        for number, made in enumerate(base.made)
        if made.samples == most
    ]


def numbers_of(runs: Runs, cores: int) -> JobNumbers:
    """Work out the numbers of a job from its *runs*."""
    alone, one, full, lazy = runs.alone, runs.one, runs.full, runs.lazy
    both = [alone, one] if runs.subject.stream else [alone, one, full]
    fetch = usual_costs(lambda made: made.fetch, alone, both)
    collate = usual_costs(lambda made: made.collate, alone, both)
    slower = ratio(lambda made: made.fetch, one, alone), ratio(lambda made: made.collate, one, alone)
    works, waits = [each * slower[0] for each in fetch], [0.0] * len(fetch)
    idle = sum(max(0.0, made.fetch - made.fetch_core) for made in one.made)
    if idle > WAITS_ABOVE * sum(made.fetch for made in one.made):
        works = usual_costs(lambda made: made.fetch_core, one, both[1:])
        waits = usual_costs(lambda made: max(1e-9, made.fetch - made.fetch_core), one, both[1:])
    put = median([b.began - a.done for a, b in zip(one.made, one.made[1:], strict=False)] or [0.0])
    works = [work + again * slower[1] for work, again in zip(works, collate, strict=False)]
    gaps = zip(alone.made, alone.made[1:], alone.taken, strict=False)
    over = median([after.began - before.done - taken.step for before, after, taken in gaps] or [0.0])
    each = max(0.0, full.opened - full.began - (one.opened - one.began)) / max(1, cores - 1)
    each = each or one.opened - one.began
    boot = median(made.began for made in full.firsts()) - full.opened + each * (cores - 1) / 2
    firsts = [made.done - made.began for made in one.firsts() + full.firsts()]
    usual = fmean(waits) + fmean(works) + put
    beside = [run for pair in runs.by_threads.values() for run in (pair.one, pair.full)]
    ends = {}
    for count in (1, cores):
        times = [run.closed - run.ended for run in [one, full, *beside] if run.workers == count and run.whole]
        ends[count] = min(times or [ENDED + ENDED_EACH * count])
    stop_each = max(0.0, (ends[cores] - ends[1]) / max(1, cores - 1))
    idle_hand = median(handed(lazy) or [HANDED])
    hands = idle_hand, median(handed(one) or [idle_hand])
    ready: tuple[list[float], list[float]] = [], []
    for run in beside:
        for times, more in zip(ready, taken_ready(run, hands[1]), strict=True):
            times += more
    take = [
        min(hand, median(times)) if len(times) > TOO_FEW else 0.8 * hand
        for hand, times in zip(hands, ready, strict=True)
    ]
    double = {"step": 2.0, "collate": 2.0, "hand": 1.0}
    if runs.double and runs.wide and runs.double.made and runs.wide.made:
        larger = runs.double
        double["step"] = fmean(larger.steps()) / fmean(alone.steps())
        if runs.device and runs.device_double:
            double["step"] = runs.device_double.train / runs.device.train
        double["collate"] = fmean([made.collate for made in larger.made[1:] or larger.made]) / max(
            1e-9, fmean(collate)
        )
        taken = one.core / max(1, len(one.made))
        double["hand"] = max(1.0, runs.wide.core / len(runs.wide.made) / max(1e-6, taken))
    return JobNumbers(
        cores=cores,
        alone=[a + b for a, b in zip(fetch, collate, strict=False)],
        waits=waits,
        works=works,
        over=over,
        workers=1.0 if runs.subject.stream else max(1.0, ratio(lambda made: made.fetch_core, full, one)),
        iter=each,
        begin=max(0.0, one.opened - one.began - each),
        boot=max(0.0, boot),
        cold=max(0.0, median(firsts) - usual),
        stop=max(0.0, ends[1] - stop_each),
        stop_each=stop_each,
        way=(max(0.0, hands[0] - take[0]), max(0.0, hands[1] - take[1])),
        take=(take[0], take[1]),
        take_core=one.core / max(1, len(one.made)),
        double=double | {"share of collate": fmean(collate) / max(1e-9, fmean(fetch) + fmean(collate))},
        noise=abs(whole_ratio(runs.again, alone) - 1),
        usual=runs.usual,
        threads={many: step_numbers(run.alone, runs.device) for many, run in runs.by_threads.items()},
        stream=runs.subject.stream,
        shares=runs.shares,
        nbytes=runs.subject.nbytes,
        device=runs.device,
        put=put,
    )


def handed(run: Watch) -> list[float]:
    """List how long batches took from their worker to the loop that waited for them."""
    pairs = zip(run.taken, run.made, strict=False)
    return [taken.got - made.done for taken, made in pairs if made.done > taken.asked][2:]


def taken_ready(run: Watch, hand: float) -> tuple[list[float], list[float]]:
    """List what the loop spent on batches that were ready: where their worker was idle, and at work."""
    idle, busy = list[float](), list[float]()
    for taken, made in zip(run.taken, run.made, strict=False):
        if made.done < taken.asked - READY_FOR - hand:
            at_work = any(m.pid == made.pid and m.began < taken.asked < m.done for m in run.made)
            (busy if at_work else idle).append(taken.got - taken.asked)
    return idle, busy


def whole_ratio(run: Watch, base: Watch) -> float:
    """Return what batches took in *run*, with their steps, over what the same ones took in *base*."""
    lengths = [
        [b.stepped - a.stepped for a, b in zip(w.taken, w.taken[1:], strict=False)] for w in (run, base)
    ]
    ratios = [now / then for now, then in zip(*lengths, strict=False) if then > 0]
    return float(median(ratios or [1.0]))
