"""The answers to the questions of lesson 00. If you look here first, you learn less."""

from typing import Any

from lessonkit.widgets.goals import Attempt, Goal
from lessonkit.widgets.questions.ballot import Ballot, ballot
from lessonkit.words import milliseconds, percent


def faster(load: float, train: float) -> dict[str, Any]:
    """Explain how busy a GPU is that needs half of *train* for a step."""
    each, gap = milliseconds(load + train), milliseconds(load)
    quick = milliseconds(load + train / 2)
    wrong = [
        (
            "more than now",
            f"Look at the gaps in the picture above: they are the loader's, {gap} each, and no GPU makes "
            "them shorter. A faster one finishes sooner, and then it waits.",
        ),
        (
            "as much as now",
            f"Its work is halved, but the wait before each step is the same {gap}. It works for "
            f"{train / 2 * 1e3:g} of {quick} now, no longer for {train * 1e3:g} of {each}.",
        ),
    ]
    why = (
        f"The loader still needs {gap} for each batch. The GPU worked for {train * 1e3:g} of {each}, "
        f"{percent(train / (load + train))}; now it works for {train / 2 * 1e3:g} of {quick}, "
        f"{percent(train / (2 * load + train))}, and it was expensive."
    )
    return {"answer": lambda *_: "less than now", "wrong": wrong, "why": why}


def total(
    open: float, read: float, train: float, samples: int, epochs: int
) -> dict[str, Any]:
    """Explain how long a plain loop takes."""
    wrong = [
        (
            open + epochs * samples * (read + train),
            "You left out the Open with which epoch 2 begins. Each epoch goes through the file again, "
            "and opens it again, for another 30 ms.",
        ),
        (
            open + samples * (read + train),
            f"One epoch takes that long. The loop runs {epochs}, and each goes through the file from its "
            "beginning.",
        ),
        (
            samples * (open + read + train),
            "That is one epoch, with three Open bars in it. The loop runs two epochs, and each opens the "
            "file once.",
        ),
        (
            epochs * samples * (open + read + train),
            "Six Open bars would be needed for this, one before each Read. An epoch opens the file "
            "once, and then reads all its samples.",
        ),
        (
            epochs * (open + samples * read),
            f"Either the training is missing, {milliseconds(epochs * samples * train)}, or the opening, "
            f"{milliseconds(epochs * open)}. Both take time, and nothing else happens meanwhile.",
        ),
        (
            epochs * (open + samples * read + train),
            "This needs Read bars above Train bars. That is the program of the next lesson; this one reads "
            "only when the loop asks for a sample, so each step adds its 10 ms.",
        ),
        (
            epochs * (open + samples * read) + train,
            "Five of the six Train bars are missing. Nothing is read while the model trains, so every step "
            f"counts, {milliseconds(train)} each.",
        ),
        (
            epochs * samples * read,
            "The reads alone take that long. Opening and training take "
            f"{milliseconds(epochs * (open + samples * train))} more, and nothing is read meanwhile.",
        ),
    ]
    why = "Each epoch opens the file once, and then reads and trains three times, one after the other."
    return {"wrong": wrong, "why": why}


def busy(read: float, train: float, before: float) -> dict[str, Any]:
    """Explain the share that a model twice as fast is busy; *before* it was as large as this."""
    works = 6 * train / 2  # in two epochs of three steps
    whole = 2 * works / before - works
    wrong = [
        (
            before,
            "The slower model had that share. Its steps became shorter; opening and reading did not.",
        ),
        (
            2 * before,
            "A faster accelerator is not a busier one. It has the same work, finishes sooner, and waits as "
            "long as before.",
        ),
        (
            before / 2,
            "Almost. The training time is halved, but the run also becomes a little shorter. Divide by the "
            "new total.",
        ),
        (
            (train / 2) / (read + train / 2),
            "That leaves out the two Open bars. The accelerator waits for them as well, 60 ms in all.",
        ),
    ]
    why = (
        f"The accelerator works for {works * 1e3:g} of {milliseconds(whole)}. The faster it is, the larger "
        "the share of time that it waits."
    )
    return {"wrong": wrong, "why": why}


def longer(open: float, read: float, train: float, samples: int) -> dict[str, Any]:
    """Explain what a sample takes in a longer file."""
    wrong = [
        (
            open / samples + read + train,
            f"So it was with {samples} samples. The file is still opened once, and now 20 samples "
            "share that cost.",
        ),
        (
            read + train,
            "The opening is missing. Each sample still pays a twentieth of it.",
        ),
        (
            (open / samples + read + train) * samples / 20,
            "A Read bar is 15 ms long in either file. The samples share only the opening; reading and "
            "training cost each of them as much as before.",
        ),
    ]
    why = f"A sample takes {open * 1e3:g} / 20 + {read * 1e3:g} + {milliseconds(train)}."
    return {"wrong": wrong, "why": why}


def changed(*, at_most: int) -> Goal:
    """Ask for *at_most* this number of controls that are not where they were at the start."""

    def count(tried: Attempt) -> int:
        return sum(tried.values[name] != value for name, value in tried.start.items())

    return Goal("controls changed", count, str, at_most)


def vote() -> Ballot:
    """Explain what a perfect pipeline gains for a GPU that is busy 40 % of the time."""
    question = (
        "Your GPU is busy 40 % of the time, and the loop loads only between two steps. A vendor "
        "promises a storage system that makes training three times as fast. What do you answer?"
    )
    right = "B: It cannot be; 2.5 times is the most"
    wrong = [
        (
            "A: Why not? Buy it",
            "60 % of the time is waiting, true. Take all of it away: the steps that filled the other 40 % "
            "are still there. 100 / 40 is 2.5, however good the storage is.",
        ),
        (
            "C: It cannot be; 1.7 times is the most",
            "1 / 0.6 is what is left if the busy time goes. The busy time is what stays: 1 / 0.4.",
        ),
        (
            "D: It cannot be; twice is the most",
            "A factor of two needs two jobs that take equally long and overlap. Here loading takes 60 and "
            "the steps 40: side by side that is 100 / 60 = 1.7. And a faster storage shortens the 60 as "
            "well.",
        ),
    ]
    why = (
        "The steps take 40 % of the time, and no storage makes them shorter. If all the rest goes, "
        "100 % / 40 % = 2.5."
    )
    return ballot(question, right, wrong, why)
