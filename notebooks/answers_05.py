"""The answers to the questions of lesson 05. If you look here first, you learn less."""

from collections.abc import Sequence
from math import ceil, inf
from typing import Any

from lessonkit.widgets.goals import Attempt, Goal
from lessonkit.words import milliseconds


def sizes(call: float, work: float, train: float, batches: Sequence[int]) -> dict[str, Any]:
    """Explain how long a sample takes in batches of each of these sizes."""
    enough = ceil(call / (train - work))
    wrong = [
        (
            [call / size + work + train for size in batches],
            "That would be right if the map and training took turns. With the prefetch the next batch is "
            "mapped while the model trains on this one.",
        ),
        (
            [call / size + work for size in batches],
            f"That would be right if training took no time. But it takes {milliseconds(train)} per sample, "
            f"and with batches of {enough} or more the map is faster than that.",
        ),
        (
            [call + work for _ in batches],
            "That would be right if every sample had a call of its own. Two samples in a batch "
            f"share one call of {milliseconds(call)}, so each pays {milliseconds(call / 2)}.",
        ),
        (
            [max(call / size + work, train) + (size - 1) * train / 60 for size in batches],
            "That would be right if large batches made every sample slower. They only delay the "
            "first sample, by a few ms in all.",
        ),
    ]
    return {
        "wrong": wrong,
        "why": "The samples of a batch share one call. Once the map is faster than training, a "
        "larger batch saves nothing more.",
    }


def parallel(apart: float) -> dict[str, Any]:
    """Explain how long parallel calls take on batches; without batches it was *apart*."""
    wrong = [
        (
            apart,
            "That would be right if three calls shared a batch. A batch is one call, which works "
            "on its samples in turn.",
        ),
        (
            2 * (0.030 + 3 * 0.015 + 0.030 + 3 * 0.010),
            "That would be right if a batch took as long as one sample. A batch saves only calls, "
            "and here they cost nothing.",
        ),
        (
            2 * (0.030 + 3 * (0.015 + 0.030 + 0.010)) / 3,
            "That would be right if three calls shared all the work. An epoch is one batch, so two "
            "calls have nothing to do.",
        ),
    ]
    why = "One call works on the whole batch, so the map takes as long as without parallel calls."
    return {"wrong": wrong, "why": why}


def at_work(
    samples: int, size: int, call: float, work: float, train: float
) -> dict[str, Any]:
    """Explain how long the map works in all, in batches of this size."""
    wrong = [
        (
            samples * (call + work) / size,
            f"That would be right if everything were divided by {size}. A batch saves calls, but "
            "the work on each sample stays.",
        ),
        (
            samples * work,
            "That is either the work on the samples or the cost of the calls, which are equally long. "
            "The map needs time for both.",
        ),
        (
            samples * (call + work),
            f"That would be right if every sample had a call of its own. Now {size} samples share one call.",
        ),
        (
            samples / size * call + samples * work + samples * train,
            "That includes the training. The question is about the map alone.",
        ),
    ]
    why = (
        f"The map makes {samples // size} calls of {call * 1e3:g} ms, and works {work * 1e3:g} ms on "
        f"each of {samples} samples."
    )
    return {"wrong": wrong, "why": why}


def late_prefetch(early: float, none: float) -> dict[str, Any]:
    """Explain a prefetch after unbatch; before it takes *early*, without any *none*."""
    wrong = [
        (
            early,
            "That would be right if the slot held a batch. After unbatch it holds one sample of five, and "
            "while it is full no new batch is begun.",
        ),
        (
            none,
            "That is the time without a prefetch. Even after unbatch a prefetch hides one sample of "
            "each burst.",
        ),
    ]
    why = (
        "A slot before unbatch holds a whole batch, and a slot after it holds a single sample. So put the "
        "prefetch before the burst, or give it as many slots as a burst has samples."
    )
    return {"wrong": wrong, "why": why}


def first_element(*, at_most: float) -> Goal:
    """Ask for *at_most* this number of seconds until the first element of all epochs arrives."""

    def first(tried: Attempt) -> float:
        epochs = (epoch for epoch in tried.trace.epochs if epoch.arrivals)
        return next((epoch.start + epoch.arrivals[0] for epoch in epochs), inf)

    return Goal("first element after", first, milliseconds, at_most)


def vote() -> dict[str, Any]:
    """Explain how large a batch must be for a more expensive call."""
    question = (
        "A call becomes ten times as expensive. How large must a batch be now for the map to "
        "keep up with training?"
    )
    call, work, train = 0.002, 0.0001, 0.001  # seconds, as in the lesson
    left = train - work
    cheap, expensive = (cost / left for cost in (call, 10 * call))
    right = "C: about ten times as large"
    wrong = [
        (
            "A: as before",
            "A batch saves the same share of the cost of calls as before. But whether the model "
            "waits depends on the part that is left, and that is ten times as large.",
        ),
        (
            "B: three times as large",
            "That would be right if two costs had to be balanced, which leads to a square root. "
            "Here nothing is balanced, because the samples of a batch share one call.",
        ),
        (
            "D: smaller",
            "Each batch does save more now, but there is also more to save. In a smaller batch "
            "each sample pays for a larger part of the call.",
        ),
    ]
    why = (
        "The samples of a batch share one call, and training leaves "
        f"{milliseconds(left)} per sample for it. A call of {milliseconds(call)} needs {cheap:.1f} samples, "
        f"one of {milliseconds(10 * call)} needs {expensive:.1f}: "
        f"{ceil(cheap)} and {ceil(expensive)} are enough."
    )
    choices = sorted([right, *dict(wrong)])
    return {
        "question": question,
        "choices": choices,
        "answer": lambda: right,
        "wrong": wrong,
        "why": why,
    }
