"""Code that is being run, in the words of whoever wrote it: its own lines, and the calls in them."""

import ast
import linecache
import sys
from functools import cache
from pathlib import Path
from sysconfig import get_paths
from textwrap import dedent
from types import CodeType

import lessonkit

OURS = Path(__file__).parent
# Below one of these a file is Python's, or ours
KNOWN = (
    *(Path(get_paths()[name]) for name in ("stdlib", "platstdlib")),
    OURS,
    Path(lessonkit.__file__).parent,
)
PACKAGES = ("site-packages", "dist-packages")  # of any interpreter
LONGEST = 60  # characters of an expression


def folder_of_packages(path: Path) -> Path | None:
    """Return the folder above a file into which packages are installed, such as that of its library."""
    for folder in path.parents:
        if folder.name in PACKAGES or (
            str(folder) in sys.path and is_installed_into(folder)
        ):
            return folder
    return None


@cache
def is_installed_into(folder: Path) -> bool:
    """Whether packages are installed into a *folder*: pip notes there what they are."""
    return next(folder.glob("*.dist-info"), None) is not None


@cache
def is_own(file: str) -> bool:
    """Whether a *file* is the user's own, not one of a library, of Python or of this package."""
    if file.startswith("<") and not file.startswith("<ipython-input"):
        return False
    path = Path(file)
    if any(path.is_relative_to(folder) for folder in KNOWN):
        return False
    return folder_of_packages(path) is None


def is_ours(file: str) -> bool:
    """Whether a *file* is one of this package, which stands around somebody's loader."""
    return Path(file).is_relative_to(OURS)


def line_at(code: CodeType, instruction: int) -> int:
    """Return the number of the line of an *instruction* of *code*."""
    found = code.co_firstlineno
    for first, last, line in code.co_lines():
        if line is not None and first <= instruction < last:
            return line
    return found


def place_of(code: CodeType, instruction: int) -> str:
    """Return the file and the line of an *instruction*: `train.py:34`."""
    return f"{Path(code.co_filename).name}:{line_at(code, instruction)}"


def named_function(code: CodeType) -> str:
    """Return the name of a library's function, after that of its module: `PIL.Image.Image.resize`."""
    name = getattr(code, "co_qualname", code.co_name)  # Python 3.10 has the short one
    return f"{module_of(code.co_filename)}.{name.replace('.<locals>', '')}"


@cache
def module_of(file: str) -> str:
    """Return the name of the module in a *file* of a library, as an import has it."""
    if file.startswith("<"):
        return file.strip("<>").removeprefix("frozen ")
    path = Path(file)
    installed = folder_of_packages(path)
    roots = [installed] if installed else [*KNOWN[:2], OURS.parent, KNOWN[-1].parent]
    root = next((root for root in roots if path.is_relative_to(root)), Path(path.anchor))
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def call_at(code: CodeType, instruction: int) -> str:
    """Return the expression that an *instruction* of *code* computes, as it is written there.

    Arguments are left out: `image.resize(...)`. What is no expression, and what nobody can
    read, is the line as it is; Python 3.10 knows no more than lines. Where a function only begins,
    nothing is computed yet.
    """
    file = code.co_filename
    line = linecache.getline(file, line_at(code, instruction)).strip()
    written = source_of(code, instruction)
    if written is None:
        return shortened(line)
    if not written.strip():
        return ""
    try:
        tree = ast.parse(dedent(written).strip(), mode="eval")
    except (SyntaxError, ValueError):
        return shortened(line)
    return shortened(ast.unparse(WithoutArguments().visit(tree)))


def source_of(code: CodeType, instruction: int) -> str | None:
    """Return the source of an *instruction*, if it is known."""
    positions = getattr(code, "co_positions", None)
    if positions is None:
        return None
    found = [*positions()][instruction // 2] if instruction >= 0 else (None,) * 4
    first, last, begin, end = found
    if first is None or last is None or begin is None or end is None:
        return None
    lines = [
        linecache.getline(code.co_filename, number).encode()
        for number in range(first, last + 1)
    ]
    if not all(lines):
        return None
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][begin:]
    return b"".join(lines).decode(errors="replace")


class WithoutArguments(ast.NodeTransformer):
    """Writes three dots for the arguments of each call."""

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        has_some = bool(node.args or node.keywords)
        return ast.Call(node.func, [ast.Constant(...)] if has_some else [], [])


def shortened(text: str) -> str:
    """Return *text* on one line, cut off where it is too long."""
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
