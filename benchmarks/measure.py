"""How to measure, and how a line of the table looks."""

import gc
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

WIDTHS = (56, 12, 12, 8, 12, 8)  # characters

Call = Callable[[], Any]


class Pairs(NamedTuple):
    """Two calls measured by turns: medians, and the median of the ratios of the pairs."""

    ours: float  # s
    peer: float  # s
    ratio: float  # ours to peer


def seconds(call: Call, clock: Callable[[], float] = perf_counter) -> float:
    """How long a call takes by a *clock*, without the time to throw away what it gives."""
    gc.collect()
    began = clock()
    result = call()
    took = clock() - began
    del result
    return took


def pairs(
    ours: Call,
    peer: Call,
    repeats: int,
    peer_calls: int = 1,
    clock: Callable[[], float] = perf_counter,
) -> Pairs:
    """Measure both by turns, after a round to warm up; *peer* may be called more often in its turn."""
    seconds(ours), seconds(peer)
    turns = []
    for _ in range(repeats):
        mine = seconds(ours, clock)
        theirs = median(seconds(peer, clock) for _ in range(peer_calls))
        turns.append((mine, theirs, mine / theirs))
    return Pairs(*(median(column) for column in zip(*turns, strict=True)))


def number(value: float, unit: str) -> str:
    """A figure with three digits or more, and its unit."""
    return f"{value:,.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"


def line(*cells: str) -> str:
    """A line of the table."""
    what, *others = zip(cells, WIDTHS, strict=True)
    return what[0][: what[1]].ljust(what[1]) + "".join(
        cell.rjust(width) for cell, width in others
    )


def compared(what: str, ours: str, peer: str, ratio: float, goal: str, met: bool) -> str:
    """A line whose goal is a ratio."""
    return line(what, ours, peer, f"{ratio:.2f}", goal, "met" if met else "missed")


def limited(
    what: str,
    ours: float,
    limit: float,
    unit: str,
    took: Pairs | None = None,
    scale: float = 1,
) -> str:
    """A line whose goal is a limit for our figure; *took* and *scale* give that of the peer."""
    peer, ratio = (
        (number(took.peer * scale, unit), f"{took.ratio:.2f}") if took else ("-", "-")
    )
    return line(
        what,
        number(ours, unit),
        peer,
        ratio,
        f"< {limit} {unit}",
        "met" if ours < limit else "missed",
    )
