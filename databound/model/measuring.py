"""`measure_job`: which short runs are made of a loader and its step, in which order, and how long."""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from itertools import count
from statistics import fmean
from typing import Any

from lessonkit.engine import check
from lessonkit.words import counted

from ..ends import StepFailedError
from ..machine import allowed_cores
from ..measure.numbers import (
    JobNumbers,
    StepNumbers,
    late_once,
    longer,
    making,
    mean_of,
    on_its_way,
    opening_of,
    start_of,
    step_numbers,
    stop_of,
    take_of,
    unevenness,
)
from ..measure.runs import LoaderAndStep, batches_of_run, passes_for, restored
from ..measure.setting import Setting
from ..measure.subject import RunRequest, Subject
from ..measure.uneven import Uneven
from ..measure.watching import Watch
from ..origin import InScript, origin_now
from ..ranges import Scatter, scatter_of
from ..thresholds import (
    BESIDE,
    BESIDE_EACH,
    EPOCHS,
    FEWEST,
    FILL,
    HICCUP,
    LEAST_ROUNDS,
    LEAST_WORKERS,
    MOSTLY,
    REPEATED,
    SHORTER,
    SMALL,
    TO_THE_END,
    UNSEEN,
    USUAL,
    WARM,
    Durations,
)
from .comparing import compared, correct, setting_of
from .job import Job, Seen, least_batches

Tell = Callable[[str], object]
"""A function that is told in a sentence what comes next, and how long it takes."""

Note = Callable[[str, float, float], object]
"""A function that is told a number as it comes: what it is, its seconds, and how many are left."""


def tell_nobody(_: str) -> None:
    """Say nothing."""


def note_nothing(what: str, seconds: float, left: float) -> None:
    """Say nothing."""


def measure_job(
    loader: Any,
    step: Callable[[Any], object],
    *,
    synchronise: Callable[[], object] | None = None,
) -> Job:
    """Measure a training job: a *loader*, PyTorch's or ours, with the *step* that it feeds.

    Both are run for about 14 seconds in short runs, without and with workers, alone and
    together; for longer if their batches take long, up to a twentieth of a training, and to five
    minutes at most. The `forecast` of the `Job` says what other
    settings would take; its `model` and `run` show them in every picture and analysis of
    lessonkit. The step is really called, and what it trains is put back: modules, optimisers and
    schedules that its code names. It may take its batch apart. Random states and the number of
    threads are restored. If the step only launches
    work on a device, *synchronise* is a function that waits for it, and the model has the device's
    queue; by default it is `torch.cuda.synchronize` if a GPU is in use.

    Raises TypeError if *loader* is no loader, ValueError for one that gives nothing, and
    RuntimeError that says at which batch the loader or the step raised, or that this process is
    one of several that train together.
    """
    return measured(loader, step, synchronise=synchronise)


def measured(
    loader: Any,
    step: Callable[[Any], object],
    *,
    synchronise: Callable[[], object] | None = None,
    tell: Tell = tell_nobody,
    note: Note = note_nothing,
    command: str = "measure_job(loader, step)",
    script: InScript | None = None,
    put_back: bool = True,
    durations: Durations | None = None,
) -> Job:
    """Measure a job as `measure_job` does.

    *tell* beforehand how long it takes, and *note* each number as it comes. The job was measured
    by a *command*, perhaps in a *script*. What the step trains stays trained if it is not to be
    *put_back*. Runs last as *durations* say, or as usual.
    """
    check.function("step", step)
    if synchronise is not None:
        check.function("synchronise", synchronise)
    with restored() as torch:  # a sampler draws, too
        if synchronise is None and torch and torch.cuda.is_initialized():
            synchronise = torch.cuda.synchronize
        subject = LoaderAndStep(loader, step, synchronise, torch)
        with subject.put_back() if put_back else nullcontext():
            job = measure_subject(subject, allowed_cores(), durations, tell, note)
    job.origin = origin_now(command, script)
    return job


