"""Shows the kitchen, the image that all lessons share; each lesson points at its part of it."""

import re
from importlib.resources import files

from lessonkit.engine import check


class Kitchen:
    """Show the kitchen; the *parts* that are named keep their colours, without names all of them.

    Raises ValueError for a part that the kitchen does not have.
    """

    def __init__(self, *parts: str) -> None:
        self.drawing = files(__package__).joinpath("kitchen.svg").read_text("utf-8")
        known = tuple(re.findall(r'<g id="(\w+)"', self.drawing))
        self.parts = [check.one_of("part", part, known) for part in parts or known]
        for part in {*known} - {*self.parts}:
            self.drawing = self.drawing.replace(
                f'<g id="{part}"', f'<g id="{part}" opacity="0.25"'
            )

    def __repr__(self) -> str:
        return f"The kitchen: {', '.join(self.parts)}."

    def _repr_svg_(self) -> str:
        return self.drawing
