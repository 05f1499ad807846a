"""The answers to the questions of lesson 10. If you look here first, you learn less."""

from collections.abc import Callable
from functools import cache
from itertools import groupby, pairwise
from random import Random
from typing import Any

from lessonkit import Trace, benchmark

__all__ = [
    "around",
    "busy_after_first",
    "hiccups",
    "late",
    "late_steps",
    "not_once",
    "per_step",
    "shared",
    "slower",
    "step_of",
    "stretches",
    "together",
]


def hiccups(rank: int, usual: float, slow: float, every: int) -> Callable[[int], float]:
    """Return what each load costs on a *rank*: mostly *usual*, and *slow* for one in *every*, by chance."""
    return lambda step: slow if chance(1000 * rank + step) < 1 / every else usual


@cache
def chance(seed: int) -> float:
    """Return a number from 0 to 1 by chance, always the same for a *seed*; a slider asks for it again."""
    return Random(seed).random()


def per_step(trace: Trace) -> float:
    """Return the seconds that a step takes on average."""
    return trace.duration / sum(epoch.count for epoch in trace.epochs)


def step_of(recipe: tuple[Callable[[int], Any], dict[str, Any]]) -> float:
    """Return the seconds that a step of several machines takes on average."""
    pipeline, options = recipe
    return per_step(benchmark(pipeline, record=0, **options).traces[0])  # one is enough


SAME, TENTH, HALF, EIGHT = (
    "as long as on one machine",
    "about a tenth longer",
    "half as long again, or more",
    "eight times as long",
)


def slower(one: Trace, eight: Trace) -> str:
    """Say in words how long eight machines take, over what one took."""
    share = eight.duration / one.duration
    return SAME if share < 1.02 else TENTH if share < 1.3 else HALF if share < 4 else EIGHT


def together() -> dict[str, Any]:
    """Explain what one slow load costs eight machines."""
    wrong = [
        (
            SAME,
            "You gave each machine only its own bad luck. But a step ends for all when the last has ended.",
        ),
        (
            TENTH,
            "You took the average of the loads. A step takes as long as the slowest of eight.",
        ),
        (
            EIGHT,
            "You let the slow loads add up. But slow loads of the same step go on at the same time.",
        ),
    ]
    why = "One load in 20 is slow, so in about every third step at least one of eight is slow."
    choices = [SAME, TENTH, HALF, EIGHT]
    return {"answer": slower, "choices": choices, "wrong": wrong, "why": why}


def shared(read: float, step: float, machines: int) -> dict[str, Any]:
    """Explain how long a step takes from one storage."""
    wrong = [
        (step, "You gave each machine a storage of its own. All read from the same one."),
        (read, "You forgot the others: each gets an eighth of the bandwidth."),
        (
            machines * read + step,
            "You added reading and training. A prefetch lets them go on at once.",
        ),
        (read + step, "You added reading and training, for one machine alone."),
    ]
    why = "Eight times 2 MB from 400 MB a second are 40 ms, and the prefetch hides the 20 ms of training."
    return {"answer": per_step, "wrong": wrong, "why": why}


def working(trace: Trace, step: float) -> float:
    """Return which share of the time after the first step an accelerator works."""
    arrivals = trace.epochs[0].arrivals
    return step * (len(arrivals) - 1) / (arrivals[-1] - arrivals[0])


def busy_after_first(recipe: tuple[Callable[[int], Any], dict[str, Any]]) -> float:
    """Return which share of the time after the first step the accelerators of several machines work."""
    pipeline, options = recipe
    return working(benchmark(pipeline, record=0, **options).traces[0], options["train"])


AS_WITHOUT, FEWER, NONE = "as many as without that delay", "some, but fewer", "not even one"


def late(step: float, goal: float) -> dict[str, Any]:
    """Explain what a late first byte costs an accelerator that reads small files."""

    def answer(soon: Trace, delayed: Trace) -> str:
        share = working(delayed, step)
        return (
            NONE
            if share < goal
            else FEWER
            if share < working(soon, step) - 0.01
            else AS_WITHOUT
        )

    wrong = [
        (
            AS_WITHOUT,
            "You counted bytes. But before a byte comes, each of four readers waits 20 ms.",
        ),
        (
            FEWER,
            "You shared out the delay. But each accelerator waits by itself, even a single one.",
        ),
    ]
    why = "Four readers that wait 20 ms each fetch less than 200 files a second, and to be busy it needs 200."
    return {
        "answer": answer,
        "choices": [AS_WITHOUT, FEWER, NONE],
        "wrong": wrong,
        "why": why,
    }


def around(rank: int, mean: float, spread: float) -> Callable[[int], float]:
    """Return what each load costs on a *rank*: about *mean*, by chance."""
    return lambda step: max(0.0005, Random(1000 * rank + step).gauss(mean, spread))


def late_steps(found: Any, step: float) -> list[int]:
    """Return who was waited for in each step that took longer than *step*."""
    ends = [0.0, *(one.end_ns / 1e9 for one in found.steps)]
    slowest = [one.slowest for one in found.steps]
    pairs = zip(slowest, pairwise(ends), strict=True)
    return [rank for rank, (before, after) in pairs if after - before > step + 1e-6]


def stretches(ranks: list[int]) -> int:
    """Return in how many stretches of the same rank a list goes on."""
    return sum(1 for _ in groupby(ranks))


def not_once(job: Callable[..., Any], samples: int) -> Callable[[Any], int]:
    """Return a measure for a goal: *samples* that no rank of a *job* reads, and those that come again."""

    def measure(attempt: Any) -> int:
        pipeline, options = job(**attempt.values)
        traces = benchmark(pipeline, **options).traces
        seen = [sample for trace in traces for sample in trace.epochs[0].elements]
        return samples - len(set(seen)) + len(seen) - len(set(seen))

    return measure
