"""The answers to the questions of lesson 07. If you look here first, you learn less."""

from typing import Any

from lessonkit import AUTOTUNE, ArtificialDataset, Machine, benchmark
from lessonkit.optimize import autotune
from lessonkit.words import milliseconds


def first(open: float, read: float, work: float) -> dict[str, Any]:
    """Explain when two calls deliver the first sample."""
    wrong = [
        (
            (open + read + work) / 2,
            "That would be right if two calls shared a sample. But each call works on a sample of its own.",
        ),
        (
            open + read + work / 2,
            "That would be right if both calls mapped the first sample. But the second call works "
            "on the second sample.",
        ),
        (
            open + read,
            "That is the time without the map. But the first sample has to be mapped, too.",
        ),
        (
            open + read + work + read,
            "That would be right if the first sample waited for the second. But it arrives when "
            "its own call is done.",
        ),
    ]
    why = (
        "The file has to be opened, and then the first sample read and mapped. More calls do not shorten "
        "that."
    )
    return {"wrong": wrong, "why": why}


def plateau(one: float, two: float, work: float) -> dict[str, Any]:
    """Explain a second call for one of two maps; *one* is with a call each, *two* with two each."""
    wrong = [
        (
            one / 2,
            "That would be right if everything became twice as fast. But Augment still has one "
            f"call, and finishes one sample every {milliseconds(work)}.",
        ),
        (
            two,
            "That would be right if both maps had a second call. But Augment has one, and "
            f"finishes one sample every {milliseconds(work)}.",
        ),
        (
            one - work / 2,
            "That would be right if the two maps took turns. But they work at the same time, and "
            "the slower one is the bottleneck.",
        ),
    ]
    why = (
        f"Augment still needs {milliseconds(work)} per sample. If two maps are equally slow, one faster "
        "map gains nothing."
    )
    return {"wrong": wrong, "why": why}


def fused(apart: float, two: float) -> dict[str, Any]:
    """Explain one map that replaces two; *apart* is the time of the two, *two* that with two calls."""
    wrong = [
        (
            apart,
            "That would be right if the same work took the same time. But the two maps worked "
            "on two samples at the same time.",
        ),
        (
            apart - 40 * 0.020,
            "That would be right if fusing removed work. But 20 ms and 20 ms are still 40 ms, "
            "and now one call does all of it.",
        ),
        (
            two,
            "That is the time with two calls in the fused map. But the rule leaves it one call.",
        ),
    ]
    why = "The fused call takes 15 + 40 ms per sample. Before, the two maps worked at the same time."
    return {"wrong": wrong, "why": why}


def vote() -> dict[str, Any]:
    """Explain why the tuner missed the better pipeline."""
    file = ArtificialDataset(20)
    written = file.map(cost=0.030, num_parallel_calls=AUTOTUNE).prefetch(AUTOTUNE)
    reached = benchmark(autotune(written, Machine(cores=2)).dataset).per_sample
    possible = milliseconds(
        benchmark(file.prefetch(1).map(cost=0.030, num_parallel_calls=2)).per_sample
    )
    question = (
        f"With two calls AUTOTUNE reached {milliseconds(reached, 2)} per sample. "
        f"{possible} is possible with two calls. Why did AUTOTUNE not find that?"
    )
    right = "A: it changes numbers, never the order or the operators"
    wrong = [
        (
            "B: it stopped after too few steps",
            "It tried every number of calls and slots. More steps would only repeat them.",
        ),
        (
            "C: its measurements are noisy",
            "That is true of the real AUTOTUNE, but it is not the reason. The tuner of this "
            f"lesson runs on an exact clock, and misses {possible} too.",
        ),
        (
            "D: there was not enough memory",
            "The tuner had no budget of memory, and the better pipeline holds no more elements "
            "than the tuned one.",
        ),
    ]
    why = f"For {possible} a prefetch has to come before the map, and no number moves it there."
    choices = sorted([right, *dict(wrong)])
    return {
        "question": question,
        "choices": choices,
        "answer": lambda: right,
        "wrong": wrong,
        "why": why,
    }
