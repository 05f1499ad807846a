"""What a challenge asks for: goals, each a number of a run with a target, and their verdict."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

from lessonkit.dataset import Dataset
from lessonkit.engine.check import AUTOTUNE
from lessonkit.engine.node import walk
from lessonkit.engine.trace import AHEAD, CACHE, Trace
from lessonkit.engine.training import benchmark
from lessonkit.explain.data_quality import data_quality
from lessonkit.explain.plumbing import memory
from lessonkit.pictures.scene import TaskScene, VerdictScene
from lessonkit.words import milliseconds, percent, size

from .sandbox import PipelineRun, shortened

__all__ = ["buffered", "busy", "cached", "calls", "goal", "good_data", "in_memory"]
__all__ += ["open_files", "per_sample", "processes", "same_job", "threads"]
__all__ += ["total"]

CLOSE = 1e-9  # what floating point may add to a number, or take from it


def __dir__() -> list[str]:
    return __all__


class GivenJob(NamedTuple):
    """What a run does: its options, and of one epoch the elements and the work.

    Of an element it has the first words and a number: all words of an image take four times
    the memory of it.
    """

    options: dict[str, Any]
    elements: Counter[tuple[str, int]]
    work: Counter[str]  # nanoseconds, by stages


class Attempt(NamedTuple):
    """A run, and the values of the controls that made it, if there were any."""

    trace: Trace
    values: dict[str, Any] = {}  # noqa: RUF012 - a named tuple never changes it
    start: dict[str, Any] = {}  # noqa: RUF012


class Judgement(NamedTuple):
    """Whether an attempt *met* a goal, and in *words* what it reached or by how much it missed."""

    met: bool
    words: str


@dataclass(frozen=True)
class Goal:
    """Ask for any number that an attempt has, with a target: *at_most* or *at_least*.

    *name* says what is measured. *measure* is a function of the `Attempt` that gives the
    number, and *text* one that writes it. Where no number says what is wrong, *measure* may
    do so in words; *zero* says the goal where it allows none. Raises ValueError if there is
    no target, or if there are two.
    """

    name: str
    measure: Callable[[Attempt], float | str]
    text: Callable[[float], str] = "{:g}".format
    at_most: float | None = None
    at_least: float | None = None
    zero: str = ""

    def __post_init__(self) -> None:
        if (self.at_most is None) == (self.at_least is None):
            raise ValueError(f"{self.name}: give either at_most= or at_least=")

    @property
    def target(self) -> str:
        """The target in words."""
        if self.at_most is not None:
            return f"at most {self.text(self.at_most)}"
        return f"at least {self.text(self.at_least or 0)}"

    def asked(self, so_far: str = "") -> str:
        """Return the goal in words, with what an attempt reached *so_far*."""
        if self.zero and not self.at_most:
            return self.zero
        return so_far or f"{self.name}: {self.target}"

    def judge(self, attempt: Attempt) -> Judgement:
        """Return whether an attempt meets this goal, and by how much it misses it."""
        value = self.measure(attempt) or 0
        if isinstance(value, str):
            return Judgement(False, f"{self.name}: {value}")
        if self.at_most is not None:
            missing = value - self.at_most
            how = "over by"
        else:
            missing = (self.at_least or 0) - value
            how = "short by"
        measured = f"{self.name}: {self.text(value)} ({self.target})"
        if missing <= CLOSE:
            return Judgement(True, self.asked(measured))
        apart = self.text(missing).replace("%", "points")
        return Judgement(False, f"{measured}, {how} {apart}")


@dataclass(frozen=True)
class ChallengeTask:
    """What is asked for, in words and as goals, and what helps."""

    text: str
    goals: tuple[Goal, ...]
    hints: tuple[str, ...] = ()

    def spec(self) -> TaskScene:
        """Return what the page has to know."""
        goals = [goal.asked() for goal in self.goals]
        return {"text": self.text, "goals": goals, "hints": self.hints}

    def judge(self, attempt: Attempt) -> VerdictScene:
        """Judge goal by goal; the message names the first that was missed."""
        if not attempt.trace.samples:  # it would take no time, and meet most goals
            return failed("Not yet: no element reached the training loop.")
        judged = [goal.judge(attempt) for goal in self.goals]
        missed = next((one.words for one in judged if not one.met), "")
        if missed:
            return failed(f"Not yet. {missed[0].upper()}{missed[1:]}.", judged)
        return {
            "passed": True,
            "goals": judged,
            "message": "Passed: every goal is met.",
        }


def failed(message: str, goals: list[Judgement] | None = None) -> VerdictScene:
    """Return the verdict on an attempt that does not pass."""
    return {"passed": False, "goals": goals or [], "message": message}


goal = Goal  # as users write it


def per_sample(*, at_most: float) -> Goal:
    """Ask for *at_most* this number of seconds per sample."""
    return Goal("time per sample", attrgetter("trace.per_sample"), milliseconds, at_most)


def total(*, at_most: float) -> Goal:
    """Ask for *at_most* this number of seconds in all."""
    text = partial(milliseconds, long=at_most >= 1)  # all in the unit of the target
    return Goal("total", attrgetter("trace.duration"), text, at_most)


def busy(*, at_least: float) -> Goal:
    """Ask for an accelerator that works *at_least* this share of the time, such as 0.9."""
    return Goal(
        "accelerator busy",
        lambda tried: tried.trace.busy("Train"),
        percent,
        at_least=at_least,
    )


def calls(*, at_most: int) -> Goal:
    """Ask for *at_most* this number of calls at the same time, of all operators together."""
    count = partial(_sum, "num_parallel_calls")
    return Goal("calls at the same time", count, str, at_most, zero="no parallel calls")


def threads(*, at_most: int) -> Goal:
    """Ask for *at_most* this number of threads besides the loop.

    They are the calls at the same time, and one background reader for each prefetch.
    """

    def count(tried: Attempt) -> int:
        methods = [node.method for node in walk(tried.trace.dataset.node)]
        return _sum("num_parallel_calls", tried) + methods.count("prefetch")

    return Goal("threads besides the training loop", count, str, at_most)


def processes(*, at_most: int) -> Goal:
    """Ask for *at_most* this number of processes besides the loop: the workers of all loaders."""
    return Goal("worker processes", partial(_sum, "num_workers"), str, at_most)


def buffered(*, at_most: int) -> Goal:
    """Ask for *at_most* this number of slots in the buffers of all prefetches together."""
    count = partial(_sum, "buffer_size", method="prefetch")
    return Goal("prefetch slots", count, str, at_most)


def open_files(*, at_most: int) -> Goal:
    """Ask for *at_most* this number of files open at the same time."""
    return Goal(
        "files open at the same time", attrgetter("trace.max_open_files"), str, at_most
    )


def in_memory(*, at_most: float) -> Goal:
    """Ask for *at_most* this number of bytes in all buffers and caches at the same time."""
    return Goal("memory", attrgetter("trace.max_bytes"), size, at_most)


def cached(*, at_most: float) -> Goal:
    """Ask for *at_most* this number of bytes in caches at the same time."""

    def most(tried: Attempt) -> float:
        steps = memory(tried.trace)
        caches = [name for name in tried.trace.buffers if name.role == CACHE]
        return sum(max((held.nbytes for held in steps[one]), default=0) for one in caches)

    return Goal("cached", most, size, at_most)


def good_data() -> Goal:
    """Ask for whole epochs, each in an order of its own, and augmentation that is new each time."""
    return Goal(
        "problems in the data",
        lambda tried: ", ".join(data_quality(tried.trace)),
        at_most=0,
        zero="no problems in the data",
    )


def same_job(other: Dataset, **options: Any) -> Goal:
    """Ask for the job that the pipeline *other* does, run with these *options* of `benchmark`.

    The options must be equal, the elements of an epoch the same in any order, and each
    stage must do no less work for them. Raises TimeoutError or ValueError if a run of
    *other* is too much to look at.
    """
    # Now, and not at the first attempt: names that its functions use may be changed until then.
    job = job_of(benchmark(other, **options))
    return Goal(
        "changes of samples, work or options",
        lambda tried: next(differences(tried.trace, job), ""),
        at_most=0,
        zero="same samples, work and options",
    )


def job_of(trace: Trace) -> GivenJob:
    """Run one epoch of *trace* again, with its elements, to see the job that it does.

    The work finds what no element shows: most lessons have maps that only cost time, so a
    pipeline without one of them gives the same elements.
    """
    options = vars(trace.options) | {"machine": trace.machine}
    once = PipelineRun(trace.dataset, options | {"num_epochs": 1, "keep": True}).simulate()
    address = re.compile(" at 0x[0-9a-fA-F]+")  # of an object, and another one each time
    texts = (address.sub("", repr(element)) for element in once.epochs[0].elements)
    elements = Counter((shortened(text), hash(text)) for text in texts)
    work = Counter[str]()
    for span in once.work:  # a stage as it was asked for: it may have got another name
        work[f"{span.stage.wanted} ({span.kind})"] += span.end_ns - span.start_ns
    return GivenJob(options, elements, work)


def differences(trace: Trace, given: GivenJob) -> Iterator[str]:
    """Say one after another in what *trace* does not do the job that is *given*."""
    if any(name.role == AHEAD and name.position.inside for name in trace.buffers):
        yield "prefetch and parallel calls inside a function are not counted: put them after it"
    options, elements, work = job_of(trace)
    for name, value in given.options.items():
        if options[name] != value:
            now = f"{name}={shortened(repr(options[name]))}"
            yield f"{now}, but the task has {name}={value!r}: do not change it"
    added = elements - given.elements
    left_out = given.elements - elements
    for what, odd in ("not in the task", added), ("missing", left_out):
        if odd:
            count = f"{odd.total()} in an epoch, such as {min(odd)[0]}"
            yield f"elements that are {what}: {count}"
    for stage, cost in given.work.items():
        if work[stage] < cost * (1 - CLOSE):
            now = milliseconds(work[stage] / 1e9)
            asked = milliseconds(cost / 1e9)
            yield f"{stage} takes {now} for all samples, but in the task it takes {asked}"


def _sum(argument: str, tried: Attempt, method: str = "") -> int:
    """Add up the numbers of one *argument*; one that is left open counts as what a run takes."""
    auto = 1 if argument == "buffer_size" else tried.trace.machine.cores
    total = 0
    for node in walk(tried.trace.dataset.node):
        number = node.arguments.get(argument) or 0
        if method in ("", node.method):
            total += auto if number == AUTOTUNE else number
    return total
