"""Every number that decides what a page says: its name, its unit, and where it comes from.

A number that is typed anywhere else in this package is a bug. Shares are between 0 and 1.
"""

from dataclasses import dataclass, replace

from lessonkit.engine import check

# ---- which verdict a job gets (verdict.py) ----

# Share of an epoch. Single epochs of one and the same job differ from their mean by 6 % (median of
# three jobs on a GPU machine), so nobody can see a saving below this without many epochs.
WORTH = 0.05
# Share of an epoch, where nobody repeated the same run: short runs on a busy machine differ by a
# tenth, so a saving below this cannot be told from chance. It takes the place of WORTH in `probe`.
SMALL = 0.10
# Share of the shorter of two runs that is hidden behind the longer one. All hidden is 1 and nothing
# is 0; both are blurred by a tenth on each of two runs, so only a clear majority counts as either.
HIDDEN = 0.75
NOT_HIDDEN = 0.25
# Times loader and step one after the other. Two runs that are each wrong by a tenth make 1.2 at
# most; a loop that takes longer is slowed down by itself.
SLOWED = 1.25
# Share of what is to be explained. A part that is more than half of it decides.
MOSTLY = 0.5
# Share of its cores that a job can fill: the rest goes to the system, to starts and to the ends of
# epochs, where some cores have nothing to do. A job that fills more has little left.
FULL = 0.85
# Share of all computed work. A step with less than a fifth of it does not compete for the cores
# with the loader: without the step the loader would be a fifth faster at most.
STEP_COUNTS = 0.20

# ---- which changes are recommended (choosing.py) ----

# Share of an epoch. Settings that are as near as this are the same to everybody, and the one that
# costs the least is better.
AS_GOOD = 0.02
# Settings that are really run: each takes seconds, which a user waits for.
TRIED = 3
# Rounds of trials at least; in each of them the job as it is runs beside its rivals.
ROUNDS = 2
# Epochs of a training, of which only the first starts the workers that stay.
EPOCHS = 10
# Batches ahead of each worker: PyTorch's own number, and one of which people hope for more.
DEPTHS = (2, 4)
# Workers per core that are compared: of workers that compute, twice as many as cores are one too
# many already; of workers that wait for files, a core serves eight.
WORKERS_THAT_COMPUTE = 2
WORKERS_THAT_WAIT = 8
# Workers of one job at most, whatever the cores: each is a process with a Python of its own.
MOST_WORKERS = 128
# Times the samples of an epoch. Epochs of an iterable that differ by less differ by the rests of
# batches, one for each worker; by more if workers repeat samples or leave some out.
AS_MANY = 1.1
# Changes that a page names: who reads it makes one of them.
MOST_CHANGES = 3
# Rows of a table on a page that is read.
MOST_ROWS = 12

# ---- what counts in a run (numbers.py, comparing.py) ----

# Batches of each worker until buffers are full: the first starts it, and two wait for the loop with
# PyTorch's own depth. Runs are compared after these.
FILL = 3
# Batches of each worker, after those, that a run needs to be compared at all. Workers give their
# batches in bursts; fewer than three bursts are the inside of a burst.
BEHIND = 3
# Epochs of a run over a short one, behind the first, in which workers begin.
LATER_EPOCHS = 2
# Batches of a run without workers, or with one, at least: the first one is not counted.
FEWEST = 3
# Times the median. A longer time that does not come again is a hiccup of the machine.
HICCUP = 3.0
# Times the mean. If every second step works, it takes twice the mean; half of that is room for noise.
LONG_STEP = 1.5
# Standard deviation, as a share of the mean, below which batches count as alike.
EVEN = 0.10
# Share of the time of making a batch. Waiting for less than this is the noise of the clocks.
WAITS_ABOVE = 0.06
# Cores. A step that holds less waits for an accelerator, and only launches work.
COMPUTES = 0.3
# Batches for which the loop waited. The first ones come while it and its worker still start, and are
# longer on their way than all others.
STARTING = 2
# Batches. A median of fewer says nothing.
TOO_FEW = 4
# Seconds. A batch that was made so long before the loop asked for it lay ready.
READY_FOR = 0.002
# Cores that other programs used during the runs, as a share of ours, from which a page names them.
OTHERS = 0.10

# ---- a device (device.py) ----

