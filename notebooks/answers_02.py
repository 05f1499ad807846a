"""The answers to the questions of lesson 02. If you look here first, you learn less."""

from typing import Any

from lessonkit import ArtificialDataset, Dataset, benchmark
from lessonkit.words import milliseconds


def together(in_turn: Dataset, one_reader: Dataset, one_call: Dataset) -> dict[str, Any]:
    """Explain where the bars of two files are that are read at the same time."""
    once = {"num_epochs": 1}
    wrong = [
        (
            (in_turn, once),
            "That would be right if each file were opened and read only when the loop asks for it. But two "
            "readers work at the same time, and do not wait to be asked.",
        ),
        (
            (one_reader, once),
            "That would be right if one reader had to read both files. With num_parallel_calls=2 each file "
            "has a reader of its own.",
        ),
        (
            (one_call, once),
            "That would be right if the first file were read to its end before the second. With "
            "cycle_length=2 samples come from the files in turn: A0, B0, A1, B1.",
        ),
    ]
    why = "Both files are opened and read at the same time. So two files take hardly longer than one."
    return {"wrong": wrong, "why": why}


def each_sample(one_file: Dataset, in_turn: Dataset, together: Dataset) -> dict[str, Any]:
    """Explain what a sample takes if two files are read at the same time."""
    wrong = [
        (
            benchmark(in_turn).per_sample,
            "That would be right if nothing were read ahead. The run takes as long as one file, but it "
            f"gives {benchmark(in_turn).samples} samples in two epochs, not {benchmark(one_file).samples}.",
        ),
        (
            (benchmark(in_turn).duration - 2 * 0.030) / benchmark(in_turn).samples,
            "That would be right if only the openings overlapped. Each file has a reader of its own, so the "
            "reads overlap too.",
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
            "That would be right if both files were read at the same time. In turn, nothing is read ahead, "
            "because a file is opened and read only when its turn comes, and training waits for it.",
        ),
        (
            benchmark(in_turn).duration - 2 * 0.030,
            "That would be right if the two openings overlapped. But the second file is opened only when its "
            "turn comes, after the model has trained on the first sample.",
        ),
        (
            2 * benchmark(one_file.prefetch(1)).duration,
            "That would be right with a prefetch, which hides the training. Without parallel calls an "
            "interleave does nothing between two requests.",
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
            "That would be right if there were eight calls as well. There are still four.",
        ),
        (
            before,
            "That would be right if the other four files were opened ahead. But only files after the cycle "
            "are opened ahead. These four are in the cycle, and stay closed until a call is free.",
        ),
    ]
    return {
        "wrong": wrong,
        "why": "Files 4 to 7 are opened only after files 0 to 3 are done, in a second wave.",
    }


def vote() -> dict[str, Any]:
    """Explain what limits the pipeline."""
    files = Dataset.range(8)
    three = benchmark(
        files.interleave(
            lambda _: ArtificialDataset(3, open=0.300),
            cycle_length=3,
            num_parallel_calls=3,
        ),
        num_epochs=1,
    )
    training = three.busy("Train") * three.duration
    first = three.epochs[0].arrivals[0]
    question = (
        f"Eight remote files take {milliseconds(three.per_sample)} per sample with three parallel "
        "calls, and just as long with eight. What limits the pipeline now?"
    )
    right = "B: the wait for the first sample, and the accelerator"
    wrong = [
        (
            "A: the disk that the files are on",
            "No stage of this run waits for a busy disk. All eight files were open in one wave.",
        ),
        (
            "C: the number of cores",
            "That would be right if the calls computed. But waiting for storage needs no core.",
        ),
        (
            "D: the network",
            "Nothing in this run limits the bandwidth that all files share. On a real storage "
            "system something may: if throughput no longer rises when you add calls, you have "
            "found the limit.",
        ),
    ]
    why = (
        f"The first sample is there after {milliseconds(first)}, and then {three.samples} training "
        f"steps take {milliseconds(training)}, which makes {milliseconds(three.duration)}. "
        "More calls make neither of the two shorter."
    )
    choices = sorted([right, *dict(wrong)])
    return {
        "question": question,
        "choices": choices,
        "answer": lambda: right,
        "wrong": wrong,
        "why": why,
    }
