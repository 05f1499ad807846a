"""The answers to the questions of lesson 03. If you look here first, you learn less."""

from typing import Any

from lessonkit import Dataset, Trace, benchmark
from lessonkit.words import milliseconds

# Seconds, as in the lesson
OPEN = 0.030
READ = 0.015
MAP = 0.030
TRAIN = 0.010


def curve_of_calls(open: float, read: float, map: float, train: float) -> dict[str, Any]:
    """Explain the time of one of 20 samples against the number of calls, 1 to 8."""
    counts = range(1, 9)
    call = read + map  # which one of them has to itself

    def divided(*runs: Trace) -> list[float]:
        return [runs[0].per_sample / calls for calls in counts]

    def paced(calls: int) -> float:
        return (open + read + map + 19 * max(read, map / calls, train) + train) / 20

    wrong = [
        (
            divided,
            "That would be right if calls divided everything. But there is one file and one accelerator, "
            "and neither becomes faster.",
        ),
        (
            [open / 20 + read + map / calls + train for calls in counts],
            "That is a sum as in lesson 00, with a shorter map. But the calls also read and map while the "
            "model trains, so the times no longer add up.",
        ),
        (
            [paced(calls) for calls in counts],
            "That would be right if something else did the reading. In tf.data a call reads its own "
            f"sample, so two calls share {milliseconds(call)}, which makes {milliseconds(call / 2)} "
            "per sample.",
        ),
        (
            lambda *runs: [runs[0].per_sample for _ in counts],
            "That would be right if calls could not overlap. But two calls share the "
            f"{milliseconds(call)} of read and map.",
        ),
    ]
    why = (
        f"One call delivers a sample every {milliseconds(call)}, two calls every {milliseconds(call / 2)} "
        f"and three calls every {milliseconds(call / 3)}. "
        "The file cannot be read faster than that. The wait for the first sample and the last step are added."
    )
    return {"wrong": wrong, "why": why}


def two_calls(one_by_one: Dataset, one_call: Dataset) -> dict[str, Any]:
    """Explain how long two epochs of 3 samples take with two calls."""
    before = benchmark(one_by_one).duration
    wrong = [
        (
            before / 2,
            f"{milliseconds(before / 2)} would be right if two calls halved everything. But there is still "
            "one file, opened once and read sample by sample, and one accelerator.",
        ),
        (
            before - 6 * MAP / 2,
            "That is a sum as in lesson 00, with half the map. But the calls also work while the model "
            "trains, so the times no longer add up.",
        ),
        (
            2 * (OPEN + READ + MAP + 2 * max(READ, MAP / 2) + TRAIN),
            "That would be right if something else did the reading. In tf.data a call reads its own "
            f"sample, so two calls share read and map, {milliseconds(READ + MAP)} for each sample.",
        ),
        (
            benchmark(one_call).duration,
            "That is the time of a single call, which works ahead of training. Two calls share the work.",
        ),
    ]
    why = (
        "The first sample is as late as before. After it, two calls share the "
        f"{milliseconds(READ + MAP)} of read and map, so on average a sample comes every "
        f"{milliseconds((READ + MAP) / 2)}."
    )
    return {"wrong": wrong, "why": why}


def one_call(one_by_one: Dataset, two_calls: Dataset) -> dict[str, Any]:
    """Explain where the bars of an epoch with a single call are."""
    once = {"num_epochs": 1}
    wrong = [
        (
            (one_by_one, once),
            "That would be right without num_parallel_calls, where the map waits until the loop asks. Even "
            "a single call works ahead, while the model trains.",
        ),
        (
            (two_calls, once),
            "That would be right with two calls. One call reads and maps a sample before it begins the next.",
        ),
    ]
    why = "The call reads and maps the next sample while the model trains on this one, as a prefetch would."
    return {"wrong": wrong, "why": why}


def prefetch_before(two_calls: Any) -> dict[str, Any]:
    """Explain what a sample takes if a prefetch comes before the map; *two_calls* is the run without."""
    dataset, options = two_calls
    wrong = [
        (
            benchmark(dataset, **options).per_sample,
            "That is the time without the prefetch. A prefetch helps here too, because it reads while the "
            "calls map.",
        ),
        (
            READ,
            "Almost. That is the pace in the middle of an epoch. The wait for the first sample and the last "
            "training step are added to it.",
        ),
        (
            (READ + MAP) / 2 - READ,
            "That would be right if reading cost nothing. It is hidden, not gone, because one file still "
            f"gives a sample every {milliseconds(READ)}.",
        ),
    ]
    why = (
        f"Two calls deliver a sample every {milliseconds(MAP / 2)}, while the background reader reads the "
        "next ones."
    )
    return {"wrong": wrong, "why": why}


def straggler(four: Any, unordered: Any) -> dict[str, Any]:
    """Explain how long eight calls take if one sample is slow."""
    durations = [
        benchmark(dataset, **options).duration for dataset, options in (four, unordered)
    ]
    wrong = [
        (
            durations[1],
            "That would be right if other samples could overtake the slow one. They may do so only with "
            "deterministic=False.",
        ),
        (
            durations[0] / 2,
            "That would be right if twice the calls halved the time. But they do not make one slow call "
            "shorter, and all others wait for it.",
        ),
    ]
    why = (
        "The slow sample is ready after 150 ms. Then the model trains on thirteen samples, the slow one "
        "first, one after another, however many are ready."
    )
    return {"wrong": wrong, "why": why}


def vote() -> dict[str, Any]:
    """Explain what more calls of a function under the lock gain."""
    question = (
        "You have four cores. The function of the map is pure Python and holds the "
        "interpreter lock. You go from 2 to 8 parallel calls. How much faster does the map "
        "become?"
    )
    right = "A: no faster"
    wrong = [
        (
            "B: twice as fast",
            "That would be right for a function that leaves the lock alone: two calls use two of "
            "the four cores, and eight use all four. Here the lock lets only one call compute at "
            "a time.",
        ),
        (
            "C: four times as fast",
            "That would be right if every call had a core of its own, and needed no lock. Here "
            "four cores share one lock.",
        ),
        (
            "D: faster only with a prefetch after it",
            "A prefetch lets other stages work at the same time. It does not make a second lock.",
        ),
    ]
    why = (
        "With two calls, one of them is computing at any time, and the lock lets no other call "
        "compute. On real threads the map may even become slower, because threads that want the "
        "lock get in each other's way."
    )
    choices = sorted([right, *dict(wrong)])
    return {
        "question": question,
        "choices": choices,
        "answer": lambda: right,
        "wrong": wrong,
        "why": why,
    }
