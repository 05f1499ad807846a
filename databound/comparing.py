"""A job's model beside its real runs: how much longer these took, and how far that can be trusted."""

import math
from collections import defaultdict
from collections.abc import Iterable
from statistics import fmean, variance
from typing import NamedTuple

from .job import Job
from .setting import Setting
from .thresholds import AT_ONCE, BEHIND, COMPARED, FILL
from .uneven import phase_of
from .watching import Watch


class Compared(NamedTuple):
    """The seconds that so many *batches* of a real run *took*, and those of the model's *forecast*.

    They are *steady* if they do not begin with the run: no worker starts in them.
    """

    took: float
    forecast: float
    batches: int
    steady: bool = True


class Window(NamedTuple):
    """The batches of a run that are compared: those after *first*, up to *last*."""

    first: int
    last: int


def least_batches(workers: int) -> int:
    """Return how many batches a run with *workers* needs to be compared with the model."""
    return (FILL + BEHIND) * workers + 1


def window_of(seen: Watch, count: int, turn: int = 1) -> Window | None:
    """Return which of the batches of a run count, if an epoch of the model has *count*.

    The first ones of each worker are left out: until then buffers are filled. Workers give
    batches in bursts of one each, so whole rounds are compared; and whole turns, if each *turn*-th
    step is long, as far as there are enough of them. A run over an epoch that is too
    short for that counts from its beginning. None is returned for a run that was ended too early.
    """
    number = min(len(seen.batches), COMPARED, count)
    workers = seen.workers
    if number >= (FILL + BEHIND) * workers:
        first = FILL * workers
        burst = math.lcm(max(1, workers), turn)
        if number - first < burst:
            burst = max(1, workers)
        return Window(first, number - (number - first) % burst)
    if seen.whole or number == count:
        return Window(0, number)
    return None


class Expected:
    """When batches arrive by the model of a *job*, in the order of the runs that are compared with it.

    A longer run has a shorter one in it, so the model is run once for many runs with a setting. It
    holds as long as the numbers of the job stay.
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        self.known: dict[tuple[Setting, int], list[float]] = {}

    def came(self, setting: Setting, before: int, last: int) -> list[float]:
        """Return when batches came up to the one with the number *last*, after 0 at the beginning.

        So many steps were made *before*.
        """
        known = self.known.get((setting, before), [])
        # What is made ahead is made while the last one is still to come
        most = last + setting.ahead
        if len(known) < most:
            model = self.job.modelled(setting, watched=True, steps_before=before)
            model = model._replace(batches=round(most * AT_ONCE))
            known = [0.0, *model.arrivals(1)[0].came]
            self.known[setting, before] = known
        return known


def compared(
    job: Job, seen: Watch, setting: Setting, expected: Expected | None = None
) -> Compared | None:
    """Return what a run took as *seen*, and in the model of the *job* with a *setting*.

    None is returned for a run that is too short to be compared. Of a loader without an end, a
    run may see more batches than the model has. What was *expected* of other runs is known.
    """
    expected = expected or Expected(job)
    count = job.count(setting)
    if not job.numbers.stream:  # the run may have gone over an epoch more than once
        count *= max(1, math.ceil(len(seen.batches) / max(1, count)))
    window = window_of(seen, count, job.numbers.uneven.turn)
    if window is None or window.last <= window.first:
        return None
    uneven = job.numbers.uneven
    before = 0
    if uneven.turn > 1:
        before = phase_of([batch.step for batch in seen.batches], uneven.steps)
    arrivals = expected.came(setting, before, window.last)
    came = [seen.began, *(batch.got for batch in seen.batches)]
    took = came[window.last] - came[window.first]
    forecast = arrivals[window.last] - arrivals[window.first]
    return Compared(took, forecast, window.last - window.first, window.first > 0)


def setting_of(job: Job, workers: int, threads: int) -> Setting:
    """Return the setting of the runs that a job was measured with."""
    return Setting(
        num_workers=workers,
        persistent_workers=workers > 0,
        threads=threads,
        batch_size=job.now.batch_size,
    )


def correct(job: Job, threads: int, runs: Iterable[Watch]) -> None:
    """Set what the model leaves unexplained of a step with as many *threads*, from real *runs*.

    The factors are trusted as far as runs with as many workers agree. If such runs differ
    from each other as much as they differ from the model, it is better without factors. What
    the model misses of a single run is all that it differed: nobody knows how much of it would
    come again.
    """
    logarithms = defaultdict[int, list[float]](list)
    expected = Expected(job)
    for run in sorted(runs, key=lambda run: -len(run.batches)):
        found = compared(job, run, setting_of(job, run.workers, threads), expected)
        if found is not None and found.took > 0 and found.forecast > 0:
            logarithms[run.workers].append(math.log(found.took / found.forecast))
    if not logarithms:
        return
    means = {workers: fmean(each) for workers, each in logarithms.items()}
    effect = fmean(mean**2 for mean in means.values())
    repeated = [each for each in logarithms.values() if len(each) > 1]
    noise = fmean([variance(each) / len(each) for each in repeated] or [0.0])
    trust = max(0.0, 1 - noise / effect) if effect else 1.0
    step = job.numbers.threads[threads]
    for workers, mean in means.items():
        each = logarithms[workers]
        step.unexplained[workers] = math.exp(trust * mean)
        explained = trust * mean if len(each) > 1 else 0.0
        step.missed[workers] = fmean(abs(math.expm1(one - explained)) for one in each)
