"""A notebook that was run in this process, so that a test can ask its widgets what a learner would."""

from __future__ import annotations

import ast
import linecache
import re
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from functools import lru_cache
from io import StringIO
from itertools import product
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import nbformat

from lessonkit.widgets import questions
from lessonkit.widgets.challenges import Challenge, Outcome
from lessonkit.widgets.explorer import Explore

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"
CONTROLS = NOTEBOOKS.parent / "docs" / "controls.ipynb"
NUMBERS = Path(__file__).parent / "numbers"
SERIES = (
    "00_start_here",
    "01_prefetch",
    "02_interleave",
    "03_parallel_map",
    "04_cache",
    "05_vectorise",
    "06_ordering",
    "07_optimisers",
    "08_put_it_together",
    "09_workers",
    "10_many_machines",
    "11_your_own_job",
)
WRITTEN = [name for name in SERIES if (NOTEBOOKS / f"{name}.ipynb").exists()]


# Where a notebook's kernel finds the answers to its questions
sys.path.insert(0, str(NOTEBOOKS))

BLOCK = re.compile(r"```.*?```", re.S)
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.S)
SOLUTION = re.compile(r"```python\n(.*?)```", re.S)
NUMBER = re.compile(
    r"(?P<before>.*)\{(?P<shown>[^{}]+)\}(?P<after>.*?) == (?P<expression>.+)"
)
SOLVES = "the solution of "  # before the id of a cell, in braces, whose controls an expression sets
UNITS = {"ms": 1e3, "µs": 1e6, "%": 1e2, "kB": 1e-3, "MB": 1e-6}
HEADING = re.compile(r"^(#+) (.+)$", re.M)


class Heading(NamedTuple):
    level: int
    text: str
    cell: Any


class Solved(NamedTuple):
    """A challenge, and the code of the solution that is folded below it."""

    task: Any
    code: str


class Number(NamedTuple):
    """A number in the prose of a lesson, the words around it, and the expression that computes it."""

    place: str  # file and line
    before: str
    shown: str
    after: str
    expression: str

    def found(self, prose: str) -> int:
        """Return how often the words are in the prose; *2 ms* is not found in *12 ms*."""
        words = re.escape(self.before + self.shown + self.after)
        return len(re.findall(rf"(?<![\d.,]){words}(?!\.?\d)", prose))

    def problem(self, prose: str, names: dict[str, Any]) -> str:
        """Return what an editor has to mend, or an empty text."""
        line = f"{self.place}: {self.before}{{{self.shown}}}{self.after}"
        found = self.found(prose)
        if not found:
            return f"{line}: the lesson does not have these words"
        if found > 1:
            return f"{line}: the lesson has these words {found} times; give more of them"
        digits = re.search(r"-?\d[\d,]*(?:\.(\d+))?", self.shown)
        if not digits:
            return f"{line}: there is no number in the braces"
        unit = self.shown[digits.end() :].strip("* ").split()[:1]
        value = eval(self.expression, names) * (UNITS.get(unit[0], 1) if unit else 1)
        close = 0.5 * 10 ** -len(digits[1] or "") + 1e-9
        same = abs(value - float(digits[0].replace(",", ""))) <= close
        return "" if same else f"{line}: {self.expression} is {value}"


def numbers_of(path: Path) -> list[Number]:
    """Return the lines of a file in tests/numbers, without headings."""
    found = []
    for place, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            parts = NUMBER.fullmatch(line.strip())
            where = f"{path.name}, line {place}"
            assert parts, f"{where}: must be: words {{number}} words == expression"
            found.append(Number(where, **parts.groupdict()))
    return found


def pages_of(name: str) -> tuple[str, Path]:
    """Return the lesson whose names a file in tests/numbers uses, and the page that has its words."""
    if name in SERIES:
        return name, NOTEBOOKS / f"{name}.ipynb"
    number = name.removeprefix("teaching_")
    run = next(one for one in SERIES if one.startswith(number))
    return run, NOTEBOOKS.parent / "docs" / "teaching" / f"{number}.md"


class Shown(NamedTuple):
    """What a cell gave: the value of its last line, what it printed, and what a widget began with."""

    value: Any
    printed: str
    state: str


