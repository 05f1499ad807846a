"""What buffers and caches held, as a picture."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

from lessonkit.engine.trace import Trace
from lessonkit.explain.memory import memory
from lessonkit.pictures.layout import colours_of
from lessonkit.pictures.panels import Panel, compose, name, time_axis
from lessonkit.pictures.style import DASHED, DEFAULTS, Look, Picture, look_of
from lessonkit.words import milliseconds
from lessonkit.words import size as memory_size

TRACK = 0.44  # inches, for a buffer
HELD = ("", "////", "....", "\\\\\\\\", "xxxx")  # of buffers, one after another


def plot_memory(trace: Trace, *, title: str = "bytes held", **look: bool) -> Picture:
    """What buffers and caches held: elements in each, and the bytes of all.

    >>> from lessonkit import ArtificialDataset, benchmark
    >>> plot_memory(benchmark(ArtificialDataset(3, nbytes=1000).cache().prefetch(2), num_epochs=1))
    memory: 4 kB at most, at 75 ms, most of it in cache
    """
    page = look_of(**DEFAULTS | look)
    panels = held_panels(trace, trace.duration, page)
    panels[-1] = panels[-1]._replace(title=title)
    return compose(panels, page, f"memory: {panels[-1].words}")


def held_panels(trace: Trace, longest: float, look: Look) -> list[Panel]:
    """A track for each buffer, and one for the bytes of all of them, on top of each other."""
    kept, end = memory(trace), trace.duration
    rooms = {buffer.name: buffer.capacity for buffer in trace.buffers}
    colours, peak = colours_of(list(rooms)), kept.bytes.peak
    paints: dict[str, dict[str, Any]] = {
        name: {"facecolor": colours[name], "edgecolor": look.paper, "hatch": HELD[row % len(HELD)]}
        for row, name in enumerate(rooms)
    }

    def draw_fills(axes: Axes) -> None:
        scale = time_axis(axes, longest)
        for row, (text, room) in enumerate(rooms.items()):
            steps = [(0, 0), *kept.elements.steps[text]]
            steps.append((end, steps[-1][1]))
            most = max(count for _, count in steps)
            floor, full = TRACK * look.size * (row + 0.9), 0.7 * TRACK * look.size / max(room or 0, most, 1)
            times, tops = [time * scale for time, _ in steps], [floor - count * full for _, count in steps]
            axes.fill_between(times, tops, floor, step="post", linewidth=0, **paints[text])
            axes.step(times, tops, where="post", color=look.quiet, linewidth=0.7)  # also what is over at once
            if room:
                axes.plot([0, end * scale], [floor - room * full] * 2, color=look.quiet, **DASHED)
            name(axes, floor - 0.55 * TRACK * look.size, text, look)
            of = f"at most {most} of {room}" if room else f"at most {most}"
            name(axes, floor - 0.14 * TRACK * look.size, of, look, size=7.5, color=look.quiet)

    def draw_bytes(axes: Axes) -> None:
        scale, floor = time_axis(axes, longest), axes.get_ylim()[0]
        levels = {text: {0: 0} | dict(steps) for text, steps in kept.bytes.steps.items() if peak}
        times = sorted({time for steps in levels.values() for time in steps if time <= end} | {0, end})
        xs, low, full = [time * scale for time in times], [floor] * len(times), 0.85 * floor / (peak or 1)
        for text, steps in levels.items():
            now, high = 0, []
            for time, below in zip(times, low, strict=True):
                now = steps.get(time, now)
                high.append(below - now * full)
            axes.fill_between(xs, high, low, step="post", linewidth=0, **paints[text])
            low = high
        if peak:
            top, at = floor - peak * full, kept.bytes.at * scale
            axes.plot([0, end * scale], [top] * 2, color=look.quiet, **DASHED)
            axes.plot([at, at], [floor, top], color=look.ink, linewidth=0.8)  # it may last for no time at all
            axes.plot([at], [top], "v", color=look.ink, markersize=5 * look.size)
            name(axes, top, memory_size(peak), look, size=8.5, color=look.quiet)
            name(axes, floor, "0", look, size=8.5, color=look.quiet)

    words = "nobody said how many bytes an element has" if rooms else "there is no buffer and no cache"
    if peak:
        at = milliseconds(kept.bytes.at)
        words = f"{memory_size(peak)} at most, at {at}, most of it in {kept.bytes.fullest}"
    found = [Panel((1.2 if peak else 0.2) * look.size, "bytes held", words, (), draw_bytes)]
    if rooms:
        height, dashed = TRACK * look.size * len(rooms), "dashed: as many as there is room for"
        found.insert(0, Panel(height, "elements held", dashed, list(rooms), draw_fills))
    return found
