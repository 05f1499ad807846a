"""Which settings of a job are compared, what can be saved at all, and which changes are worth it.

Each step takes what the one before gave, and returns; nothing is printed, and nothing is changed.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import hypot, log
from statistics import fmean
from typing import NamedTuple

from ..measure.setting import Changes
from ..model.job import Job
from ..ranges import Scatter, variance_of_middle
from ..thresholds import (
    AS_GOOD,
    DEPTHS,
    LEFT_OUT_OF_MODELS,
    MOST_CHANGES,
    MOST_WORKERS,
    TRIED,
    WORKERS_THAT_COMPUTE,
    WORKERS_THAT_WAIT,
    WORTH,
)
from .rows import TableRow
from .trials import Trials, error_of_mean, one_of_each_kind
from .verdict import Facts

UNKNOWN = Scatter()


class Bounds(NamedTuple):
    """The shares of an epoch that can be saved: by *any* loader, and by *cores* that are full."""

    any: float
    cores: float

    @property
    def least(self) -> float:
        """The share that no setting can save more than."""
        return min(self.any, self.cores)


class Worth(NamedTuple):
    """A *row* that *saves* a share of an epoch, *within* so much more or less.

    A real run may have shown more than is possible; then it is not *believed*, and what it
    saves is what is possible.
    """

    row: TableRow
    saves: float
    within: float
    believed: bool


class Choice(NamedTuple):
    """The changes that are *worth* it, of which the first few are *alike*, and the *error*.

    What is alike saves the same as far as these runs can tell; the one that costs the least is
    first.
    """

    worth: list[Worth]
    alike: int
    error: float


# ---- which settings ----


def combinations(job: Job) -> Iterator[Changes]:
    """Yield what differs from the loader as it is written, of all settings that are compared."""
    known = job.numbers
    waits = known.waits > known.works
    per_core = WORKERS_THAT_WAIT if waits else WORKERS_THAT_COMPUTE
    most = min(MOST_WORKERS, per_core * known.cores)
    counts = {0, job.now.num_workers, known.cores}
    counts |= {2**power for power in range(most.bit_length())}
    if job.whole:  # more workers than batches have nothing to do
        counts = {min(workers, job.batches) for workers in counts} | {job.now.num_workers}
    if known.stream:
        if max(known.totals, default=0) <= 1:  # nobody knows whether several share it out
            counts = {0, 1, job.now.num_workers}
        counts = {workers for workers in counts | {*known.totals} if job.as_many(workers)}
    for workers, threads in product(sorted(counts), sorted(known.threads)):
        for depth, stay in depths_of(job, workers):
            setting = job.now.changed(
                num_workers=workers,
                prefetch_factor=depth,
                persistent_workers=stay,
                threads=threads,
            )
            changes = setting.differences(job.now)
            if changes:
                yield changes


def depths_of(job: Job, workers: int) -> list[tuple[int, bool]]:
    """Return the depths of the queue that are compared, and whether workers stay."""
    depth = job.now.prefetch_factor
    if not workers:
        return [(depth, False)]
    depths = {*DEPTHS, depth}
    if workers != job.now.num_workers and depth < min(DEPTHS):
        # A worker with one batch begins the next when that was taken. No model says what that costs
        depths.remove(depth)
    return list(product(sorted(depths), (False, True)))


def price_of(job: Job, changes: Changes) -> tuple[int, int, int]:
    """Return what sorts settings by what they cost: processes, how much changes, memory."""
    setting = job.setting(**changes)
    return setting.num_workers, len(changes), setting.prefetch_factor


def rank(job: Job, rows: Sequence[TableRow]) -> list[TableRow]:
    """Return *rows* from the best to the worst: in steps of AS_GOOD, on one step the cheapest first."""
    best = min((row.mean for row in rows), default=1.0)

    def order(row: TableRow) -> tuple[int, tuple[int, int, int]]:
        steps = int(log(row.mean / best) / AS_GOOD)
        return steps, price_of(job, row.changes)

    return sorted(rows, key=order)


# ---- facts and bounds ----


def facts_of(job: Job, now: TableRow, error: float) -> Facts:
    """Return the facts for a verdict on a job as it is, whose forecast is *now*."""
    known = job.numbers
    batches = job.count(job.now)
    step = known.threads[job.now.threads]
    workers = job.now.num_workers
    step_computed = step.seconds * step.cores if step.computes else 0.0
    return Facts(
        step=job.fastest_step,
        both=now.later / batches,
        taking=known.take if workers else None,
        # Without workers a device works while the loop loads
        in_background=bool(workers or known.device),
        error=error,
        cores=known.cores,
        computed=known.works + step_computed,
        step_computed=step_computed,
        others=known.others,
    )


def bounds_of(job: Job, now: TableRow) -> Bounds:
    """Return what can be saved of an epoch: by a loader without a cost, and by full cores."""
    batches = job.count(job.now)
    any_loader = max(0.0, 1 - batches * job.fastest_step / now.later)
    return Bounds(any_loader, max(0.0, 1 - work_of(job) / job.numbers.cores / now.later))


def work_of(job: Job) -> float:
    """Return the seconds on cores that an epoch needs at least, in the loop or in workers."""
    known = job.numbers
    steps = known.threads.values()
    step = min(one.seconds * one.cores for one in steps)
    # Making a batch may be cheaper in the loop: it is not copied, and may use threads. With workers
    # real runs may have taken less than the model
    least = min(min(one.unexplained.values()) for one in steps)
    load = min([known.works, *(one.alone for one in steps)]) * least
    return job.count(job.now) * (load + step)


# ---- worth a change ----


def with_trials(table: Sequence[TableRow], trials: Trials) -> list[TableRow]:
    """Return the rows of a *table* with what real runs of them came to."""
    rows = list(table)
    if not trials.now:
        return rows
    now = fmean(trials.now)
    rows[0] = rows[0]._replace(tried=now)
    for place in trials.places:
        # The machine may have been slower in one round than in another, for all that ran in it
        tried = now * (1 - trials.saved(place))
        rows[place] = rows[place]._replace(tried=tried, private=trials.private.get(place))
    return rows


def choose(
    job: Job, table: Sequence[TableRow], trials: Trials | None, bounds: Bounds, error: float
) -> Choice:
    """Return the changes that are worth it, from a *table* whose first row is the job as it is.

    With *trials*, what was tried counts, and has to save more than the *error*; what would have
    taken too long to try, and all without trials, has to save more than the range of its forecast.
    Nothing saves more than its *bounds* allow.
    """
    if trials is None:
        found = by_forecast(table, one_of_each_kind(table), bounds)
    else:
        if trials.now:
            error = (error + trials.spread()) / 2
        sampled = job.numbers.uneven.sampling_error(job.count(job.now))
        found = by_trials(table, trials, bounds, job.numbers.scatter, sampled)
        # What was tried and saves as much is better
        most = max((one.saves for one in found), default=0.0)
        untried = by_forecast(table, trials.not_run, bounds)
        found += [one for one in untried if 1 - one.saves < (1 - AS_GOOD) * (1 - most)]
    found.sort(key=lambda one: -one.saves)
    if not found:
        return Choice([], 0, error)
    # Epochs that differ by less than the same run differed from itself are alike
    near = 1 + min(WORTH, max(AS_GOOD, error))
    left = 1 - found[0].saves
    alike = [one for one in found if 1 - one.saves <= near * left]
    others = found[len(alike) :]
    alike.sort(key=lambda one: price_of(job, one.row.changes))
    kept = without_needless([*alike, *others])[:MOST_CHANGES]
    return Choice(kept, sum(one in kept for one in alike), error)


def by_forecast(
    table: Sequence[TableRow], places: Sequence[int], bounds: Bounds
) -> list[Worth]:
    """Return what is worth it by forecasts alone: the best few rows at these *places* of a *table*."""
    found = list[Worth]()
    for place in places:
        if len(found) == TRIED:
            break
        row = table[place]
        saves = min(bounds.least, 1 - row.mean / table[0].mean)
        left = 1 - saves
        # Which batches were seen matters to all rows alike. More workers than were run may be held up by
        # something, and would take as long as fewer at worst: no reason to keep to these
        off = row.within if row.by_runs is None else row.by_runs
        if saves > max(AS_GOOD, left * off):
            found.append(Worth(row, saves, left * row.within, believed=True))
    return found


def by_trials(
    table: Sequence[TableRow],
    trials: Trials,
    bounds: Bounds,
    scatter: Scatter = UNKNOWN,
    sampled: float = 0.0,
) -> list[Worth]:
    """Return what is worth it by real runs, of which one and the same differs as *scatter* says.

    The trials themselves are among the runs that say so.
    *sampled* is by how much the mean of the batches that were seen may differ from an epoch's.
    """
    found = []
    for place in trials.places:
        saves = trials.saved(place)
        left = 1 - saves
        left_out = LEFT_OUT_OF_MODELS
        if place in trials.like_now:  # the same runs: nothing differs but what happens once
            off = error_of_mean(trials.saves(place))
            left_out = AS_GOOD
        else:
            count = len(trials.took[place])
            # Both means are of runs: of the job as it is there is one more
            runs = 1 / (1 / count + 1 / (count + 1))
            off = left * scatter.range(runs / variance_of_middle(count))
        within = hypot(off, left * sampled, left * left_out)
        believed = saves <= bounds.least + max(AS_GOOD, within)
        saves = min(saves, bounds.least)
        # All ran over the same batches, so which of an epoch these were does not matter here
        if saves > max(AS_GOOD, off):
            found.append(Worth(table[place], saves, within, believed))
    return found


def without_needless(found: Sequence[Worth]) -> list[Worth]:
    """Return what is not a better change with something added, which gives no more."""
    kept = list[Worth]()
    for one in found:
        if not any(contains(one.row.changes, better.row.changes) for better in kept):
            kept.append(one)
    return kept


def contains(changes: Mapping[str, object], others: Mapping[str, object]) -> bool:
    """Whether *changes* has all *others*."""
    return others.items() <= changes.items()
