"""Print how large each room is, and how long its functions are: it tells where to look, and forbids nothing.

python -m tools.sizes
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles

ROOT = Path(__file__).resolve().parent.parent
# The rooms of the house; those of its largest ones are counted apart.
ROOMS = (
    "lessonkit",
    "databound",
    "notebooks",
    "delivery",
    "evidence",
    "benchmarks",
    "tests",
    "tools",
)
HAS_ROOMS = ("lessonkit", "delivery", "tests")
SCRIPTS = (".js", ".mjs")


@dataclass
class Room:
    """What is counted in a room: Python files, the lines of each of their functions, and JavaScript."""

    name: str
    files: int = 0
    lines: int = 0
    functions: list[int] = field(default_factory=list)
    script_lines: int = 0

    def add(self, path: Path) -> None:
        """Count one more file."""
        text = path.read_text(encoding="utf-8")
        if path.suffix in SCRIPTS:
            self.script_lines += text.count("\n")
        else:
            self.files += 1
            self.lines += text.count("\n")
            self.functions += lengths(text)

    def row(self) -> str:
        """Return a line of the table."""
        longest = [""] * 3
        if self.functions:
            longest = [f"{number:.0f}" for number in spread(self.functions)]
        counts = [str(self.files), f"{self.lines:,}", f"{len(self.functions):,}", *longest]
        script = f"{self.script_lines:,}" if self.script_lines else ""
        return " ".join(
            [f"{self.name:22}", *(f"{text:>9}" for text in [*counts, script])]
        ).rstrip()


def lengths(text: str) -> list[int]:
    r"""Return the lines of each function in a *text* of Python, with its docstring and without decorators.

    >>> lengths("def one(): pass\n\ndef two():\n    return 2\n")
    [1, 2]
    """
    return [
        node.end_lineno - node.lineno + 1
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno
    ]


def spread(numbers: list[int]) -> tuple[float, float, int]:
    """Return the median, the 90th percentile and the largest of some *numbers*.

    >>> spread([*range(1, 12)])
    (6, 10.0, 11)
    """
    ninety = quantiles(numbers, n=10, method="inclusive")[-1] if numbers[1:] else numbers[0]
    return median(numbers), ninety, max(numbers)


def files_of(folder: Path, deep: bool = True) -> Iterator[Path]:
    """Give the files of a *folder* that are counted; with *deep*, those of the folders in it as well."""
    for path in sorted(folder.rglob("*") if deep else folder.glob("*")):
        if path.suffix in (".py", *SCRIPTS):
            yield path


def rooms(root: Path) -> Iterator[Room]:
    """Count each room under *root*, and after it the rooms inside it."""
    for name in ROOMS:
        yield counted(name, files_of(root / name))
        if name in HAS_ROOMS:
            yield counted("  its own files", files_of(root / name, deep=False))
            for inner in sorted(path for path in (root / name).iterdir() if path.is_dir()):
                room = counted(f"  {inner.name}", files_of(inner))
                if room.files or room.script_lines:
                    yield room


def counted(name: str, files: Iterator[Path]) -> Room:
    """Count all *files* of a room."""
    room = Room(name)
    for path in files:
        room.add(path)
    return room


def main() -> None:
    """Print the table."""
    columns = ("files", "lines", "functions", "median", "90 %", "longest", "JS lines")
    print(" ".join([f"{'room':22}", *(f"{name:>9}" for name in columns)]))
    for room in rooms(ROOT):
        print(room.row())
    print(
        "Lines of a function: the median, what nine in ten have at most, and the longest."
    )


if __name__ == "__main__":
    main()
