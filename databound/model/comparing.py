"""A job's model beside its real runs: how much longer these took, and how far that can be trusted."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, variance
from typing import NamedTuple

from ..measure.setting import Setting
from ..measure.uneven import phase_of
from ..measure.watching import Watch
from ..ranges import Scatter, scatter_of
from ..thresholds import AT_ONCE, BEHIND, COMPARED, FILL
from .job import Job


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


def window_of(seen: Watch, count: int, turn: int = 1) -> Window | None:
    """Return which of the batches of a run count, if an epoch of the model has *count*.

    The first ones of each worker are left out: until then buffers are filled. Workers give
    batches in bursts of one each, so whole rounds are compared; and whole turns, if each *turn*-th
    step is long, as far as there are enough of them. A run over an epoch that is too
    short for that counts from its beginning. Of a run of several epochs all but the first count that
    came to their end. None is returned for a run that was ended too early.
    """
    if seen.epochs:
        return Window(seen.epochs[0], len(seen.batches) if seen.whole else seen.epochs[-1])
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
        self.known: dict[tuple[Setting, int, int], list[float]] = {}

    def came(
        self, setting: Setting, before: int, last: int, epochs: int = 1
    ) -> list[float]:
        """Return when batches came up to the one with the number *last*, after 0 at the beginning.

        So many steps were made *before*, and the run had so many *epochs*.
        """
        known = self.known.get((setting, before, epochs), [])
        # What is made ahead is made while the last one is still to come
        most = last + setting.ahead
        if len(known) <= most:
            model = self.job.modelled(setting, watched=True, steps_before=before)
            if epochs == 1:
                model = model._replace(batches=round(most * AT_ONCE))
            known = [0.0]
            began = 0.0
            for epoch in model.arrivals(epochs):
                known += [began + came for came in epoch.came]
                began += epoch.duration
            self.known[setting, before, epochs] = known
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
    epochs = len(seen.epochs) + 1
    if (
        not job.numbers.stream and epochs == 1
    ):  # the run may have gone over an epoch more than once
        count *= max(1, math.ceil(len(seen.batches) / max(1, count)))
    window = window_of(seen, count, job.numbers.uneven.turn)
    if window is None or window.last <= window.first:
        return None
    uneven = job.numbers.uneven
    before = 0
    if uneven.turn > 1:
        before = phase_of([batch.step for batch in seen.batches], uneven.steps)
    arrivals = expected.came(setting, before, window.last, epochs)
    came = [seen.began, *(batch.got for batch in seen.batches)]
    took = came[window.last] - came[window.first]
    forecast = arrivals[window.last] - arrivals[window.first]
    return Compared(took, forecast, window.last - window.first, window.first > 0)


def learn(job: Job, found: Mapping[Setting, Sequence[Compared]]) -> None:
    """Let what the model leaves unexplained of a *job* be that of further runs as well, by their settings.

    They count as much as each of those before. What the model then leaves of their mean is no more
    than chance, as far as anybody can see.
    """
    # All were compared with the model as it is before any of them changes it
    models = {setting: job.modelled(setting) for setting in found}
    factors = {each: model.unexplained * model.crowded for each, model in models.items()}
    for setting, runs in found.items():
        step = job.numbers.threads[setting.threads]
        workers = setting.num_workers
        before = step.ran.get(workers, 0)
        mean = fmean(math.log(one.took / one.forecast) for one in runs)
        part = len(runs) / (len(runs) + before)
        step.unexplained[workers] = factors[setting] * math.exp(part * mean)
        step.missed[workers] = 0.0
        step.ran[workers] = before + len(runs)


def setting_of(job: Job, workers: int, threads: int) -> Setting:
    """Return the setting of the runs that a job was measured with."""
    return Setting(
        num_workers=workers,
        persistent_workers=workers > 0,
        threads=threads,
        batch_size=job.now.batch_size,
    )


def correct(job: Job, threads: int, runs: Iterable[Watch]) -> Scatter:
    """Set what the model leaves unexplained of a step with as many *threads*, from real *runs*.

    The factors are trusted as far as runs with as many workers agree. If such runs differ
    from each other as much as they differ from the model, it is better without factors. What
    the model *missed* is what is then left of the mean; of a single run that is all that it differed, if
    no run was repeated: nobody knows how much of it would come again. Returns how much runs differ
    from others with as many workers.
    """
    logarithms = defaultdict[int, list[float]](list)
    expected = Expected(job)
    for run in sorted(runs, key=lambda run: -len(run.batches)):
        found = compared(job, run, setting_of(job, run.workers, threads), expected)
        if found is not None and found.took > 0 and found.forecast > 0:
            logarithms[run.workers].append(math.log(found.took / found.forecast))
    scatter = Scatter()
    for each in logarithms.values():
        scatter = scatter.with_another(scatter_of([math.exp(one) for one in each]))
    if not logarithms:
        return scatter
    means = {workers: fmean(each) for workers, each in logarithms.items()}
    effect = fmean(mean**2 for mean in means.values())
    repeated = [each for each in logarithms.values() if len(each) > 1]
    noise = fmean([variance(each) / len(each) for each in repeated] or [0.0])
    trust = max(0.0, 1 - noise / effect) if effect else 1.0
    step = job.numbers.threads[threads]
    for workers, mean in means.items():
        each = logarithms[workers]
        step.unexplained[workers] = math.exp(trust * mean)
        left = (1 - trust) * mean if scatter.freedom else mean
        step.missed[workers] = abs(math.expm1(left))
        step.ran[workers] = len(each)
    return scatter
