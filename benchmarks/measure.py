"""How to measure, and how a line of the table looks."""

import gc
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

HEAD = ("what / peer", "ours", "peer", "ratio", "goal", "")
WIDTHS = (54, 12, 12, 7, 10, 7)  # characters

Call = Callable[[], Any]


def seconds(call: Call) -> float:
    """How long a call takes, without the time to throw away what it gives."""
    gc.collect()
    began = perf_counter()
    result = call()
    took = perf_counter() - began
    del result
    return took


@dataclass
class Pairs:
    """Two calls measured by turns: medians, and the median of the ratios of the pairs."""

    ours: float  # s
    peer: float  # s
    ratio: float  # ours to peer


def pairs(ours: Call, peer: Call, repeats: int, peer_calls: int = 1) -> Pairs:
    """Measure both by turns, after a round to warm up; one turn of *peer* may be many calls."""
    seconds(ours), seconds(peer)
    turns = []
    for _ in range(repeats):
        mine = seconds(ours)
        turns.append((mine, median(seconds(peer) for _ in range(peer_calls))))
    return Pairs(
        median(mine for mine, _ in turns),
        median(theirs for _, theirs in turns),
        median(mine / theirs for mine, theirs in turns),
    )


def number(value: float, unit: str = "") -> str:
    """A figure with three digits or more, and its unit."""
    text = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    return f"{text} {unit}".rstrip()


def line(*cells: str) -> str:
    """A line of the table."""
    first, *others = (cell.ljust(width) for cell, width in zip(cells, WIDTHS, strict=True))
    return (first + "".join(cell.rstrip().rjust(len(cell)) for cell in others)).rstrip()


def row(what: str, ours: str, peer: str, ratio: float | None, goal: str, met: bool) -> str:
    """A line of the table that says whether its goal is met."""
    return line(what, ours, peer, "-" if ratio is None else f"{ratio:.2f}", goal, "met" if met else "missed")
