"""A job: a learner's own loader and step, as a model that forecasts what other settings take."""

import json
import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Any, NamedTuple

from lessonkit.engine.trace import Trace
from lessonkit.loader import DataLoader

from ..measure.device import OnDevice
from ..measure.numbers import JobNumbers, Start, StepNumbers
from ..measure.setting import Setting, Value
from ..measure.subject import Subject
from ..measure.uneven import Uneven
from ..origin import Origin, origin_of
from ..ranges import Scatter
from ..thresholds import AS_MANY, BEHIND, FILL, LEFT_OUT_OF_MODELS, UNMEASURED
from .forecast import Epochs, Model, Options, beside, between

Stored = dict[str, Any]
"""What is written to a file as JSON."""


class Seen(NamedTuple):
    """What was really seen of the job as it is: so many *batches*, in so many *seconds*.

    By the *forecast* these batches take as many seconds.
    """

    batches: int
    seconds: float
    forecast: float


def least_batches(workers: int) -> int:
    """Return how many batches a run with *workers* needs to be compared with the model.

    Without workers it needs as many as with one: of two of them nobody knows what the others take.
    """
    return (FILL + BEHIND) * max(1, workers) + 1


@dataclass(repr=False)
class Job:
    """What was measured of a loader and a step: a model of them, and its forecasts.

    *now* is the setting of the loader as it is written. *samples* and *batches*
    count an epoch without workers, or, if the job is not *whole*, only what was seen of it.
    *seen* is a run of the job as it is, if there was one. The *subject* makes more runs, unless
    the job was stored; *trials* are real runs of other settings, as `choosing` stores them.
    *origin* says where and how all this was measured, if somebody noted it.
    """

    numbers: JobNumbers
    now: Setting
    samples: int
    batches: int
    batch_size: int
    whole: bool
    seen: Seen | None = None
    subject: Subject | None = None
    trials: Stored | None = None
    origin: Origin | None = None

    def __repr__(self) -> str:
        return f"<Job: samples={self.samples}, batch_size={self.batch_size}>"

    def setting(self, **changes: Value) -> Setting:
        """Return the setting of the loader with *changes*, the arguments of `forecast`.

        Raises TypeError or ValueError for a value that no loader takes, and ValueError for a
        number of threads that was not measured.
        """
        setting = self.now.changed(**changes)
        measured = sorted(self.numbers.threads)
        if setting.threads not in measured:
            allowed = f"must be one of {measured}, as measured"
            raise ValueError(f"threads={setting.threads}: {allowed}")
        return setting

    # ---- how much there is of an epoch ----

    def total(self, workers: int) -> float:
        """Return how many samples an epoch has with as many *workers*."""
        alike = self.samples * max(1, workers) if self.repeats else self.samples
        return self.numbers.totals.get(workers, alike)

    @property
    def repeats(self) -> bool:
        """Whether each worker gives all samples of an iterable, so an epoch has more of them."""
        return any(total > AS_MANY * self.samples for total in self.numbers.totals.values())

    def as_many(self, workers: int) -> bool:
        """Whether an epoch has as many samples with a number of *workers* as it has now."""
        then = self.total(workers)
        now = self.total(self.now.num_workers)
        return max(then, now) <= AS_MANY * min(then, now)

    def count(self, setting: Setting) -> int:
        """Return how many batches an epoch has with a *setting*."""
        size = setting.batch_size or self.batch_size
        if not self.numbers.stream:
            return math.ceil(self.batches * self.batch_size / size)
        each = setting.workers_at_work  # has a last batch of its own
        total = self.total(setting.num_workers)
        return each * math.ceil(total / each / size)

    # ---- the model ----

    def pace(self, threads: int) -> float:
        """Return the seconds that a step takes at least, here or on a device."""
        step = self.numbers.threads[threads]
        device = self.numbers.device
        seconds = max(step.seconds, device.train if device else 0.0)
        return seconds * min(step.unexplained.values())

    @property
    def fastest_step(self) -> float:
        """The seconds that a step takes at least, with the best number of threads."""
        return self.pace(self.best_threads)

    @property
    def best_threads(self) -> int:
        """The number of threads with which a step takes the least."""
        return min(self.numbers.threads, key=self.pace)

    def modelled(
        self, setting: Setting, *, watched: bool = False, steps_before: int = 0
    ) -> Model:
        """Return the model of this job with a *setting*; *watched*, in the order of the runs.

        Of steps that are not alike, so many were made before. Raises ValueError if an epoch has
        no batch then.
        """
        count = self.count(setting)
        if not count:
            workers = setting.workers_at_work
            raise ValueError(f"num_workers={workers}: an epoch has no batch then")
        times = (setting.batch_size or self.batch_size) / self.batch_size
        return Model(self.numbers, setting, count, times, watched, steps_before)

    def model(
        self, most: int | None = None, **changes: Value
    ) -> tuple[DataLoader, Options]:
        """Return the loader as our own, and the options of `benchmark` for the step.

        Both have the costs that were measured, of whole batches. *changes* are the
        arguments of `forecast`; an epoch has at most *most* batches.
        """
        found = self.modelled(self.setting(**changes))
        return found.loader(most), found.options()

    def run(self, num_epochs: int = 2, most: int | None = None, **changes: Value) -> Trace:
        """Return a trace of the model on the virtual clock, with the arguments of `forecast`."""
        return self.modelled(self.setting(**changes)).run(num_epochs, most)

    def forecast(self, **changes: Value) -> Epochs:
        """Return the seconds that the first and a later epoch would take.

        *changes* are `num_workers`, `prefetch_factor`, `persistent_workers`, `batch_size`, and
        `threads`, those of the step, one of the numbers that were measured. An argument that is
        not given stays as in the loader, and without workers those of workers change nothing.
        Raises TypeError or ValueError for a value that no loader takes.
        """
        return self.modelled(self.setting(**changes)).epochs()

    def uncertainty(self, **changes: Value) -> float:
        """Return the share by which a forecast may be off, with the arguments of `forecast`.

        RANGE_HOLDS of all times it is off by no more. It comes from how much repeated runs
        differed and how many of them had as many workers, from what the model missed of these, and from
        how unlike each other batches are, of which only some were seen. Where no run was repeated,
        it is no less than what runs usually differ. It is at least LEFT_OUT_OF_MODELS, for a model has
        not all that a job does. If the workers wait, a storage may give no
        more to more of them than were run.
        """
        setting = self.setting(**changes)
        sampled = self.numbers.uneven.sampling_error(self.count(setting))
        by_runs = self.uncertainty_by_runs(setting)
        return math.hypot(by_runs, sampled, LEFT_OUT_OF_MODELS) + self.beyond(
            setting.num_workers
        )

    def uncertainty_by_runs(self, setting: Setting) -> float:
        """Return the part of `uncertainty` that is there because runs differ, also from the model."""
        known = self.numbers
        step = known.threads[setting.threads]
        workers = setting.num_workers
        off = known.noise
        if known.scatter.freedom:
            off = known.scatter.range(between(step.ran, workers))
        missed = between(step.missed, workers) + self.not_compared(setting)
        return math.hypot(off, missed, self.not_run(setting))

    def not_run(self, setting: Setting) -> float:
        """Return the share by which an epoch may be off because only fewer and more workers were run.

        What a forecast leaves unexplained grows somewhere between the two, at once or bit by bit. A loop
        without workers says nothing of what happens in one.
        """
        factors = self.numbers.threads[setting.threads].unexplained
        below, above = beside(factors, setting.num_workers)
        if not below:
            return 0.0
        return (
            abs(factors[above] - factors[below]) / 2 / between(factors, setting.num_workers)
        )

    def not_compared(self, setting: Setting) -> float:
        """Return the share by which an epoch may be off because part of it is in no run that is compared.

        By what real runs took longer than the model, the beginning of an epoch may do so or not: its workers
        are compared when their buffers are full, or, of a short epoch, from one epoch to the next.
        """
        workers = setting.num_workers
        count = self.count(setting)
        if not workers or (setting.persistent_workers and count < least_batches(workers)):
            return 0.0
        step = self.numbers.threads[setting.threads]
        beginning = min(1.0, FILL * workers / count)
        return beginning * abs(between(step.unexplained, workers) - 1)

    def beyond(self, workers: int) -> float:
        """Return the share by which a forecast may be off because fewer *workers* were run.

        If workers wait, a storage may give no more to more of them.
        """
        missed = next(iter(self.numbers.threads.values())).missed
        most = max(1, *missed)
        if self.numbers.waits <= self.numbers.works or workers <= most:
            return 0.0
        return UNMEASURED * math.log2(workers / most)


