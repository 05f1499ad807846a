"""What each step of a change saved, as a picture."""

from collections.abc import Sequence

from lessonkit.pictures.chart import chart
from lessonkit.pictures.style import Picture
from lessonkit.words import milliseconds, number


def plot_waterfall(steps: Sequence[tuple[str, float]], *, title: str = "") -> Picture:
    """Draw what each of *steps* saved: pairs of a name and the seconds that it then took.

    >>> plot_waterfall([("naive", 0.42), ("+ prefetch(1)", 0.36), ("+ parallel map", 0.24)])
    waterfall: from 420 ms to 240 ms, 1.8 times as fast
    """
    names, times = [text for text, _ in steps], [seconds for _, seconds in steps]
    if not times or min(times) <= 0:
        raise ValueError("plot_waterfall: no step, or one that takes no time")
    first, last, longest = times[0], times[-1], max(times)
    words = f"from {milliseconds(first)} to {milliseconds(last)}, {number(first / last)} times as fast"

    lanes = []
    for text, before, now in zip(names, [first, *times], times, strict=False):
        less = f", {milliseconds(abs(now - before))} {'less' if now < before else 'more'}"
        told = milliseconds(now) + (less if now != before else "")
        short, long = sorted((before, now))
        bar = {"kind": "bar", "points": [(0, 1), (short, 1)], "say": f"{text}: {told}"}
        change = {
            "kind": "bar",
            "points": [(short, 1), (long, 1)],
            "hatched": True,
            "text": told,
        }
        lanes.append({"name": text, "height": 30, "top": 1, "marks": [bar, change]})
    scene = {
        "title": title,
        "words": words,
        "from": 0,
        "to": longest,
        "seconds": True,
        "lanes": lanes,
    }
    return chart("waterfall", scene)