# Steps that are timed. A queue that holds more than these counts as one that holds as many.
LAUNCHES = 20
# Steps at least, whatever they take.
FEWEST_LAUNCHES = 4
# Seconds of timing after which fewer steps are enough.
LONG_ENOUGH = 0.5
# Share of the time of launching. A device that has less left to do then has no queue.
SLIGHT_REST = 0.1
# Share of the device's time for a step. A call that returns later has waited for room in the queue.
WAITED = 0.3
# Bytes of copies of a batch that exist at one time, so that each step has one of its own.
COPIES = 500_000_000

# ---- three runs (three_runs.py) ----

# Times that each of the three runs is made. The medians count: one hiccup changes nothing.
REPEATS = 3
# Batches that are taken when they are ready, and how often a batch's time is waited before each.
TAKEN_READY = 5
UNTIL_READY = 4

# ---- a forecast (forecast.py) ----

# Share of a forecast, or of what is left of an epoch by a trial: what a model does not have, such as who asks
# a storage at the same time as whom. Of the forecasts of random jobs whose runs hardly differ, in
# evidence/jobs, nine in ten were off by no more.
LEFT_OUT_OF_MODELS = 0.06

# Batches of a period of a long epoch, and rounds of its workers: costs repeat after it.
PERIOD = 24
PERIOD_ROUNDS = 2
# Periods that are compared, and that are run at least.
PERIODS = 2
# Share by which two periods may differ that count as the same.
SAME_PACE = 0.005
# Batches that are simulated at most; the longest epochs are extrapolated from there.
SIMULATED = 2_000
# Batches that are simulated of a long epoch whose batches or steps are uneven. The factors of so many
# are known to a few per cent; more of them cost a user seconds of waiting for a table.
UNEVEN = 240
# Batches of a run that is compared with one that was seen.
COMPARED = 400
# Times the batches that are needed, of a run of the model: the next one that is compared with it may be
# somewhat longer.
AT_ONCE = 1.25
# Neighbours among the batches that were seen, one of which stands for a batch that was not.
NEIGHBOURS = 16
# Share of a forecast by which it may be off besides, for each doubling of the workers beyond those that
# were run: if a storage is at its limit, twice the workers take twice as long each.
UNMEASURED = 0.25
# Seconds to end workers, and for each of them: of forked ones, with PyTorch. Small beside an epoch.
STOP = 0.015
STOP_EACH = 0.001

# ---- watching (runs.py) ----

# Batches that are drawn from a sampler, and kept of those: a sampler may be long, or never end.
DRAWN = 100_000
KEPT = 2_000
# Seconds. A worker that gives nothing for so long never will, not counting its start. It is longer
# for a loader that says so itself, or whose batches were seen to take long.
NEVER = 20.0
# Seconds more that the first worker has to begin if it is not forked: it imports PyTorch and all that the
# script does, which takes minutes where files come from afar and others want the cores.
NEVER_BEGINS = 300.0
# Times the longest batch that was seen: a worker beside others takes longer, but not so much.
PATIENCE = 4


# ---- inside a loader (inside.py) ----

# Seconds between two looks. In a second and a half there are 700 of them, which are wrong by 2
# percentage points (standard error of a half).
LOOK_EVERY = 0.002
# Seconds after which a thread gives the interpreter's lock to one that looks. With Python's own 5 ms a
# look waits for whoever gives it away first: calls of 2.5 % of the time were found in 12 % of the looks.
SWITCH = 1e-5
# Shares of a loader's time that are named, and how many of them.
SMALLEST_PART = 0.02
MOST_PARTS = 6
# Bytes for a batch. Who reads fewer reads no samples: to time a batch, we read some 100 ourselves.
FEW_BYTES = 1_000

# ---- what no forecast knows (knobs.py) ----

# Times as large as now are the batches that are tried where there should be fewer of them.
LARGER = 2
# Cores that one process holds while it makes batches, above which libraries compute with threads there:
# what one thread holds is 1, and the noise of the clocks is far from a third of it.
SEVERAL_CORES = 1.3

# ---- what a step trains (state.py) ----

# Share of the free memory that a copy of the weights may take: workers need the rest.
ROOM = 0.5
# Things in a container. One that holds more holds data, and no modules or optimisers.
HELD = 100
# ---- epochs of a script that runs as it is (loops.py, comparing_runs.py) ----

