"""`recommend`: measure a job, compare its settings, try the best, and say what to change."""

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from lessonkit.engine import check

from ..measure.inside import Inside, look_inside
from ..measure.runs import LoaderAndStep
from ..measure.setting import Setting
from ..measure.state import Training
from ..measure.subject import Subject
from ..model.job import Job
from ..model.measuring import Note, Tell, measured, note_nothing
from ..thresholds import EPOCHS, TRIED, USUAL, Durations, lasting
from .choosing import Choice, bounds_of, choose, combinations, facts_of, rank, with_trials
from .knobs import TriedKnob, try_knobs
from .page import LAST_WORDS, MORE_TIME, Recommendation, described
from .rows import TableRow, forecast_row
from .trials import (
    by_place,
    by_words,
    seconds_of_rounds,
    seconds_with_start,
    try_best,
)
from .verdict import LOADER_FILLS_THE_CORES, Verdict, changed_meanwhile, decide, differ
from .verdict import verdict as verdict_of

# Verdicts after which the loader's slowest part is what to make cheaper
THE_LOADER_DECIDES = ("data-bound", "they take turns", "both want the same cores")


def recommend(
    loader: Any,
    step: Callable[[Any], object] | None = None,
    *,
    put_back: bool = True,
    minutes: float | None = None,
) -> Recommendation:
    """Measure a PyTorch *loader* with a *step*, and say what to change and what that saves.

    It takes about half a minute: 15 s to measure, and ten to run the best settings beside the job as it
    is, or up to a minute if that differs from run to run. The start of workers is added to that, and
    takes long if they are not forked. Where batches take long, measuring takes up to five minutes
    in a long training, and trying twice as long; with *minutes*, about so many in all. A setting
    that fails is dropped, and the page says so. *step* is really called, with batches of the loader,
    and may take them apart. What it trains is *put_back*: modules, optimisers and schedules that its
    code names, and the page says which. Some lines of text are printed as it goes on. Random states
    and the number of threads are restored. Instead of both, *loader* may be a `Job` that
    `measure_job` gave, or one that was stored: of a stored one nothing is run.

    Raises TypeError if it is no loader, ValueError for one that gives nothing or for *minutes* that
    are not above 0, and RuntimeError that says at which batch the loader or the step raised.
    """
    durations = lasting(minutes)
    if isinstance(loader, Job):
        return recommended(loader, put_back=put_back, durations=durations)
    step = check.function("step", step)
    job = measured(
        loader,
        step,
        tell=print,
        command="recommend(loader, step)",
        put_back=put_back,
        durations=durations,
    )
    return recommended(job, put_back=put_back, durations=durations)


def recommended(
    job: Job,
    tell: Tell = print,
    note: Note = note_nothing,
    *,
    put_back: bool = True,
    durations: Durations | None = None,
) -> Recommendation:
    """Return the page on a *job*: the best settings are really run, unless it was stored.

    *tell* beforehand how long that takes, and *note* each number as it comes. What the step
    trains is *put_back*. Runs last as *durations* say, or as usual.
    """
    error = job.numbers.noise
    now = forecast_row(job, {})
    verdict = decide(facts_of(job, now, error))
    bounds = bounds_of(job, now)
    if verdict.kind in LAST_WORDS:
        return Recommendation(
            job,
            verdict,
            bounds,
            error,
            [now],
            knobs=knobs_of(job, job.now, verdict, None, put_back=put_back),
            training=trained_by(job.subject),
        )
    rows = rank(job, [forecast_row(job, changes) for changes in combinations(job)])
    table = [now, *rows]
    trials = by_place(job.trials, table) if job.trials else None
    durations = (durations or USUAL).for_training(EPOCHS * now.mean if job.whole else 0.0)
    if job.subject is not None:
        tell(what_trials_take(job, table, durations))
        with what_it_trains_put_back(job.subject, put_back=put_back):
            trials = try_best(job, job.subject, table, durations, note)
        job.trials = by_words(trials, table)
    if trials is not None:
        # Forecasts know more now
        table = with_trials([forecast_row(job, row.changes) for row in table], trials)
        bounds = bounds_of(job, table[0])
    choice = choose(job, table, trials, bounds, error)
    tried = table[0].tried
    if tried is not None and not choice.worth and differ(now.mean, tried):
        # That nothing is worth changing would be said of two jobs, and of none of them
        return Recommendation(
            job,
            changed_meanwhile(now.mean, tried),
            bounds,
            choice.error,
            [table[0]],
            training=trained_by(job.subject),
        )
    table = [table[0], *rank(job, table[1:])]
    verdict = verdict_beside(choice, job, verdict)
    inside = None
    if verdict.kind in THE_LOADER_DECIDES:
        inside = seen_inside(job, tell, durations)
    best = choice.worth[0].row.changes if choice.worth else {}
    knobs = knobs_of(job, job.setting(**best), verdict, inside, put_back=put_back)
    return Recommendation(
        job,
        verdict,
        bounds,
        choice.error,
        table,
        changes=[described(job, one) for one in choice.worth],
        alike=choice.alike,
        failed=trials.failed if trials else [],
        too_long=trials.too_long if trials else [],
        inside=inside,
        knobs=knobs,
        training=trained_by(job.subject),
    )


