"""The answers to the questions of lesson 00. If you look here first, you learn less."""

from typing import Any

from lessonkit.widgets.goals import Attempt, Goal


def total(
    open: float, read: float, train: float, samples: int, epochs: int
) -> dict[str, Any]:
    """Explain how long a plain loop takes."""
    wrong = [
        (
            open + epochs * samples * (read + train),
            "You opened the file once. But each epoch goes over the file anew, and opens it again.",
        ),
        (
            open + samples * (read + train),
            "You counted one epoch. The loop runs two.",
        ),
        (
            epochs * samples * (open + read + train),
            "You opened the file for every sample. An epoch opens it once, and then reads all its samples.",
        ),
        (
            epochs * (open + samples * read),
            "You left out the training, or the opening. Both take time, and nothing else happens meanwhile.",
        ),
        (
            epochs * (open + samples * read + train),
            "You let somebody read while the model trains. That is a good idea, and the next lesson. "
            "This pipeline reads only when the loop asks for a sample.",
        ),
        (
            epochs * (open + samples * read) + train,
            "You hid all training steps but the last. Here nobody reads while the model trains, so every "
            "step counts.",
        ),
        (
            epochs * samples * read,
            "You counted the reading alone. Opening and training take time too, and nothing else happens "
            "meanwhile.",
        ),
    ]
    why = "Each epoch opens the file once, then reads and trains three times, one thing after another."
    return {"wrong": wrong, "why": why}


def busy(read: float, train: float, before: float) -> dict[str, Any]:
    """Explain the share that a model twice as fast is busy; *before* it was as large as this."""
    wrong = [
        (
            before,
            "You kept the share of the slower model. Its steps became shorter; opening and reading did not.",
        ),
        (
            2 * before,
            "You took a faster accelerator for a busier one. It has the same work, finishes sooner, and "
            "waits as long as before.",
        ),
        (
            before / 2,
            "Almost. You halved the training time but kept the old total. The total shrinks a little too: "
            "divide by the new one.",
        ),
        (
            (train / 2) / (read + train / 2),
            "You left out the opening of the file. The accelerator waits for that as well.",
        ),
    ]
    why = "The accelerator works for 30 ms of 180. The faster it is, the larger the share of time it waits."
    return {"wrong": wrong, "why": why}


def longer(open: float, read: float, train: float, samples: int) -> dict[str, Any]:
    """Explain what a sample takes in a longer file."""
    wrong = [
        (
            open / samples + read + train,
            "You kept the time of 3 samples. The file is still opened once, and now 20 samples share that.",
        ),
        (
            read + train,
            "You left out the opening. It has not vanished: each sample bears a twentieth of it.",
        ),
        (
            (open / samples + read + train) * samples / 20,
            "You shared out everything. Only the opening is shared; every sample is still read, and trained "
            "on, by itself.",
        ),
    ]
    return {"wrong": wrong, "why": "30 / 20 + 15 + 10."}


def changed(*, at_most: int) -> Goal:
    """Ask for *at_most* this number of controls that are not where they were at the start."""

    def count(tried: Attempt) -> int:
        return sum(tried.values[name] != value for name, value in tried.start.items())

    return Goal("controls changed", count, str, at_most)
