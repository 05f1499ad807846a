"""The numbers of a job: what its short runs come to, as the model of a loader wants them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Literal, NamedTuple

from .device import OnDevice
from .thresholds import COMPUTES, READY_FOR, TOO_FEW, WAITS_ABOVE
from .uneven import Timed, Uneven, factors, whole_turns, without_hiccups
from .watching import Watch

Part = Literal["make", "wait", "load", "step", "round"]
"""A time of a batch: one of the properties of `WatchedBatch`."""


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


class Start(NamedTuple):
    """What a worker's start takes: in the loop, and from then until the worker works."""

    in_loop: float
    until_ready: float


@dataclass
class JobNumbers:
    """What the model of a loader needs to know of a job, in seconds unless it says otherwise.

    A worker *waits* and *works* for each batch, for its *first* one longer, and the loop needs
    *take* for a batch that is ready. The first batch of each epoch takes longer by *opening*; of
    an iterable (a *stream*) that of each worker. *noise* is the share by which the same run
    differed from itself. *totals* are the samples of an epoch of a stream, by the number of
    workers. *nbytes* is the size of a batch, 0 if nobody knows it.
    *growth* has the factors by which making a batch of twice the size, a step on it, and the loop's
    own time for it take longer; it is empty if the loader does not say how large its batches are.
    *uneven* says how unlike each other batches and steps are. Other programs used *others* cores
    meanwhile. Runs with *not_measured* workers would have taken too long.
    """

    cores: int
    waits: float
    works: float
    first: float
    take: float
    start: Start
    noise: float
    threads: dict[int, StepNumbers]
    stream: bool
    totals: dict[int, int]
    nbytes: int
    device: OnDevice | None
    growth: dict[str, float] = field(default_factory=dict)
    in_order: bool = True
    opening: float = 0.0
    uneven: Uneven = field(default_factory=Uneven)
    others: float = 0.0
    not_measured: list[int] = field(default_factory=list)


# ---- times of one run ----


def times_of(part: Part, run: Watch, begin: int = 0) -> list[Timed]:
    """Return what *part* took of each batch of a *run*, from the batch number *begin* on."""
    return [Timed(getattr(one, part), one.samples) for one in run.batches[begin:]]


def mean_of(part: Part, run: Watch, again: Sequence[Watch] = ()) -> float:
    """Return the mean of what *part* took of the batches of a *run*, without its first one.

    The first one is counted if there is no other: it opens what an epoch needs. Hiccups are not
    counted; *again* are other runs over the same batches, which tell them from stragglers.
    """
    begin = 1 if len(run.batches) > 1 else 0
    others = [times_of(part, other, begin) for other in again]
    return fmean(
        without_hiccups(times_of(part, run, begin), [one for one in others if one])
    )


def longer(part: Part, run: Watch, usual: Watch, size: int) -> float:
    """Return the factor by which *part* took longer in a *run* over the same samples.

    Its batches are *size* times as large.
    """
    same = usual.batches[: size * len(run.batches)]
    batches = run.batches[: len(same) // size or 1]
    one = Watch(run.workers, batches=batches)
    other = Watch(usual.workers, batches=same)
    if size > 1:  # other batches, so none of them comes again
        return mean_of(part, one) / max(1e-9, mean_of(part, other))
    return mean_of(part, one, [other]) / max(1e-9, mean_of(part, other, [one]))


def opening_of(runs: Sequence[Watch]) -> float:
    """Return how much longer the first batch of an epoch takes, by *runs* without workers.

    It is the least of them, because a hiccup does not come again.
    """
    over = []
    for run in runs:
        if len(run.batches) > TOO_FEW:
            first, *others = times_of("make", run)
            usual = median(time.each for time in others)
            over.append(first.seconds - usual * max(1, first.samples))
    return max(0.0, min(over, default=0.0))


def unevenness(places: Sequence[float], runs: Sequence[Watch], steps: Watch) -> Uneven:
    """Return how unlike each other the batches of *runs* are, and the *steps* of one.

    *runs* go over the same batches, those at these *places* of an epoch; a stream has none.
    The first batch of a run is like the others: what it opens is counted apart.
    """
    found = Uneven()
    seen = max((run for run in runs), key=lambda run: len(run.batches))
    others = [run for run in runs if run is not seen]
    makes = times_of("make", seen, 1)
    if len(makes) > TOO_FEW:
        again = [times_of("make", other, 1) for other in others]
        by_batch = factors(without_hiccups(makes, [one for one in again if one]))
        if by_batch:
            found.makes = [1.0, *by_batch]
            count = len(found.makes)
            found.places = [*places[:count]] or [one / count for one in range(count)]
    taken = [time.seconds for time in times_of("step", steps, 1)]
    if len(taken) > TOO_FEW:
        kept = without_hiccups(times_of("step", steps, 1))
        found.steps = factors(kept[: whole_turns(taken)])
    return found


def mean_step(run: Watch) -> float:
    """Return the mean of the steps of a *run*, over whole turns if each k-th one is long."""
    begin = 1 if len(run.batches) > 1 else 0
    kept = without_hiccups(times_of("step", run, begin))
    return fmean(kept[: whole_turns(kept)])


def step_numbers(alone: Watch, device: OnDevice | None, on_device: bool) -> StepNumbers:
    """Return the numbers of a step, from a run without workers.

    *on_device* says whether it may leave work to a device; one that does is timed apart.
    """
    load = mean_of("load", alone)
    if device:  # waiting for room in the queue is not step time
        return StepNumbers(device.launch, 0.0, load)
    batches = alone.batches[1:] or alone.batches
    core = sum(batch.step_core for batch in batches)
    cores = core / max(1e-9, sum(batch.step for batch in batches))
    # A step on a device launches from one thread; others only wait busily for what comes
    cores = min(1.0, cores) if on_device else cores
    return StepNumbers(mean_step(alone), cores, load)


# ---- times of several runs ----


class Making(NamedTuple):
    """What a worker does for a batch: it *waits* and *works*, and longer for its *first* one."""

    waits: float
    works: float
    first: float


def making(
    one: Watch, alone: Watch, beside: Sequence[Watch], opening: float, *, stream: bool
) -> Making:
    """Return what a worker does for a batch, by the run with *one* and those *beside* the step.

    Those *beside* have no more workers than cores. *opening* is what the first batch of an
    epoch takes longer, also without workers; of a *stream* that of each worker.
    """
    make = mean_of("make", one, [alone])
    waits = min(make, mean_of("wait", one, [alone]))
    if waits < WAITS_ABOVE * make:
        waits = 0.0
    over = []
    for run in (one, *beside):
        for place, batch in run.firsts():
            opens = opening if stream or place == 0 else 0.0
            over.append(batch.make - opens)
    return Making(waits, max(0.0, make - waits), max(0.0, median(over) - make))


def start_of(runs: Sequence[Watch]) -> Start:
    """Return how long the loop needs to start a worker, and the worker then until it works.

    Runs with one worker show how long a worker needs to be ready. Others do not: of several
    workers, all but the last are ready when the loop first asks for a batch.
    """
    in_loop = median((run.opened - run.began) / run.workers for run in runs)
    ready = [run.batches[0].began - run.opened for run in runs if run.workers == 1]
    return Start(in_loop, max(0.0, median(ready)))


def on_its_way(run: Watch) -> float:
    """Return how long a batch is on its way to the loop, by batches for which the loop waited."""
    waited = [batch.got - batch.done for batch in run.batches if batch.done > batch.asked]
    return median(waited[2:] or [0.0])


def take_of(one: Watch, beside: Sequence[Watch]) -> float:
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
