"""The answers to the questions of lesson 10. If you look here first, you learn less."""

from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

from lessonkit import Trace, benchmark

__all__ = ["hiccups", "per_step", "shared", "slower", "step_of", "together"]


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
    return per_step(benchmark(pipeline, **options).traces[0])


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
        (TENTH, "You took the average of the loads. A step takes as long as the slowest of eight."),
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
        (machines * read + step, "You added reading and training. A prefetch lets them go on at once."),
        (read + step, "You added reading and training, for one machine alone."),
    ]
    why = "Eight times 2 MB from 400 MB a second are 40 ms, and the prefetch hides the 20 ms of training."
    return {"answer": per_step, "wrong": wrong, "why": why}
