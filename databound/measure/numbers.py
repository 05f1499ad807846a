"""The numbers of a job: what its short runs come to, as the model of a loader wants them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median, median_low
from typing import Literal, NamedTuple

from ..ranges import Scatter
from ..thresholds import COMPUTES, FEWEST, READY_FOR, STARTING, TOO_FEW, WAITS_ABOVE
from .device import OnDevice
from .uneven import (
    Timed,
    Uneven,
    ending_with_the_longest,
    factors,
    late_places,
    mean_turn,
    turn_of,
    whole_turns,
    without_hiccups,
)
from .watching import Watch

Part = Literal["make", "wait", "load", "step", "round"]
"""A time of a batch: one of the properties of `WatchedBatch`."""


@dataclass
class StepNumbers:
    """The *seconds* of a step with one number of threads, and how many *cores* it holds.

    Without workers, the loop takes *alone* for each batch: to collate one may use threads as well.
    By the number of workers beside the step, *unexplained* has the factor by which real runs
    took longer than the model, *missed* the share by which they still differ from it, and *ran* how many
    runs there were.
    """

    seconds: float
    cores: float
    alone: float
    unexplained: dict[int, float] = field(default_factory=lambda: {0: 1.0})
    missed: dict[int, float] = field(default_factory=lambda: {0: 0.0})
    ran: dict[int, int] = field(default_factory=lambda: {0: 1})

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

    A worker *waits* and *works* for each batch, for its *first* one longer, of which *first_works* is
    on a core, and the loop needs
    *take* for a batch that is ready. The first batch of each epoch takes longer by *opening*; of
    an iterable (a *stream*) that of each worker. *noise* is the share by which the same run
    differed from itself. *totals* are the samples of an epoch of a stream, by the number of
    workers. *nbytes* is the size of a batch, 0 if nobody knows it.
    *growth* has the factors by which making a batch of twice the size, a step on it, and the loop's
    own time for it take longer; it is empty if the loader does not say how large its batches are.
    Workers end in *stop*, if that was seen. *scatter* is how much all runs that were repeated differed.
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
    first_works: float = 0.0
    stop: float | None = None
    scatter: Scatter = field(default_factory=Scatter)


# ---- times of one run ----


def times_of(part: Part, run: Watch, begin: int = 0) -> list[Timed]:
    """Return what *part* took of each batch of a *run*, from the batch number *begin* on."""
    return [Timed(getattr(one, part), one.samples) for one in run.batches[begin:]]


def mean_of(
    part: Part, run: Watch, again: Sequence[Watch] = (), uneven: Uneven | None = None
) -> float:
    """Return the mean of what *part* took of the batches of an epoch, by those of a *run*.

    The first batch is not counted unless there is no other: it opens what an epoch needs. Nor are
    hiccups; *again* are other runs over the same batches, which tell them from stragglers: what
    takes long to be made there takes long to be waited for, or to be loaded, here. The batches of
    this run may be among the cheap ones of an epoch, or the dear ones: *uneven* says so.
    """
    begin = 1 if len(run.batches) > 1 else 0
    shown_by: Part = "round" if part == "round" else "make"
    others = [times for other in again if (times := times_of(shown_by, other, begin))]
    kept = without_hiccups(times_of(part, run, begin), others)
    if uneven is None:
        return fmean(kept)
    share = [uneven.of_batch_in_run(begin + place) for place in range(len(kept))]
    return sum(kept) / sum(share)


def late_once(run: Watch, again: Sequence[Watch]) -> bool:
    """Whether one batch of a *run* is late, and no other run, one of *again*, came to its place.

    Nobody knows then whether it is a straggler or a hiccup.
    """
    late = late_places(times_of("make", run, 1))
    return len(late) == 1 and all(len(other.batches) <= 1 + late[0] for other in again)


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

    It is the least of them, because a hiccup does not come again. Whether it opens something or is
    itself a long one makes no difference to an epoch.
    """
    over = []
    for run in runs:
        if len(run.batches) >= FEWEST:
            first, *others = times_of("make", run)
            usual = median(time.each for time in others)
            over.append(first.seconds - usual * max(1, first.samples))
    return max(0.0, min(over, default=0.0))


