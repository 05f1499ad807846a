"""What a search tried, as a picture."""

from collections.abc import Sequence

from lessonkit.improve.climb import Try
from lessonkit.pictures.chart import chart, dot
from lessonkit.pictures.style import Picture
from lessonkit.words import milliseconds


def plot_search(steps: Sequence[Try]) -> Picture:
    """Draw what a search tried, one run after another: a step that was taken is filled, and says its turns.

    >>> from lessonkit import AUTOTUNE, ArtificialDataset
    >>> from lessonkit.optimize import autotune
    >>> plot_search(autotune(ArtificialDataset(20).prefetch(AUTOTUNE), most_places=4).steps)
    search: 4 runs from left to right, 680 ms to 680 ms, 1 taken
    """
    if not steps:
        raise ValueError("plot_search: nothing was tried")
    count = len(steps)
    # The first one always is
    taken = [place for place, step in enumerate(steps, 1) if step.accepted]
    first, last = (milliseconds(steps[place - 1].seconds) for place in (1, taken[-1]))
    words = f"{count} run{'s' * (count != 1)} from left to right, {first} to {last}, {len(taken)} taken"
    longest = max(step.seconds for step in steps) or 1

    dots = []
    for place, step in enumerate(steps, 1):
        told = f"{step.turns}: {milliseconds(step.seconds)}"
        text, verdict = (told, "taken") if step.accepted else ("", "not taken")
        dots.append(
            dot(place, step.seconds, text, f"{told}, {verdict}")
            | {"hollow": not step.accepted}
        )
    stairs = [(place, steps[place - 1].seconds) for place in (*taken, taken[-1])]
    line = {"kind": "steps", "points": [*stairs[:-1], (count, stairs[-1][1])]}
    lane = {"height": 170, "top": longest, "marks": [line, *dots]}
    title = "how long each run took"
    scene = {"title": title, "words": words, "from": 1, "to": count, "lanes": [lane]}
    return chart("search", scene)