class Lesson:
    """The cells of a notebook, what each gave, and the names that they left.

    Cells on the real clock are left out: nothing after them may need what they make. So are
    all cells of *Further* in a lesson that *ends_there*: some take longer than the others
    together.
    """

    def __init__(self, name: str, *, ends_there: bool = False) -> None:
        self.name, began = name, process_time()
        self.path = NOTEBOOKS / f"{name}.ipynb"
        self.cells = nbformat.read(self.path, as_version=4).cells
        self.names: dict[str, Any] = {"__name__": name}
        self.shown: dict[str, Shown] = {}  # by the id of a cell
        for cell in self.cells:
            if ends_there and cell.source.startswith("## Further"):
                break
            if cell.cell_type == "code" and "real-clock" not in cell.metadata.get(
                "tags", ()
            ):
                self.shown[cell.id] = run(cell.source, self.names, f"<{name} {cell.id}>")
        self.values = {cell: shown.value for cell, shown in self.shown.items()}
        self.took = process_time() - began

    def widgets(self, kind: type | tuple[type, ...]) -> Iterator[tuple[str, Any]]:
        """What cells showed that is of a kind, with the id of the cell."""
        seen: list[Any] = []
        for cell, value in self.values.items():
            if isinstance(value, kind) and not any(value is other for other in seen):
                seen.append(value)
                yield cell, value

    @property
    def markdown(self) -> list[Any]:
        return [cell for cell in self.cells if cell.cell_type == "markdown"]

    @property
    def prose(self) -> str:
        """All text, without the code in it."""
        return CODE.sub("", "\n\n".join(cell.source for cell in self.markdown))

    @property
    def told(self) -> str:
        """All Markdown as words with single spaces between them, one line for each cell; and the vote."""
        texts = [cell.source for cell in self.markdown]
        texts += [f"{self.vote.question} {self.vote.why}"]
        return "\n".join(" ".join(text.split()) for text in texts)

    @property
    def vote(self) -> questions.Choice:
        """The question at the end of the main path, which no run answers."""
        (found,) = (
            asked for _, asked in self.widgets(questions.Choice) if not asked.traces
        )
        assert isinstance(found, questions.Choice)
        return found

    @property
    def listed(self) -> list[Number]:
        """The lines of its file in tests/numbers."""
        return numbers_of(NUMBERS / f"{self.name}.txt")

    @property
    def numbers(self) -> list[Number]:
        """The numbers of the prose that an expression computes."""
        return [number for number in self.listed if number.before != SOLVES]

    @property
    def headings(self) -> list[Heading]:
        return [
            Heading(len(marks), text.strip(), cell)
            for cell in self.markdown
            for marks, text in HEADING.findall(BLOCK.sub("", cell.source))
        ]

    def solved(self) -> list[Solved]:
        """Each challenge with the solution that comes next."""
        moved = {
            one.shown: f"values = {one.expression}"
            for one in self.listed
            if one.before == SOLVES
        }
        found, tasks = [], []
        for cell in self.cells:
            value = self.values.get(cell.id)
            if isinstance(value, Challenge) or (isinstance(value, Explore) and value.task):
                tasks.append((cell.id, value))
            elif (
                tasks
                and cell.cell_type == "markdown"
                and "<summary>A solution</summary>" in cell.source
            ):
                asked, task = tasks.pop()
                typed = SOLUTION.search(cell.source)
                code = moved.pop(asked, typed[1] if typed else "")
                assert code, f"{asked}: its solution has no values"
                found.append(Solved(task, code))
        # A lesson that ends before *Further* has cells that were not run
        left_out = {cell.id for cell in self.cells} - self.values.keys()
        assert moved.keys() <= left_out, f"no cell has such an id: {list(moved)}"
        assert not tasks, "a challenge has no solution below it"
        return found


def run(source: str, names: dict[str, Any], file: str) -> Shown:
    """Run a cell; it has a value if its last line is an expression."""
    # For inspect
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    value = None
    with redirect_stdout(StringIO()) as printed:
        exec(compile(ast.Module(body, []), file, "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), file, "eval"), names)
    state = (
        value.state
        if isinstance(value, (Explore, questions.Number, questions.Choice, Outcome))
        else ""
    )
    return Shown(value, printed.getvalue(), state)


def passing(task: Explore) -> list[dict[str, Any]]:
    """Every setting of a challenge's controls that passes it."""
    choices = [control.values for control in task.controls.values()]
    settings = [
        dict(zip(task.controls, values, strict=True)) for values in product(*choices)
    ]
    return [values for values in settings if task.picture(values)[1]["verdict"]["passed"]]


@lru_cache
def lesson(name: str) -> Lesson:
    """A lesson, run once for all tests."""
    return Lesson(name)


@lru_cache
def main_path(name: str) -> Lesson:
    """A lesson without *Further*, run once for all tests."""
    return Lesson(name, ends_there=True)
