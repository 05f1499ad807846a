"""The answers to the questions of lesson 01. If you look here first, you learn less."""

from collections.abc import Mapping
from typing import Any

from lessonkit import ArtificialDataset, Dataset, benchmark
from lessonkit.words import milliseconds


def overlap(naive: Dataset, once: Mapping[str, Any]) -> dict[str, Any]:
    """Explain where the bars of one epoch with a prefetch are."""
    wrong = [
        (
            (naive, once),
            "That would be right without prefetch, where reading and training take turns. The background "
            "reader fetches the next sample while the model trains.",
        ),
        (
            (naive.batch(3).unbatch(), once),
            "That would be right if the whole file were read before the first step. The loop takes a sample "
            "as soon as it is in the buffer.",
        ),
    ]
    why = (
        "The background reader opens the file and reads three times without a pause. Each step begins when "
        "its sample is there, so only the last one runs alone."
    )
    return {"wrong": wrong, "why": why}


def two_epochs(
    open: float, read: float, train: float, samples: int, epochs: int
) -> dict[str, Any]:
    """Explain how long several epochs take with a prefetch."""
    in_turn, loading = open + samples * (read + train), open + samples * read
    wrong = [
        (
            epochs * in_turn,
            "That is the time without prefetch. Neither job gets faster, but now samples are read while the "
            "model trains.",
        ),
        (
            epochs * in_turn / 2,
            f"{milliseconds(epochs * in_turn / 2)} would be right if the two jobs took equally long. But "
            f"opening and reading alone take {milliseconds(loading)} in each epoch, and a single reader does "
            "both.",
        ),
        (
            epochs * loading,
            "Almost. That is the longer of the two jobs, without the last training step of each epoch. "
            "Nothing is left to read during that step, so nothing hides it.",
        ),
        (
            epochs * loading + train,
            "That would be right if the file were opened for the second epoch during the first. But a new "
            "reader starts only when the second epoch begins, after the last step of the first.",
        ),
        (
            epochs * samples * read,
            "That is the reading alone. The first sample of an epoch has to wait until the file is open, "
            "and nothing hides that wait.",
        ),
        (
            epochs * samples * train,
            "That is the training alone. A step cannot begin before its sample is read, and reading takes "
            "longer than training.",
        ),
    ]
    why = "Each epoch opens the file, reads three times without a pause, and then trains on the last sample."
    return {"wrong": wrong, "why": why}


def faster(training: str, opening: str) -> dict[str, Any]:
    """Explain which job should become faster; these two of the choices are wrong."""
    wrong = [
        (
            training,
            "Training is hidden already, except for the last step of each epoch. If jobs overlap, only the "
            "slower side counts.",
        ),
        (
            opening,
            "Opening does belong to the slower side. But an epoch opens the file once and reads three "
            "times.",
        ),
    ]
    why = "Opening and reading take longer than training, and reading is the larger part of them."
    return {"wrong": wrong, "why": why}


def hundred(open: float, read: float, train: float, epochs: int) -> dict[str, Any]:
    """Explain what a hundred slots do for a file of 20 samples."""
    wrong = [
        (
            epochs * 20 * train,
            "That is the training alone. A buffer hands over what was read; it cannot read faster than the "
            "file allows.",
        ),
        (
            epochs * (open + 20 * train + train),
            "That would be right if reading were as fast as training. The reader takes "
            f"{milliseconds(read)} per sample, however many slots there are.",
        ),
        (
            epochs * (open + 20 * read),
            "Almost. The last step of each epoch is missing; it comes after the last read.",
        ),
    ]
    why = (
        "Reading is the slower side, so the loop takes each sample as soon as it is read, and 99 of the "
        "slots are never used."
    )
    return {"wrong": wrong, "why": why}


def bursts(small_files: Dataset) -> dict[str, Any]:
    """Explain what three slots do if samples come three at a time."""
    train = 0.015
    run = benchmark(small_files.prefetch(1), num_epochs=1, train=train)
    one_slot = run.duration
    wrong = [
        (
            one_slot,
            "That would be right if samples arrived evenly. They come three at a time, with a long pause "
            "before the next three. Further slots keep samples for that pause.",
        ),
        (
            run.samples * train,
            "That is the training alone. The wait for the very first sample remains.",
        ),
        (
            one_slot / 3,
            f"Three slots do not make a run three times as fast: {run.samples} training steps of "
            f"{milliseconds(train)} remain in any case.",
        ),
    ]
    return {
        "wrong": wrong,
        "why": "The samples of one file now feed the loop while the next file is opened.",
    }


def vote() -> dict[str, Any]:
    """Explain which step is the best one next."""
    twenty = ArtificialDataset(20)
    loader = milliseconds(benchmark(twenty, train=0).duration)
    training = milliseconds(benchmark(Dataset.range(20)).duration)
    both = milliseconds(benchmark(twenty.prefetch(1)).duration)
    question = (
        f"The loader alone takes {loader}, the training alone takes {training}, and both together "
        f"take {both}. What is the best next step?"
    )
    right = "A: make reading faster, or read in parallel"
    wrong = [
        (
            "B: use a larger buffer",
            "That would be right if the loader were fast enough on average. Here it is the "
            "slower side, so the buffer is always empty, and further slots would be empty too.",
        ),
        (
            "C: buy a faster GPU",
            "That would be right if loading and training took turns. Here loading already hides "
            "the training, and a faster GPU only leaves less to hide.",
        ),
        (
            "D: nothing, because it cannot be better",
            "That holds as long as both sides stay as they are. But the slower side can be made "
            f"faster, and the run could come down to about {training}.",
        ),
    ]
    why = (
        "Both together take about as long as the loader alone. So the loader is the slower side, "
        "and only a faster loader saves time."
    )
    choices = sorted([right, *dict(wrong)])
    return {
        "question": question,
        "choices": choices,
        "answer": lambda: right,
        "wrong": wrong,
        "why": why,
    }
