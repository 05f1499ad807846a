"""The answers to the questions of lesson 08. If you look here first, you learn less."""

from typing import Any


def limit(naive: float) -> dict[str, Any]:
    """Explain the limit of the guide's job, which takes *naive* seconds at first."""
    wrong = [
        (
            naive / 10,
            "You hoped for ten times. That needs 500 training steps in 1.3 s, but each takes 10 ms.",
        ),
        (
            naive - 5 * 100 * 0.010,
            "You took the training away and kept the loading. It is the other way round: training stays.",
        ),
        (
            naive / 2,
            "You guessed half. The limit can be known: it is what the accelerator itself has to do.",
        ),
        (
            naive / 5,
            "You kept one epoch of five. A cache saves loading in later epochs, but no training.",
        ),
        (100 * 0.010, "You counted the training of one epoch, 100 steps. There are five epochs."),
    ]
    why = "500 steps of 10 ms. No input pipeline makes this training more than 2.67 times as fast."
    return {"wrong": wrong, "why": why}


SLOWER, SAME = "slower: the maps are called 50 times as often", "no change"
FASTER, MUCH = "faster, by less than a second", "faster, by more than a second"
CHOICES = [SLOWER, SAME, FASTER, MUCH]


def nearest(saved: float) -> str:
    """Say in words how much is *saved*, in seconds."""
    if abs(saved) < 0.05:
        return SAME
    return SLOWER if saved < 0 else FASTER if saved < 1 else MUCH


def unbatched() -> dict[str, Any]:
    """Explain the guide's pipeline without batch and unbatch."""
    wrong = [
        (
            SLOWER,
            "You expected more calls to cost more. But here a call costs nothing, only a sample does.",
        ),
        (
            SAME,
            "You took the batch for free. But in the first epoch the accelerator waits until 50 samples are "
            "read.",
        ),
        (MUCH, "You went below the limit: 500 steps of 10 ms take 5 s."),
    ]
    why = "A batch of 50 makes the first sample wait for the other 49. There was no cost per call to save."
    return {"wrong": wrong, "why": why}
