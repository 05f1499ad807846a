"""The answers to the questions of lesson 08. If you look here first, you learn less."""

from typing import Any

from lessonkit import Dataset, benchmark
from lessonkit.widgets.questions.ballot import Ballot, ballot


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
            "Parallel maps work ahead by themselves: even without the prefetch they load while the model "
            "trains, and nothing takes turns any more.",
        ),
        (
            first,
            "As the first tool a prefetch saves that much. Here it is the last, behind maps that work "
            "ahead.",
        ),
        (
            everything,
            "All tools together save that much. Without the prefetch, the interleave, the parallel maps "
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
            "In the first epoch the accelerator waits until 50 samples are read. Without the batch it need "
            "not.",
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
    """Explain which of three tools to take that save more together than there is."""
    decode = augment = 0.150
    train, samples, four = 0.100, 1000, 4

    def second_epoch(
        *, calls: int | None = None, cached: bool = False, prefetched: bool = False
    ) -> float:
        """Return the seconds of a later epoch, with some of the three tools."""
        decoded = Dataset.range(samples).map(cost=decode, num_parallel_calls=calls)
        kept = decoded.cache() if cached else decoded
        dataset = kept.map(cost=augment, num_parallel_calls=calls)
        run = benchmark(dataset.prefetch(int(prefetched)), 2, train=train, record=False)
        return run.epochs[1].duration

    plain = second_epoch()
    with_calls, with_cache, with_prefetch = (
        second_epoch(calls=four),
        second_epoch(cached=True),
        second_epoch(prefetched=True),
    )
    two = second_epoch(cached=True, prefetched=True)
    step, loader = samples * train, samples * (decode + augment)
    of_calls, of_cache, of_prefetch = (
        plain - taken for taken in (with_calls, with_cache, with_prefetch)
    )
    question = (
        f"Loader and step take turns: {loader:.0f} + {step:.0f} s an epoch. You have tried three tools on "
        f"this job, each alone. Four parallel calls save {of_calls:.0f} s, a cache {of_cache:.0f} s, a "
        f"prefetch {of_prefetch:.0f} s. Your boss adds that up and wants all three. What do you put in?"
    )
    right = "A: the parallel calls"
    wrong = [
        (
            "B: all three",
            f"Together they would save {of_calls + of_cache + of_prefetch:.0f} of {plain:.0f} s. Once the "
            f"calls have brought the epoch to {with_calls:.0f} s, the other two find nothing to save, and "
            "they cost memory and code all the same.",
        ),
        (
            "C: the cache and the prefetch",
            f"They do add up, because one makes the loader shorter and the other hides the steps: {two:.0f} "
            f"s are left. That is {two - step:.0f} s above the limit, in every epoch.",
        ),
        (
            "D: nothing yet; measure all eight combinations first",
            "A measurement is worth its time if its result can change what you do. The steps need "
            f"{step:.0f} s, and {with_calls:.0f} s are reached: no combination can be better.",
        ),
    ]
    why = (
        f"With the calls an epoch takes {with_calls:.0f} s, and the steps alone need {step:.0f}: that is the "
        "limit. What the other tools saved alone is saved already. Stop there."
    )
    return ballot(question, right, wrong, why)
