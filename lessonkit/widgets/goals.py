"""What a challenge asks for: a number that a run has, and a limit on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from lessonkit import words
from lessonkit.check import AUTOTUNE
from lessonkit.dataset import Dataset
from lessonkit.engine.machine import Machine
from lessonkit.engine.node import walk
from lessonkit.engine.trace import Trace
from lessonkit.explain.data_quality import seen
from lessonkit.explain.memory import memory
from lessonkit.widgets.job_check import CLOSE, checked
from lessonkit.widgets.sandbox import Job

# People subtract the limit from what was measured, and have to find what is said to be too much.
milliseconds = partial(words.milliseconds, digits=2)
percent = partial(words.percent, digits=2)
size = partial(words.size, digits=2)


class Attempt(NamedTuple):
    """A pipeline that was run, how, and the values of the controls that made it, if there were any."""

    dataset: Dataset
    trace: Trace
    options: dict[str, Any] = {}  # noqa: RUF012 - a named tuple never changes it
    values: dict[str, Any] = {}  # noqa: RUF012
    start: dict[str, Any] = {}  # noqa: RUF012


@dataclass(frozen=True)
class Goal:
    """A number with a limit on one side."""

    name: str
    measure: Callable[[Attempt], float]
    text: Callable[[float], str]
    at_most: float | None = None
    at_least: float | None = None
    missed: Callable[[Attempt], str] | None = None  # says what is wrong, where a number does not

    def __post_init__(self) -> None:
        if (self.at_most is None) == (self.at_least is None):
            raise ValueError(f"{self.name}: say either at_most= or at_least=")

    @property
    def limit(self) -> str:
        """The limit in words."""
        if self.at_most is not None:
            return f"at most {self.text(self.at_most)}"
        return f"at least {self.text(self.at_least or 0)}"

    def judge(self, attempt: Attempt) -> Judged:
        """How an attempt stands to this goal, and by how much it misses it."""
        value = self.measure(attempt)
        missing = value - self.at_most if self.at_most is not None else (self.at_least or 0) - value
        said = f"{self.name}: {self.text(value)} ({self.limit})"
        if missing > CLOSE and self.missed:
            return Judged(False, f"{self.name}: {self.missed(attempt)}")
        if missing > CLOSE:
            how = "too much" if self.at_most is not None else "missing"
            return Judged(False, f"{said}, {self.text(missing)} {how}")
        return Judged(True, said)


class Judged(NamedTuple):
    """Whether a goal was met, and what to say about it."""

    met: bool
    said: str


@dataclass(frozen=True)
class Task:
    """What is asked for, in words and as goals, and what helps."""

    text: str
    goals: tuple[Goal, ...]
    hints: tuple[str, ...] = ()
    solution: str = ""

    def spec(self) -> dict[str, Any]:
        """What the page has to know."""
        goals = [f"{goal.name}: {goal.limit}" for goal in self.goals]
        return {"text": self.text, "goals": goals, "hints": self.hints, "solution": self.solution}

    def judge(self, attempt: Attempt) -> dict[str, Any]:
        """Goal by goal, and the first that was missed as a message."""
        if not attempt.trace.samples:  # it would take no time, and meet most goals
            return {"passed": False, "goals": [], "message": "Not yet: no element reached the training loop."}
        judged = [goal.judge(attempt) for goal in self.goals]
        missed = [found.said for found in judged if not found.met]
        message = (
            f"Not yet. {missed[0][0].upper()}{missed[0][1:]}." if missed else "Passed: every goal is met."
        )
        return {"passed": not missed, "goals": judged, "message": message}


def goal(
    name: str,
    measure: Callable[[Attempt], float],
    text: Callable[[float], str] = lambda value: f"{value:g}",
    *,
    at_most: float | None = None,
    at_least: float | None = None,
) -> Goal:
    """Any number that an attempt has, with a limit."""
    return Goal(name, measure, text, at_most, at_least)


def per_sample(*, at_most: float) -> Goal:
    """Seconds a sample."""
    return Goal("time per sample", lambda attempt: attempt.trace.per_sample, milliseconds, at_most)


def total(*, at_most: float) -> Goal:
    """Seconds in all."""
    return Goal("total", lambda attempt: attempt.trace.duration, milliseconds, at_most)


def first_element(*, at_most: float) -> Goal:
    """Seconds until the first element arrives."""
    return Goal(
        "first element after", lambda attempt: attempt.trace.epochs[0].arrivals[0], milliseconds, at_most
    )


def busy(*, at_least: float) -> Goal:
    """The share of the time in which the accelerator works."""
    return Goal("accelerator busy", lambda attempt: attempt.trace.busy("Train"), percent, at_least=at_least)


def calls(*, at_most: int) -> Goal:
    """Calls at once, of all operators together."""
    return Goal("calls at once", lambda attempt: _sum(attempt, "num_parallel_calls"), str, at_most)


def threads(*, at_most: int) -> Goal:
    """What runs beside the training loop: the calls at once of all operators, and one helper a prefetch."""

    def helpers(attempt: Attempt) -> int:
        prefetches = [node for node in walk(attempt.dataset.node) if node.method == "prefetch"]
        return _sum(attempt, "num_parallel_calls") + len(prefetches)

    return Goal("threads beside the training loop", helpers, str, at_most)


def buffered(*, at_most: int) -> Goal:
    """Places in the buffers of all prefetches together."""
    return Goal("places to prefetch", lambda attempt: _sum(attempt, "buffer_size", "prefetch"), str, at_most)


def open_files(*, at_most: int) -> Goal:
    """Files open at once."""
    return Goal("files open at once", lambda attempt: attempt.trace.max_open_files, str, at_most)


def held(*, at_most: int) -> Goal:
    """Elements in all buffers and caches at once."""
    return Goal("elements held at once", lambda attempt: attempt.trace.max_held, str, at_most)


def in_memory(*, at_most: float) -> Goal:
    """Bytes in all buffers and caches at once."""
    return Goal("memory", lambda attempt: attempt.trace.max_bytes, size, at_most)


def cached(*, at_most: float) -> Goal:
    """Bytes in caches at once."""

    def most(attempt: Attempt) -> float:
        steps = memory(attempt.trace).bytes.steps
        return sum(
            max((held for _, held in kept), default=0)
            for name, kept in steps.items()
            if name.startswith("cache")
        )

    return Goal("cached", most, size, at_most)


def changed(*, at_most: int) -> Goal:
    """Controls that are not where they were at the start."""

    def count(attempt: Attempt) -> int:
        return sum(attempt.values[name] != value for name, value in attempt.start.items())

    return Goal("controls changed", count, str, at_most)


def good_data() -> Goal:
    """Whole epochs, each in an order of its own, and augmentation that is new each time."""

    def faults(attempt: Attempt) -> tuple[str, ...]:
        return seen(attempt.trace, attempt.dataset).words

    return Goal(
        "faults in the data",
        lambda attempt: len(faults(attempt)),
        str,
        at_most=0,
        missed=lambda attempt: ", ".join(faults(attempt)),
    )


def same_job(other: Dataset, **options: Any) -> Goal:
    """The run of another pipeline: its options, its elements, and each stage's work for each sample."""
    missing = checked(other, options)

    def changed(attempt: Attempt) -> str:
        return missing(Job(attempt.dataset, attempt.options), attempt.trace)

    return Goal(
        "changes of samples, work or options",
        lambda attempt: bool(changed(attempt)),
        "{:d}".format,
        at_most=0,
        missed=changed,
    )


def _sum(attempt: Attempt, argument: str, method: str = "") -> int:
    """All numbers of one argument; one that is left open counts as what a run takes for it."""
    nodes = [node.arguments for node in walk(attempt.dataset.node) if node.method == method or not method]
    cores = (attempt.options.get("machine") or Machine()).cores
    auto = 1 if argument == "buffer_size" else cores
    numbers = [given.get(argument) or 0 for given in nodes]
    return sum(auto if number == AUTOTUNE else number for number in numbers)
