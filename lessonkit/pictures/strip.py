"""Draws several ranks as a strip: a row for each, with its work and its waits in every step."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from lessonkit.engine.ranks import Ranks
from lessonkit.engine.trace import NS, Trace
from lessonkit.words import milliseconds, percent

from .drawing import INK, Panel, Picture, draw_boxes
from .layout import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHARES = {
    "works": COLOURS["Train"],
    "waits for its own data": "#ee8866",
    "waits for other ranks": COLOURS["Others"],
}

Stretches = list[tuple[int, int, int]]  # rank, start and end in nanoseconds


def plot_ranks(ranks: Ranks) -> Picture:
    """Draw *ranks* as a strip; a mark at the end of a step is at the rank that was waited for.

    >>> from lessonkit import Dataset, benchmark
    >>> def pipeline(rank):
    ...     return Dataset.range(4).shard(2, rank).map(cost=0.030)
    >>> plot_ranks(benchmark(pipeline, 1, ranks=2))
    2 ranks take 2 steps in 80 ms. They work 25 % of the time, wait for data 75 %, for others 0 %.
    """
    count = len(ranks.traces)
    row = min(0.25, 2.4 / count)  # inches: of a row, and of the strip

    def draw(axes: Axes) -> None:
        for colour, stretches in zip(SHARES.values(), times_of_ranks(ranks), strict=True):
            sides = [(start / NS, end / NS, rank * row) for rank, start, end in stretches]
            draw_boxes(axes, sides, row, facecolor=colour, linewidth=0)
        for rank, end in late_ranks(ranks):
            x, top = end / NS, rank * row
            axes.plot([x, x], [top, top + row], color=INK, solid_capstyle="butt")

    named = count if count <= 16 else 0  # the rows of more are too thin for names
    names = {(rank + 0.5) * row: f"rank {rank}" for rank in range(named)}
    words = ranks_in_words(ranks)
    panel = Panel(row * count, names, draw, words=words)
    keys = [{"label": label, "facecolor": colour} for label, colour in SHARES.items()]
    keys.append({"label": "was waited for", "facecolor": INK})
    scene = {"strip": strip_scene(ranks, ranks.traces[0])}
    return Picture(words, scene, [panel], (0, ranks.duration or 1), keys)


def times_of_ranks(ranks: Ranks) -> tuple[Stretches, Stretches, Stretches]:
    """Return when each rank works, waits for its own data, and waits for others."""
    works, own, others = Stretches(), Stretches(), Stretches()
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


def strip_scene(ranks: Ranks, trace: Trace) -> dict[str, Any]:
    """Return what a page draws of *ranks*, above the timeline of *trace*; times in microseconds.

    The turns of a rank are its times one after another: asked, got and trained in each step.
    """
    return {
        "ranks": len(ranks.traces),
        "rank": ranks.traces.index(trace),
        "colours": [*SHARES.items()],
        "late": [[rank, end // 1000] for rank, end in late_ranks(ranks)],
        "turns": [
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
    who = f"{count} ranks take" if count > 1 else "1 rank takes"
    words = f"{who} {len(ranks.steps)} steps in {milliseconds(ranks.duration)}. "
    words += "They work {} of the time, wait for data {}, for others {}.".format(*shares)
    for rank, often in Counter(rank for rank, _ in late_ranks(ranks)).most_common(1):
        words += f" Rank {rank} was waited for most often, in {often} of them."
    return " ".join(filter(None, (words, ranks.uneven)))
