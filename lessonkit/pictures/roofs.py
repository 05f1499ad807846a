"""Draws roofs: each part of a job in a column of its own, and the run as a line below all of them.

The axis is logarithmic, because the question is by which factor the next roof is higher: so equal
factors are equal heights, wherever they are, and a storage that allows forty times as much as the
step fits on the same page.
"""

from __future__ import annotations

from functools import partial
from itertools import count, takewhile
from math import floor, log
from typing import TYPE_CHECKING, Any, NamedTuple

from lessonkit.engine.trace import Trace
from lessonkit.explain.limits import Limits, limits
from lessonkit.explain.roofs import Roofs
from lessonkit.words import number

from .drawing import CARD, INK, PALE, SIZE, Panel, Picture, draw_boxes, write_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .scene import RoofScene, RoofsScene

HEIGHT = 2.2  # inches
ABOVE = 0.28  # inches above the highest roof, for its number
BELOW = 0.3  # inches below the run, for its words
APART = 0.06  # of a column's width, free at each side
# A part that allows more than this many times the lowest roof is out of sight: no next change makes
# it the lowest one, and with it on the axis the others could not be told apart.
OUT_OF_SIGHT = 10
LEAST_GAP = 0.24  # inches between the run and the roof above, for how far that is
MOST_TICKS = 6  # of an axis; where 1, 2 and 5 are more than this, powers of ten are enough
LIT = "#f7d99a"


class Axis(NamedTuple):
    """A logarithmic axis from *low* to *high* samples per second, in inches from the top."""

    low: float
    high: float

    def at(self, rate: float) -> float:
        """Return where *rate* is; what is out of sight is at the upper end."""
        share = log(min(rate, self.high) / self.low) / log(self.high / self.low)
        return HEIGHT - BELOW - share * (HEIGHT - BELOW - ABOVE)

    def ticks(self) -> list[float]:
        """Return round numbers on the axis: 1, 2 and 5 times powers of ten, or these alone."""
        first = floor(log(self.low, 10))
        powers = takewhile(
            lambda power: power <= self.high, (10.0**n for n in count(first))
        )
        rounds = [factor * power for power in powers for factor in (1, 2, 5)]
        found = [round_ for round_ in rounds if self.low <= round_ <= self.high]
        if len(found) <= MOST_TICKS:
            return found
        return [tick for tick in found if f"{tick:.0e}".startswith("1")]


def plot_roofs(of: Trace | Limits | Roofs, *, title: str = "roofs") -> Picture:
    """Draw how many samples per second each part of a job allows, and how many the run makes.

    *of* is a trace, its limits, or `Roofs` of your own numbers. The lowest roof is lit. Raises
    ValueError for a run without samples, or one that takes no time.

    >>> from lessonkit import ArtificialDataset, benchmark
    >>> mapped = ArtificialDataset(20).map(cost=0.030, num_parallel_calls=2)
    >>> plot_roofs(benchmark(mapped, num_epochs=1))
    roofs: in samples per second, reader 54.1, step 72.7; the run makes 39.6, 73.3 % of the lowest, \
reader
    """
    roofs = roofs_of(of)
    axis = axis_of(roofs)
    names = {axis.at(tick): number(tick) for tick in axis.ticks()}
    draw = partial(draw_roofs, roofs, axis)
    panel = Panel(HEIGHT, names, draw, title, f"samples per second; {roofs.verdict}")
    columns = len(roofs.per_second)
    words = f"roofs: {roofs.words}"
    return Picture(words, {"roofs": roofs_scene(roofs, title)}, [panel], (0, columns))


def roofs_of(of: Trace | Limits | Roofs) -> Roofs:
    """Return the roofs of a trace or of its limits; TypeError for anything else."""
    if isinstance(of, Trace):
        of = limits(of)
    if isinstance(of, Limits):
        return of.roofs
    if not isinstance(of, Roofs):
        raise TypeError(f"of={of!r}: must be a Trace, its limits, or Roofs")
    return of


def roofs_scene(roofs: Roofs, title: str = "roofs") -> RoofsScene:
    """Describe *roofs* for the page."""
    parts: list[RoofScene] = [
        {"name": name, "perSecond": rate, "lit": name == roofs.lowest}
        for name, rate in roofs.per_second.items()
    ]
    return {
        "title": title,
        "words": roofs.words,
        "verdict": roofs.verdict,
        "parts": parts,
        "run": roofs.run,
    }


def axis_of(roofs: Roofs) -> Axis:
    """Return an axis with the run and all roofs that are in sight."""
    lowest = roofs.per_second[roofs.lowest]
    highest = max(roofs.per_second.values())
    least = lowest if roofs.run is None else roofs.run
    return Axis(least / 1.05, max(1.25 * lowest, min(highest, OUT_OF_SIGHT * lowest)))


def draw_roofs(roofs: Roofs, axis: Axis, axes: Axes) -> None:
    """Draw each part as a beam that hangs down to its roof, and the run below."""
    names = [*roofs.per_second]
    axes.set_xticks([index + 0.5 for index in range(len(names))], names)
    axes.tick_params("x", colors=INK, labelsize=SIZE, labelbottom=True)
    axes.grid(visible=False)
    for tick in axis.ticks():
        axes.axhline(axis.at(tick), color="#e6eaee", linewidth=0.8, zorder=0)
    for index, (name, rate) in enumerate(roofs.per_second.items()):
        is_lit = name == roofs.lowest
        y = axis.at(rate)
        sides = index + APART, index + 1 - APART
        look: Any = {"facecolor": LIT, "linewidth": 0} if is_lit else PALE
        draw_boxes(axes, [(*sides, 0, y)], **look)
        axes.plot(
            sides, (y, y), color=INK, linewidth=4 if is_lit else 2, solid_capstyle="butt"
        )
        beyond = " ↑" if rate > axis.high else ""
        weight = "bold" if is_lit else "normal"
        told = f"{number(rate)}{beyond}"
        write_text(axes, index + 0.5, y - 0.12, told, ha="center", weight=weight)
        axes.get_xticklabels()[index].set_fontweight(weight)
    if roofs.run is not None and roofs.reached is not None:
        draw_run(roofs, roofs.run, roofs.reached, axis, axes)


def draw_run(roofs: Roofs, run: float, reached: float, axis: Axis, axes: Axes) -> None:
    """Draw the *run* as a line, and by which factor the lowest roof is above it."""
    y = axis.at(run)
    roof = axis.at(roofs.per_second[roofs.lowest])
    axes.plot(axes.get_xlim(), (y, y), color=INK, linewidth=2)
    write_text(axes, APART, y + 0.14, f"the run: {number(run)}", bbox=CARD)
    if y - roof >= LEAST_GAP:
        x = [*roofs.per_second].index(roofs.lowest) + 0.5
        arrow = {"arrowstyle": "<->", "color": INK, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", (x, roof), (x, y), arrowprops=arrow)
        factor = f" {number(1 / reached)}×"
        write_text(axes, x + 0.02, (roof + y) / 2, factor, bbox=CARD)
