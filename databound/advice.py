"""`recommend`: measure a job, compare its settings, try the best, and say what to change."""

import math
from collections.abc import Callable
from typing import Any

from lessonkit.engine import check

from .choosing import (
    bounds_of,
    choose,
    combinations,
    facts_of,
    forecast_row,
    rank,
    try_best,
    with_trials,
)
from .job import Job
from .measuring import measured
from .page import LAST_WORDS, Recommendation, described
from .thresholds import ROUNDS, TRIED, USUAL
from .verdict import decide


def recommend(loader: Any, step: Callable[[Any], object] | None = None) -> Recommendation:
    """Measure a PyTorch *loader* with a *step*, and say what to change and what that saves.

    It takes about 25 seconds: 15 to measure, and ten to run the best settings beside the job as it
    is; twenty more if that differs from run to run. The start of workers is added to that, and
    takes long if they are not forked; so do batches that take long. A setting that fails is
    dropped, and the page says so. *step* is really called, with batches of the loader, and may
    take them apart: give it a model that may be trained. Two lines of text are printed as it goes
    on. Random states and the number of threads are restored. Instead of both, *loader* may be a
    `Job` that `measure_job` gave, or one that was stored: of a stored one nothing is run.

    Raises TypeError if it is no loader, ValueError for one that gives nothing, and
    RuntimeError that says at which batch the loader or the step raised.
    """
    if isinstance(loader, Job):
        return recommended(loader)
    return recommended(measured(loader, check.function("step", step), tell=print))


def recommended(job: Job) -> Recommendation:
    """Return the page on a *job*: the best settings are really run, unless it was stored."""
    error = job.numbers.noise
    now = forecast_row(job, {})
    verdict = decide(facts_of(job, now, error))
    bounds = bounds_of(job, now)
    if verdict.kind in LAST_WORDS:
        return Recommendation(job, verdict, bounds, error, [now])
    rows = rank(job, [forecast_row(job, changes) for changes in combinations(job)])
    table = [now, *rows]
    trials = None
    if job.subject is not None:
        runs = (TRIED + 1) * ROUNDS + 1  # each round is between two of the job as it is
        seconds = math.ceil(runs * USUAL.trial)
        print(
            f"trying the best {TRIED} settings beside the job as it is: about {seconds} s, "
            f"and up to {USUAL.trials:.0f} s if its runs differ"
        )
        trials = try_best(job, job.subject, table, USUAL)
        table = with_trials(table, trials)
    choice = choose(job, table, trials, bounds, error)
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
    )