def measure_subject(
    subject: Subject,
    cores: int,
    durations: Durations | None = None,
    tell: Tell = tell_nobody,
    note: Note = note_nothing,
) -> Job:
    """Return the job of a *subject*: its numbers, and what the model leaves unexplained.

    Raises ValueError for a loader that gives nothing, RuntimeError for what failed.
    """
    runs = Runs(subject, cores, durations or USUAL, tell, note)
    runs.make()
    numbers = runs.numbers()
    job = job_from(runs, numbers)
    for threads, beside in runs.beside.items():
        differ = correct(job, threads, beside)
        numbers.scatter = numbers.scatter.with_another(differ)
    job.seen = runs.seen_of(job)
    return job


@dataclass
class Runs:
    """The runs of a *subject* on a machine with so many *cores*, which last as *durations* say.

    After `make`, *alone* is the run without workers and *again* the same run once more, if there was
    time; *alones* are such runs by the number of threads of the step. *one* has a worker and no
    step; *surveys* see as much of an epoch as there is time for. Those *beside* the step are
    kept by its number of threads, and those of an iterable that came to its end are *whole*. Runs
    with *not_measured* workers would have taken too long.
    """

    subject: Subject
    cores: int
    durations: Durations
    tell: Tell
    note: Note = note_nothing
    alone: Watch = field(default_factory=lambda: Watch(0))
    again: Watch | None = None
    one: Watch = field(default_factory=lambda: Watch(1))
    surveys: list[Watch] = field(default_factory=list)
    alones: dict[int, Watch] = field(default_factory=dict)
    beside: dict[int, list[Watch]] = field(default_factory=lambda: defaultdict(list))
    whole: dict[int, Watch] = field(default_factory=dict)
    growth: dict[str, float] = field(default_factory=dict)
    not_measured: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.began = self.subject.clock()
        self.expected = self.durations.most  # s, until there is a better guess

    # ---- which runs ----

    def make(self) -> None:
        """Make all runs. Raises ValueError for a loader that gives nothing."""
        go = self.subject.go
        run = self.durations.run
        go(RunRequest(0, WARM * run, step=True))
        self.subject.device = self.subject.time_device()
        self.alone = go(RunRequest(0, run, least=FEWEST, step=True))
        self.one = go(RunRequest(1, run, least=FEWEST))
        if not (self.alone.batches and self.one.batches):
            raise ValueError("the loader gave no batch: there is nothing to measure")
        self.durations = self.durations.for_training(EPOCHS * self.seconds_of_epoch())
        self.expected = self.all_seconds()
        self.tell(f"measuring the loader and the step: about {self.expected:.0f} s in all")
        self.noted("loader alone", fmean(one.load for one in self.alone.batches))
        self.noted("step", fmean(one.step for one in self.alone.batches))
        self.make_survey()
        self.make_beside()
        if self.subject.stream:
            self.make_whole()
        if self.fits(self.seconds_of(0, FEWEST)):
            self.again = go(RunRequest(0, REPEATED * run, least=FEWEST, step=True))
        self.make_larger()

    def make_survey(self) -> None:
        """Let as many workers as there are cores make what they can, to see more of an epoch.

        Stragglers are few, and the other runs are short. Of an epoch that was seen to its end
        there is no more, and of an iterable a run to the end is made anyway.
        """
        needs = self.durations.survey + self.seconds_of(self.cores, self.cores)
        if self.alone.whole or self.subject.stream or not self.fits(needs):
            return
        survey = RunRequest(self.cores, self.durations.survey)
        with suppress(RuntimeError):  # it may have no room for so many
            self.surveys.append(self.subject.go(survey))
            # A straggler, or a hiccup of the machine? The same batches tell when they come again
            if late_once(self.surveys[0], [self.alone, self.one]):
                self.surveys.append(self.subject.go(survey))

    def make_beside(self) -> None:
        """Make the runs beside workers, for each number of threads, in rounds.

        There are two rounds at least, if there is time. The usual number of threads comes last.
        """
        run = self.durations.run
        usual = self.subject.threads()[-1]
        self.alones[usual] = self.alone
        numbers = [usual]
        if self.step_of([self.alone]).computes:
            numbers = self.subject.threads()
        seconds = run * (BESIDE if len(numbers) == 1 else BESIDE_EACH)
        wanted = self.numbers_of_workers()
        began = self.subject.clock()
        for rounds in count(1):
            for threads in numbers:
                self.subject.use_threads(threads)
                if threads not in self.alones:
                    self.alones[threads] = self.stepped(SHORTER * run, least=FEWEST)
                for workers in sorted(wanted):
                    if self.one_beside(workers, threads, seconds):
                        continue
                    wanted.discard(workers)
            now = self.subject.clock()
            # Two rounds if there is time, and more if there is time for one more
            needs = 0.0 if rounds < LEAST_ROUNDS else (now - began) / rounds
            if now + needs > self.began + self.durations.again:
                break

    def one_beside(self, workers: int, threads: int, seconds: float) -> bool:
        """Make a run with *workers* beside the step; return whether to make more of them.

        One that would take too long is not made. A number of workers with which the loader
        fails, perhaps for want of memory, is left out; with one it has to work.
        """
        least = least_batches(workers)
        if not self.fits(self.seconds_of_run(workers)):
            if not any(run.workers == workers for run in self.beside[threads]):
                self.not_measured.add(workers)
            return False
        try:
            run = self.subject.go(RunRequest(workers, seconds, least=least, step=True))
        except StepFailedError:
            raise
        except RuntimeError:
            if workers == 1:
                raise
            return False
        if run.batches:
            self.beside[threads].append(run)
            words = counted(workers, "workers")
            if len(self.alones) > 1:
                words += f", threads={threads}"
            self.noted(words, pace_of(run))
        return True

    def stepped(self, seconds: float, *, least: int = 0, size: int = 1) -> Watch:
        """Return a run without workers, as `Subject.go` makes it, whose first step is none like the others.

        A step with another number of threads, or with batches of another *size*, may have to be
        compiled anew, which takes longer than the run may. Then the run is made once more.
        """
        request = RunRequest(0, seconds, least=least, step=True, size=size)
        run = self.subject.go(request)
        usual = size * fmean(batch.step for batch in self.alone.batches)
        if run.batches and run.batches[0].step > max(seconds, HICCUP * usual):
            return self.subject.go(request)
        return run

    def numbers_of_workers(self) -> set[int]:
        """Return 1, 2, 4 and so on up to the cores, but up to 4 at least, and the present number.

        There are no more workers than an epoch has batches, because the others would have nothing to do.
        """
        most = max(self.cores, LEAST_WORKERS)
        powers = {2**power for power in range(most.bit_length())}
        counts = {self.cores, *powers}
        if self.subject.count:
            counts = {min(workers, self.subject.count) for workers in counts}
        return counts | ({self.subject.now.num_workers} - {0})

    def make_whole(self) -> None:
        """Let an iterable come to its end: nothing else shows how many samples an epoch has."""
        made = [self.one, *self.all_beside()]
        self.whole = {run.workers: run for run in made if run.whole}
        for workers in {1, self.cores, 2 * self.cores} - self.whole.keys():
            if not self.fits(self.seconds_of(workers, workers)):
                continue
            with suppress(RuntimeError):  # it may have no room for so many
                run = self.subject.go(RunRequest(workers, TO_THE_END * self.durations.run))
                if run.whole:
                    self.whole[workers] = run

    def make_larger(self) -> None:
        """Make runs with batches of twice the size, if the loader says how large its batches are.

        Nothing is learnt if there are none, or if the step or the loader refuses them: they may not
        fit into memory. A factor is 1 to 2: what seems more is a computer that became slower
        meanwhile.
        """
        needs = self.seconds_of(1, 2 * FEWEST) + self.seconds_of(0, 2 * FEWEST)
        if not self.subject.batch_size or not self.fits(needs):
            return
        run = self.durations.run
        try:
            made = self.subject.go(RunRequest(1, SHORTER * run, size=2))
            stepped = self.stepped(SHORTER * run, size=2)
            if not (made.batches and stepped.batches):
                return
            factors = {
                "make": longer("make", made, self.one, 2),
                "step": longer("step", stepped, self.alone, 2),
                "take": on_its_way(made) / max(1e-9, on_its_way(self.one)),
            }
            if self.subject.device:
                again = self.subject.time_device()
                device = self.subject.device.train
                factors["step"] = again.train / device if again else 1.0
        except RuntimeError:
            return
        self.growth = {part: min(2.0, max(1.0, each)) for part, each in factors.items()}

    def step_of(
        self,
        runs: Sequence[Watch],
        uneven: Uneven | None = None,
        again: Sequence[Watch] = (),
    ) -> StepNumbers:
        """Return the numbers of a step, from *runs*, of which the first one has no workers.

        Batches are *uneven*, and *again* are other runs over the same ones.
        """
        return step_numbers(
            runs,
            self.subject.device,
            may_launch=self.subject.may_launch,
            uneven=uneven,
            again=again,
        )

    def all_beside(self) -> list[Watch]:
        """Return all runs beside the step, of all numbers of threads."""
        return [run for runs in self.beside.values() for run in runs]

    # ---- how long they take ----

    def seconds_of(self, workers: int, batches: int) -> float:
        """Return about how long a run of as many *batches* takes, by the first runs.

        Without workers the loop makes each batch itself; workers share the cores. What the first batch of
        an epoch takes longer comes once in a run, however long that is.
        """
        opening = opening_of([self.alone])
        alone = self.alone.batches
        one = self.one.batches
        step = fmean(batch.step for batch in alone)
        load = fmean(batch.load for batch in alone) - opening / len(alone)
        if not workers:
            return opening + batches * (load + step)
        make = max(0.0, fmean(batch.make for batch in one) - opening / len(one))
        start = one[0].began - self.one.began
        later = one[1:] or one  # the first may wait for what is opened
        works = max(0.0, fmean(batch.make - batch.wait for batch in later))
        a_batch = max(step, make / workers, works / self.cores)
        return workers * start + opening + batches * a_batch

    def seconds_of_run(self, workers: int) -> float:
        """Return about how long a run takes that can be compared; a short epoch comes several times."""
        least = least_batches(workers)
        count = self.subject.count or 0
        again = (passes_for(least, count) - 1) * opening_of([self.alone])
        return again + self.seconds_of(workers, batches_of_run(least, count))

    def seconds_of_epoch(self) -> float:
        """Return about how long an epoch of the job as it is takes; 0 if nobody knows its length."""
        count = self.subject.count or 0
        return self.seconds_of(self.subject.now.num_workers, count) if count else 0.0

    def fits(self, seconds: float) -> bool:
        """Return whether a run of as many *seconds* ends in time."""
        return self.subject.clock() + seconds <= self.began + self.durations.most

    def noted(self, what: str, seconds: float) -> None:
        """Tell a number as it comes, and how many seconds are left."""
        left = self.began + self.expected - self.subject.clock()
        self.note(what, seconds, max(0.0, left))

    def all_seconds(self) -> float:
        """Return about how many seconds all runs take: as many as usual, or as long batches need."""
        spent = self.subject.clock() - self.began
        least = [self.seconds_of_run(workers) for workers in self.numbers_of_workers()]
        more = self.seconds_of(0, 3 * FEWEST)
        needed = spent + len(self.subject.threads()) * sum(least) + more
        usual = max(self.durations.again + 2, math.ceil(needed))
        # The first runs are made whatever they take
        return max(math.ceil(spent), min(self.durations.most, usual))

    # ---- what they come to ----

    def numbers(self) -> JobNumbers:
        """Return the numbers of the job."""
        beside = self.all_beside()
        without = [self.alone, self.again] if self.again else [self.alone]
        opening = opening_of(without)
        few = [run for run in beside if run.workers <= self.cores]
        # Workers that wait see more batches the more they are; those that compute, up to the cores
        waits = mean_of("wait", self.one) > MOSTLY * mean_of("make", self.one)
        pool = [*without, self.one, *self.surveys, *(beside if waits else few)]
        uneven = unevenness(self.subject.places, pool, [*without, *beside], opening)
        again = [*without, *self.surveys, *beside]
        stream = self.subject.stream
        each = making(self.one, few, again, opening, uneven, stream=stream)
        noise = SMALL
        scatter = Scatter()
        if self.again and self.again.batches:
            times = longer("round", self.again, self.alone, 1)
            noise = abs(times - 1)
            scatter = scatter_of([1.0, times])
        return JobNumbers(
            cores=self.cores,
            waits=each.waits,
            works=each.works,
            first=each.first,
            first_works=each.first_works,
            take=take_of(self.one, beside),
            start=start_of([self.one, *beside]),
            stop=stop_of([self.one, *beside]),
            threads={
                threads: self.step_of([alone, *self.beside[threads]], uneven, again[1:])
                for threads, alone in self.alones.items()
            },
            stream=stream,
            totals={
                workers: sum(batch.samples for batch in run.batches)
                for workers, run in self.whole.items()
            },
            noise=noise,
            scatter=scatter,
            nbytes=self.subject.nbytes,
            device=self.subject.device,
            growth=self.growth,
            in_order=self.subject.in_order,
            opening=opening,
            uneven=uneven,
            others=self.subject.other_programs(),
            not_measured=sorted(self.not_measured),
        )

    def seen_of(self, job: Job) -> Seen | None:
        """Return what was seen of the job as it is: all runs with its number of workers."""
        now = job.now
        runs = [run for run in self.beside[now.threads] if run.workers == now.num_workers]
        if not now.num_workers:
            runs = [self.alone]
        found = [
            compared(job, run, setting_of(job, run.workers, now.threads)) for run in runs
        ]
        known = [one for one in found if one is not None]
        if not known:
            return None
        return Seen(
            sum(one.batches for one in known),
            sum(one.took for one in known),
            sum(one.forecast for one in known),
        )


