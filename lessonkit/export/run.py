"""A run that was saved with a widget, as a drawing that needs no script."""

from html import escape
from math import floor, log10
from typing import NamedTuple

from lessonkit.pictures.scene import BarColumns, Scene
from lessonkit.words import number

# In pixels
WIDTH = 900
LEFT = 92  # of the names of rows
RIGHT = 16
LANE = 20
BETWEEN = 10  # rows
LETTER = 7  # wide at most
BELOW = 22  # the bars, for the axis
TICKS = 8  # about so many
FINEST = 10  # microseconds between two of them: their numbers have no more digits

ROUND = (1, 2, 5, 10)


class Place(NamedTuple):
    """Where a bar is, in pixels."""

    x: float
    y: float
    width: float
    height: float


def svg_of(scene: Scene) -> str:
    """Draw the timeline of *scene*: rows, bars with their labels, waits as outlines, and an axis."""
    tops = []
    floor_of_rows = BETWEEN
    for row in scene["rows"]:
        tops.append(floor_of_rows)
        floor_of_rows += max(1, row["lanes"]) * LANE + BETWEEN
    scale = (WIDTH - LEFT - RIGHT) / max(1, scene["end"])
    bars = scene["bars"]
    parts = [
        *(
            f'<line x1="{LEFT + at * scale:.1f}" x2="{LEFT + at * scale:.1f}" y1="0" '
            f'y2="{floor_of_rows}" stroke="#d0d7de"/>'
            f'<text x="{LEFT + at * scale:.1f}" y="{floor_of_rows + 16}" '
            f'text-anchor="middle">{text}</text>'
            for at, text in ticks(scene["end"])
        ),
        *(
            f'<text x="{LEFT - 10}" y="{top + row["lanes"] * LANE / 2 + 4}" '
            f'text-anchor="end">{escape(row["stage"])}</text>'
            for row, top in zip(scene["rows"], tops, strict=True)
        ),
        *(
            bar_of(bars, bar, place_of(bars, bar, tops, scale), scene)
            for bar in range(len(bars["row"]))
        ),
    ]
    size = f"0 0 {WIDTH} {floor_of_rows + BELOW}"
    words = escape(scene["summary"], quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" role="img" '
        f'aria-label="{words}" font-size="12" font-family="system-ui, sans-serif" '
        f'fill="#1b1f24">{"".join(parts)}</svg>'
    )


def place_of(bars: BarColumns, bar: int, tops: list[int], scale: float) -> Place:
    """Return the place of a bar; its level is the share of its lane that it fills."""
    height = (LANE - 2) * bars["level"][bar]
    below = tops[bars["row"][bar]] + (bars["lane"][bar] + 1) * LANE
    width = max(1.0, bars["length"][bar] * scale - 1)
    return Place(LEFT + bars["start"][bar] * scale, below - height - 1, width, height)


def bar_of(bars: BarColumns, bar: int, place: Place, scene: Scene) -> str:
    """Draw a bar: filled if it is work or a count, as an outline if it waits."""
    kind = bars["kind"][bar]
    waits = kind not in ("", "count")
    colour = "#ffffff" if waits else scene["rows"][bars["row"][bar]]["colour"]
    edge = ' stroke="#8c959f" stroke-dasharray="3 3"' if waits else ""
    rect = (
        f'<rect x="{place.x:.1f}" y="{place.y:.1f}" width="{place.width:.1f}" '
        f'height="{place.height:.1f}" rx="2" fill="{colour}"{edge}/>'
    )
    label = bars["label"][bar]
    if not label or len(label) * LETTER > place.width or place.height < 11:
        return rect
    x = place.x + place.width / 2
    y = place.y + place.height / 2 + 4
    weight = "400" if waits else "600"
    text = f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" font-weight="{weight}">'
    return f"{rect}{text}{escape(label)}</text>"


def ticks(end: int) -> list[tuple[int, str]]:
    """Return round times of an axis that ends at *end* microseconds, with their texts."""
    least = max(1, end) / TICKS
    power = 10 ** floor(log10(least))
    step = max(FINEST, next(int(one * power) for one in ROUND if one * power >= least))
    return [
        (at, f"{number(at / 1000)}{'' if at else ' ms'}") for at in range(0, end + 1, step)
    ]
