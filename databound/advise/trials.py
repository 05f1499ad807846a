"""Real runs of the job as it is and of its best rivals, in rounds, one beside the other."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import count, pairwise
from math import sqrt
from statistics import fmean, stdev
from typing import NamedTuple

from ..ends import StepFailedError
from ..measure.runs import batches_of_run, restored
from ..measure.setting import Setting, as_arguments
from ..measure.subject import RunRequest, Subject
from ..model.comparing import Compared, Expected, compared, learn
from ..model.job import Job, Stored, least_batches
from ..model.measuring import Note, note_nothing
from ..ranges import Scatter, middle, scatter_of
from ..thresholds import AS_GOOD, DEPTHS, ROUNDS, TRIED, USUAL, Durations
from .rows import TableRow


@dataclass
class Trials:
    """Real runs of the job as it is (*now*) and of its rivals, in rounds, one beside the other.

    *now* has one run more than there were rounds: each round is between two of them. *took* has the
    seconds of an epoch by the place of a row in the table. A row that differs only in what happens
    once, as whether workers stay, has the same runs as the job as it is; *like_now* has what
    an epoch takes with it by each of them. *failed* and *too_long* say which settings
    could not be run, and why, and *not_run* at which places those are that would take too long.
    """

    now: list[float] = field(default_factory=list)
    took: dict[int, list[float]] = field(default_factory=dict)
    like_now: dict[int, list[float]] = field(default_factory=dict)
    private: dict[int, int] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    too_long: list[str] = field(default_factory=list)
    not_run: list[int] = field(default_factory=list)

    def spread(self) -> float:
        """Return the share by which the mean of the job as it is may be another, by these runs."""
        return error_of_mean(self.now) / fmean(self.now) if self.now else 0.0

    def scatter(self) -> Scatter:
        """Return how much runs of one and the same setting differed."""
        found = scatter_of(self.now)
        for took in self.took.values():
            found = found.with_another(scatter_of(took))
        return found

    def saves(self, place: int) -> list[float]:
        """Return what a row saved in each round, beside the job as it was before it and after."""
        if place in self.like_now:
            pairs = zip(self.like_now[place], self.now, strict=True)
            return [1 - took / now for took, now in pairs]
        took = self.took[place]
        # What was added later has the last rounds
        rounds = [*pairwise(self.now)][-len(took) :]
        return [1 - each / fmean(beside) for each, beside in zip(took, rounds, strict=True)]

    @property
    def places(self) -> list[int]:
        """The places of all rows of which real runs say what an epoch takes."""
        return [*self.like_now, *self.took]

    def saved(self, place: int) -> float:
        """Return what a row saves: in the middle rounds, so that one busy moment does not count."""
        return middle(self.saves(place))


def error_of_mean(values: Sequence[float]) -> float:
    """Return twice the standard error of the mean of *values*; 0 if there is only one."""
    return 2 * stdev(values) / sqrt(len(values)) if len(values) > 1 else 0.0


# What trials have by the place of a row
BY_PLACE = ("took", "like_now", "private")


def by_words(trials: Trials, table: Sequence[TableRow]) -> Stored:
    """Return *trials* for a file: rows of the *table* by their arguments, for places may change."""
    stored = asdict(trials)
    for name in BY_PLACE:
        stored[name] = {
            as_arguments(table[place].changes): each for place, each in stored[name].items()
        }
    return stored


def by_place(stored: Stored, table: Sequence[TableRow]) -> Trials:
    """Return the trials that `by_words` stored, of the rows that the *table* still has."""
    places = {as_arguments(row.changes): place for place, row in enumerate(table)}
    found = dict(stored)
    for name in BY_PLACE:
        known = stored.get(name, {})
        found[name] = {
            places[words]: each for words, each in known.items() if words in places
        }
    return Trials(**found)


def try_best(
    job: Job,
    subject: Subject,
    table: Sequence[TableRow],
    durations: Durations = USUAL,
    note: Note = note_nothing,
) -> Trials:
    """Run the job as it is, and the best rows of a *table*, of which it is the first.

    Of each number of workers and threads one row is tried, and the best of them with a longer queue
    as well. They run in rounds, because a machine may become slower in between; if the job as it
    is differs from itself, in more of them. How long all that may take, *durations* say. A setting
    that fails is dropped, and so is one for whose rounds there would be no time; another comes in its
    place. *note* is told what each run came to.
    """
    rounds = Rounds(job, subject, table, durations, note)
    rounds.make()
    rounds.learn()
    return rounds.trials


class Rounds:
    """Makes `Trials`: runs of the rows of a *table*, in rounds between runs of the job as it is."""

    def __init__(
        self,
        job: Job,
        subject: Subject,
        table: Sequence[TableRow],
        durations: Durations,
        note: Note,
    ) -> None:
        self.job = job
        self.subject = subject
        self.table = table
        self.durations = durations
        self.note = note
        self.kinds = one_of_each_kind(table)
        self.like_now = [place for place in self.kinds if runs_as_now(job, table[place])]
        self.expected = Expected(job)
        self.trials = Trials()
        self.chosen: list[int] = []  # places of the rows that run
        self.began = subject.clock()
        self.made = 0  # runs
        self.fewest = (TRIED + 1) * ROUNDS + 1  # runs, as far as anybody knows
        self.planned = self.fewest  # with one more round where a longer queue is tried
        self.lasted: dict[int, float] = {}  # seconds of the last run of a row, by its place
        self.found: dict[Setting, list[Compared]] = {}

    def make(self) -> None:
        """Make a first round, which chooses the rows that run, and then others.

        Nothing is run if there is no time for the job as it is.
        """
        trials = self.trials
        if not self.fits([]):
            trials.not_run = self.kinds
            return
        self.run_now()
        self.choose()
        self.run_now()
        # Some may have taken longer than they should
        while self.chosen and not self.fits(self.chosen):
            self.chosen.remove(max(self.chosen, key=self.seconds_of))
        # What joins after the first round needs one more, to have as many
        least = ROUNDS + 1 if self.add_a_longer_queue() else ROUNDS
        self.planned = self.made + (len(self.chosen) + 1) * (least - 1)
        for rounds in count(1) if self.chosen else []:
            spent = self.subject.clock() - self.began
            is_late = spent + spent / rounds > self.durations.more_trials
            is_sure = rounds >= least and trials.spread() <= AS_GOOD
            if rounds >= ROUNDS and (is_late or is_sure):
                break
            self.chosen = [place for place in self.chosen if self.try_one(place)]
            self.run_now()

    def choose(self) -> None:
        """Run the best rows that run at all, for the first time."""
        for place in self.kinds:
            if len(self.chosen) == TRIED:
                break
            if place in self.like_now:
                continue
            if not self.fits([*self.chosen, place]):
                row = self.table[place]
                self.trials.too_long.append(as_arguments(row.changes))
                self.trials.not_run.append(place)
            elif self.try_one(place):
                self.chosen.append(place)

    def add_a_longer_queue(self) -> bool:
        """Let the best row run with a longer queue as well, and return whether there is time for it."""
        deeper = with_a_longer_queue(self.job, self.table, self.trials)
        if deeper is None:
            return False
        self.lasted[deeper] = max(self.lasted.values())  # at most, as far as anybody knows
        if not self.fits([*self.chosen, deeper]):
            return False
        self.chosen.append(deeper)
        return True

    def fits(self, rivals: Sequence[int]) -> bool:
        """Return whether there is time to try the rows at the places of these *rivals* in all rounds."""
        each = [self.seconds_of(place) for place in (0, *rivals)]
        return seconds_of_rounds(each) <= self.durations.trials

    def seconds_of(self, place: int) -> float:
        """Return how long the last trial of the row at a *place* took, or about how long one will."""
        if place in self.lasted:
            return self.lasted[place]
        return seconds_with_start(self.job, self.table[place], self.durations)

    def run_now(self) -> None:
        """Run the job as it is, and note what an epoch takes with all rows that run like it."""
        found = self.run(0).found
        trials = self.trials
        trials.now.append(seconds_by(self.job, self.table[0], found))
        for place in self.like_now:
            seconds = seconds_by(self.job, self.table[place], found)
            trials.like_now.setdefault(place, []).append(seconds)

    def try_one(self, place: int) -> bool:
        """Run the row at a *place*, and return whether it ran.

        Raises StepFailedError if the step does: it would fail with any setting.
        """
        trials = self.trials
        row = self.table[place]
        try:
            trial = self.run(place)
        except StepFailedError:
            raise
        except RuntimeError as error:
            trials.failed.append(f"{as_arguments(row.changes)}: {error}")
            # Also what it took before: nobody wants to train with it
            trials.took.pop(place, None)
            trials.private.pop(place, None)
            return False
        trials.took.setdefault(place, []).append(seconds_by(self.job, row, trial.found))
        if trial.private:
            trials.private[place] = trial.private
        return True

    def learn(self) -> None:
        """Let the numbers of the job know what these runs came to: each forecast is better for it."""
        numbers = self.job.numbers
        numbers.scatter = numbers.scatter.with_another(self.trials.scatter())
        learn(self.job, self.found)

    def run(self, place: int) -> "Trial":
        """Run the row at a *place*, and tell what that came to."""
        row = self.table[place]
        began = self.subject.clock()
        trial = trial_of(self.job, self.subject, row, self.durations, self.expected)
        self.made += 1
        self.lasted[place] = self.subject.clock() - began
        setting = self.job.setting(**row.changes)
        runs_with = Setting(num_workers=setting.num_workers, threads=setting.threads)
        self.found.setdefault(runs_with, []).append(trial.found)
        words = as_arguments(row.changes) or "as it is"
        self.note(words, seconds_by(self.job, row, trial.found), self.seconds_left())
        return trial

    def seconds_left(self) -> float:
        """Return for how long runs go on: those that are planned first, and then as long as they may."""
        spent = self.subject.clock() - self.began
        each = spent / self.made
        least = min(self.durations.trials, self.fewest * each)
        most = max(self.durations.more_trials, least)
        ends = self.planned * each if self.made <= self.planned else most
        return max(0.0, min(ends, most) - spent)


def runs_as_now(job: Job, row: TableRow) -> bool:
    """Whether runs with a *row* are those of the job as it is: only what happens once differs."""
    return row.changes.keys() == {"persistent_workers"} and job.now.num_workers > 0


def with_a_longer_queue(job: Job, table: Sequence[TableRow], trials: Trials) -> int | None:
    """Return the place of the row that is like the best of the *trials*, with a longer queue.

    In the model a queue hides what differs from batch to batch; how long a batch is on its way, which
    it hides as well, is not in there. None is returned if there is no such row, or if it ran.
    """
    best = max(trials.places, key=trials.saved, default=None)
    if best is None:
        return None
    setting = job.setting(**table[best].changes)
    deepest = max(DEPTHS)
    if not setting.num_workers or setting.prefetch_factor >= deepest:
        return None
    wanted = replace(setting, prefetch_factor=deepest).differences(job.now)
    places = (number for number, row in enumerate(table) if row.changes == wanted)
    deeper = next(places, None)
    # The first row is the job as it is, which runs in each round
    return deeper if deeper and deeper not in trials.places else None


def one_of_each_kind(table: Sequence[TableRow]) -> list[int]:
    """Return the places of the best rows of a *table*, one for each number of workers and threads."""
    kinds: dict[tuple[object, object], int] = {}
    for place, row in enumerate(table[1:], 1):
        kinds.setdefault(
            (row.changes.get("num_workers"), row.changes.get("threads")), place
        )
    return list(kinds.values())


class Trial(NamedTuple):
    """A real run of a setting, beside what the model has of it, and what each worker had for itself."""

    found: Compared
    private: int | None


def seconds_of_trial(job: Job, row: TableRow) -> float:
    """Return about how long a trial of a *row* takes at least.

    It opens what an epoch opens, also if it is only a part of one.
    """
    setting = job.setting(**row.changes)
    batches_of_epoch = job.count(setting)
    least = least_batches(setting.num_workers)
    batches = batches_of_run(least, batches_of_epoch if job.whole else 0)
    epochs = batches / batches_of_epoch
    return epochs * row.later + max(0.0, 1 - epochs) * job.numbers.opening


def seconds_of_rounds(each: Sequence[float]) -> float:
    """Return how long the fewest rounds take if the job as it is and its rivals take *each* so long.

    Each round is between two runs of the job as it is, the first of them.

    >>> seconds_of_rounds([2.0, 1.0])
    8.0
    """
    return ROUNDS * sum(each) + each[0]


def seconds_with_start(job: Job, row: TableRow, durations: Durations) -> float:
    """Return about how long a trial of a *row* takes, with the start of its workers."""
    workers = job.setting(**row.changes).num_workers
    start = job.numbers.start
    # A worker that is not forked imports all again, and workers share the cores for that
    at_once = max(1.0, workers / job.numbers.cores)
    starts = workers * start.in_loop + at_once * start.until_ready if workers else 0.0
    return max(durations.trial, seconds_of_trial(job, row)) + starts


def trial_of(
    job: Job, subject: Subject, row: TableRow, durations: Durations, expected: Expected
) -> Trial:
    """Return what a short real run of a *row* showed, beside what was *expected* of it.

    Raises RuntimeError if the loader or the step fails.
    """
    setting = job.setting(**row.changes)
    request = RunRequest(
        setting.num_workers,
        durations.trial,
        least=least_batches(setting.num_workers),
        step=True,
        factor=setting.prefetch_factor,
    )
    with restored():
        subject.use_threads(setting.threads)
        run = subject.go(request)
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
    return Trial(found, run.private)


def seconds_by(job: Job, row: TableRow, found: Compared) -> float:
    """Return what a mean epoch with a *row* takes by a real run: its forecast, and what is beside it."""
    if not found.steady:
        return row.mean * found.took / found.forecast
    # What was longer or shorter there comes again with each batch
    more = (found.took - found.forecast) / found.batches
    return max(row.mean / 2, row.mean + more * job.count(job.setting(**row.changes)))
