"""What a search tried, as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from lessonkit.improve.climb import Try
from lessonkit.pictures.layout import COLOURS
from lessonkit.pictures.panels import Panel, compose, count_axis, dot, say
from lessonkit.pictures.style import CARD, PAPER, Picture
from lessonkit.words import milliseconds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEIGHT = 1.7  # inches


def plot_search(steps: Sequence[Try]) -> Picture:
    """Draw what a search tried, one run after another: a step that was taken is filled, and says its turns.

    >>> from lessonkit import AUTOTUNE, ArtificialDataset
    >>> from lessonkit.optimize import autotune
    >>> plot_search(autotune(ArtificialDataset(20).prefetch(AUTOTUNE), most_places=4).steps)
    search: 4 runs from left to right, 680 ms to 680 ms, 1 taken
    """
    if not steps:
        raise ValueError("plot_search: nothing was tried")
    count, colour = len(steps), COLOURS["Read"]
    taken = [place for place, step in enumerate(steps, 1) if step.accepted]  # the first one always is
    first, last = (milliseconds(steps[place - 1].seconds) for place in (1, taken[-1]))
    words = f"{count} run{'s' * (count != 1)} from left to right, {first} to {last}, {len(taken)} taken"
    longest = max(step.seconds for step in steps) or 1

    def height_of(place: int) -> float:
        return HEIGHT * (1 - 0.75 * steps[place - 1].seconds / longest)

    def draw(axes: Axes) -> None:
        count_axis(axes, HEIGHT)
        axes.set_xlim(0.5, count + 0.5)
        corners = [height_of(place) for place in (*taken, taken[-1])]
        axes.step([*taken, count], corners, color=colour, linewidth=1.5, where="post")
        for place, step in enumerate(steps, 1):
            fill = colour if step.accepted else PAPER
            y = height_of(place)
            axes.plot(place, y, "o", color=colour, markerfacecolor=fill, markersize=6, clip_on=False)
        for before, place in pairwise([taken[0], *taken]):
            y, line = height_of(place), height_of(before)
            if y - line < 0.34:  # there is no room between the line and the dot
                y = min(y, line)
            x, side = (place, "left") if place <= count / 2 else (place - 0.1, "right")
            step = steps[place - 1]
            say(axes, x, y - 0.17, f"{step.turns}: {milliseconds(step.seconds)}", ha=side, bbox=CARD)

    dots = []
    for place, step in enumerate(steps, 1):
        told = f"{step.turns}: {milliseconds(step.seconds)}"
        text, verdict = (told, "taken") if step.accepted else ("", "not taken")
        dots.append(dot(place, step.seconds, text, f"{told}, {verdict}") | {"hollow": not step.accepted})
    stairs = [(place, steps[place - 1].seconds) for place in (*taken, taken[-1])]
    line = {"kind": "steps", "points": [*stairs[:-1], (count, stairs[-1][1])]}
    lane = {"height": 170, "top": longest, "marks": [line, *dots]}
    scene = {"title": "search", "words": words, "from": 1, "to": count, "lanes": [lane]}
    return Picture(f"search: {words}", scene, lambda: compose([Panel(HEIGHT, "search", words, (), draw)]))
