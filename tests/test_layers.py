"""Arrows between modules point one way, and the engine needs the standard library alone."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "lessonkit"

# From the bottom to the top; a module imports those before it, or its own folder.
LAYERS = [
    "check",
    "words",
    "element",
    "work",
    "node",
    "dataset",
    "trace",
    "runtime",
    "operators",
    "iteration",
    "benchmark",
    "code",
    "analysis",
    "optimize",
    "layout",
    "plumbing",
    "plot",
    "widgets",
    "install_check",
    "lessons",
    "__main__",
]
# What a description or a trace offers for convenience, and looks up only when it is asked for.
LATE = {("dataset", "iteration"), ("dataset", "code"), ("runtime", "operators"), ("trace", "analysis")}


def imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names


MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if path != PACKAGE / "__init__.py"]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_arrows_point_one_way(path: Path) -> None:
    layer = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    for name in imports(path):
        if name.startswith("lessonkit."):
            other = name.split(".")[1]
            late = (layer, other) in LATE
            assert late or other == layer or LAYERS.index(other) < LAYERS.index(layer), name


def test_the_engine_needs_the_standard_library_alone() -> None:
    code = "import sys, lessonkit; print(*{name.split('.')[0] for name in sys.modules})"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    foreign = set(loaded) - set(sys.stdlib_module_names) - {"lessonkit", "__main__"}
    assert not {name for name in foreign if not name.startswith(("_", "sitecustomize"))}, foreign
