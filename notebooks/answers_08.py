"""The answers to the questions of lesson 08. If you look here first, you learn less."""

from typing import Any

from lessonkit import Dataset, benchmark


def prefetch(naive: Dataset, prefetched: Dataset, optimised: Dataset) -> dict[str, Any]:
    """Explain why the guide's job needs no prefetch.

    *naive* has no tool, *prefetched* this one alone, *optimised* all of them.
    """
    run = benchmark(optimised, 5)
    slow, one = benchmark(naive, 5).duration, benchmark(prefetched, 5).duration
    apart = benchmark(optimised, 5, train=0).duration + run.busy("Train") * run.duration
    saved = (0, apart - run.duration, slow - one, slow - run.duration)
    _, turns, first, everything = choices = [f"{seconds:.1f} s" for seconds in saved]
    wrong = [
        (
            turns,
            "You let the loading of the first epoch and training take turns. But the parallel maps work "
            "while training does.",
        ),
        (
            first,
            "That is what it saves as the first tool. Here other tools came before it.",
        ),
        (
            everything,
            "That is what all tools save. Lanes, parallel maps and the cache are still there.",
        ),
    ]
    why = "The parallel maps already work ahead of training: nothing was left for the last tool to save."
    return {"choices": choices, "wrong": wrong, "why": why}


SLOWER, SAME = "slower: the maps are called 50 times as often", "no change"
FASTER, MUCH = "faster, by less than a second", "faster, by more than a second"
CHOICES = [SLOWER, SAME, FASTER, MUCH]


def nearest(saved: float) -> str:
    """Say in words how much is *saved*, in seconds."""
    if abs(saved) < 0.05:
        return SAME
    return SLOWER if saved < 0 else FASTER if saved < 1 else MUCH


def unbatched() -> dict[str, Any]:
    """Explain the guide's pipeline without batch and unbatch."""
    wrong = [
        (
            SLOWER,
            "You expected more calls to cost more. But here a call costs nothing, only a sample does.",
        ),
        (
            SAME,
            "You took the batch for free. But in the first epoch the accelerator waits until 50 samples are "
            "read.",
        ),
        (MUCH, "You went below the limit: 500 steps of 10 ms take 5 s."),
    ]
    why = "A batch of 50 makes the first sample wait for the other 49. There was no cost per call to save."
    return {"wrong": wrong, "why": why}
