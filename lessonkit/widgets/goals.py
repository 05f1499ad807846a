"""What a challenge may ask for: each function makes a goal, a number that a run has with a limit on it."""

from functools import partial
from math import inf
from typing import Any

from lessonkit import words
from lessonkit.check import AUTOTUNE
from lessonkit.dataset import Dataset
from lessonkit.engine.node import walk
from lessonkit.engine.recorder import CACHE
from lessonkit.engine.training import benchmark
from lessonkit.explain.data_quality import data_quality
from lessonkit.explain.memory import memory
from lessonkit.widgets.challenges.job_check import differences, job_of
from lessonkit.widgets.challenges.task import Attempt, Goal

__all__ = [
    "buffered",
    "busy",
    "cached",
    "calls",
    "changed",
    "first_element",
    "goal",
    "good_data",
]
__all__ += [
    "in_memory",
    "open_files",
    "per_sample",
    "processes",
    "same_job",
    "threads",
    "total",
]

goal = Goal

# People subtract the limit from what was measured, and have to find what is said to be too much.
milliseconds = partial(words.milliseconds, digits=2)
percent = partial(words.percent, digits=2)
size = partial(words.size, digits=2)


def __dir__() -> list[str]:
    return __all__


def per_sample(*, at_most: float) -> Goal:
    """Ask for *at_most* so many seconds a sample."""
    return Goal(
        "time per sample", lambda tried: tried.trace.per_sample, milliseconds, at_most
    )


def total(*, at_most: float) -> Goal:
    """Ask for *at_most* so many seconds in all."""
    return Goal("total", lambda tried: tried.trace.duration, milliseconds, at_most)


def first_element(*, at_most: float) -> Goal:
    """Ask for *at_most* so many seconds until the first element arrives, in whichever epoch."""

    def first(tried: Attempt) -> float:
        arrivals = (
            epoch.start + epoch.arrivals[0]
            for epoch in tried.trace.epochs
            if epoch.arrivals
        )
        return next(arrivals, inf)

    return Goal("first element after", first, milliseconds, at_most)


def busy(*, at_least: float) -> Goal:
    """Ask for an accelerator that works *at_least* this share of the time, such as 0.9."""
    return Goal(
        "accelerator busy",
        lambda tried: tried.trace.busy("Train"),
        percent,
        at_least=at_least,
    )


def calls(*, at_most: int) -> Goal:
    """Ask for *at_most* so many calls at once, of all operators together."""
    return Goal(
        "calls at once",
        lambda tried: _sum(tried, "num_parallel_calls"),
        str,
        at_most,
        zero="no parallel calls",
    )


def threads(*, at_most: int) -> Goal:
    """Ask for *at_most* so many threads beside the loop: calls at once, and a helper for each prefetch."""

    def helpers(tried: Attempt) -> int:
        prefetches = [
            node for node in walk(tried.trace.dataset.node) if node.method == "prefetch"
        ]
        return _sum(tried, "num_parallel_calls") + len(prefetches)

    return Goal("threads beside the training loop", helpers, str, at_most)


def processes(*, at_most: int) -> Goal:
    """Ask for *at_most* so many processes beside the loop: the workers of all loaders."""
    return Goal("worker processes", lambda tried: _sum(tried, "num_workers"), str, at_most)


def buffered(*, at_most: int) -> Goal:
    """Ask for *at_most* so many places in the buffers of all prefetches together."""
    return Goal(
        "places to prefetch",
        lambda tried: _sum(tried, "buffer_size", "prefetch"),
        str,
        at_most,
    )


def open_files(*, at_most: int) -> Goal:
    """Ask for *at_most* so many files open at once."""
    return Goal(
        "files open at once", lambda tried: tried.trace.max_open_files, str, at_most
    )


def in_memory(*, at_most: float) -> Goal:
    """Ask for *at_most* so many bytes in all buffers and caches at once."""
    return Goal("memory", lambda tried: tried.trace.max_bytes, size, at_most)


def cached(*, at_most: float) -> Goal:
    """Ask for *at_most* so many bytes in caches at once."""

    def most(tried: Attempt) -> float:
        caches = [
            buffer.name for buffer in tried.trace.buffers if buffer.name.role == CACHE
        ]
        steps = memory(tried.trace).bytes.steps
        return sum(
            max((bytes_then for _, bytes_then in steps[cache]), default=0)
            for cache in caches
        )

    return Goal("cached", most, size, at_most)


def changed(*, at_most: int) -> Goal:
    """Ask for *at_most* so many controls that are not where they were at the start."""

    def count(tried: Attempt) -> int:
        return sum(tried.values[name] != value for name, value in tried.start.items())

    return Goal("controls changed", count, str, at_most)


def good_data() -> Goal:
    """Ask for whole epochs, each in an order of its own, and for augmentation that is new each time."""
    words = "no faults in the data"
    return Goal(
        "faults in the data",
        lambda tried: ", ".join(data_quality(tried.trace).words),
        at_most=0,
        zero=words,
    )


def same_job(other: Dataset, **options: Any) -> Goal:
    """Ask for the job that the pipeline *other* does, if it is run with these *options* of `benchmark`.

    The options must be equal, the elements of an epoch the same in any order, and each
    stage must do no less work for them. Raise TookTooLongError or ValueError if a run of
    *other* is too much to look at.
    """
    # Now, and not at the first attempt: names that its functions use may be changed until then.
    job = job_of(benchmark(other, **options))

    def wrong(tried: Attempt) -> str:
        return next(differences(tried.trace, job), "")

    words = "same samples, work and options"
    return Goal("changes of samples, work or options", wrong, at_most=0, zero=words)


def _sum(tried: Attempt, argument: str, method: str = "") -> int:
    """Add up the numbers of one *argument*; one that is left open counts as what a run takes for it."""
    nodes = [
        node
        for node in walk(tried.trace.dataset.node)
        if not method or node.method == method
    ]
    auto = 1 if argument == "buffer_size" else tried.trace.machine.cores
    numbers = [node.arguments.get(argument) or 0 for node in nodes]
    return sum(auto if number == AUTOTUNE else number for number in numbers)
