"""A row with more bars than a screen can show apart is drawn as an envelope.

It is as high as the share of the time in which the lanes of the row work.
`widgets/page/pictures/envelope.js` does the same on a page, and a table that both are tested with
holds the two together.
"""

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

# Pixels from the begin of a bar to that of the next; closer ones are a grey mist
CLOSEST = 3
FEWEST = 8  # bars; fewer are drawn, however short they are
FINEST = 4  # pixels that one step of an envelope covers


class Work(NamedTuple):
    """A bar of work, from where to where, in pixels."""

    lane: int
    start: float
    end: float


class Envelope(NamedTuple):
    """The *shares* of the lanes that work, in steps of one width."""

    start: float
    step: float
    shares: list[float]


def pitch_of(bars: Sequence[Work]) -> float:
    """Return how far *bars*, in the order of time, are from each other.

    Three of four are closer to the next one in their lane.
    """
    last: dict[int, float] = {}
    apart: list[float] = []
    for lane, start, _ in bars:
        if lane in last:
            apart.append(start - last[lane])
        last[lane] = start
    return sorted(apart)[int(0.75 * len(apart))] if apart else inf


def is_dense(bars: Sequence[Work]) -> bool:
    """Whether *bars* are too close to be seen one by one."""
    return len(bars) >= FEWEST and pitch_of(bars) < CLOSEST


def envelope_of(bars: Sequence[Work], lanes: int) -> Envelope:
    """Return the share of *lanes* that work, from the first of *bars* to the last."""
    first = min(bar.start for bar in bars)
    whole = max(bar.end for bar in bars) - first
    # A step has several bars, or it would show which of them it cuts.
    count = max(1, int(whole / max(FINEST, 3 * pitch_of(bars))))
    step = whole / count
    shares = [0.0] * count
    for _, start, end in bars:
        last = min(count - 1, int((end - first) / step))
        for at in range(int((start - first) / step), last + 1):
            begin = first + at * step
            inside = min(end, begin + step) - max(start, begin)
            shares[at] += max(0, inside) / (step * lanes)
    return Envelope(first, step, shares)
