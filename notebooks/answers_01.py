"""The answers to the questions of lesson 01. If you look here first, you learn less."""

from collections.abc import Mapping
from typing import Any

from lessonkit import Dataset, benchmark


def overlap(naive: Dataset, once: Mapping[str, Any]) -> dict[str, Any]:
    """Explain where the bars of one epoch with a prefetch are."""
    wrong = [
        (
            (naive, once),
            "You let reading and training take turns, as they do without prefetch. But the helper reads the "
            "next sample while the model trains.",
        ),
        (
            (naive.batch(3).unbatch(), once),
            "You let the helper read the whole file before the first step. But the loop takes a sample as "
            "soon as it lies in the buffer.",
        ),
    ]
    why = (
        "The helper opens the file and reads three times without a pause. Each step begins when its sample "
        "is there, so only the last one runs alone."
    )
    return {"wrong": wrong, "why": why}


def two_epochs(
    open: float, read: float, train: float, samples: int, epochs: int
) -> dict[str, Any]:
    """Explain how long several epochs take with a prefetch."""
    wrong = [
        (
            epochs * (open + samples * (read + train)),
            "You changed nothing, since no job gets faster. But the helper now reads while the model trains.",
        ),
        (
            epochs * (open + samples * (read + train)) / 2,
            "You halved the time, as two are at work. But opening and reading alone take 75 ms in each "
            "epoch, and one helper does them.",
        ),
        (
            epochs * (open + samples * read),
            "Almost. You took the longer of the two jobs, but left out the last training step of each epoch. "
            "Nothing is left to read by then, so nothing hides it.",
        ),
        (
            epochs * (open + samples * read) + train,
            "You let the second epoch open its file while the first still trains. But the loop asks for a "
            "new epoch only when it is done with the last one, and only then does a new helper begin.",
        ),
        (
            epochs * samples * read,
            "You counted the reading alone. The first sample of an epoch has to wait until the file is open, "
            "and nothing hides that.",
        ),
        (
            epochs * samples * train,
            "You counted the training alone. A step cannot begin before its sample is read, and reading "
            "takes longer than training.",
        ),
    ]
    why = "Each epoch opens the file, reads three times without a pause, and then trains on the last sample."
    return {"wrong": wrong, "why": why}


def faster(training: str, opening: str) -> dict[str, Any]:
    """Explain which job should become faster; these two of the choices are wrong."""
    wrong = [
        (
            training,
            "You chose the job that is hidden already, except for the last step of each epoch. Where jobs "
            "overlap, only the slower side counts.",
        ),
        (
            opening,
            "You chose the slower side, and that is right. But an epoch opens once and reads three times.",
        ),
    ]
    why = "Opening and reading take longer than training, and reading is the larger part of them."
    return {"wrong": wrong, "why": why}


def hundred(open: float, read: float, train: float, epochs: int) -> dict[str, Any]:
    """Explain what a hundred places do for a file of 20 samples."""
    wrong = [
        (
            epochs * 20 * train,
            "You counted the training alone. A buffer hands over what was read; it cannot read faster than "
            "the file.",
        ),
        (
            epochs * (open + 20 * train + train),
            "You read as fast as the model trains. The reader takes 15 ms for each sample, however many "
            "places wait for them.",
        ),
        (
            epochs * (open + 20 * read),
            "Almost. You left out the last step of each epoch, which still comes after the last read.",
        ),
    ]
    why = "Reading is the slower side, so the buffer is always empty, and 99 of the places are never used."
    return {"wrong": wrong, "why": why}


def bursts(small_files: Dataset) -> dict[str, Any]:
    """Explain what three places do where samples come three at a time."""
    one_place = benchmark(small_files.prefetch(1), num_epochs=1, train=0.015).duration
    wrong = [
        (
            one_place,
            "You expected no change, since all samples cost the same. But they come three at a time, with a "
            "long pause before the next three. More places save the first ones for the pause.",
        ),
        (
            30 * 0.015,
            "You counted the training alone. The wait for the very first sample remains.",
        ),
        (
            one_place / 3,
            "You divided by three, for three places. But the model takes 30 steps of 15 ms in any case.",
        ),
    ]
    return {
        "wrong": wrong,
        "why": "The samples of one file now feed the loop while the next file is opened.",
    }
