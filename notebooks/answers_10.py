"""The answers to the questions of lesson 10. If you look here first, you learn less."""

from collections.abc import Callable
from functools import cache
from itertools import groupby, pairwise
from random import Random
from typing import Any

from lessonkit import Trace, benchmark
from lessonkit.widgets.goals import Attempt, Goal
from lessonkit.widgets.questions.ballot import Ballot, ballot
from lessonkit.words import milliseconds

__all__ = [
    "around",
    "bandwidth",
    "busy_after_first",
    "late",
    "late_steps",
    "not_once",
    "per_step",
    "shared",
    "slow_share",
    "slower",
    "sometimes_slow",
    "step_of",
    "stretches",
    "together",
]


def sometimes_slow(
    rank: int, usual: float, slow: float, one_in: int
) -> Callable[[int], float]:
    """Return the cost of each fetch on a *rank*: *usual*, but by chance *slow* for one in *one_in*."""
    return lambda step: slow if chance(1000 * rank + step) < 1 / one_in else usual


@cache
def chance(seed: int) -> float:
    """Return a random number from 0 to 1, always the same for a *seed*, because sliders ask again."""
    return Random(seed).random()


def per_step(trace: Trace) -> float:
    """Return the seconds that a step takes on average."""
    return trace.duration / sum(epoch.count for epoch in trace.epochs)


def step_of(recipe: tuple[Callable[[int], Any], dict[str, Any]]) -> float:
    """Return the seconds that a step of several machines takes on average."""
    pipeline, options = recipe
    return per_step(benchmark(pipeline, record=0, **options).traces[0])  # one is enough


def slow_share(recipe: tuple[Callable[[int], Any], dict[str, Any]]) -> float:
    """Return the share of the steps for which some rank fetched slowly, which are half as long again."""
    pipeline, options = recipe
    ends = [
        0.0,
        *(step.end_ns / 1e9 for step in benchmark(pipeline, record=0, **options).steps),
    ]
    usual = 0.005 + options["train"]
    late = [after - before > 1.5 * usual for before, after in pairwise(ends)]
    return sum(late) / len(late)


SAME, TENTH, HALF, EIGHT = (
    "as long as on one machine",
    "about a tenth longer",
    "1.5 to 2 times as long",
    "eight times as long",
)


def slower(one: Trace, eight: Trace) -> str:
    """Say in words how long eight machines take, compared with one."""
    share = eight.duration / one.duration
    return SAME if share < 1.02 else TENTH if share < 1.3 else HALF if share < 2 else EIGHT


def together() -> dict[str, Any]:
    """Explain what one slow fetch costs eight machines."""
    wrong = [
        (
            SAME,
            "Then machines would not wait for each other. They do: in every late step seven of eight wait "
            "for the one that is late.",
        ),
        (
            TENTH,
            "That is what the average fetch says, 7.2 ms instead of 5. A step takes as long as the slowest "
            "of eight, and that is 50 ms in every third step.",
        ),
        (
            EIGHT,
            "Slow fetches would have to add up. In each step the ranks fetch in parallel, and of two fetches "
            "of 50 ms one covers the other.",
        ),
    ]
    why = (
        "One fetch in 20 is slow, so in about every third step at least one of eight fetches is "
        "slow, and all ranks wait for it."
    )
    choices = [SAME, TENTH, HALF, EIGHT]
    return {"answer": slower, "choices": choices, "wrong": wrong, "why": why}


def shared(read: float, step: float, machines: int) -> dict[str, Any]:
    """Explain how long a step takes when all machines read from one storage system."""
    wrong = [
        (
            step,
            f"Each machine would need a storage system of its own. Together the {machines} ask for "
            f"{2 * machines} MB in each step, and in {milliseconds(step)} this one delivers {400 * step:g}.",
        ),
        (
            read,
            "One machine reads that fast, if it is alone. Each of eight gets an eighth of the "
            f"bandwidth, and needs eight times as long: {milliseconds(machines * read)}.",
        ),
        (
            machines * read + step,
            "You added the step. With the prefetch, reading and training overlap, and the longer one counts.",
        ),
        (
            read + step,
            "You have one machine, without a prefetch. Eight of them want 16 MB in that time, and the "
            f"storage system delivers {400 * (read + step):g}.",
        ),
    ]
    why = (
        "Reading eight times 2 MB at 400 MB per second takes "
        f"{milliseconds(machines * read)}. The {milliseconds(step)} of training are hidden behind that."
    )
    return {"answer": per_step, "wrong": wrong, "why": why}


