"""What buffers and caches held, as a picture."""

from __future__ import annotations

from itertools import accumulate, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from lessonkit.engine.trace import Trace
from lessonkit.explain.memory import memory
from lessonkit.pictures.layout import colours_of
from lessonkit.pictures.panels import Panel, compose, level, name, time_axis
from lessonkit.pictures.style import DASHED, INK, PAPER, QUIET, Picture
from lessonkit.words import milliseconds, size

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TRACK = 0.44  # inches, for a buffer
BYTES = 1.2  # inches, for the bytes of all
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx")  # of buffers, one after another


def plot_memory(trace: Trace) -> Picture:
    """Draw what buffers and caches held: elements in each, and below them the bytes of all.

    >>> from lessonkit import ArtificialDataset, benchmark
    >>> plot_memory(benchmark(ArtificialDataset(3, nbytes=1000).cache().prefetch(2), num_epochs=1))
    memory: 4 kB at most, at 75 ms, most of it in cache
    """
    kept, end, rooms = memory(trace), trace.duration, {room.name: room.capacity for room in trace.buffers}
    colours, peak = colours_of(list(rooms)), kept.bytes.peak
    paints: dict[str, dict[str, Any]] = {
        text: {"facecolor": colours[text], "edgecolor": PAPER, "hatch": HATCHES[row % len(HATCHES)]}
        for row, text in enumerate(rooms)
    }

    def draw_elements(axes: Axes) -> None:
        scale = time_axis(axes, end)
        for row, (text, room) in enumerate(rooms.items()):
            steps = [(0, 0), *kept.elements.steps[text]]
            steps.append((end, steps[-1][1]))
            most = max(count for _, count in steps)
            floor, full = TRACK * (row + 0.9), 0.7 * TRACK / max(room or 0, most, 1)
            times, tops = [time * scale for time, _ in steps], [floor - count * full for _, count in steps]
            axes.fill_between(times, tops, floor, step="post", linewidth=0, **paints[text])
            axes.step(times, tops, where="post", color=QUIET, linewidth=0.7)  # also what is over at once
            if room:
                axes.plot([0, end * scale], [floor - room * full] * 2, color=QUIET, **DASHED)
            name(axes, floor - 0.55 * TRACK, text)
            of = f" of {room}" if room else ""
            name(axes, floor - 0.14 * TRACK, f"at most {most}{of}", 7.5, color=QUIET)

    def draw_bytes(axes: Axes) -> None:
        scale = time_axis(axes, end)
        if not peak:
            return
        levels = {text: {0: 0} | dict(steps) for text, steps in kept.bytes.steps.items()}
        times = sorted({time for steps in levels.values() for time in steps if time <= end} | {0, end})
        xs, low, full = [time * scale for time in times], [BYTES] * len(times), 0.85 * BYTES / peak
        for text, steps in levels.items():
            now, high = 0, []
            for time, below in zip(times, low, strict=True):
                now = steps.get(time, now)
                high.append(below - now * full)
            axes.fill_between(xs, high, low, step="post", linewidth=0, **paints[text])
            low = high
        top, at = BYTES - peak * full, kept.bytes.at * scale
        axes.plot([0, end * scale], [top] * 2, color=QUIET, **DASHED)
        axes.plot([at, at], [BYTES, top], color=INK, linewidth=0.8)  # it may last for no time at all
        axes.plot([at], [top], "v", color=INK, markersize=5)
        level(axes, top, size(peak))
        level(axes, BYTES, "0")

    words = "nobody said how many bytes an element has" if rooms else "there is no buffer and no cache"
    if peak:
        words = f"{size(peak)} at most, at {milliseconds(kept.bytes.at)}, most of it in {kept.bytes.fullest}"
    panels = [Panel(BYTES if peak else 0.2, "bytes held", words, (), draw_bytes)]
    if rooms:
        dashed = "dashed: as many as there is room for"
        panels.insert(0, Panel(TRACK * len(rooms), "elements held", dashed, list(rooms), draw_elements))
    lanes = [
        stairs(text, kept.elements.steps[text], end, room) | {"colour": colours[text]}
        for text, room in rooms.items()
    ]
    if peak:
        lanes.append(stairs("bytes", total(kept.bytes.steps), end, None) | {"text": size(peak)})
    scene = {"title": "held", "words": words, "from": 0, "to": end, "seconds": True, "lanes": lanes}
    return Picture(f"memory: {words}", scene, lambda: compose(panels))


def stairs(name: str, steps: list[tuple[float, int]], end: float, room: int | None) -> dict[str, Any]:
    """Return the lane of what *name* held, up to the *end*, with a line at its *room*."""
    most = max((held for _, held in steps), default=0)
    text = f"at most {most}" + (f" of {room}" if room else "")
    marks: list[dict[str, Any]] = [
        {"kind": "area", "points": [(0, 0), *steps, (end, steps[-1][1] if steps else 0)]}
    ]
    if room:
        marks.append({"kind": "line", "points": [(0, room), (end, room)], "dashed": True})
    return {"name": name, "text": text, "height": 54, "top": max(room or 0, most), "marks": marks}


def total(steps: dict[str, list[tuple[float, int]]]) -> list[tuple[float, int]]:
    """Add up what all held, at each time at which that changed."""
    changes = [
        (time, now - before)
        for each in steps.values()
        for (_, before), (time, now) in pairwise([(0, 0), *each])
    ]
    changes.sort(key=itemgetter(0))
    return [*zip((time for time, _ in changes), accumulate(change for _, change in changes), strict=True)]
