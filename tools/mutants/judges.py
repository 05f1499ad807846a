"""Which files of tests run which lines: each file runs once under coverage, and judges what it ran."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from coverage import Coverage

from .mutant import Mutant
from .run import Folder

# Forked workers and other processes are measured, too, for the file of tests that started them
SETTINGS = """[run]
source = {packages}
relative_files = true
parallel = true
sigterm = true
disable_warnings = no-data-collected,module-not-imported,no-sysmon
patch =
    subprocess
    fork
    _exit
"""


class Line(NamedTuple):
    """A line of a file, from the root of the project."""

    file: str
    number: int


@dataclass(frozen=True)
class Ran:
    """A *file* of tests that has run: how long that took, and whether all of it passed."""

    file: str
    seconds: float
    passed: bool


def record(file: str, packages: Sequence[str], folder: Folder, to: Path) -> None:
    """Run a *file* of tests in a *folder*, and store in *to* which lines of *packages* it ran."""
    to.mkdir(parents=True, exist_ok=True)
    settings = to / "coverage.ini"
    settings.write_text(SETTINGS.format(packages=",".join(packages)), encoding="utf-8")
    name = file.replace("/", ".")
    lines = [f"--rcfile={settings}", f"--data-file={to / name}.lines", f"--context={file}"]
    ended = folder.pytest([file], under=["-m", "coverage", "run", *lines])
    ran = Ran(file, ended.seconds, ended.outcome == "passed")
    (to / f"{name}.json").write_text(json.dumps(asdict(ran)), encoding="utf-8")


class Judges:
    """The files of tests, by the lines that they ran; *texts* has the lines of each file of a package.

    A file of which a test fails on the original judges nothing.
    """

    def __init__(
        self, ran: Sequence[Ran], by: dict[Line, set[str]], texts: dict[str, list[str]]
    ) -> None:
        self.seconds = {one.file: one.seconds for one in ran if one.passed}
        self.failed = [one.file for one in ran if not one.passed]
        self.by = by
        self.texts = texts

    def of(self, mutant: Mutant, most: float) -> list[str]:
        """Return the files that can judge a *mutant*, the quickest first, for at most so many seconds.

        What a mutant changes outside of functions runs on import, for nobody in particular. Then
        those judge it that run something of a module in which one of its names stands.
        """
        numbers = range(mutant.lines.first, mutant.lines.last + 1)
        found = set[str]().union(
            *(self.by.get(Line(mutant.file, number), ()) for number in numbers)
        )
        if mutant.names:
            modules = self.with_one_of(mutant.names)
            found |= {
                file for line in self.by if line.file in modules for file in self.by[line]
            }
        chosen = list[str]()
        left = most
        for file in sorted(found & self.seconds.keys(), key=self.seconds.__getitem__):
            left -= self.seconds[file]
            if chosen and left < 0:
                break
            chosen.append(file)
        return chosen

    def with_one_of(self, names: Sequence[str]) -> set[str]:
        """Return the modules in which one of these *names* stands."""
        pattern = re.compile(rf"\b({'|'.join(names)})\b")
        return {
            file
            for file, lines in self.texts.items()
            if any(pattern.search(line) for line in lines)
        }


def read(folder: Path, root: Path) -> Judges:
    """Read what was recorded in a *folder*, of the project in *root*."""
    ran = [
        Ran(**json.loads(path.read_text(encoding="utf-8")))
        for path in sorted(folder.glob("*.json"))
    ]
    parts = Coverage(data_file=folder / "all", config_file=str(folder / "coverage.ini"))
    parts.combine([str(path) for path in folder.glob("*.lines*")], keep=True)
    data = parts.get_data()
    by: dict[Line, set[str]] = {}
    for file in data.measured_files():
        for number, names in data.contexts_by_lineno(file).items():
            by[Line(file, number)] = {name for name in names if name}
    files = {line.file for line in by}
    texts = {file: (root / file).read_text(encoding="utf-8").splitlines() for file in files}
    return Judges(ran, by, texts)
