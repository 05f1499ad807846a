"""A glyph for each lesson: three bars that draw its idea, for the row of lessons on the first page."""

from html import escape
from typing import Literal, NamedTuple

ROWS = 3
COLUMNS = 12
# Pixels: of a column, of a row with the gap below it, and of a bar
STEP = 6
ROW = 12
HIGH = 9
Kind = Literal["load", "train", "less"]  # "less" is time that is gone, or is waited


class Bar(NamedTuple):
    """A bar in a row, from one column to another."""

    row: int
    begins: int
    ends: int
    kind: Kind = "load"


# By the number of a lesson, with what the bars say.
GLYPHS: dict[str, tuple[Bar, Bar, Bar]] = {
    # Loading and training take turns.
    "00": (Bar(0, 0, 5), Bar(1, 5, 7, "train"), Bar(0, 7, 12)),
    # The next load begins while a step trains.
    "01": (Bar(0, 0, 5), Bar(1, 5, 8, "train"), Bar(0, 5, 10)),
    # All files are opened at once.
    "02": (Bar(0, 0, 9), Bar(1, 0, 9), Bar(2, 0, 9)),
    # The slowest stage sets the pace.
    "03": (Bar(0, 0, 4), Bar(1, 0, 12), Bar(2, 8, 12, "train")),
    # Paid once, and then hardly anything.
    "04": (Bar(0, 0, 7), Bar(1, 7, 9), Bar(2, 9, 11)),
    # One call for work that took two.
    "05": (Bar(0, 0, 6), Bar(0, 7, 12), Bar(2, 0, 9, "train")),
    # What comes first shortens what comes after it.
    "06": (Bar(0, 0, 3), Bar(1, 3, 7), Bar(2, 7, 12, "less")),
    # Each change gains where the one before ended.
    "07": (Bar(0, 0, 12, "less"), Bar(1, 0, 8), Bar(2, 0, 8)),
    # A waterfall: each tool takes a part away.
    "08": (Bar(0, 6, 12, "less"), Bar(1, 3, 6, "less"), Bar(2, 0, 3, "train")),
    # Workers begin one after another, and work side by side.
    "09": (Bar(0, 1, 8), Bar(1, 2, 9), Bar(2, 3, 10)),
    # The slowest rank is waited for by all.
    "10": (Bar(0, 0, 5), Bar(1, 0, 12), Bar(0, 5, 12, "less")),
    # A loader, a step, and the row that is still empty.
    "11": (Bar(0, 0, 7), Bar(1, 7, 10, "train"), Bar(2, 0, 12, "less")),
    # Half of the work, and half again.
    "12": (Bar(0, 0, 12), Bar(1, 0, 6), Bar(2, 0, 3)),
}


def glyph(number: str) -> str:
    """Return the glyph of the lesson with this *number* as SVG, which has no name: its lesson has one."""
    bars = "".join(
        f'<rect class="{escape(bar.kind)}" x="{bar.begins * STEP}" y="{bar.row * ROW}" '
        f'width="{(bar.ends - bar.begins) * STEP - 1}" height="{HIGH}" rx="2"/>'
        for bar in GLYPHS[number]
    )
    size = f"0 0 {COLUMNS * STEP} {ROWS * ROW}"
    return f'<svg class="lessons-glyph" viewBox="{size}" aria-hidden="true">{bars}</svg>'
