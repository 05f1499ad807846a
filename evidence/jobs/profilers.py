"""Which profiler leaves shares as they are: looks from a thread, or `cProfile`, which is told of each call.

python -m evidence.jobs.profilers

Six functions that are unlike each other are called in turn. Their shares are taken by a clock around
each call, by our looks, by looks with the switch interval that Python has, and by `cProfile`. Shares are
those of one moment, so a busy machine disturbs them little.
"""

import cProfile
import json
import pstats
import sys
import tempfile
import time
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from unittest.mock import patch

from databound.measure import inside
from databound.measure.inside import Looks, looked_at

ROUNDS = 60
TEXT = json.dumps([{"numbers": [*range(40)], "words": "x" * 50}] * 400)
PACKED = zlib.compress(bytes(range(256)) * 4000)


def small(number: int) -> int:
    return 2 * number + 1


def calls_much() -> int:
    """Plain Python that calls small functions."""
    return sum(small(number) for number in range(20_000))


def loops() -> int:
    """Plain Python without a call."""
    total = 0
    for number in range(60_000):
        total += 2 * number + 1
    return total


def holds_the_lock() -> object:
    """A long call that gives the interpreter's lock to nobody."""
    return json.loads(TEXT)


def reads() -> bytes:
    """A short call that gives the lock away."""
    with FILE.open("rb", buffering=0) as file:
        return file.read()


def unpacks() -> bytes:
    """A long call that gives the lock away."""
    return zlib.decompress(PACKED)


def sleeps() -> None:
    """Waits, as for a network."""
    time.sleep(0.002)


FUNCTIONS: list[Callable[[], object]] = [
    calls_much,
    loops,
    holds_the_lock,
    reads,
    unpacks,
    sleeps,
]
FILE = Path(tempfile.gettempdir()) / "lessonkit_profilers"


def called() -> dict[str, float]:
    """Call all functions in turn, and return the seconds of each, by a clock around it."""
    seconds: dict[str, float] = defaultdict(float)
    for _ in range(ROUNDS):
        for function in FUNCTIONS:
            began = time.perf_counter()
            function()
            seconds[function.__name__] += time.perf_counter() - began
    return seconds


def by_looks(looks: Looks) -> dict[str, float]:
    """Return the seconds of each function by looks."""
    found: dict[str, float] = defaultdict(float)
    for stack, seconds in looks.seconds.items():
        for name in {at.code.co_name for at in stack}:
            found[name] += seconds
    return found


def by_cprofile() -> Mapping[str, float]:
    """Return the seconds of each function by `cProfile`."""
    profiler = cProfile.Profile()
    profiler.runcall(called)
    seconds = Counter[str]()
    for (_, _, name), (_, _, _, in_it, _) in pstats.Stats(profiler).stats.items():  # type: ignore[attr-defined]
        seconds[name] += in_it
    return seconds


def row(name: str, seconds: Mapping[str, float]) -> str:
    """Return the shares of the functions as a line."""
    mine = [seconds.get(function.__name__, 0.0) for function in FUNCTIONS]
    shares = "".join(f"{100 * one / sum(mine):15.1f}" for one in mine)
    return f"{name:34}{shares}"


def main() -> None:
    """Print the table, in per cent."""
    FILE.write_bytes(bytes(200_000))
    print(f"{'':34}{''.join(f'{one.__name__:>15}' for one in FUNCTIONS)}")
    print(row("by a clock", called()))
    with looked_at() as looks:
        clock = called()
    print(row("by a clock, while somebody looks", clock))
    print(row("by looks", by_looks(looks)))
    with patch.object(inside, "SWITCH", sys.getswitchinterval()), looked_at() as looks:
        clock = called()
    print(row("by a clock, while somebody looks", clock))
    print(row("by looks, with Python's interval", by_looks(looks)))
    print(row("by cProfile", by_cprofile()))


if __name__ == "__main__":
    main()
