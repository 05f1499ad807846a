"""Which numbers stand on the bars of a row: of all, of every fifth, of the long ones, or none.

`widgets/page/pictures/labels.js` has the same rule for a page, and a table that both are tested
with holds the two together.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

EVERY = 5
# Of a number that has to stand on its bar; the rest may be above those beside it
LEAST = 0.5
APART = 6  # pixels between two numbers
FEWEST = 2  # numbers that show how a row is counted


class Labelled(NamedTuple):
    """A bar that may have its number written on it: where its middle is, and how wide it is."""

    lane: int
    label: str
    middle: float
    width: float


def written(bars: Sequence[Labelled], wide: Callable[[str], float]) -> list[int]:
    """Return the indices of those of *bars* whose labels are written, each so *wide*.

    *bars* are those of a row, in the order of time. Some with a number and some without one would
    look as if the others had none.
    """
    fits = [wide(bar.label) <= bar.width for bar in bars]
    if all(fits):
        return [*range(len(bars))]
    longest = max(wide(bar.label) for bar in bars)
    # Those that have room for the longest, such as the bars of a straggler
    long = [at for at, bar in enumerate(bars) if longest <= bar.width]
    if not all(bar.label.isdecimal() for bar in bars):
        return long
    in_lanes = sorted(range(len(bars)), key=lambda at: (bars[at].lane, bars[at].middle))
    some = [at for at in in_lanes if int(bars[at].label) % EVERY == 0]
    are_on = all(LEAST * wide(bars[at].label) <= bars[at].width for at in some)
    pairs = pairwise(bars[at] for at in some)
    is_clear = are_on and all(are_apart(*pair, wide) for pair in pairs)
    return some if is_clear and len(some) >= FEWEST else long


def are_apart(bar: Labelled, after: Labelled, wide: Callable[[str], float]) -> bool:
    """Whether the labels of two bars, one after the other, can be told apart."""
    least = (wide(bar.label) + wide(after.label)) / 2 + APART
    return bar.lane != after.lane or after.middle - bar.middle >= least
