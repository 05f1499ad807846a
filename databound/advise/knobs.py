"""Arguments that no forecast knows: each is tried by itself, by real runs beside the best setting.

A pinned copy, a start method or the threads of a library in a worker have no part in the model, and
larger batches change what is learnt. So none of them is combined with another: a page names what
each saves on top of the setting that it recommends.
"""

import multiprocessing
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from statistics import fmean
from typing import Any, NamedTuple

from lessonkit.words import number

from ..measure.inside import Inside
from ..measure.numbers import start_of
from ..measure.runs import restored
from ..measure.setting import Setting
from ..measure.subject import RunRequest, Subject
from ..measure.watching import Watch
from ..model.comparing import window_of
from ..model.forecast import Epochs
from ..model.job import Job, least_batches
from ..thresholds import AS_GOOD, EPOCHS, LARGER, ROUNDS, SEVERAL_CORES, USUAL, Durations
from .sureness import of_a_trial
from .verdict import Verdict

FAILED = "failed"
Arguments = Mapping[str, object]
"""Arguments of a loader by their names."""


@dataclass(frozen=True)
class Knob:
    """What may help besides: the *line* to type, and the *arguments* that a run of it has.

    Its batches are *size* times as large. It *alters* something of a training, or says what has to
    be minded.
    """

    line: str
    alters: str
    arguments: Arguments = field(default_factory=dict)
    size: int = 1


class TriedKnob(NamedTuple):
    """What a knob with that *line* *saves* of an epoch, *within* so much, and how *sure* that is.

    It is *worth* it if that is more than the same run differs from itself.
    """

    line: str
    alters: str
    saves: float
    within: float
    sure: str
    worth: bool

    def __str__(self) -> str:
        if self.sure.startswith(FAILED):
            return f"{self.line}: {self.sure}."
        saves = f"{round(100 * self.saves)} ± {max(1, round(100 * self.within))} %"
        if not self.worth:
            return f"{self.line}: saves nothing that these runs can tell ({saves})."
        return f"{self.line}: saves {saves} ({self.sure}). Mind that {self.alters}."


# ---- which of them may help ----


def in_order(job: Job, subject: Subject, setting: Setting) -> Iterable[Knob]:
    """Yield a knob if batches differ so much that some of them hold up others that are ready."""
    if subject.may_change.get("in_order") is not True or setting.num_workers < 2:
        return
    if not job.numbers.uneven.makes:
        return
    unordered = replace(job, numbers=replace(job.numbers, in_order=False))
    if saved(job, unordered, setting) > AS_GOOD:
        alters = "batches come as they are ready, in another order each time"
        yield Knob("in_order=False", alters, {"in_order": False})


def pin_memory(job: Job, subject: Subject, setting: Setting) -> Iterable[Knob]:
    """Yield a knob if batches go to a GPU from memory that is not page-locked."""
    if subject.may_change.get("pin_memory") is False and subject.may_launch:
        alters = (
            "the step copies while it computes only with .to(device, non_blocking=True)"
        )
        yield Knob("pin_memory=True", alters, {"pin_memory": True})


def larger_batches(job: Job, subject: Subject, setting: Setting) -> Iterable[Knob]:
    """Yield a knob if batches of twice the size could be measured."""
    if job.numbers.growth:
        line = f"batch_size={LARGER * job.batch_size}"
        alters = "an epoch has half as many steps, so another learning rate suits"
        yield Knob(line, alters, size=LARGER)


def is_launch_bound(job: Job) -> bool:
    """Whether launching a step takes longer than what it launches."""
    device = job.numbers.device
    return device is not None and device.launch >= device.train


class OneThread:
    """A `worker_init_fn` that also lets the libraries of a worker compute with one thread."""

    def __init__(self, inner: Callable[[int], object] | None) -> None:
        self.inner = inner

    def __call__(self, worker: int) -> None:
        if self.inner:
            self.inner(worker)
        for line in lines_for_one_thread():
            exec(line, {})


def lines_for_one_thread() -> list[str]:
    """Return the lines of Python after which libraries that are here compute with one thread."""
    lines = []
    if "cv2" in sys.modules:
        lines.append("import cv2; cv2.setNumThreads(1)")
    if find_spec("threadpoolctl"):  # OpenMP, OpenBLAS, MKL
        lines.append("import threadpoolctl; threadpoolctl.threadpool_limits(1)")
    return lines


def one_thread(subject: Subject, setting: Setting, inside: Inside | None) -> Iterable[Knob]:
    """Yield a knob if making a batch holds several cores, so that workers would take them from each other."""
    if inside is None or "worker_init_fn" not in subject.may_change:
        return
    if setting.num_workers < 2 or inside.cores < SEVERAL_CORES:
        return
    lines = lines_for_one_thread()
    alters = f"one process that makes batches holds {number(inside.cores, 1)} cores"
    if lines:
        init: Any = subject.may_change["worker_init_fn"]
        line = f"worker_init_fn with `{'; '.join(lines)}`"
        yield Knob(line, alters, {"worker_init_fn": OneThread(init)})


def plausible(
    job: Job, subject: Subject, setting: Setting, verdict: Verdict, inside: Inside | None
) -> list[Knob]:
    """Return what may help a *job* with a *setting*, by its *verdict* and by what is *inside*."""
    found = list[Knob]()
    if verdict.kind == "the loop's own time" or is_launch_bound(job):
        found += larger_batches(job, subject, setting)
    if verdict.kind != "step-bound":
        found += in_order(job, subject, setting)
        found += pin_memory(job, subject, setting)
        found += one_thread(subject, setting, inside)
    return found


