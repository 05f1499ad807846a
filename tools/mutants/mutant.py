"""What a mutant is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple


class Lines(NamedTuple):
    """The first and the last line of a stretch."""

    first: int
    last: int


@dataclass(frozen=True)
class Mutant:
    """One change.

    Attributes:
        file: The changed file, from the root of the project.
        line: Where the change is.
        kind: The name of the change.
        before: The lines that are changed, as they are.
        after: The same lines, changed.
        lines: Tests that run one of these lines can judge the change.
        names: So can those that run a line with one of these names. Empty for what runs in a
            function; a constant or an attribute of a class runs on import, and is used elsewhere.
        source: The whole changed file.

    """

    file: str
    line: int
    kind: str
    before: str
    after: str
    lines: Lines
    names: tuple[str, ...]
    source: str

    @property
    def room(self) -> str:
        """The folder of the changed file."""
        return Path(self.file).parent.as_posix()

    @property
    def name(self) -> str:
        """What no other mutant has."""
        return f"{self.file}:{self.line} {self.kind}: {self.after}"
