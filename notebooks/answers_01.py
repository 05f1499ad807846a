"""The answers to the questions of lesson 01. If you look here first, you learn less."""

from collections.abc import Mapping
from typing import Any

from lessonkit import ArtificialDataset, Dataset, benchmark, straggler
from lessonkit.widgets.questions.ballot import Ballot, ballot
from lessonkit.words import milliseconds, percent


def overlap(naive: Dataset, once: Mapping[str, Any]) -> dict[str, Any]:
    """Explain where the bars of one epoch with a prefetch are."""
    wrong = [
        (
            (naive, once),
            "In your picture no Read bar lies above a Train bar, so nothing overlaps. The background reader "
            "fetches the next sample while the model trains.",
        ),
        (
            (naive.batch(3).unbatch(), once),
            "Your first Train bar waits for all three Read bars. It needs only the first: the loop takes a "
            "sample as soon as it is in the buffer.",
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
            "Look at the last step of epoch 1: you let the file open during it. A new reader starts only "
            "when the second epoch begins, after that step.",
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
            f"This lets a read take {milliseconds(train)}. It takes {milliseconds(read)} per sample, however "
            "many slots wait for it.",
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
            "Look at the arrivals: three samples within 15 ms, and then a gap of 30 ms for the next Open. "
            "Further slots keep samples for that gap.",
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


def vote() -> Ballot:
    """Explain what a colleague's pipeline needs that prefetches and still waits."""
    read, train = 0.004, 0.012
    every, slow = 10, 0.060
    file = ArtificialDataset(100, open=0, read=straggler(read, every=every, slow=slow))
    shallow, deep = (
        benchmark(file.prefetch(depth), num_epochs=1, train=train).busy("Train")
        for depth in (1, 5)
    )
    question = (
        f"A read takes {milliseconds(read)}, but every tenth takes {milliseconds(slow)}; a step takes "
        f"{milliseconds(train)}. With prefetch(1) the accelerator is busy {percent(shallow)} of the time. "
        "Four colleagues know what to do. Who is right?"
    )
    right = "B: prefetch(5), as long as the slow read"
    average = read + (slow - read) / every
    wrong = [
        (
            "A: a faster disk, because the loader is the slower side",
            f"Only every tenth read is slow. On average a read takes {milliseconds(average)}, less than a "
            "step, so the reader has time to get ahead. It lacks the room to keep what it has read.",
        ),
        (
            "C: prefetch(100), because more is safer and costs nothing",
            f"Five slots already keep the accelerator busy {percent(deep)} of the time. The other 95 are "
            "filled as well, with samples that sit in memory and shorten no wait.",
        ),
        (
            "D: nothing, because one slot already overlaps the two jobs",
            "One slot feeds one step. While the slow read runs, the other steps that could have hidden "
            "it find the buffer empty.",
        ),
    ]
    why = (
        f"The reader is faster on average ({milliseconds(average)}), so it fills any buffer between two "
        f"slow reads. Five steps of {milliseconds(train)} last {milliseconds(5 * train)}, as long as the "
        f"slow read takes: {percent(deep)} busy."
    )
    return ballot(question, right, wrong, why)
