"""Find the tests that can judge a change: those that run it, and those that share what these have made."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from coverage import Coverage

from .mutant import Lines, Mutant
from .record import LINES, SETTINGS, TESTS, Ran


class Definition(NamedTuple):
    """A statement of a module that runs on import, and the names that it gives."""

    lines: Lines
    names: tuple[str, ...]


@dataclass(frozen=True)
class Judges:
    """What a run of all tests has shown.

    Attributes:
        tests: What is known of each test. Those that failed or did not run judge nothing.
        ran: Of each file, and each of its lines, the tests that ran it; with an empty name if it ran
            outside of all tests.
        texts: The lines of each file.
        defined: What each file defines on import.

    """

    tests: dict[str, Ran]
    ran: dict[str, dict[int, frozenset[str]]]
    texts: dict[str, list[str]]
    defined: dict[str, list[Definition]]

    @property
    def seconds(self) -> float:
        """How long all tests take."""
        return sum(test.seconds for test in self.tests.values())

    @cached_property
    def cost_of_shared(self) -> dict[str, float]:
        """How long it takes at most to make each thing that several tests share."""
        found = dict[str, float]()
        for test in self.tests.values():
            for name in test.shared:
                found[name] = max(found.get(name, 0.0), test.seconds)
        return found

    def of(self, mutant: Mutant, most: float) -> dict[str, float]:
        """Return the tests that can judge a *mutant*, and how long they take.

        Those that run the change come first, and the quickest of them. After them come those that share
        a fixture or a value with one of them: its first user alone runs the change. Tests that would
        make it longer than *most* seconds are left out.
        """
        direct = self.that_run(mutant.file, mutant.lines)
        direct |= self.that_name(mutant.names, {(mutant.file, mutant.lines)})
        shared = {name for test in direct for name in self.tests[test].shared}
        others = {
            name for name, test in self.tests.items() if shared & test.shared
        } - direct
        found, made, whole = dict[str, float](), set[str](), 0.0
        for test in (*self.quickest(direct), *self.quickest(others)):
            whole += self.cost(test, made)
            if whole > most:
                break
            found[test] = self.cost(test, made)
            made |= self.tests[test].shared
        return found

    def cost(self, test: str, made: Collection[str] = ()) -> float:
        """Return the seconds for a *test*, and for what it shares unless that is *made* already."""
        known = self.tests[test]
        return known.seconds + sum(
            self.cost_of_shared[name] for name in known.shared - {*made}
        )

    def on_import(self, mutant: Mutant) -> bool:
        """Return whether what a *mutant* changes runs before all tests: in no test's name."""
        ran, lines = self.ran.get(mutant.file, {}), mutant.lines
        return any("" in ran.get(line, ()) for line in range(lines.first, lines.last + 1))

    def quickest(self, tests: Collection[str]) -> list[str]:
        """Return those of *tests* that passed, the quickest first."""
        passed = [test for test in tests if self.tests[test].passed]
        return sorted(passed, key=lambda test: (self.cost(test), test))

    def that_run(self, file: str, lines: Lines) -> set[str]:
        """Return the tests that run one of these *lines*."""
        ran = self.ran.get(file, {})
        each = (ran.get(line, frozenset()) for line in range(lines.first, lines.last + 1))
        return {test for tests in each for test in tests if test in self.tests}

    def that_name(self, names: Collection[str], seen: set[tuple[str, Lines]]) -> set[str]:
        """Return the tests that run a line with one of these *names*, outside of what was *seen*.

        A line that runs on import gives a name itself, whose lines are looked for as well.
        """
        found = set[str]()
        for file, line in self.with_names(names):
            if any(
                file == one and line in range(lines[0], lines[1] + 1) for one, lines in seen
            ):
                continue
            tests = self.that_run(file, Lines(line, line))
            found |= tests
            if not tests and (definition := self.definition(file, line)):
                lines = definition.lines
                found |= self.that_name(definition.names, seen | {(file, lines)})
                seen.add((file, lines))
        return found

    def with_names(self, names: Collection[str]) -> Iterator[tuple[str, int]]:
        """Give every line with one of these *names*."""
        if not names:
            return
        pattern = re.compile(rf"\b({'|'.join(names)})\b")
        for file, text in self.texts.items():
            for number, line in enumerate(text, 1):
                if pattern.search(line):
                    yield file, number

    def definition(self, file: str, line: int) -> Definition | None:
        """Return what is defined on import at a *line*."""
        for one in self.defined[file]:
            if one.lines.first <= line <= one.lines.last:
                return one
        return None


def definitions(text: str) -> list[Definition]:
    """Return what a module of this *text* defines by assignments on import."""
    found = []
    for statement in ast.parse(text).body:
        if isinstance(statement, (ast.Assign, ast.AnnAssign)):
            nodes = (
                statement.targets
                if isinstance(statement, ast.Assign)
                else [statement.target]
            )
            names = tuple(node.id for node in nodes if isinstance(node, ast.Name))
            lines = Lines(statement.lineno, statement.end_lineno or statement.lineno)
            found.append(Definition(lines, names))
    return found


def read(folders: Sequence[Path], root: Path) -> Judges:
    """Read what was recorded in *folders* of the project in *root*."""
    tests, ran = dict[str, Ran](), dict[str, dict[int, frozenset[str]]]()
    for folder in folders:
        for path in folder.glob(TESTS.format("*")):
            for name, told in json.loads(path.read_text(encoding="utf-8")).items():
                tests[name] = Ran(told["seconds"], told["passed"], set(told["shared"]))
    for folder in folders:
        parts = Coverage(data_file=folder / "all", config_file=str(folder / SETTINGS))
        parts.combine([str(path) for path in folder.glob(f"{LINES}.*")], keep=True)
        data = parts.get_data()
        for file in data.measured_files():
            lines = ran.setdefault(file, {})
            for line, names in data.contexts_by_lineno(file).items():
                lines[line] = lines.get(line, frozenset()) | {
                    name for name in names if name
                }
    texts = {file: (root / file).read_text(encoding="utf-8") for file in ran}
    return Judges(
        tests,
        ran,
        {file: text.splitlines() for file, text in texts.items()},
        {file: definitions(text) for file, text in texts.items()},
    )