def pace_of(run: Watch) -> float:
    """Return the seconds per batch of a run, of those after its buffers were full if it has any."""
    got = [batch.got for batch in run.batches]
    first = min(FILL * run.workers, len(got) // 2)
    behind = len(got) - 1 - first
    return (got[-1] - got[first]) / behind if behind else run.ended - run.opened


def job_from(runs: Runs, numbers: JobNumbers) -> Job:
    """Return the job of a subject with these *numbers*: how many samples and batches it has."""
    subject = runs.subject
    if subject.stream:
        sizes = [batch.samples for batch in runs.alone.batches]
        known = 0 if runs.alone.whole else next(iter(numbers.totals.values()), 0)
        whole = bool(known or runs.alone.whole)
        # An epoch that did not end is long: what happens once in it hardly counts
        samples = known or sum(sizes) * (1 if whole else UNSEEN)
        size = subject.batch_size or max(sizes)
        batches = math.ceil(samples / size)
    else:
        sizes = subject.sizes
        batches = subject.count or len(sizes)
        whole = subject.count is not None
        samples = round(sum(sizes) * batches / len(sizes))
        size = subject.batch_size or max(1, round(fmean(sizes)))
    now = Setting(
        num_workers=subject.now.num_workers,
        prefetch_factor=subject.now.prefetch_factor,
        persistent_workers=subject.now.persistent_workers,
        threads=subject.now.threads,
        batch_size=size if numbers.growth else None,
    )
    return Job(numbers, now, samples, batches, size, whole, subject=subject)