# Stretches at least into which a long epoch is divided, and a run that is compared. Means of stretches that
# are a tenth of a run hardly depend on each other, and ten of them still say how much they vary.
STRETCHES = 10
# Batches of each run that is made to be compared: ten stretches of several rounds of workers.
TRIAL_BATCHES = 200
# Times out of all in which what is true lies within a range of a page: of a forecast, and of a saving.
RANGE_HOLDS = 0.90
# Of the ranges of forecasts and of savings in evidence/jobs/population.json, the shares that did hold: some
# jobs change by more between two runs than either of them shows, above all where a run sees few batches.
FORECASTS_HELD = 0.90
SAVINGS_HELD = 0.87
# Share of the rounds of trials at each end that is left out of what a setting saves, if there are more than
# two: no busy moment counts then, nor two of eight.
LEFT_OUT_AT_EACH_END = 1 / 4
# Times out of all in which the true change lies within the range that a comparison prints.
WITHIN_RANGE = 0.95


# Times as long as at another time: a job that takes that is another one. On a machine that is shared a run
# differs from the next by a tenth to a third; half is more than the settings that are compared do.
CHANGED = 1.5


# ---- how long runs last (measuring.py) ----

# Shares of a run. The first one fetches code and files, and nothing of it counts.
WARM = 0.1
# The same run once more, to see by how much it differs.
REPEATED = 0.4
# Beside workers: each of about three numbers of workers, and less if each has two numbers of threads.
BESIDE = 0.6
BESIDE_EACH = 0.45
# Of what is compared with a whole run: fewer threads, larger batches.
SHORTER = 0.5
# An iterable that ends shortly after a run shows how many samples it has.
TO_THE_END = 1.5
# Times the batches that were seen of an iterable that did not end: as many count as an epoch.
UNSEEN = 20
# Rounds of runs beside workers, at least: one run is no run.
LEAST_ROUNDS = 2
# Share of a training of EPOCHS epochs that may be spent to measure it: a change that counts saves more.
# Seconds that this lasts at most, unless somebody asks for more. Trials have that time for each of their
# ROUNDS.
SHARE_OF_TRAINING = WORTH
MOST_UNASKED = 300.0
# The largest number of workers that is run at least, however few the cores are.
LEAST_WORKERS = 4


@dataclass(frozen=True)
class Durations:
    """How many seconds runs last: long enough for the usual batch of 1 to 300 ms.

    A *run* goes on for a second, and a *survey* of the batches of an epoch for longer; runs beside
    workers are repeated until *again*. Trials of one setting take *trial* each, and each of two
    passes that look *inside* the loader takes that. Where batches take long, runs go on until there
    are enough of them, but none is begun that would end after *most*. The fewest rounds of *trials* take
    so many seconds at most, with fewer rivals where batches take long; *more_trials* are made up to so
    many if the job as it is differs from run to run. Unless somebody *asked* for these limits, they grow
    with the training.
    """

    run: float = 1.0
    survey: float = 3.0
    again: float = 14.0
    trial: float = 1.2
    inside: float = 1.5
    most: float = 60.0
    trials: float = 180.0
    more_trials: float = 60.0
    asked: bool = False

    def for_training(self, seconds: float) -> "Durations":
        """Return durations for a training of so many *seconds*: a long one is worth a longer look.

        Only the limits grow, so where batches are short nothing takes longer.
        """
        if self.asked:
            return self
        worth = min(MOST_UNASKED, SHARE_OF_TRAINING * seconds)
        return replace(
            self,
            most=max(self.most, worth),
            trials=max(self.trials, ROUNDS * worth),
            more_trials=max(self.more_trials, worth),
        )

    def of_minutes(self, minutes: float) -> "Durations":
        """Return durations with which measuring and trying settings take about so many *minutes*.

        Half of it is for each; the runs beside workers are repeated until half of theirs is over.
        """
        half = 60 * minutes / 2
        return replace(
            self, again=half / 2, most=half, trials=half, more_trials=half, asked=True
        )


USUAL = Durations()


def lasting(minutes: float | None) -> Durations | None:
    """Return durations for somebody who asked for so many *minutes*; None for who asked for nothing.

    Raises TypeError or ValueError for what is no time.
    """
    if minutes is None:
        return None
    return USUAL.of_minutes(check.amount("minutes", minutes, "minutes", "more than 0"))