def unevenness(
    places: Sequence[float], runs: Sequence[Watch], stepped: Sequence[Watch], opening: float
) -> Uneven:
    """Return how unlike each other the batches of *runs* are, and the steps of those that *stepped*.

    *runs* go over the same batches, those at these *places* of an epoch; a stream has none. Of the
    first batch, *opening* is counted apart. The first one that *stepped* has no workers.
    """
    found = Uneven()
    makes = makes_of(runs, opening, len(places))
    if len(makes) > TOO_FEW:
        found.makes = factors(makes)
        found.places = places_of(places, len(found.makes))
    elif makes and fmean(makes) > 0:
        found.few = [each / fmean(makes) for each in makes]
    turning = max(stepped, key=lambda run: (turn_in(run), len(run.batches)))
    found.turn = turn_in(turning)
    if found.turn > 1:
        turns = whole_turns(steps_of(turning))
        found.steps = ending_with_the_longest(factors(mean_turn(turns, found.turn)))
    elif len(taken := steps_of(stepped[0])) > TOO_FEW:
        found.steps = factors(taken)
    return found


def places_of(places: Sequence[float], count: int) -> list[float]:
    """Return the places of *count* batches in an epoch; those of a stream come one after another."""
    return [*places[:count]] or [number / count for number in range(count)]


def steps_of(run: Watch) -> list[float]:
    """Return the seconds of the steps of a *run*, without hiccups."""
    return without_hiccups(times_of("step", run))


def turn_in(run: Watch) -> int:
    """Return k if each k-th step of a *run* is long, else 1."""
    taken = steps_of(run)
    return turn_of(taken) if len(taken) > TOO_FEW else 1


def makes_of(runs: Sequence[Watch], opening: float, count: int) -> list[float]:
    """Return how long each of the batches that *runs* went over takes to be made, by all of them.

    An epoch has *count* of them; of a stream, where that is 0, each is another one. A worker's first
    batch shows nothing of the batch, and of an epoch's first one, *opening* is no part. The run with
    the most batches says how long they take; what another one saw is as many times longer or
    shorter as the batches that both saw. The (lower) median counts, so a machine that was busy
    during one of the runs does not make a batch late.
    """
    times = [times_of("make", run) for run in runs]
    shown = [
        shown_in(run, one, [other for other in times if other is not one], opening)
        for run, one in zip(runs, times, strict=True)
    ]
    usual = max(shown, key=len)
    at_place: dict[int, list[float]] = defaultdict(list)
    for one in shown:
        alike = one if one is usual else scaled(one, usual)
        for place, seconds in alike.items():
            # A run of several passes comes to each batch again
            at_place[place % count if count else place].append(seconds)
    if not at_place:
        return []
    known = {place: median_low(each) for place, each in at_place.items()}
    mean = fmean(known.values())
    return [known.get(place, mean) for place in range(max(known) + 1)]


def scaled(shown: Mapping[int, float], usual: Mapping[int, float]) -> dict[int, float]:
    """Return the seconds of batches that a run has *shown*, as if it had gone at the *usual* pace.

    The batches that both runs saw, by their places, say how far apart these are; where there are
    none, nothing is returned.
    """
    both = [place for place in shown if place in usual]
    here = sum(shown[place] for place in both)
    there = sum(usual[place] for place in both)
    if here <= 0 or there <= 0:
        return {}
    return {place: seconds * there / here for place, seconds in shown.items()}


def shown_in(
    run: Watch, times: Sequence[Timed], again: Sequence[Sequence[Timed]], opening: float
) -> dict[int, float]:
    """Return how long batches of a *run* took to be made, by their places in it: its *times*.

    First batches of workers are left out. Those of other runs come *again*.
    """
    firsts = {place for place, _ in run.firsts()} if run.workers else set()
    known = list(times)
    for place in [0, *run.epochs] if known else []:
        seconds = max(0.0, known[place].seconds - opening)
        known[place] = known[place]._replace(seconds=seconds)
    kept = without_hiccups(known, again) if known else []
    return {place: each for place, each in enumerate(kept) if place not in firsts}


