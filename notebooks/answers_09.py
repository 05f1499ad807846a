"""The answers to the questions of lesson 09. If you look here first, you learn less."""

import json
from collections.abc import Mapping, Sequence
from pkgutil import get_data
from typing import Any

from lessonkit import Trace


def first(start: Sequence[float], image: float, workers: int, size: int) -> dict[str, Any]:
    """Explain when the first batch arrives."""
    batch = size * image
    wrong = [
        (
            workers * start[0] + batch / workers,
            "You let four kitchens share the tray. But each cooks a tray of its own, image after image.",
        ),
        (
            batch / workers,
            "You let four kitchens share the tray, and forgot to open them. But each cooks a tray of its "
            "own, and opening takes time.",
        ),
        (
            batch,
            "You counted the tray alone. But no ticket goes out before the loop has started all four "
            "kitchens.",
        ),
        (
            sum(start) + batch,
            "You let the first kitchen cook while the others open. But no ticket goes out before all have "
            "been started.",
        ),
        (
            workers * start[0] + start[1] + batch,
            "You waited for the last kitchen. But the first tray comes from the first one, which was ready "
            "long before.",
        ),
        (
            workers * sum(start) + batch,
            "You waited until each kitchen was ready before you opened the next. But a kitchen gets ready "
            "while the loop starts the others.",
        ),
    ]
    why = "Four starts of 12 ms, then one kitchen cooks four images: 48 + 80. Without workers it was 80."
    return {"wrong": wrong, "why": why}


NONE, EACH = "for none: eight are made ahead", "for each one a little: 80 / 4 = 20 ms"
FOURTH, EIGHTH = "for every fourth", "for every eighth"


def late(trace: Trace) -> str:
    """Say which batches after the first the loop has to wait for."""
    train = 10  # milliseconds
    arrivals = [round(seconds * 1e3) for seconds in trace.epochs[0].arrivals]
    waits = tuple(
        n for n in range(1, len(arrivals)) if arrivals[n] > arrivals[n - 1] + train
    )
    return {(): NONE, tuple(range(1, 12)): EACH, (4, 8): FOURTH, (8,): EIGHTH}[waits]


def every() -> dict[str, Any]:
    """Explain which batches the loop waits for."""
    wrong = [
        (
            NONE,
            "You took tickets for trays. Eight tickets are out, but four of them lie in a queue.",
        ),
        (
            EACH,
            "You spread the waits evenly, and on average that is so. But all four kitchens begin together, "
            "so four trays are ready together.",
        ),
        (
            EIGHTH,
            "You counted tickets. A kitchen has two of them, but cooks one tray at a time.",
        ),
    ]
    why = (
        "Four kitchens begin together, and are done together. The loop eats their trays in 40 ms, but the "
        "next four take 80."
    )
    return {
        "answer": late,
        "choices": [NONE, EACH, FOURTH, EIGHTH],
        "wrong": wrong,
        "why": why,
    }


def stay(
    three: Mapping[str, int], start: Sequence[float], batch: float, workers: int
) -> dict[str, Any]:
    """Explain what workers that stay save in several epochs."""
    epochs = three["num_epochs"]
    wrong = [
        (
            epochs * workers * start[0],
            "You saved the starts of all three epochs. But the first one has to start the workers too.",
        ),
        (
            (epochs - 1) * (workers * start[0] + batch),
            "You also took away the wait for the first batch. But workers that stay begin an epoch with "
            "empty hands.",
        ),
        (
            (epochs - 1) * start[0],
            "You counted one start an epoch. But there are four workers, and they start one after another.",
        ),
        (0, "You kept the workers anyway. But by default they end with their epoch."),
    ]
    why = "Two times four starts of 12 ms. Each epoch still begins with 80 ms in which nothing is ready."
    return {"wrong": wrong, "why": why}


def measured() -> Any:
    """Return what real PyTorch took, as `python -m benchmarks.facts` measured it; seconds."""
    return json.loads(get_data(__name__, "measured_09.json") or b"")
