"""The batches that all runs of a loader go over: some of one epoch, in an order that is spread over it."""

from collections.abc import Sized
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

from ..thresholds import DRAWN, KEPT
from .loaders import drawing_from
from .uneven import spread

# `Any` in this module is a sampler or a loader of somebody else, and what a sampler gives: indices.


@dataclass(frozen=True)
class Drawn:
    """The *batches* that runs go over, as a sampler gave them, in the order of the runs.

    Each has its place in an epoch, from 0 to 1, and its number there, from 1. *count* is how many
    an epoch has, if that is known.
    """

    batches: list[Any]
    places: list[float]
    numbers: list[int]
    count: int | None


NOTHING_DRAWN = Drawn([], [], [], None)


def drawn_from(order: Any, owner: Any) -> Drawn:
    """Draw the batches of one epoch from a sampler, the *order* of its *owner*, a loader.

    Of a long epoch some from all over it are kept. A sampler needs no length, and neither does a
    loader; one that never ends is left after as many as a loader says.
    """
    count = length_of(order)
    every = max(1, (count or 0) // KEPT)
    with drawing_from(order, owner) as copied:
        if count is not None:
            drawn = list(islice(copied, 0, DRAWN, every))
            if every == 1:
                count = len(drawn)  # a length may be wrong
        else:
            drawn = list(islice(copied, KEPT + 1))
            if len(drawn) <= KEPT:
                count = len(drawn)
    if count is None:
        count = length_of(owner)
        drawn = drawn[:KEPT][:count]
    order_of_runs = spread(len(drawn))
    return Drawn(
        batches=[drawn[place] for place in order_of_runs],
        places=[place / len(drawn) for place in order_of_runs],
        numbers=[1 + every * place for place in order_of_runs],
        count=count,
    )


def length_of(sized: Sized) -> int | None:
    """Return the length of a sampler or a loader; None if it has none, or raises something else."""
    with suppress(Exception):
        return len(sized)
    return None
