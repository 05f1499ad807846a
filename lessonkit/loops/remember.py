"""Remembers results of measured functions, so that a model calls none of them again."""

import pickle
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from functools import partial, update_wrapper
from random import Random
from typing import Any

from lessonkit.engine.element import as_int
from lessonkit.engine.machine import WorkLog, current, number_in_hand

MOST_BYTES = 2**30  # bytes


class Remembered:
    """Results of functions, by *place* and the number of the element: at most *room* bytes.

    It gives copies, so nobody can change what is kept. It keeps nothing that cannot be
    pickled, and nothing of a function that says its cost by `work`, for that has to be said again.
    """

    def __init__(self, room: int = MOST_BYTES) -> None:
        self.room = room  # that is left
        self.kept: dict[Any, dict[Any, bytes]] = defaultdict(dict)
        self.saying: set[Any] = set()  # places of functions that say their cost
        self.random = Random(0)

    def keep(self, place: Any, number: Any, value: Any) -> None:
        """Keep the *value* that the function at *place* returned for the element with *number*."""
        kept = pickled(value)
        if kept and len(kept) <= self.room and number not in self.kept[place]:
            self.room -= len(kept)
            self.kept[place][number] = kept

    def standing_in(
        self, place: Any, fn: Callable[..., Any], *, random: bool
    ) -> Callable[..., Any]:
        """Return a stand-in for *fn* on the virtual clock; if *random*, its calls may differ."""
        return update_wrapper(partial(self.call, place, random, fn), fn)

    def call(self, place: Any, random: bool, fn: Callable[..., Any], *args: Any) -> Any:
        """Return the result of *fn* for this element, or of another one if it was not measured."""
        kept = self.kept.get(place)
        if not kept or place in self.saying or not isinstance(current.worker, WorkLog):
            return fn(*args)
        number = self.random.getrandbits(32) if random else number_in_hand()
        other = as_int(number) % len(kept)
        return pickle.loads(kept.get(number) or [*kept.values()][other])


def pickled(value: Any) -> bytes:
    """Return *value* as bytes; no bytes if it cannot be pickled."""
    with suppress(Exception):
        return pickle.dumps(value)
    return b""