# ---- in a file ----


def save_job(job: Job, path: str | Path) -> None:
    """Write what was measured of a *job* to a file at *path*: all but the loader and the step."""
    Path(path).write_text(json.dumps(asdict(replace(job, subject=None))), encoding="utf-8")


def load_job(path: str | Path | IO[Any]) -> Job:
    """Return the job that `save_job` wrote to the file at *path*: it forecasts, and nothing is run.

    *path* may be an open file as well. Raises ValueError if the file holds something else.
    """
    text = Path(path).read_bytes() if isinstance(path, (str, Path)) else path.read()
    try:
        return job_of(json.loads(text))
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        why = "must be a file that save_job wrote"
        raise ValueError(f"path={str(path)!r}: {why}") from error


def job_of(told: dict[str, Any]) -> Job:
    """Return the job that a file tells: objects for what is a dict or a list there."""
    numbers = told["numbers"]
    device = numbers["device"]
    seen = told.get("seen")
    origin = told.get("origin")
    fields = {
        "start": Start(*numbers["start"]),
        "totals": by_number(numbers["totals"]),
        "device": OnDevice(**device) if device else None,
        "uneven": Uneven(**numbers.get("uneven", {})),
        "scatter": Scatter(*numbers.get("scatter", ())),
        "threads": {
            int(threads): StepNumbers(
                **step
                | {
                    "unexplained": by_number(step["unexplained"]),
                    "missed": by_number(step["missed"]),
                    "ran": by_number(step.get("ran", {0: 1})),
                }
            )
            for threads, step in numbers["threads"].items()
        },
    }
    return Job(
        **told
        | {
            "numbers": JobNumbers(**numbers | fields),
            "now": Setting(**told["now"]),
            "seen": Seen(*seen) if seen else None,
            "origin": origin_of(origin) if origin else None,
        }
    )


def by_number(told: dict[str, Any]) -> dict[int, Any]:
    """Return what a file tells by numbers, which are text there."""
    return {int(number): value for number, value in told.items()}
