"""Arrows between modules point one way, and the engine needs the standard library alone."""

import ast
import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

PACKAGE = Path(__file__).parents[2] / "lessonkit"

# From the bottom to the top: a file imports only those below its own floor, or beside it in
# its folder.
LAYERS = [
    "words",
    "engine",
    "code",
    "dataset",
    "loader",
    "explain",
    "improve",
    "pictures",
    "export",
    "analysis",
    "optimize",
    "widgets",
    "plot",
    "install_check",
    "lessons",
    "__main__",
]


def running(node: ast.AST) -> Iterator[ast.AST]:
    """Give all nodes below *node*, but none that is there for a type checker alone."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        yield child
        yield from running(child)


def imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in running(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            # An import with a leading dot stays in its folder
            folder = path.parent.relative_to(PACKAGE.parent).parts if node.level else ()
            module = ".".join([*folder, *filter(None, [node.module])])
            names |= {f"{module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names


MODULES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path
    for path in sorted(PACKAGE.rglob("*.py"))
    if path.name != "__init__.py"
}


def imported(path: Path) -> set[str]:
    """The modules of the package that a file imports, wherever in it."""
    return {
        module
        for name in imports(path)
        for module in (name, name.rpartition(".")[0])
        if module in MODULES
    }


def test_an_import_from_the_same_folder_begins_with_a_dot() -> None:
    for path in MODULES.values():
        folder = ".".join(path.parent.relative_to(PACKAGE.parent).parts)
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ImportFrom):
                assert node.level <= 1, path
                assert (node.module or "").rpartition(".")[0] != folder or node.level, path


@pytest.mark.parametrize("name", MODULES)
def test_arrows_point_one_way(name: str) -> None:
    floor = name.split(".")[1]
    for other in imported(MODULES[name]):
        below = other.split(".")[1]
        assert below == floor or LAYERS.index(below) < LAYERS.index(floor), other


def test_no_file_reaches_itself_by_its_imports() -> None:
    arrows = {name: imported(path) for name, path in MODULES.items()}
    for name, below in arrows.items():
        seen = set()
        todo = [*below]
        while todo:
            other = todo.pop()
            if other not in seen:
                seen.add(other)
                todo += arrows[other]
        assert name not in seen, name


def test_no_import_hides_in_a_call() -> None:
    for name, path in MODULES.items():
        called = {
            node.id
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Name)
        }
        assert not called & {"import_module", "__import__"}, name


def test_the_engine_needs_the_standard_library_alone() -> None:
    code = "import sys, lessonkit; print(*{name.split('.')[0] for name in sys.modules})"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    foreign = set(loaded) - set(sys.stdlib_module_names) - {"lessonkit", "__main__"}
    assert not {name for name in foreign if not name.startswith(("_", "sitecustomize"))}, (
        foreign
    )


# The rooms of the house, and which others each may import
ALLOWED = {
    "lessonkit": set[str](),
    "databound": {"lessonkit"},
    "notebooks": {"lessonkit", "databound"},
    "tools": {"lessonkit", "databound", "notebooks"},
    "delivery": {"lessonkit", "databound", "notebooks", "tools"},
    "benchmarks": {"lessonkit", "databound", "notebooks", "tools", "delivery"},
    "evidence": {"lessonkit", "databound", "notebooks"},
}


@pytest.mark.parametrize("room", ALLOWED)
def test_each_room_imports_only_what_it_may(room: str) -> None:
    """Nothing imports the tests; lessonkit knows nothing of databound."""
    files = {path.stem for path in PACKAGE.with_name("notebooks").glob("*.py")}
    for path in PACKAGE.with_name(room).rglob("*.py"):
        for name in imports(path):
            first = name.split(".")[0]
            first = "notebooks" if first in files else first
            if first in ALLOWED:
                assert first == room or first in ALLOWED[room], f"{path} imports {name}"
            assert not first.startswith("test_"), path
            assert first not in ("support", "tests"), path


DOORS = ("lessonkit", "analysis", "optimize", "plot", "widgets", "widgets.goals")


@pytest.mark.parametrize("door", DOORS)
def test_behind_each_door_stands_what_users_need_and_nothing_else(door: str) -> None:
    name = door if door == "lessonkit" else f"lessonkit.{door}"
    module = importlib.import_module(name)
    # Nobody is offered what begins with "__"
    offered = [member for member in dir(module) if not member.startswith("__")]
    assert offered == sorted(module.__all__)
    for member in module.__all__:
        assert getattr(module, member).__doc__, member
        is_module = isinstance(getattr(module, member), ModuleType)
        assert is_module or f"{name}.{member}" not in MODULES, f"{member} hides a module"
