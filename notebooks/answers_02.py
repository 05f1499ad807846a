"""The answers to the questions of lesson 02. If you look here first, you learn less."""

from typing import Any

from lessonkit import ArtificialDataset, Dataset, benchmark
from lessonkit.widgets.questions.ballot import Ballot, ballot
from lessonkit.words import milliseconds


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
    why = "Both files are opened and read at the same time. So two files take hardly longer than one."
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
            "That is shorter than a training step. A step takes 10 ms, so no way of reading makes a sample "
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
            "That is the file whose turn it is. In tf.data two more are opened ahead of it.",
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
            "You expect the other four files to be opened ahead. Only files *after* the cycle are; these "
            "four are in the cycle, and stay closed until a call is free.",
        ),
    ]
    return {
        "wrong": wrong,
        "why": "Files 4 to 7 are opened only after files 0 to 3 are done, in a second wave.",
    }


def vote() -> Ballot:
    """Explain what limits the pipeline once the step is five times as fast."""
    step = 0.002
    run = benchmark(
        Dataset.range(8).interleave(
            lambda _: ArtificialDataset(3, open=0.300, read=0.015),
            cycle_length=8,
            num_parallel_calls=8,
        ),
        num_epochs=1,
        train=step,
    )
    first = milliseconds(run.epochs[0].arrivals[0])
    question = (
        "All eight remote files are read at once, and a new accelerator needs 2 ms for a step instead of "
        f"10. The epoch of 24 samples now takes {milliseconds(run.duration)}. What would shorten it most?"
    )
    right = "C: files that open twice as fast"
    wrong = [
        (
            "A: sixteen calls, because the loader is the slower side now",
            "All eight files opened in the first wave. Calls nine to sixteen find no file to read.",
        ),
        (
            "B: an even faster accelerator, because every step counts",
            f"Its 24 steps take {milliseconds(24 * step)} in all, and most of them already hide behind "
            "reads.",
        ),
        (
            "D: a storage system with twice the bandwidth for all readers",
            f"The bytes are not what you wait for. The first sample arrives after {first}, nearly all of it "
            "the time until a file is open, and no bandwidth shortens that.",
        ),
    ]
    why = (
        f"The first sample arrives after {first}, of which 300 ms are the opening. In one wave you "
        "pay the latency once; this is that once."
    )
    return ballot(question, right, wrong, why)
