"""The answers to the questions of lesson 02. If you look here first, you learn less."""

from typing import Any

from lessonkit import ArtificialDataset, Dataset, benchmark
from lessonkit.widgets.questions.ballot import Ballot, ballot
from lessonkit.words import milliseconds


def remote_file(number: int) -> Dataset:
    """Return one of the files of *Further*, which are so far away that opening one takes 300 ms."""
    return ArtificialDataset(3, open=0.300, read=0.015)


def far_away(
    calls: int = 2,
    files: int = 8,
    samples: int = 3,
    open: float = 0.300,
    read: float = 0.015,
    train: float = 0.010,
) -> tuple[Dataset, dict[str, Any]]:
    """Return an interleave of such files, with as many *calls* as files in the cycle."""

    def far_file(number: int) -> Dataset:
        return ArtificialDataset(samples, open=open, read=read)

    dataset = Dataset.range(files).interleave(
        far_file, cycle_length=calls, num_parallel_calls=calls
    )
    return dataset, {"num_epochs": 1, "train": train}


def together(in_turn: Dataset, one_reader: Dataset, one_call: Dataset) -> dict[str, Any]:
    """Explain where the bars of two files are that are read at the same time."""
    once = {"num_epochs": 1}
    wrong = [
        (
            (in_turn, once),
            "In your picture file B opens only after a Train bar, as if somebody had to ask for it. The two "
            "readers start at once, and do not wait to be asked.",
        ),
        (
            (one_reader, once),
            "Look at your Read bars: no two of them overlap, so one reader has to do them all. With "
            "num_parallel_calls=2 each file has a reader of its own.",
        ),
        (
            (one_call, once),
            "You train on A0, A1, B0, B1: first one file, then the other. With cycle_length=2 samples come "
            "from the files in turn: A0, B0, A1, B1.",
        ),
    ]
    why = "The two readers open and read side by side, so two files take hardly longer than one."
    return {"wrong": wrong, "why": why}


def each_sample(one_file: Dataset, in_turn: Dataset, together: Dataset) -> dict[str, Any]:
    """Explain what a sample takes if two files are read at the same time."""
    wrong = [
        (
            benchmark(in_turn).per_sample,
            "This spreads the time of both files, one after the other. The run takes as long as one file, "
            f"but it gives {benchmark(in_turn).samples} samples in two epochs, not "
            f"{benchmark(one_file).samples}.",
        ),
        (
            (benchmark(in_turn).duration - 2 * 0.030) / benchmark(in_turn).samples,
            "You overlapped the openings and left the reads in turn. Each file has a reader of its own, so "
            "the reads overlap too.",
        ),
        (
            benchmark(together).per_sample / 2,
            "A training step alone takes 10 ms, so no way of reading makes a sample "
            "take less than that.",
        ),
    ]
    samples = benchmark(together).samples // benchmark(one_file).samples
    why = f"The run takes as long as one file, and gives {samples} times as many samples."
    return {"wrong": wrong, "why": why}


def turns(one_file: Dataset, in_turn: Dataset) -> dict[str, Any]:
    """Explain how long two files take if their samples only come in turn."""
    wrong = [
        (
            benchmark(one_file).duration,
            "This is the time of two readers. Here there is none in the background: a file is opened and "
            "read only when its turn comes, and training waits for it.",
        ),
        (
            benchmark(in_turn).duration - 2 * 0.030,
            "You overlapped the two openings. But the second file is opened only when its turn comes, after "
            "the model has trained on the first sample.",
        ),
        (
            2 * benchmark(one_file.prefetch(1)).duration,
            "This hides the training steps, as a prefetch would. Without parallel calls an interleave does "
            "nothing between two requests.",
        ),
    ]
    why = (
        "An epoch has two openings, six reads and six training steps, one after another. That is twice the "
        "work of one file, and takes twice the time. One cook walking from pantry to pantry saves no time."
    )
    return {"wrong": wrong, "why": why}


def opened_early() -> dict[str, Any]:
    """Explain how many files one call has open."""
    wrong = [
        (
            1,
            "One file is in the cycle, and tf.data opens two more ahead of it.",
        ),
        (2, "Almost. Ahead of the cycle tf.data opens not one file but 2 × cycle_length."),
        (
            8,
            "Not all files are opened ahead, but only 2 × cycle_length of them.",
        ),
    ]
    return {
        "wrong": wrong,
        "why": "One file is in the cycle, and two are opened ahead. So one call is much faster than none.",
    }


def more_cycle(four_of_four: Dataset) -> dict[str, Any]:
    """Explain what a cycle of eight with four calls takes."""
    before = benchmark(four_of_four, num_epochs=1).per_sample
    wrong = [
        (
            before / 2,
            "A cycle of eight needs eight calls to be read in one go, and there are still four.",
        ),
        (
            before,
            "You expect the other four files to be opened ahead. Only files after the cycle are; these "
            "four are in the cycle, and stay closed until a call is free.",
        ),
    ]
    return {
        "wrong": wrong,
        "why": "Files 4 to 7 are opened only after files 0 to 3 are done, in a second wave.",
    }


def vote() -> Ballot:
    """Explain how many requests have to be in flight for a step of many images."""
    images, step, answers, cores = 256, 0.320, 0.150, 8
    rate = images / step
    needed = round(rate * answers)
    question = (
        f"Each image is a file of its own, and the object store answers after {milliseconds(answers)}. "
        f"A step takes {milliseconds(step)} for {images} images. How many requests have to be in flight so "
        "that the step never waits?"
    )
    right = f"C: {needed}"
    wrong = [
        (
            f"A: {cores}, on {cores} cores",
            "A request that waits needs no core, so cores are not what bounds it. With "
            f"{cores} in flight, {cores} / {answers:g} = {cores / answers:.0f} images arrive per second, and "
            f"the step takes {rate:.0f}.",
        ),
        (
            f"B: {images * answers:.0f}",
            f"{images} × {answers:g} s would do if a step took a whole second. It takes "
            f"{milliseconds(step)}: {images} / {step:g} = {rate:.0f} images per second.",
        ),
        (
            "D: no number is enough",
            "The latency is longer than an image may take, true. But it bounds what one request gives. "
            f"Many can wait side by side: {needed} / {answers:g} = {needed / answers:.0f} images per second.",
        ),
    ]
    why = (
        f"The step takes {images} / {step:g} = {rate:.0f} images per second, and each request lasts "
        f"{answers:g} s: {rate:.0f} × {answers:g} = {needed}. That is Little's law from right to left. "
        "Nobody wants so many processes; ten images in a file need a tenth of the requests."
    )
    return ballot(question, right, wrong, why)
