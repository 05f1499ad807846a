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
            "You let four workers share a batch. But a batch is made by one of them, image "
            "after image.",
        ),
        (
            batch / workers,
            "Four workers would have to share a batch, and start in no time. Each makes a whole batch of its "
            "own, and starting takes time.",
        ),
        (
            batch,
            "A worker makes the batch in that time. But the loop sends no index list before it has "
            "started all four workers.",
        ),
        (
            sum(start) + batch,
            "You let the first worker begin while the others start. The loop sends no index list before it "
            "has started all four.",
        ),
        (
            workers * start[0] + start[1] + batch,
            "By then the last worker delivers its batch. But the first batch comes from the "
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
            "Your answer has the starts of all three epochs. Persistent workers are started in the "
            "first one, too.",
        ),
        (
            (epochs - 1) * (workers * start[0] + batch),
            "You let the first batch of an epoch be ready as well. Even persistent workers begin it only "
            "when the epoch begins.",
        ),
        (
            (epochs - 1) * start[0],
            "One worker starts in that time. There are four, and they start one after another.",
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
    """Explain what ends the wait for every fourth batch."""
    batch, step, workers, more, ahead = 0.600, 0.100, 4, 2, 8
    enough = workers + more
    wait = batch - workers * step
    question = (
        f"Making a batch takes {milliseconds(batch)}, and a training step takes {milliseconds(step)}. With "
        f"four workers the loop waits for {milliseconds(wait)} at every fourth batch, as long as the epoch "
        "lasts. What ends that?"
    )
    right = "D: two more workers"
    wrong = [
        (
            f"A: prefetch_factor={ahead} instead of 2",
            f"That makes {workers * ahead} index lists instead of {workers * 2}, and not one batch. However "
            "many lists lie in their queues, four workers finish "
            f"four batches in {milliseconds(batch)}, and the loop trains on four in "
            f"{milliseconds(workers * step)}.",
        ),
        (
            "B: persistent_workers=True",
            "Persistent workers keep their state, not the data, and are started only once. That helps at "
            "the beginning of an epoch. In the middle of it each batch is still made anew, in "
            f"{milliseconds(batch)}.",
        ),
        (
            "C: half the batch size",
            f"Half a batch is made in {milliseconds(batch / 2)}, and a step on it takes "
            f"{milliseconds(step / 2)}. Four batches last for {milliseconds(workers * step / 2)} now: the "
            "loop waits half as long, twice as often.",
        ),
    ]
    why = (
        f"Six workers finish six batches in {milliseconds(batch)}, and six steps last as long: "
        f"{milliseconds(enough * step)}. The first batch of an epoch comes no sooner, because one worker "
        "makes all of it."
    )
    return ballot(question, right, wrong, why)