# ---- really run ----


def pace(run: Watch, count: int, turn: int) -> float:
    """Return the seconds per sample of a *run*, from where its buffers are full.

    Raises RuntimeError if it gave too few batches, of the *count* that an epoch has.
    """
    window = window_of(run, count, turn)
    first = max(1, window.first) if window else 1
    if window is None or window.last <= first:
        raise RuntimeError("it gave too few batches to be compared")
    batches = run.batches[first : window.last]
    took = batches[-1].got - run.batches[first - 1].got
    return took / sum(max(1, batch.samples) for batch in batches)


def try_knob(
    job: Job, subject: Subject, setting: Setting, knob: Knob, durations: Durations
) -> TriedKnob:
    """Run a *setting* with and without a *knob*, in turns, and return what that saves."""

    def seconds(size: int, also: Arguments) -> float:
        request = RunRequest(
            setting.num_workers,
            durations.trial,
            least=least_batches(setting.num_workers) + 1,
            step=True,
            factor=setting.prefetch_factor,
            size=size,
            also=also,
        )
        with restored():
            subject.use_threads(setting.threads)
            run = subject.go(request)
        return pace(run, job.count(setting) // size, job.numbers.uneven.turn)

    without = []
    beside = []
    try:
        for _ in range(ROUNDS):
            without.append(seconds(1, {}))
            beside.append(seconds(knob.size, knob.arguments))
    except RuntimeError as why:
        return TriedKnob(knob.line, knob.alters, 0.0, 0.0, f"{FAILED}: {why}", worth=False)
    each = [1 - with_it / now for with_it, now in zip(beside, without, strict=True)]
    error = (job.numbers.noise + max(without) / min(without) - 1) / 2
    # Larger batches make the step itself cheaper; nothing else does
    step = 0.0 if knob.size > 1 else job.fastest_step / job.batch_size
    return judged(knob, each, error, most=max(0.0, 1 - step / fmean(without)))


def judged(knob: Knob, each: Sequence[float], error: float, most: float) -> TriedKnob:
    """Return a *knob* that saved *each* of these shares in a round, of which no more than *most* can be.

    The same run differs by *error*.
    """
    saves = fmean(each)
    within = max(error * (1 - saves), (max(each) - min(each)) / 2)
    believed = saves <= most + max(AS_GOOD, within)
    worth = saves > max(AS_GOOD, error)
    saving = min(saves, most)
    sure = of_a_trial(saving, within, believed=believed)
    return TriedKnob(knob.line, knob.alters, saving, within, sure, worth)


# ---- how workers start ----

# Each with what has to be minded; macOS has libraries that do not survive a fork
ALTERS = {
    "fork": "workers must not use a GPU, nor a lock that another thread holds here",
    "forkserver": "the dataset is sent to the workers, so it has to be pickled",
    "spawn": "the dataset is sent to the workers, so it has to be pickled",
}
QUICKEST_FIRST = [way for way in ALTERS if (way, sys.platform) != ("fork", "darwin")]


def start_methods(subject: Subject) -> list[str]:
    """Return the ways in which this system may start workers of the loader more quickly than now."""
    if "multiprocessing_context" not in subject.may_change:
        return []
    now: Any = subject.may_change["multiprocessing_context"]
    if now is None:
        usual = multiprocessing.get_all_start_methods()[0]
        now = multiprocessing.get_start_method(allow_none=True) or usual
    said = now if isinstance(now, str) else now.get_start_method()
    quicker = QUICKEST_FIRST[: QUICKEST_FIRST.index(said)]
    return [way for way in quicker if way in multiprocessing.get_all_start_methods()]


def try_start_methods(job: Job, subject: Subject, setting: Setting) -> list[TriedKnob]:
    """Return what other ways of starting workers save, by starting one; if starts take long at all."""
    none = type(job.numbers.start)(0.0, 0.0)
    at_once = replace(job, numbers=replace(job.numbers, start=none))
    if not setting.num_workers or saved(job, at_once, setting) <= AS_GOOD:
        return []
    found = []
    for way in start_methods(subject):
        request = RunRequest(1, 0.0, least=1, also={"multiprocessing_context": way})
        with restored():
            try:
                run = subject.go(request)
            except RuntimeError:  # not everything can be sent to a worker
                continue
        other = replace(job, numbers=replace(job.numbers, start=start_of([run])))
        saves = saved(job, other, setting)
        if saves > AS_GOOD:
            knob = Knob(f"multiprocessing_context={way!r}", ALTERS[way])
            found.append(judged(knob, [saves], job.numbers.noise, most=1.0))
    return found


def saved(job: Job, other: Job, setting: Setting) -> float:
    """Return the share of a mean epoch that an *other* job saves with the same setting."""
    return 1 - mean(other.modelled(setting).epochs()) / mean(job.modelled(setting).epochs())


def mean(epochs: Epochs) -> float:
    """Return the seconds of a mean epoch in a training of several."""
    return (epochs.first + (EPOCHS - 1) * epochs.later) / EPOCHS


def try_knobs(
    job: Job,
    subject: Subject,
    setting: Setting,
    verdict: Verdict,
    inside: Inside | None,
    durations: Durations = USUAL,
) -> list[TriedKnob]:
    """Try all that may help besides a *setting*, one after the other."""
    found = [
        try_knob(job, subject, setting, knob, durations)
        for knob in plausible(job, subject, setting, verdict, inside)
    ]
    if verdict.kind != "step-bound":
        found += try_start_methods(job, subject, setting)
    return found
