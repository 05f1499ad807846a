"""What functions returned while they were measured, so that a model calls none of them again."""

import pickle
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from random import Random
from typing import Any

from lessonkit.engine.element import as_int
from lessonkit.engine.machine import Function, WorkLog, current, number_in_hand

ROOM = 2**30  # bytes that may be kept in all
OF_A_NUMBER = 40  # bytes of a number in a list at most, with its reference
PLAIN = frozenset({bool, float, int})  # numbers, of which a list is kept as it is


class Remembered:
    """Results of functions, by *route* and the number of the element: at most *room* bytes.

    It gives copies, so that what is kept cannot be changed. It keeps nothing that cannot be
    pickled, and nothing of a function that says its cost by `work`, for that has to be said again.
    """

    def __init__(self, room: int = ROOM) -> None:
        self.room = room  # that is left
        # What makes a copy of a result
        self.kept: dict[Any, dict[Any, Callable[[], Any]]] = defaultdict(dict)
        self.saying: set[Any] = set()  # routes of functions that say their cost
        self.random = Random(0)

    def keep(self, route: Any, number: Any, value: Any) -> None:
        """Keep the *value* that the function at *route* returned for the element with *number*."""
        kept = pickled(value)
        size = len(kept)
        copy: Callable[[], Any] = partial(pickle.loads, kept)
        # A list of tokens may be long, and to copy it takes a tenth of the time of loading it
        if type(value) is list and PLAIN.issuperset(map(type, value)):
            size = OF_A_NUMBER * len(value)
            copy = value.copy().copy
        if kept and size <= self.room and number not in self.kept[route]:
            self.room -= size
            self.kept[route][number] = copy

    def call(self, route: Any, random: bool, function: Function, *args: Any) -> Any:
        """Stand in for *function* on the virtual clock: return its result for this element.

        For an element that was not measured, and for every one if it is *random*, it returns the
        result of another one.
        """
        kept = self.kept.get(route)
        if not kept or route in self.saying or not isinstance(current.caller, WorkLog):
            return function(*args)
        number = self.random.getrandbits(32) if random else number_in_hand()
        copy = kept.get(number)
        if copy is None:
            copies = [*kept.values()]
            copy = copies[as_int(number) % len(copies)]
        return copy()


def pickled(value: Any) -> bytes:
    """Return *value* as bytes; no bytes if it cannot be pickled."""
    with suppress(Exception):
        return pickle.dumps(value)
    return b""
