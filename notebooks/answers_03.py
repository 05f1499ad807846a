"""The answers to the questions of lesson 03. If you look here first, you learn less."""

from typing import Any

from lessonkit import Dataset, Trace, benchmark
from lessonkit.widgets.questions.ballot import Ballot, ballot
from lessonkit.widgets.questions.gain import gain_in
from lessonkit.words import milliseconds

# Seconds, as in the lesson
OPEN = 0.030
READ = 0.015
MAP = 0.030
TRAIN = 0.010


def curve_of_calls(open: float, read: float, map: float, train: float) -> dict[str, Any]:
    """Explain the time of one of 20 samples against the number of calls, 1 to 8."""
    counts = range(1, 9)
    call = read + map  # which one of them has to itself

    def divided(*runs: Trace) -> list[float]:
        return [runs[0].per_sample / calls for calls in counts]

    def paced(calls: int) -> float:
        return (open + read + map + 19 * max(read, map / calls, train) + train) / 20

    wrong = [
        (
            divided,
            "Your curve still falls at eight calls. There is one file and one accelerator, and neither "
            "becomes faster: below 15 ms per sample there is nothing to read.",
        ),
        (
            [open / 20 + read + map / calls + train for calls in counts],
            "You added as in lesson 00, with a shorter map. But the calls also read and map while the "
            "model trains, so the times no longer add up.",
        ),
        (
            [paced(calls) for calls in counts],
            "Look at two calls: you gave the reading to somebody else. In tf.data a call reads its own "
            f"sample, so two calls share {milliseconds(call)}, which makes {milliseconds(call / 2)} "
            "per sample.",
        ),
        (
            lambda *runs: [runs[0].per_sample for _ in counts],
            "A flat line says that calls cannot overlap. But two calls share the "
            f"{milliseconds(call)} of read and map.",
        ),
    ]
    why = (
        f"One call delivers a sample every {milliseconds(call)}, two calls every {milliseconds(call / 2)} "
        f"and three calls every {milliseconds(call / 3)}. "
        "The file cannot be read faster than that. The wait for the first sample and the last step are added."
    )
    return {"wrong": wrong, "why": why}


def two_calls(one_by_one: Dataset, one_call: Dataset) -> dict[str, Any]:
    """Explain how long two epochs of 3 samples take with two calls."""
    before = benchmark(one_by_one).duration
    wrong = [
        (
            before / 2,
            f"{milliseconds(before / 2)} is half of everything. But there is still one file, opened once and "
            "read sample by sample, and one accelerator.",
        ),
        (
            before - 6 * MAP / 2,
            "Half the map, in a sum as in lesson 00. But the calls also work while the model "
            "trains, so the times no longer add up.",
        ),
        (
            2 * (OPEN + READ + MAP + 2 * max(READ, MAP / 2) + TRAIN),
            "You let something else read. In tf.data a call reads its own "
            f"sample, so two calls share read and map, {milliseconds(READ + MAP)} for each sample.",
        ),
        (
            benchmark(one_call).duration,
            "A single call takes that long, because it works ahead of training. Two calls share the work.",
        ),
    ]
    why = (
        "The first sample is as late as before. After it, two calls share the "
        f"{milliseconds(READ + MAP)} of read and map, so on average a sample comes every "
        f"{milliseconds((READ + MAP) / 2)}."
    )
    return {"wrong": wrong, "why": why}


def one_call(one_by_one: Dataset, two_calls: Dataset) -> dict[str, Any]:
    """Explain where the bars of an epoch with a single call are."""
    once = {"num_epochs": 1}
    wrong = [
        (
            (one_by_one, once),
            "None of your Map bars lies above a Train bar, so nothing works ahead. Even a single call does, "
            "while the model trains.",
        ),
        (
            (two_calls, once),
            "Two of your Map bars overlap, which takes two calls. One call reads and maps a sample before it "
            "begins the next.",
        ),
    ]
    why = "The call reads and maps the next sample while the model trains on this one, as a prefetch would."
    return {"wrong": wrong, "why": why}


