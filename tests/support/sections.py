"""How a lesson is divided: its headings, its covered sections, and where *Further* begins."""

import re
from collections.abc import Iterator
from typing import Any

from tools.lesson import Lesson


def level(cell: Any) -> int:
    """How deep a heading is; of a cell that begins with none, deeper than all."""
    marks = re.match(r"#+(?= )", cell.source)
    return len(marks[0]) if cell.cell_type == "markdown" and marks else 7


def tags(cell: Any) -> list[str]:
    return list(cell.metadata.get("tags", []))


def sections(found: Lesson) -> Iterator[tuple[int, int, int]]:
    """The places of the heading above a covered section, of its own heading, and of its end."""
    levels = [level(cell) for cell in found.cells]
    for place, cell in enumerate(found.cells):
        if "covered" in tags(cell):
            above = max(other for other in range(place) if levels[other] < levels[place])
            end = next(
                (
                    other
                    for other in range(place + 1, len(levels))
                    if levels[other] <= levels[place]
                ),
                len(levels),
            )
            yield above, place, end


def further_of(found: Lesson) -> int:
    return next(
        place
        for place, cell in enumerate(found.cells)
        if cell.source.startswith("## Further")
    )
