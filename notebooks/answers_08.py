"""The answers to the questions of lesson 08. If you look here first, you learn less."""

from typing import Any

from lessonkit import ArtificialDataset, Dataset, benchmark
from lessonkit.widgets.questions.ballot import Ballot, ballot
from lessonkit.words import milliseconds


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
            "Look at the first epoch of the second run: Slow and Grow work above the Train bars. The "
            "parallel maps load while the model trains, so nothing takes turns any more.",
        ),
        (
            first,
            "That is what a prefetch saves as the first tool. Here it is the last, behind maps that work "
            "ahead.",
        ),
        (
            everything,
            "That is what all tools save together. Without the prefetch, the interleave, the parallel maps "
            "and the cache are still there.",
        ),
    ]
    why = "The parallel maps already work ahead of training, so nothing is left for the last tool to save."
    return {"choices": choices, "wrong": wrong, "why": why}


SLOWER = "slower, because the maps are called 50 times as often"
SAME = "no change"
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
            "A call would have to cost time. Here only the work on samples does: 1 ms and 0.1 ms each.",
        ),
        (
            SAME,
            "Look at where Train begins: in the first epoch the accelerator waits until 50 samples are read.",
        ),
        (
            MUCH,
            "That is below the limit: 500 steps of 10 ms already take 5 s.",
        ),
    ]
    why = (
        "With a batch of 50, the first sample waits for the other 49, and there is no cost per call "
        "that a batch could save."
    )
    return {"wrong": wrong, "why": why}


def vote() -> Ballot:
    """Explain what to try first."""
    small, train = ArtificialDataset(3, read=0.005).repeat(10), 0.015
    loader = benchmark(small.prefetch(1), 1, train=0).duration
    step = benchmark(Dataset.range(30), 1, train=train).duration
    both = benchmark(small.prefetch(1), 1, train=train).duration
    deep = benchmark(small.prefetch(3), 1, train=train).duration
    overlapped = milliseconds(max(loader, step))
    question = (
        f"The loader alone takes {milliseconds(loader)}, the step alone takes {milliseconds(step)}, "
        f"and both together take {milliseconds(both)}. What do you try first?"
    )
    right = "C: a deeper buffer"
    wrong = [
        (
            "A: a faster loader",
            "The loader is as fast as the step already. With full overlap both together would take about "
            f"{overlapped}, so it is the overlap that is missing.",
        ),
        (
            "B: more cores, because both want the same ones",
            f"Then the third run would be longer than both in turn, {milliseconds(loader + step)}. It is "
            "shorter, so they do overlap for a part of the time.",
        ),
        (
            "D: nothing, because loader and step are equally fast",
            f"Equally fast, and still the third run takes {milliseconds(both - max(loader, step))} longer "
            "than either. Two equal sides overlap completely only if neither has to wait for the other.",
        ),
    ]
    why = (
        f"The sum of the two is {milliseconds(loader + step)}, and with full overlap both would take "
        f"about {overlapped}. {milliseconds(both)} lies between, so loader and step overlap only in "
        f"part. Here samples come in bursts, and with three slots it is {milliseconds(deep)}. "
        "If a deeper buffer does not help, both may want the same cores."
    )
    return ballot(question, right, wrong, why)
