"""Shows the kitchen, the image that all lessons share; each lesson points at its part of it."""

import re
from importlib.resources import files
from typing import Any

from lessonkit.engine import check

DRAWING = (files(__package__) / "kitchen.svg").read_text("utf-8")
OF = re.compile(r'data-of="([\w ]+)"')  # which parts something belongs to


class Kitchen:
    """Show the kitchen; the *parts* that are named keep their colours, without names all of them.

    An arrow fades with what it joins. Raises ValueError for a part that the kitchen does not have.
    """

    def __init__(self, *parts: str) -> None:
        known = tuple(part for part in OF.findall(DRAWING) if " " not in part)
        self.parts = [check.one_of("part", part, known) for part in parts or known]
        self.words = f"The kitchen: {', '.join(self.parts)}."
        self.scene = {"kitchen": self.parts}

    def __repr__(self) -> str:
        return self.words

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        def faded(found: re.Match[str]) -> str:
            is_shown = {*found[1].split()} <= {*self.parts}
            return found[0] if is_shown else f'{found[0]} opacity="0.6"'

        return {"image/svg+xml": OF.sub(faded, DRAWING), "text/plain": self.words}, {}
