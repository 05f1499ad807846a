"""A notebook that was run in this process, so that a test can ask its widgets what a learner would."""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from functools import lru_cache
from io import StringIO
from itertools import product
from time import process_time
from typing import Any, NamedTuple

import nbformat

from lessonkit.lessons import find_answers
from lessonkit.widgets import questions
from lessonkit.widgets.challenges import Challenge, Outcome
from lessonkit.widgets.explorer import Explore
from tools.comments import set_up, without_comments
from tools.lessons import FIELD_GUIDE, LESSONS, NOTEBOOKS

CONTROLS = NOTEBOOKS.parent / "docs" / "controls.ipynb"
WRITTEN = [lesson.name for lesson in LESSONS]
NOTEBOOK_NAMES = sorted([*WRITTEN, FIELD_GUIDE])

find_answers()  # as a notebook's own kernel does

BLOCK = re.compile(r"```.*?```", re.S)
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.S)
SOLUTION = re.compile(r"```python\n(.*?)```", re.S)
SOLVED = "<summary>A solution</summary>"
HEADING = re.compile(r"^(#+) (.+)$", re.M)


class Heading(NamedTuple):
    """A heading of a lesson's text."""

    level: int
    text: str
    cell: Any


class Solved(NamedTuple):
    """A challenge, and the code of the solution that is folded below it."""

    task: Any
    code: str


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
        self.name = name
        began = process_time()
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
        """All text, without the code in it and without comments."""
        text = "\n\n".join(cell.source for cell in self.markdown)
        return CODE.sub("", without_comments(text))

    @property
    def vote(self) -> questions.Choice:
        """The question at the end of the main path, which no run answers."""
        (found,) = (
            asked for _, asked in self.widgets(questions.Choice) if not asked.traces
        )
        assert isinstance(found, questions.Choice)
        return found

    @property
    def headings(self) -> list[Heading]:
        return [
            Heading(len(marks), text.strip(), cell)
            for cell in self.markdown
            for marks, text in HEADING.findall(BLOCK.sub("", cell.source))
        ]

    def solved(self) -> list[Solved]:
        """Each challenge with the solution that comes next."""
        found = []
        tasks = []
        for cell in self.cells:
            value = self.values.get(cell.id)
            if isinstance(value, Challenge) or (isinstance(value, Explore) and value.task):
                tasks.append(value)
            elif tasks and cell.cell_type == "markdown" and SOLVED in cell.source:
                typed = SOLUTION.findall(cell.source) or set_up(cell.source)
                assert typed, f"{cell.id}: the solution has no code, and no values"
                found.append(Solved(tasks.pop(), typed[0]))
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
