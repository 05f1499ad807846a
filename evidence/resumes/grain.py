"""Grain, with `get_state` and `set_state` of its iterators."""

import json
import time
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import grain.python as gp
import numpy as np
from grain import experimental as ge

from evidence.record import Case, Conditions, Json
from evidence.resumes.stops import compared, ends, listed, places, pull, refused

# Elements that are looked at, and those of a program with many
MOST = 200
MOST_OF_LONG = 40
SETTLE = 0.01  # s, for what the first iterator's threads still do
SHORT = 150  # bytes: a shorter state is shown

calls = [0]


class Counted(gp.MapTransform):
    """Give what it gets, and count the calls."""

    def map(self, x: Any) -> Any:
        """Count."""
        calls[0] += 1
        return x


class Keep(gp.FilterTransform):
    """Keep two of three."""

    def filter(self, x: Any) -> bool:
        """Drop multiples of 3."""
        return bool(x % 3 > 0)


class Fails(gp.MapTransform):
    """Give what it gets, but for one element."""

    def map(self, x: Any) -> Any:
        """Raise an error for 3."""
        if x == 3:
            raise ValueError("three")
        return x


class Big(gp.MapTransform):
    """Make something large of each element."""

    def map(self, x: Any) -> Any:
        """Return 1,000 bytes."""
        return np.full(1000, x % 256, dtype=np.uint8)


NAMES = {
    "gp": gp,
    "ge": ge,
    "R": gp.MapDataset.range,
    "Counted": Counted,
    "Keep": Keep,
    "Fails": Fails,
    "Big": Big,
}


def measure(cases: Iterable[Case], conditions: Conditions) -> Iterator[Case]:
    """Run each program through, and stop it at several places."""
    warnings.filterwarnings("ignore")
    for case in cases:
        program = case["program"]
        calls[0] = 0
        try:
            whole = pull(iterator(program), most(program), listed, may_be_stuck=True)
        except Exception as error:  # a program that cannot run is an answer, too
            yield {"program": program} | refused(error, 200)
            continue
        called = calls[0]
        stops = [stopped(program, whole, after) for after in stopping(program, whole)]
        yield {
            "program": program,
            "whole": whole,
            "calls of the whole": called,
            "stops": stops,
        }


def iterator(program: str) -> Any:
    """Make an iterator of a program."""
    return iter(eval(program, dict(NAMES)))


def most(program: str) -> int:
    """Return how many elements are looked at."""
    return MOST_OF_LONG if "500" in program else MOST


def stopping(program: str, whole: list[Json]) -> list[int]:
    """Return after how many elements to stop; with processes only once, because they start slowly."""
    if "num_workers" in program or "worker_count=2" in program:
        return [(len(whole) - ends(whole)) // 2]
    return places(whole)


def stopped(program: str, whole: list[Json], after: int) -> Case:
    """Stop, take the state, give it to a new iterator, and go on."""
    stop: Case = {"after": after}
    try:
        first = iterator(program)
        before = pull(first, after, listed, may_be_stuck=True)
        stop["before equal"] = before == whole[:after]
        state = first.get_state()
        stop |= described(state)
        del first
        second = iterator(program)
        time.sleep(SETTLE)
        calls[0] = 0
        second.set_state(state)
        rest = pull(second, most(program) - after, listed, may_be_stuck=True)
    except Exception as error:  # what cannot go on says so in many ways
        return stop | refused(error, 200)
    if "Counted" in program:
        stop["calls after"] = calls[0]
    return compared(stop, before, rest, whole)


def described(state: Any) -> Case:
    """Return how large a state is, and if it is short, the state."""
    text = (
        state.decode() if isinstance(state, bytes) else json.dumps(state, default=written)
    )
    found: Case = {"state_bytes": len(text)}
    if len(text) < SHORT:
        found["state"] = text if isinstance(state, bytes) else state
    return found


def written(part: Any) -> Json:
    """Return a part of a state that JSON does not know."""
    value: Json = part.tolist() if hasattr(part, "tolist") else str(part)
    return value