def step_numbers(
    runs: Sequence[Watch],
    device: OnDevice | None,
    *,
    may_launch: bool,
    uneven: Uneven | None = None,
    again: Sequence[Watch] = (),
) -> StepNumbers:
    """Return the numbers of a step, from *runs*, of which the first one has no workers.

    Batches are *uneven*, and *again* are other runs over the same ones. If each k-th step is long, the
    first of *runs* counts that saw whole turns. A step that *may_launch* work on a device
    launches from one thread; what it really leaves to one is timed apart, as *device*.
    """
    alone = runs[0]
    load = mean_of("load", alone, again, uneven)
    if device:  # waiting for room in the queue is not step time
        return StepNumbers(device.launch, 0.0, load)
    turn = uneven.turn if uneven else 1
    run = next((run for run in runs if len(run.batches) > turn), alone)
    begin = 1 if len(run.batches) > 1 else 0
    times = times_of("step", run, begin)
    if turn > 1 and len(times) >= turn:
        times = times[: len(times) // turn * turn]
        seconds = fmean(time.seconds for time in times)
    else:
        seconds = fmean(without_hiccups(times))
    batches = run.batches[begin : begin + len(times)]
    core = sum(batch.step_core for batch in batches)
    cores = core / max(1e-9, sum(batch.step for batch in batches))
    # Others threads of a step that waits for a device only wait busily
    cores = min(1.0, cores) if may_launch else cores
    return StepNumbers(seconds, cores, load)


# ---- times of several runs ----


class Making(NamedTuple):
    """What a worker does for a batch: it *waits* and *works*, and longer for its *first* one.

    Of what the first one takes longer, *first_works* is on a core.
    """

    waits: float
    works: float
    first: float
    first_works: float


def making(
    one: Watch,
    beside: Sequence[Watch],
    again: Sequence[Watch],
    opening: float,
    uneven: Uneven,
    *,
    stream: bool,
) -> Making:
    """Return what a worker does for a batch, by the run with *one* and those *beside* the step.

    Those *beside* have no more workers than cores; *again* are all other runs. *opening* is what the
    first batch of an epoch takes longer, also without workers; of a *stream* that of each worker.
    """
    make = mean_of("make", one, again, uneven)
    waits = min(make, mean_of("wait", one, again, uneven))
    if waits < WAITS_ABOVE * make:
        waits = 0.0
    works = max(0.0, make - waits)
    over = []
    on_core = []
    for run in (one, *beside):
        for place, batch in run.firsts():
            opens = opening if stream or place == 0 else 0.0
            factor = uneven.of_batch_in_run(place)
            over.append(batch.make - opens - make * factor)
            on_core.append(batch.make - batch.wait - works * factor)
    first = max(0.0, median(over))
    return Making(waits, works, first, min(first, max(0.0, median(on_core))))


def start_of(runs: Sequence[Watch]) -> Start:
    """Return how long the loop needs to start a worker, and the worker then until it works.

    Runs with one worker show how long a worker needs to be ready. Others do not: of several
    workers, all but the last are ready when the loop first asks for a batch.
    """
    in_loop = median((run.opened - run.began) / run.workers for run in runs)
    ready = [run.batches[0].began - run.opened for run in runs if run.workers == 1]
    return Start(in_loop, max(0.0, median(ready)))


def stop_of(runs: Sequence[Watch]) -> float | None:
    """Return how long workers take to end, by *runs* with workers; None if no run says so.

    It is the least of them: a worker ends after the batch that it has begun.
    """
    took = [run.closed - run.ended for run in runs if run.workers and run.closed]
    return max(0.0, min(took)) if took else None


def on_its_way(run: Watch) -> float:
    """Return how long a batch is on its way to the loop, by batches for which the loop waited."""
    waited = [batch.got - batch.done for batch in run.batches if batch.done > batch.asked]
    return median(waited[STARTING:] or [0.0])


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