def what_trials_take(job: Job, table: Sequence[TableRow], durations: Durations) -> str:
    """Say how long trials of the best rows of a *table* take, or that there is no time for any of them."""
    now, *rivals = [seconds_with_start(job, row, durations) for row in table]
    if seconds_of_rounds([now, min(rivals, default=0.0)]) > durations.trials:
        return f"there is no time to try a setting beside the job as it is. {MORE_TIME}"
    fewest = seconds_of_rounds([now, *rivals[:TRIED]])
    seconds = math.ceil(min(durations.trials, fewest))
    most = math.ceil(durations.more_trials)
    more = f", and up to {most} s if its runs differ" if most > seconds else ""
    return (
        f"trying the best {TRIED} settings beside the job as it is: about {seconds} s{more}"
    )


def verdict_beside(choice: Choice, job: Job, said: Verdict) -> Verdict:
    """Return the verdict that was *said*, unless a change of this *choice* shows that cores are left."""
    now = job.now.num_workers
    more = any(one.row.changes.get("num_workers", now) > now for one in choice.worth)
    if more and said.advice == LOADER_FILLS_THE_CORES:
        return verdict_of(said.kind)
    return said


def what_it_trains_put_back(
    subject: Subject, *, put_back: bool
) -> AbstractContextManager[None]:
    """Return a block after which what a real step trains is as before, if it is to be *put_back*."""
    if put_back and isinstance(subject, LoaderAndStep):
        return subject.put_back()
    return nullcontext()


def knobs_of(
    job: Job, setting: Setting, verdict: Verdict, inside: Inside | None, *, put_back: bool
) -> list[TriedKnob]:
    """Return what helps besides a *setting*, by real runs; nothing if these cannot tell."""
    if job.subject is None or verdict.kind == "cannot tell":
        return []
    with what_it_trains_put_back(job.subject, put_back=put_back):
        return try_knobs(job, job.subject, setting, verdict, inside)


def trained_by(subject: Subject | None) -> Training | None:
    """Return what a real step trained and what of it was put back; None if it was to stay."""
    return subject.training if isinstance(subject, LoaderAndStep) else None


def seen_inside(
    job: Job, tell: Tell = print, durations: Durations = USUAL
) -> Inside | None:
    """Return where the time of a *job*'s loader goes; None if nothing of it can be run.

    Of batches that take long there is no time to see a second one twice, as *durations* say.
    """
    each = job.numbers.works + job.numbers.waits
    most = min(USUAL.most, durations.most)
    if not isinstance(job.subject, LoaderAndStep) or 4 * each > most:
        return None
    tell(f"looking inside the loader: about {max(2 * USUAL.inside, 4 * each):.0f} s")
    return look_inside(job.subject)
