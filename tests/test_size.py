"""The package stays small: this holds how many tokens it has, and how many of them stand on a line."""

import ast
import io
import tokenize
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "lessonkit"

TOKENS = 80_400  # of Python, at most
DENSITY = 9.0  # tokens per line, at most
WIDTH = 100  # characters per line, at most

TOO_LARGE = (
    "The package has {} tokens, {} more than its budget. Take something away: a concept that "
    "no lesson needs, one of two twins, code that a library has. Do not write it more densely."
)
TOO_DENSE = (
    "The package has {:.2f} tokens per line, more than {}. Give each step a line and a name, "
    "or take something away."
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
    assert tokens <= TOKENS, TOO_LARGE.format(tokens, tokens - TOKENS)
    assert tokens <= DENSITY * lines, TOO_DENSE.format(tokens / lines, DENSITY)


def test_no_line_of_the_package_is_too_long_to_read() -> None:
    paths = [path for path in PACKAGE.rglob("*") if path.suffix in (".py", ".js", ".css")]
    long = [
        f"{path.relative_to(PACKAGE)}:{number}"
        for path in paths
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > WIDTH
    ]
    assert not long, f"lines of more than {WIDTH} characters"
