"""Which settings of a job are compared, which are really tried, and which are worth a change.

Each step takes what the one before gave, and returns; nothing is printed, and nothing is changed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import count, pairwise, product
from math import log, sqrt
from statistics import fmean, median, stdev
from typing import NamedTuple

from .comparing import Expected, compared, least_batches
from .ends import StepFailedError
from .job import Job, Stored
from .measuring import Note, note_nothing
from .runs import Subject, restored
from .setting import Changes, Setting, as_arguments
from .thresholds import (
    AS_GOOD,
    DEPTHS,
    EPOCHS,
    MOST_ROUNDS,
    MOST_WORKERS,
    ROUNDS,
    TRIED,
    USUAL,
    WORKERS_THAT_COMPUTE,
    WORKERS_THAT_WAIT,
    WORTH,
    Durations,
)
from .verdict import Facts


class TableRow(NamedTuple):
    """A setting, by what it *changes*: its forecast, and what real runs of it came to.

    The forecast of the *first* and of a *later* epoch may be off by the share *within*. By real
    runs a mean epoch takes *tried* seconds, if there were any; in these each worker had *private*
    bytes for itself.
    """

    changes: Changes
    first: float
    later: float
    within: float
    tried: float | None = None
    private: int | None = None

    @property
    def mean(self) -> float:
        """The mean seconds of an epoch in a training of several, by the forecast."""
        return (self.first + (EPOCHS - 1) * self.later) / EPOCHS


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


@dataclass
class Trials:
    """Real runs of the job as it is (*now*) and of its rivals, in rounds, one beside the other.

    *now* has one run more than there were rounds: each round is between two of them. *took* has the
    seconds of an epoch by the place of a row in the table; *failed* and *too_long* say which settings
    could not be run, and why, and *not_run* at which places those are that would take too long.
    """

    now: list[float] = field(default_factory=list)
    took: dict[int, list[float]] = field(default_factory=dict)
    private: dict[int, int] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    too_long: list[str] = field(default_factory=list)
    not_run: list[int] = field(default_factory=list)

    def spread(self) -> float:
        """Return the share by which the mean of the job as it is may be another, by these runs."""
        return error_of_mean(self.now) / fmean(self.now) if self.now else 0.0

    def saves(self, place: int) -> list[float]:
        """Return what a row saved in each round, beside the job as it was before it and after."""
        return [
            1 - took / fmean(beside)
            for took, beside in zip(self.took[place], pairwise(self.now), strict=False)
        ]

    def saved(self, place: int) -> float:
        """Return what a row saves: in the median round, so that one busy moment does not count."""
        return median(self.saves(place))


def error_of_mean(values: Sequence[float]) -> float:
    """Return twice the standard error of the mean of *values*; 0 if there is only one."""
    return 2 * stdev(values) / sqrt(len(values)) if len(values) > 1 else 0.0


def by_words(trials: Trials, table: Sequence[TableRow]) -> Stored:
    """Return *trials* for a file: rows of the *table* by their arguments, for places may change."""
    took = {as_arguments(table[place].changes): each for place, each in trials.took.items()}
    private = {
        as_arguments(table[place].changes): each for place, each in trials.private.items()
    }
    return asdict(replace(trials, took={}, private={})) | {"took": took, "private": private}


def by_place(stored: Stored, table: Sequence[TableRow]) -> Trials:
    """Return the trials that `by_words` stored, of the rows that the *table* still has."""
    places = {as_arguments(row.changes): place for place, row in enumerate(table)}
    took = {
        places[words]: each for words, each in stored["took"].items() if words in places
    }
    private = {
        places[words]: each for words, each in stored["private"].items() if words in places
    }
    return Trials(**stored | {"took": took, "private": private})


# ---- which settings ----


def combinations(job: Job) -> Iterator[Changes]:
    """Yield what differs from the loader as it is written, of all settings that are compared."""
    known = job.numbers
    waits = known.waits > known.works
    per_core = WORKERS_THAT_WAIT if waits else WORKERS_THAT_COMPUTE
    most = min(MOST_WORKERS, per_core * known.cores)
    counts = {0, job.now.num_workers, known.cores}
    counts |= {2**power for power in range(most.bit_length())}
    if known.stream:
        compared_ones = {0, 1, job.now.num_workers, *known.totals}
        counts = {workers for workers in compared_ones if job.as_many(workers)}
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
    return list(product(sorted({*DEPTHS, depth}), (False, True)))


def forecast_row(job: Job, changes: Changes) -> TableRow:
    """Return the forecast of a *job* with *changes*, and how far it may be off."""
    epochs = job.forecast(**changes)
    return TableRow(changes, epochs.first, epochs.later, job.uncertainty(**changes))


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
    # Making a batch may be cheaper in the loop: it is not copied, and may use threads
    load = min([known.works, *(one.alone for one in steps)])
    return job.count(job.now) * (load + step)


# ---- really run ----


def try_best(
    job: Job,
    subject: Subject,
    table: Sequence[TableRow],
    durations: Durations = USUAL,
    note: Note = note_nothing,
) -> Trials:
    """Run the job as it is, and the best rows of a *table*, of which it is the first.

    Of each number of workers and threads one row is tried. They run in rounds, because a machine
    may become slower in between; if the job as it is differs from itself, in more of them, up to
    *durations.trials*. A setting that fails is dropped, and so is one that would take too long;
    another comes in its place. *note* is told what each run came to.
    """
    trials = Trials()
    if seconds_of_trial(job, table[0]) > durations.most_of_trial:
        trials.not_run = one_of_each_kind(table)
        return trials
    began = subject.clock()
    made = count(1)
    expected = Expected(job)

    def run(row: TableRow) -> Trial:
        trial = seconds_of_epoch(job, subject, row, durations, expected)
        so_far = next(made)
        each = (subject.clock() - began) / so_far
        left = max(0, (TRIED + 1) * ROUNDS + 1 - so_far) * each
        note(as_arguments(row.changes) or "as it is", trial.seconds, left)
        return trial

    trials.now.append(run(table[0]).seconds)
    chosen: list[int] = []
    for place in one_of_each_kind(table):
        if len(chosen) == TRIED:
            break
        row = table[place]
        if seconds_with_start(job, row, durations) > durations.most_of_trial:
            trials.too_long.append(as_arguments(row.changes))
            trials.not_run.append(place)
        elif try_one(run, row, place, trials):
            chosen.append(place)
    trials.now.append(run(table[0]).seconds)
    for rounds in range(1, MOST_ROUNDS if chosen else 1):
        spent = subject.clock() - began
        is_late = spent + spent / rounds > durations.trials
        is_sure = trials.spread() <= AS_GOOD
        if rounds >= ROUNDS and (is_late or is_sure):
            break
        for place in chosen:
            try_one(run, table[place], place, trials)
        trials.now.append(run(table[0]).seconds)
    return trials


def one_of_each_kind(table: Sequence[TableRow]) -> list[int]:
    """Return the places of the best rows of a *table*, one for each number of workers and threads."""
    kinds: dict[tuple[object, object], int] = {}
    for place, row in enumerate(table[1:], 1):
        kinds.setdefault(
            (row.changes.get("num_workers"), row.changes.get("threads")), place
        )
    return list(kinds.values())


def try_one(
    run: Callable[[TableRow], "Trial"], row: TableRow, place: int, trials: Trials
) -> bool:
    """Run a *row*, note that among *trials* at its *place*, and return whether it ran.

    Raises StepFailedError if the step does: it would fail with any setting.
    """
    try:
        trial = run(row)
    except StepFailedError:
        raise
    except RuntimeError as error:
        trials.failed.append(f"{as_arguments(row.changes)}: {error}")
        return False
    trials.took.setdefault(place, []).append(trial.seconds)
    if trial.private:
        trials.private[place] = trial.private
    return True


class Trial(NamedTuple):
    """The *seconds* of a mean epoch by a real run, and what each worker had for itself."""

    seconds: float
    private: int | None


def seconds_of_trial(job: Job, row: TableRow) -> float:
    """Return about how long a trial of a *row* takes at least."""
    setting = job.setting(**row.changes)
    batches_of_epoch = job.count(setting)
    return least_batches(setting.num_workers) * row.later / batches_of_epoch


def seconds_with_start(job: Job, row: TableRow, durations: Durations) -> float:
    """Return about how long a trial of a *row* takes, with the start of its workers."""
    workers = job.setting(**row.changes).num_workers
    start = job.numbers.start
    # A worker that is not forked imports all again, and workers share the cores for that
    at_once = max(1.0, workers / job.numbers.cores)
    starts = workers * start.in_loop + at_once * start.until_ready if workers else 0.0
    return max(durations.trial, seconds_of_trial(job, row)) + starts


def seconds_of_epoch(
    job: Job,
    subject: Subject,
    row: TableRow,
    durations: Durations,
    expected: Expected | None = None,
) -> Trial:
    """Return what a mean epoch takes by a short real run: its forecast, and what is beside it.

    What was *expected* of other runs is known.
    Raises RuntimeError if the loader or the step fails.
    """
    setting = job.setting(**row.changes)
    with restored():
        subject.use_threads(setting.threads)
        run = subject.go(
            setting.num_workers,
            durations.trial,
            least=least_batches(setting.num_workers),
            step=True,
            factor=setting.prefetch_factor,
        )
    stays = Setting(
        num_workers=setting.num_workers,
        prefetch_factor=setting.prefetch_factor,
        persistent_workers=setting.num_workers > 0,
        threads=setting.threads,
        batch_size=setting.batch_size,
    )
    found = compared(job, run, stays, expected)
    if found is None or found.forecast <= 0:
        raise RuntimeError("it gave too few batches to be compared")
    seconds = row.mean * found.took / found.forecast
    if found.steady:  # what was longer or shorter there comes again with each batch
        more = (found.took - found.forecast) / found.batches * job.count(setting)
        seconds = max(row.mean / 2, row.mean + more)
    return Trial(seconds, run.private)


def with_trials(table: Sequence[TableRow], trials: Trials) -> list[TableRow]:
    """Return the rows of a *table* with what real runs of them came to."""
    rows = list(table)
    if not trials.now:
        return rows
    now = fmean(trials.now)
    rows[0] = rows[0]._replace(tried=now)
    for place in trials.took:
        # The machine may have been slower in one round than in another, for all that ran in it
        tried = now * (1 - trials.saved(place))
        rows[place] = rows[place]._replace(tried=tried, private=trials.private.get(place))
    return rows


# ---- worth a change ----


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
        found = by_trials(table, trials, bounds, error, sampled)
        found += by_forecast(table, trials.not_run, bounds)
    found.sort(key=lambda one: -one.saves)
    if not found:
        return Choice([], 0, error)
    # Epochs that differ by less than the same run differed from itself are alike
    near = 1 + min(WORTH, max(AS_GOOD, error))
    left = 1 - found[0].saves
    alike = [one for one in found if 1 - one.saves <= near * left]
    others = found[len(alike) :]
    alike.sort(key=lambda one: price_of(job, one.row.changes))
    kept = without_needless([*alike, *others])
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
        if saves > max(AS_GOOD, row.within):
            found.append(Worth(row, saves, row.within, believed=True))
    return found


def by_trials(
    table: Sequence[TableRow],
    trials: Trials,
    bounds: Bounds,
    error: float,
    sampled: float = 0.0,
) -> list[Worth]:
    """Return what is worth it by real runs; *error* is by how much the same run differs.

    *sampled* is by how much the mean of the batches that were seen may differ from an epoch's.
    """
    found = []
    for place in trials.took:
        each = trials.saves(place)
        saves = trials.saved(place)
        within = max(max(error, sampled) * (1 - saves), error_of_mean(each))
        believed = saves <= bounds.least + max(AS_GOOD, within)
        saves = min(saves, bounds.least)
        # All ran over the same batches, so which of an epoch these were does not matter here
        if saves > max(AS_GOOD, error * (1 - saves), error_of_mean(each)):
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
