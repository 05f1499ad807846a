"""The answers to the questions of lesson 02. If you look here first, you learn less."""

from typing import Any

from lessonkit import Dataset, benchmark


def at_once(by_turns: Dataset, one_reader: Dataset, one_lane: Dataset) -> dict[str, Any]:
    """Explain where the bars of two files are that are read at the same time."""
    once = {"num_epochs": 1}
    wrong = [
        (
            (by_turns, once),
            "You let the files take turns, and opened and read each only when the loop asked for it. But two "
            "readers work at once, and do not wait to be asked.",
        ),
        (
            (one_reader, once),
            "You gave both files to one reader. With num_parallel_calls=2 each file has a reader of its own.",
        ),
        (
            (one_lane, once),
            "You trained on the first file to its end, and then on the second. But with cycle_length=2 the "
            "files take turns: A0, B0, A1, B1.",
        ),
    ]
    why = "Both files are opened at once and read at once. So two files take hardly longer than one."
    return {"wrong": wrong, "why": why}


def each_sample(one_file: Dataset, by_turns: Dataset, at_once: Dataset) -> dict[str, Any]:
    """Explain what a sample takes if two files are read at the same time."""
    wrong = [
        (
            benchmark(by_turns).per_sample,
            "You let the files take turns without reading ahead, or compared totals. The total is that of "
            "one file, but two files have 12 samples in two epochs, not 6.",
        ),
        (
            (benchmark(by_turns).duration - 2 * 0.030) / benchmark(by_turns).samples,
            "You overlapped only the opens. Each file has a reader of its own, so the reads overlap too.",
        ),
        (
            benchmark(at_once).per_sample / 2,
            "You halved once too often. A training step takes 10 ms, and no way of reading can be faster.",
        ),
    ]
    samples = benchmark(at_once).samples // benchmark(one_file).samples
    why = f"It takes as long as one file, and gives {samples} times as many samples."
    return {"wrong": wrong, "why": why}


def turns(one_file: Dataset, by_turns: Dataset) -> dict[str, Any]:
    """Explain how long two files take that only take turns."""
    wrong = [
        (
            benchmark(one_file).duration,
            "You read both files at the same time. Taking turns reads nothing ahead: it opens and reads a "
            "file only when its turn comes, and training waits for it.",
        ),
        (
            benchmark(by_turns).duration - 2 * 0.030,
            "You overlapped the two opens. But the second file is opened only when its turn comes, after the "
            "model has trained on the first sample.",
        ),
        (
            2 * benchmark(one_file.prefetch(1)).duration,
            "You hid the training, as prefetch does. Without parallel calls an interleave does nothing "
            "between two requests.",
        ),
    ]
    why = (
        "An epoch has two opens, six reads and six training steps, one after another: twice the work of one "
        "file, twice the time. One cook who walks from pantry to pantry gains nothing."
    )
    return {"wrong": wrong, "why": why}


def opened_early() -> dict[str, Any]:
    """Explain how many files one lane has open."""
    wrong = [
        (
            1,
            "You counted the file whose turn it is. In tf.data two more are opened ahead of it.",
        ),
        (2, "You counted one file ahead. There are two: 2 x cycle_length."),
        (8, "You let every file be opened ahead. There is a bound: 2 x cycle_length."),
    ]
    return {
        "wrong": wrong,
        "why": "One in the cycle and two ahead. That is why one lane is so much faster than none.",
    }


def more_cycle(four_of_four: Dataset) -> dict[str, Any]:
    """Explain what a cycle of eight with four calls takes."""
    before = benchmark(four_of_four, num_epochs=1).per_sample
    wrong = [
        (
            before / 2,
            "You took twice the files for twice the readers. There still are four calls.",
        ),
        (
            before,
            "You let the other four files be opened ahead. But they are in the cycle too, so they are no "
            "future files, and nobody opens them until a call is free.",
        ),
    ]
    return {
        "wrong": wrong,
        "why": "Files 4 to 7 are opened only when files 0 to 3 are done: a second wave.",
    }
