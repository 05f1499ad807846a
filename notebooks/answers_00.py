"""The answers to the questions of lesson 00. If you look here first, you learn less."""

from typing import Any

from lessonkit import ArtificialDataset, benchmark
from lessonkit.analysis import limits
from lessonkit.widgets.goals import Attempt, Goal
from lessonkit.words import milliseconds, percent


def total(
    open: float, read: float, train: float, samples: int, epochs: int
) -> dict[str, Any]:
    """Explain how long a plain loop takes."""
    wrong = [
        (
            open + epochs * samples * (read + train),
            "That would be right if the file were opened only once. But each epoch goes through the file "
            "again, and opens it again.",
        ),
        (
            open + samples * (read + train),
            "That is one epoch. The loop runs two.",
        ),
        (
            samples * (open + read + train),
            "That would be right for one epoch that opened the file for every sample. The loop runs two "
            "epochs, and each opens the file once.",
        ),
        (
            epochs * samples * (open + read + train),
            "That would be right if the file were opened for every sample. An epoch opens it once, and then "
            "reads all its samples.",
        ),
        (
            epochs * (open + samples * read),
            "Either the training or the opening is missing. Both take time, and nothing else happens "
            "during that time.",
        ),
        (
            epochs * (open + samples * read + train),
            "That would be right if samples were read while the model trains, as they are in the next "
            "lesson. This pipeline reads only when the loop asks for a sample.",
        ),
        (
            epochs * (open + samples * read) + train,
            "That would be right if all training steps but the last were hidden. Here nothing is read while "
            "the model trains, so every step counts.",
        ),
        (
            epochs * samples * read,
            "That is the reading alone. Opening and training take time too, and nothing is read during "
            "that time.",
        ),
    ]
    why = "Each epoch opens the file once, and then reads and trains three times, one after the other."
    return {"wrong": wrong, "why": why}


def busy(read: float, train: float, before: float) -> dict[str, Any]:
    """Explain the share that a model twice as fast is busy; *before* it was as large as this."""
    works = 6 * train / 2  # in two epochs of three steps
    whole = 2 * works / before - works
    wrong = [
        (
            before,
            "That is the share of the slower model. Its steps became shorter; opening and reading did not.",
        ),
        (
            2 * before,
            "A faster accelerator is not a busier one. It has the same work, finishes sooner, and waits as "
            "long as before.",
        ),
        (
            before / 2,
            "Almost. The training time is halved, but the run also becomes a little shorter. Divide by the "
            "new total.",
        ),
        (
            (train / 2) / (read + train / 2),
            "That would be right if the file were open already. The accelerator waits for that as well.",
        ),
    ]
    why = (
        f"The accelerator works for {works * 1e3:g} of {milliseconds(whole)}. The faster it is, the larger "
        "the share of time that it waits."
    )
    return {"wrong": wrong, "why": why}


def longer(open: float, read: float, train: float, samples: int) -> dict[str, Any]:
    """Explain what a sample takes in a longer file."""
    wrong = [
        (
            open / samples + read + train,
            f"That is the time with {samples} samples. The file is still opened once, and now 20 samples "
            "share that cost.",
        ),
        (
            read + train,
            "The opening is missing. Each sample still pays a twentieth of it.",
        ),
        (
            (open / samples + read + train) * samples / 20,
            "That would be right if the samples shared all costs. They share only the opening; reading and "
            "training cost the same for each sample as before.",
        ),
    ]
    why = f"A sample takes {open * 1e3:g} / 20 + {read * 1e3:g} + {milliseconds(train)}."
    return {"wrong": wrong, "why": why}


def changed(*, at_most: int) -> Goal:
    """Ask for *at_most* this number of controls that are not where they were at the start."""

    def count(tried: Attempt) -> int:
        return sum(tried.values[name] != value for name, value in tried.start.items())

    return Goal("controls changed", count, str, at_most)


def vote() -> dict[str, Any]:
    """Explain how many times as fast training can become."""
    run = benchmark(ArtificialDataset(3))
    busy, training = run.busy("Train"), limits(run).training
    question = (
        f"The accelerator is busy {percent(busy)} of the time. How many times as fast can training "
        "become with a perfect pipeline, at most?"
    )
    right = f"D: {run.duration / training:.1f} times"
    wrong = [
        (
            "A: there is no limit",
            "That would be right if training itself took no time. But its steps take "
            f"{milliseconds(training)}, whatever the pipeline does.",
        ),
        (
            f"B: {1 / (1 - busy):.1f} times",
            f"That would be right if the busy {percent(busy)} could go, 1 / {1 - busy:.3f}. "
            "But the busy time is the part that stays, and the rest can go.",
        ),
        (
            "C: 2 times",
            "Two jobs at the same time are twice as fast only if both take equally long, and "
            "here they do not. With a perfect pipeline only the training steps are left.",
        ),
    ]
    why = (
        f"The training steps take {training * 1e3:g} of the {milliseconds(run.duration)}, "
        "and no pipeline makes them shorter. "
        f"The most is {run.duration * 1e3:g} / {training * 1e3:g}."
    )
    choices = sorted([right, *dict(wrong)])
    return {
        "question": question,
        "choices": choices,
        "answer": lambda: right,
        "wrong": wrong,
        "why": why,
    }