def working(trace: Trace, step: float) -> float:
    """Return the share of the time after the first step in which an accelerator works."""
    arrivals = trace.epochs[0].arrivals
    return step * (len(arrivals) - 1) / (arrivals[-1] - arrivals[0])


def busy_after_first(recipe: tuple[Callable[[int], Any], dict[str, Any]]) -> float:
    """Return the share of the time after the first step in which the accelerators work."""
    pipeline, options = recipe
    return working(benchmark(pipeline, record=0, **options).traces[0], options["train"])


AS_WITHOUT, FEWER, NONE = (
    "as many as without that delay",
    "some, but fewer",
    "not even one",
)


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
            "Only bytes would have to count. Each of four readers waits 20 ms before a byte comes.",
        ),
        (
            FEWER,
            "Accelerators would have to share the delay. Each one waits for its own first bytes, even if "
            "it is alone.",
        ),
    ]
    why = (
        "Four readers that wait 20 ms each fetch less than 200 files per second, and an "
        "accelerator that is busy 70 % of the time needs 200."
    )
    return {
        "answer": answer,
        "choices": [AS_WITHOUT, FEWER, NONE],
        "wrong": wrong,
        "why": why,
    }


def around(rank: int, mean: float, spread: float) -> Callable[[int], float]:
    """Return the cost of each fetch on a *rank*: by chance, about *mean*."""
    return lambda step: max(0.0005, Random(1000 * rank + step).gauss(mean, spread))


def late_steps(found: Any, step: float) -> list[int]:
    """Return the rank that was waited for in each step that took longer than *step*."""
    ends = [0.0, *(one.end_ns / 1e9 for one in found.steps)]
    slowest = [one.slowest for one in found.steps]
    pairs = zip(slowest, pairwise(ends), strict=True)
    return [rank for rank, (before, after) in pairs if after - before > step + 1e-6]


def stretches(ranks: list[int]) -> int:
    """Return the number of stretches of the same rank in a list."""
    return sum(1 for _ in groupby(ranks))


def not_once(job: Callable[..., Any], samples: int) -> Callable[[Any], int]:
    """Return a measure for a goal: how many *samples* the ranks of a *job* miss or repeat."""

    def measure(attempt: Any) -> int:
        pipeline, options = job(**attempt.values)
        traces = benchmark(pipeline, **options).traces
        seen = [sample for trace in traces for sample in trace.epochs[0].elements]
        return samples - len(set(seen)) + len(seen) - len(set(seen))

    return measure


def bandwidth(*, at_most: float) -> Goal:
    """Ask for *at_most* this number of bytes per second from the storage system."""

    def bought(tried: Attempt) -> float:
        return float(tried.values["bandwidth"])

    def text(per_second: float) -> str:
        return f"{per_second / 1e6:g} MB/s"

    return Goal("bandwidth", bought, text, at_most)


def vote() -> Ballot:
    """Explain what makes eight ranks slow whose waits are seen."""
    question = (
        "On eight ranks a step of 20 ms takes 40 ms. You log the waits: every rank waits for data in "
        "every step, and nearly equally long. On one machine alone, no step waits. What do you do first?"
    )
    right = "C: keep a copy of the data on each machine"
    wrong = [
        (
            "A: a deeper prefetch on each machine",
            "A buffer bridges delays that are rare. Here a step uses a batch up in 20 ms and gets the next "
            "one after 40: eight slots are empty after sixteen steps, and then all is as before.",
        ),
        (
            "B: more workers on each machine",
            "One machine alone is fast enough with the workers that it has. Together they all ask the same "
            "storage system, and more of them ask for the same bytes per second.",
        ),
        (
            "D: find the slow rank, and replace it",
            "A slow rank waits, and the others wait for it, not for data. Here all wait for data alike, so "
            "the delay is in what they share.",
        ),
    ]
    why = (
        "What is late in every step, on all ranks alike, and only when they are many, is what they share: "
        "the storage system has no bandwidth left. Read fewer bytes from it: a copy on the machines' own "
        "disks, smaller images, compressed files."
    )
    return ballot(question, right, wrong, why)
