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
            "Without prefetch it takes that long. Neither job gets faster, but now samples are read while "
            "the model trains.",
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
            "You let the file open during the last step of epoch 1. A new reader starts only "
            "when the second epoch begins, after that step.",
        ),
        (
            epochs * samples * read,
            "The reads alone take that long. But the first sample of an epoch has to wait until the file is "
            "open, and nothing hides that wait.",
        ),
        (
            epochs * samples * train,
            "You counted the training steps and nothing else. A step cannot begin before its sample is "
            "read, and reading takes longer than training.",
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
            "The steps alone would take that long, with every sample there in time. A buffer hands over "
            "what was read; it cannot read faster than the file allows.",
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
            "The samples arrive in threes, within 15 ms, and then comes a gap of 30 ms for the next Open. "
            "Further slots keep samples for that gap.",
        ),
        (
            run.samples * train,
            f"No run of {run.samples} steps is shorter than that, and this one also waits for its first "
            "sample.",
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
    """Explain what a pipeline needs whose reads are slow too often for any buffer."""
    read, train = 0.004, 0.012
    every, slow = 4, 0.060
    file = ArtificialDataset(100, open=0, read=straggler(read, every=every, slow=slow))
    once, five, hundred = (
        benchmark(file.prefetch(depth), num_epochs=1, train=train).busy("Train")
        for depth in (1, 5, 100)
    )
    average = read + (slow - read) / every
    question = (
        f"Three reads of four take {milliseconds(read)}, and every fourth takes {milliseconds(slow)}; a step "
        f"takes {milliseconds(train)}. With prefetch(1) the accelerator is busy {percent(once)} of the time. "
        "What do you do?"
    )
    right = "B: find out why every fourth read is slow"
    wrong = [
        (
            f"A: prefetch({slow / train:.0f})",
            f"{slow / train:.0f} steps last as long as the slow read: the rule of the challenge, and "
            f"{percent(five)} busy. It helped there because the reader had time to fill the buffer again. "
            f"Here three reads and a slow one take {milliseconds(every * average)}, and the four steps only "
            f"{milliseconds(every * train)}: the buffer never fills.",
        ),
        (
            "C: prefetch(100)",
            f"Larger is not safer: {percent(hundred)} busy, for a hundred samples' worth of memory. A buffer "
            "hands over what was read, and the reader is behind from the start.",
        ),
        (
            "D: nothing more",
            "One slot does overlap the two jobs, and each sample still takes as long as the slower side: "
            f"{milliseconds(average)} for a read on average, {milliseconds(train)} for a step. The slower "
            "side can be mended.",
        ),
    ]
    why = (
        f"On average a read takes {milliseconds(average)}, longer than a step of {milliseconds(train)}. "
        "The reader is the slower side, and no buffer makes it faster; reading faster, or with several "
        "readers, does. Compute the average before you add a slot."
    )
    return ballot(question, right, wrong, why)
