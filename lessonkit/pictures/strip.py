"""Draws several ranks as a strip: a row for each, with its work and its waits in every step."""

from __future__ import annotations

from collections import Counter
from math import ceil, log2
from typing import TYPE_CHECKING

from lessonkit.engine.ranks import Ranks
from lessonkit.engine.trace import NS, Trace
from lessonkit.words import counted, milliseconds, percent

from .drawing import INK, Panel, Picture, draw_boxes
from .layout import COLOURS
from .scene import StripScene

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# What a rank does with its time, in the order of `times_of_ranks`
SHARES = {
    "trains": COLOURS["Train"],
    "waits for its own data": "#8074da",
    "waits for other ranks": COLOURS["Others"],
}
# Shares of a row, for the same: they are told apart by more than colours, which paper may not have
HEIGHTS = (1.0, 0.75, 0.5)
# In inches:
THICKEST = 0.25  # of a row, where there are few,
HIGHEST = 2.4  # and of the strip, where there are many
NAMED = 0.15  # from the name of a rank to the next
Stretches = list[tuple[int, int, int]]  # rank, start and end in nanoseconds


def plot_ranks(ranks: Ranks) -> Picture:
    """Draw *ranks* as a strip; a mark at the end of a step is at the rank that was waited for.

    >>> from lessonkit import Dataset, benchmark
    >>> def pipeline(rank):
    ...     return Dataset.range(4).shard(2, rank).map(cost=0.030)
    >>> plot_ranks(benchmark(pipeline, 1, ranks=2))
    2 ranks, 2 steps in 80 ms: 25 % training, 75 % waiting for data, 0 % waiting for others.
    """
    count = len(ranks.traces)
    row = min(THICKEST, HIGHEST / count)

    def draw(axes: Axes) -> None:
        drawn = zip(SHARES.values(), HEIGHTS, times_of_ranks(ranks), strict=True)
        for colour, share, stretches in drawn:
            boxes = [
                (start / NS, end / NS, (rank + 1 - share) * row, share * row)
                for rank, start, end in stretches
            ]
            draw_boxes(axes, boxes, facecolor=colour, linewidth=0)
        for rank, end in late_ranks(ranks):
            x = end / NS
            top = rank * row
            axes.plot([x, x], [top, top + row], color=INK, solid_capstyle="butt")

    every = 2 ** max(0, ceil(log2(NAMED / row)))  # thin rows have no room for all names
    names = {(rank + 0.5) * row: f"rank {rank}" for rank in range(0, count, every)}
    words = ranks_in_words(ranks)
    panel = Panel(row * count, names, draw, words=words)
    keys = [{"label": label, "facecolor": colour} for label, colour in SHARES.items()]
    keys.append({"label": "was waited for", "facecolor": INK})
    scene = {"strip": strip_scene(ranks, ranks.traces[0])}
    return Picture(words, scene, [panel], (0, ranks.duration or 1), keys)


def times_of_ranks(ranks: Ranks) -> tuple[Stretches, Stretches, Stretches]:
    """Return when each rank works, waits for its own data, and waits for others."""
    works = Stretches()
    own = Stretches()
    others = Stretches()
    for rank, all_times in enumerate(ranks.times):
        for times, step in zip(all_times, ranks.steps, strict=False):
            own.append((rank, times.asked, times.got))
            works.append((rank, times.got, times.trained))
            others.append((rank, times.trained, step.end_ns))
    return works, own, others


def late_ranks(ranks: Ranks) -> list[tuple[int, int]]:
    """Return which rank was waited for, and until when, in each step in which others waited."""
    return [
        (step.slowest, step.end_ns)
        for step, *all_times in zip(ranks.steps, *ranks.times, strict=False)
        if len({times.trained for times in all_times}) > 1
    ]


def strip_scene(ranks: Ranks, trace: Trace) -> StripScene:
    """Return what a page draws of *ranks*, above the timeline of *trace*."""
    return {
        "ranks": len(ranks.traces),
        "rank": ranks.traces.index(trace),
        "colours": [{"text": text, "colour": colour} for text, colour in SHARES.items()],
        "late": [{"rank": rank, "time": end // 1000} for rank, end in late_ranks(ranks)],
        "times": [
            [time // 1000 for step in steps for time in step] for steps in ranks.times
        ],
        "ends": [step.end_ns // 1000 for step in ranks.steps],
        "words": ranks_in_words(ranks),
    }


def ranks_in_words(ranks: Ranks) -> str:
    """Put in words how the time is shared, which rank was waited for most, and an uneven end."""
    count = len(ranks.traces)
    whole = count * ranks.duration * NS or 1
    shares = []
    for stretches in times_of_ranks(ranks):
        time = sum(end - start for _, start, end in stretches)
        shares.append(percent(time / whole))
    words = f"{counted(count, 'ranks')}, {counted(len(ranks.steps), 'steps')} "
    words += f"in {milliseconds(ranks.duration)}: "
    words += "{} training, {} waiting for data, {} waiting for others.".format(*shares)
    for rank, often in Counter(rank for rank, _ in late_ranks(ranks)).most_common(1):
        words += (
            f" The others waited most often for rank {rank}, in {counted(often, 'steps')}."
        )
    return " ".join(filter(None, (words, ranks.uneven)))