def prefetch_before(two_calls: Any) -> dict[str, Any]:
    """Explain what a sample takes if a prefetch comes before the map; *two_calls* is the run without."""
    dataset, options = two_calls
    wrong = [
        (
            benchmark(dataset, **options).per_sample,
            "Nothing changed, then? A prefetch helps here too, because it reads while the calls map.",
        ),
        (
            READ,
            "Almost. That is the pace in the middle of an epoch. The wait for the first sample and the last "
            "training step are added to it.",
        ),
        (
            (READ + MAP) / 2 - READ,
            "You took the reading away. It is hidden, not gone: one file still gives a sample "
            f"every {milliseconds(READ)}.",
        ),
    ]
    why = (
        f"Two calls deliver a sample every {milliseconds(MAP / 2)}, while the background reader reads the "
        "next ones."
    )
    return {"wrong": wrong, "why": why}


def straggler(four: Any, unordered: Any) -> dict[str, Any]:
    """Explain how long eight calls take if one sample is slow."""
    durations = [
        benchmark(dataset, **options).duration for dataset, options in (four, unordered)
    ]
    wrong = [
        (
            durations[1],
            "You let other samples overtake the slow one. They may do so only with deterministic=False.",
        ),
        (
            durations[0] / 2,
            "Twice the calls do not make one slow call shorter, and all others wait for it.",
        ),
    ]
    why = (
        "The slow sample is ready after 150 ms. Then the model trains on thirteen samples, the slow one "
        "first, one after another, however many are ready."
    )
    return {"wrong": wrong, "why": why}


GAINS = {1.0: "not at all", 1.5: "1.5 times", 2.0: "twice", 2.4: "2.4 times"}
NOT, HALF_MORE, TWICE, STEP = GAINS.values()
nearest = gain_in(GAINS)


def more_cores(cores: int, decode: float, label: float, train: float) -> dict[str, Any]:
    """Explain what twice the *cores* do for images that a core decodes and Python labels."""
    each = decode + label
    now, then, lock, step = cores / each, 2 * cores / each, 1 / label, 1 / train
    wrong = [
        (
            NOT,
            f"{cores} cores do {cores} × 1,000 ms of work in a second, and an image needs "
            f"{milliseconds(each)} of it: {now:.0f} images per second. The GIL and the step would let "
            "more pass, so more cores do help.",
        ),
        (
            TWICE,
            f"Twice the cores would allow {then:.0f} images per second. But each image also holds the GIL "
            f"for {milliseconds(label)}, and a process has one: 1,000 / {1e3 * label:g} = {lock:.0f}.",
        ),
        (
            STEP,
            f"That is how far the step is, {step:.0f} images per second against {now:.0f}. On the way up "
            f"the job meets the GIL at {lock:.0f}.",
        ),
    ]
    why = (
        f"{cores} cores allow {now:.0f} images per second, {2 * cores} allow {then:.0f}, and the GIL "
        f"{lock:.0f}. So the job rises from the first of these to the last."
    )
    return {"choices": [*GAINS.values()], "wrong": wrong, "why": why}


def vote() -> Ballot:
    """Explain how far more calls bring a job that holds the GIL for a part of its work."""
    read, native, in_python, step, cores = 0.001, 0.034, 0.006, 0.004, 8
    work = native + in_python
    run, lock, of_cores, of_step = (
        1 / (read + work),
        1 / in_python,
        cores / work,
        1 / step,
    )
    question = (
        f"A decoder takes {milliseconds(work)} for an image, {milliseconds(in_python)} of it in Python, "
        f"which holds the GIL. A read takes {milliseconds(read)}, a step {milliseconds(step)}, and you "
        f"have {cores} cores. With one call you get {run:.0f} images per second. How far do more calls "
        "bring you, on threads?"
    )
    right = f"C: to {lock:.0f}"
    wrong = [
        (
            f"A: to {of_step:.0f}",
            f"That is the step. On the way up the job meets two lower roofs: {cores} cores allow "
            f"{of_cores:.0f} images per second, and the GIL {lock:.0f}.",
        ),
        (
            f"B: to {of_cores:.0f}",
            f"{cores} / {milliseconds(work)}: so far the cores go. But each image also holds the GIL for "
            f"{milliseconds(in_python)}, and a process has one.",
        ),
        (
            f"D: not beyond {run:.0f}",
            f"The GIL is held for {milliseconds(in_python)} of the {milliseconds(work)}. For the other "
            f"{milliseconds(native)} it is free, and other calls can have it.",
        ),
    ]
    why = (
        f"The reader allows {1 / read:,.0f} images per second, the step {of_step:.0f}, the cores "
        f"{of_cores:.0f} and the GIL 1 / {milliseconds(in_python)} = {lock:.0f}. With one call the job is "
        "far below all of them, so more calls help, up to the lowest. After that: processes, or less Python."
    )
    return ballot(question, right, wrong, why)
