"""The answers to the questions of lesson 09 and of its field guide: read them later, or learn less."""

import json
from collections.abc import Mapping, Sequence
from pkgutil import get_data
from typing import Any

from lessonkit import Trace
from lessonkit.widgets.questions.ballot import Ballot, ballot
from lessonkit.words import milliseconds


def first(start: Sequence[float], image: float, workers: int, size: int) -> dict[str, Any]:
    """Explain when the first batch arrives."""
    batch = size * image
    wrong = [
        (
            workers * start[0] + batch / workers,
            "You let four workers share a batch. Look at the row Worker: each bar is a whole batch, made "
            "by one of them, image after image.",
        ),
        (
            batch / workers,
            "Four workers would have to share a batch, and start in no time. Each makes a whole batch of its "
            "own, and starting takes time.",
        ),
        (
            batch,
            "That is the time to make the batch. But the loop sends no index list before it has "
            "started all four workers.",
        ),
        (
            sum(start) + batch,
            "You let the first worker begin while the others start. The loop sends no index list before it "
            "has started all four.",
        ),
        (
            workers * start[0] + start[1] + batch,
            "That is when the last worker delivers its batch. But the first batch comes from the "
            "first worker, which was ready long before.",
        ),
        (
            workers * sum(start) + batch,
            "You start each worker only when the one before it is ready. A worker gets ready while the loop "
            "starts the next.",
        ),
    ]
    why = (
        f"Four starts of {milliseconds(start[0])} take {milliseconds(workers * start[0])}. Then one worker "
        f"decodes four images, which takes {milliseconds(batch)}. "
        f"Without workers, the first batch came after {milliseconds(batch)}."
    )
    return {"wrong": wrong, "why": why}


NONE = "for none, because eight index lists are sent ahead"
EACH = "for each one a little, because one arrives every 80 / 4 = 20 ms"
FOURTH = "for every fourth batch"
EIGHTH = "for every eighth batch"
LATE = [NONE, EACH, FOURTH, EIGHTH]


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
            "Eight index lists are sent, but four of them wait in a queue, and an index list is "
            "not yet a batch.",
        ),
        (
            EACH,
            "One does arrive every 20 ms on average. But all four workers begin together, so four "
            "batches are ready together.",
        ),
        (
            EIGHTH,
            "Eight bars of Worker would have to lie above each other, and there are four. Each worker has "
            "two index lists, but makes one batch at a time.",
        ),
    ]
    why = (
        "Four workers begin together and finish together. The loop trains on their four "
        "batches in 40 ms, but the next four take 80 ms."
    )
    return {"wrong": wrong, "why": why}


def stay(
    three: Mapping[str, int], start: Sequence[float], batch: float, workers: int
) -> dict[str, Any]:
    """Explain what persistent workers save in several epochs."""
    epochs = three["num_epochs"]
    wrong = [
        (
            epochs * workers * start[0],
            "That is the time of the starts in all three epochs. Persistent workers are started in the "
            "first one, too.",
        ),
        (
            (epochs - 1) * (workers * start[0] + batch),
            "You let the first batch of an epoch be ready as well. Even persistent workers begin it only "
            "when the epoch begins.",
        ),
        (
            (epochs - 1) * start[0],
            "That is the start of one worker. There are four, and they start one after another.",
        ),
        (
            0,
            "Then workers would stay anyway. By default they end with their epoch, and new ones start.",
        ),
    ]
    why = (
        f"The second and the third epoch save four starts of {milliseconds(start[0])} each. Each epoch "
        f"still begins with {milliseconds(batch)} in which no batch is ready."
    )
    return {"wrong": wrong, "why": why}


def measured() -> Any:
    """Return the seconds that real PyTorch took, as `python -m evidence.facts` measured them."""
    return json.loads(get_data(__name__, "measured_09.json") or b"")


def vote() -> Ballot:
    """Explain what twice as many workers change."""
    question = (
        "Making a batch takes 800 ms, and a training step takes 100 ms. You change "
        "num_workers from 4 to 8. What happens?"
    )
    right = "B: batches come twice as often, but the first one comes no sooner"
    wrong = [
        (
            "A: all batches come twice as often, the first one in half the time",
            "Two workers would have to share a batch. One of them makes all of it, in the same 800 ms.",
        ),
        (
            "C: nothing, because prefetch_factor=2 allows only two batches ahead",
            "Two for each worker: eight index lists become sixteen. And an index list is not yet a "
            "batch; how many are made together is the number of workers.",
        ),
        (
            "D: nothing changes in total, because every eighth batch is slow instead of every fourth",
            "Then the loop would wait twice as long each time. It does not wait at all: eight steps of 100 "
            "ms take 800 ms, as long as the next eight batches.",
        ),
    ]
    why = (
        "Eight workers make eight batches in parallel, but each batch is still made by one "
        "worker, in 800 ms. The first comes a little later, because eight workers have to be "
        "started."
    )
    return ballot(question, right, wrong, why)
