"""The package stays small: this holds how many tokens it has, how many of them stand on a line, and
how many classes, constants and public names somebody meets who reads it.

`pytest -s tests/test_size.py` prints these numbers.
"""

import ast
import inspect
import io
import sys
import tokenize
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import lessonkit
from lessonkit import (
    ArtificialDataset,
    DataLoader,
    Dataset,
    analysis,
    benchmark,
    optimize,
    plot,
    widgets,
)

PACKAGE = Path(__file__).parent.parent / "lessonkit"

TOKENS = 80_000
DENSITY = 9.0  # tokens per line, at most
WIDTH = 100  # characters per line, at most
CLASSES = 150  # at most
CONSTANTS = 157  # names in capitals that a module gives a value to, at most
NAMES = 81  # that a user can import, and their methods, at most
PARAMETERS = 218  # of these, at most

TOO_LARGE = (
    "The package has {} tokens, {} more than its budget. Take something away: a concept that "
    "no lesson needs, one of two twins, code that a library has. Do not write it more densely."
)
TOO_DENSE = (
    "The package has {:.2f} tokens per line, more than {}. Give each step a line and a name, "
    "or take something away."
)

TOO_MANY = (
    "There are {} {}, {} more than the budget. Write a number that is used once where it is used, "
    "and a class that only holds two values as a tuple; a name that no lesson and no user needs goes."
)

# What is no token of code.
LAYOUT = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)


def lines_of_docstrings(tree: ast.Module) -> Iterator[int]:
    """Give the number of every line on which a docstring stands."""
    for node in ast.walk(tree):
        if isinstance(
            node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        ):
            if ast.get_docstring(node, clean=False) is not None:
                docstring = node.body[0]
                yield from range(docstring.lineno, (docstring.end_lineno or 0) + 1)


def size(text: str) -> tuple[int, int]:
    """Count the tokens of a module and the lines that hold one, without comments and docstrings."""
    skipped = set(lines_of_docstrings(ast.parse(text)))
    tokens, lines = 0, set[int]()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in LAYOUT and token.start[0] not in skipped:
            tokens += 1
            lines |= {*range(token.start[0], token.end[0] + 1)}
    return tokens, len(lines)


def test_a_module_is_counted_without_comments_and_docstrings() -> None:
    lines = [
        '"""What',
        "",
        'it is."""',
        "x = 1  # one",
        "def f(a):",
        '    """Do."""',
        "    return a",
    ]
    assert size("\n".join(lines)) == (3 + 6 + 2, 3)


def test_the_package_stays_within_its_budget() -> None:
    sizes = [size(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")]
    tokens, lines = map(sum, zip(*sizes, strict=True))
    print(tokens, "tokens,", f"{tokens / lines:.2f} per line")
    assert tokens <= TOKENS, TOO_LARGE.format(tokens, tokens - TOKENS)
    assert tokens <= DENSITY * lines, TOO_DENSE.format(tokens / lines, DENSITY)


def constants(module: ast.Module) -> list[str]:
    """List the names in capitals to which *module* gives values."""
    targets: list[ast.expr] = []
    for statement in module.body:
        if isinstance(statement, ast.Assign):
            targets += statement.targets
        elif isinstance(statement, ast.AnnAssign):
            targets.append(statement.target)
    names = [node for target in targets for node in ast.walk(target)]
    return [name.id for name in names if isinstance(name, ast.Name) and name.id.isupper()]


def public() -> Iterator[Any]:
    """Give everything behind the doors, and the methods of the classes there."""
    for door in (lessonkit, analysis, optimize, plot, widgets):
        for member in (getattr(door, name) for name in door.__all__):
            yield member
            for name in vars(member) if isinstance(member, type) else ():
                if not name.startswith("_") and inspect.isfunction(getattr(member, name)):
                    yield getattr(member, name)


def parameters(member: Any) -> list[str]:
    """List the parameters of a function, or of what makes an object of a class."""
    if not callable(member) or (isinstance(member, type) and issubclass(member, Exception)):
        return []
    return [name for name in inspect.signature(member).parameters if name != "self"]


def test_the_package_has_few_classes_constants_and_public_names() -> None:
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    members = [*public()]
    for what, count, most in (
        ("classes", sum(isinstance(node, ast.ClassDef) for node in nodes), CLASSES),
        ("constants", sum(len(constants(tree)) for tree in trees), CONSTANTS),
        ("public names", len(members), NAMES),
        ("parameters", sum(len(parameters(member)) for member in members), PARAMETERS),
    ):
        print(count, what)
        assert count <= most, TOO_MANY.format(count, what, count - most)


def followed(run: Callable[[], Any]) -> tuple[int, int]:
    """Count the files and the functions of the package that *run* goes through."""
    seen = set[tuple[str, str, int]]()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(PACKAGE)):
            seen.add((code.co_filename, code.co_qualname, code.co_firstlineno))

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return len({file for file, _, _ in seen}), len(seen)


def prefetch() -> None:
    benchmark(PREFETCHED)


def loader() -> None:
    mapped = Dataset.range(8).map(cost=0.01)
    benchmark(DataLoader(mapped, batch_size=2, num_workers=2))


PREFETCHED = ArtificialDataset(3).prefetch(1)


@pytest.mark.parametrize(("run", "most"), [(prefetch, (9, 59)), (loader, (13, 108))])
def test_whoever_follows_one_run_meets_few_files_and_functions(
    run: Callable[[], Any], most: tuple[int, int]
) -> None:
    files, functions = followed(run)
    print(run.__name__, files, "files,", functions, "functions")
    assert files <= most[0]
    assert functions <= most[1]


def calls(run: Callable[[], Any]) -> int:
    """Count how often a function begins or goes on while *run* runs."""
    count = 0

    def note(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


def four_stages(elements: int, record: bool) -> None:
    files = ArtificialDataset(elements, open=0.03, read=0.015)
    mapped = files.map(cost=0.005).map(cost=0.005)
    benchmark(mapped.prefetch(1), 1, 0.01, record=record)


def batches(number: int, size: int, record: bool) -> None:
    samples = Dataset.range(number * size).map(cost=0.005)
    benchmark(DataLoader(samples, size, num_workers=4), 1, 0.001, record=record)


@pytest.mark.parametrize(
    ("run", "most"),
    [
        (lambda number: four_stages(number, record=False), 30.1),
        (lambda number: four_stages(number, record=True), 39.1),
        (lambda number: batches(number, 1, record=False), 34.3),
        (lambda number: batches(number, 8, record=False), 118.3),
        (lambda number: batches(number, 8, record=True), 168.3),
    ],
)
def test_an_element_takes_few_calls(run: Callable[[int], None], most: float) -> None:
    """Speed without a clock: seconds vary, and calls do not."""
    few, many = (calls(partial(run, number)) for number in (100, 300))
    each = (many - few) / 200
    print(each, "calls per element")
    assert each <= most


def test_no_line_of_the_package_is_too_long_to_read() -> None:
    paths = [path for path in PACKAGE.rglob("*") if path.suffix in (".py", ".js", ".css")]
    long = [
        f"{path.relative_to(PACKAGE)}:{number}"
        for path in paths
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > WIDTH
    ]
    assert not long, f"lines of more than {WIDTH} characters"
