"""Build the wheel, and try in an empty environment what it is for: alone, and then with its lessons.

python -m tools.wheel [--to FOLDER]
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "lessonkit" / "widgets" / "page" / "built"
# A notebook, and what lies beside it for those who learn
LESSONS = {
    path.name
    for path in (ROOT / "notebooks").iterdir()
    if path.suffix in (".ipynb", ".json", ".py")
}

# Nothing is installed beside the wheel
ALONE = """
import databound, lessonkit
from lessonkit import ArtificialDataset, benchmark
from lessonkit.analysis import limits

for package in (databound, lessonkit):
    assert "site-packages" in package.__file__, package.__file__
print(limits(benchmark(ArtificialDataset().prefetch(1))))
for name in ("plot", "widgets"):
    try:
        __import__(f"lessonkit.{name}")
    except ImportError as error:
        assert 'pip install "lessonkit[lessons]"' in str(error), error
    else:
        raise AssertionError(f"lessonkit.{name} can be imported without what it needs")
"""

# The extra for the lessons is there as well
WITH_LESSONS = """
from lessonkit import ArtificialDataset, benchmark
from lessonkit.plot import plot_timelines
from lessonkit.widgets import explore

trace = benchmark(ArtificialDataset().prefetch(1))
assert plot_timelines({"a run": trace})._repr_mimebundle_()[0]["image/png"]
shown = explore(lambda buffer=1: ArtificialDataset().prefetch(buffer), buffer=(0, 4))
assert "210 ms" in repr(explore(lambda: ArtificialDataset())), shown
"""

# A notebook that was opened without what lies beside it
NOTEBOOK = """
from lessonkit.lessons import find_answers

find_answers()
import answers_00, answers_11
assert answers_11.measured()
"""


class Environment:
    """An environment that has nothing but pip, in a folder of its own, which is where its programs run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        home = folder / "empty"
        venv.create(home, with_pip=True)
        self.python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    def python_with(self, *arguments: str) -> None:
        """Run Python with these *arguments*; end here if that fails."""
        run(str(self.python), *arguments, cwd=self.folder)

    def install(self, package: str) -> None:
        """Install a *package* with pip."""
        quietly = ("--quiet", "--disable-pip-version-check")
        self.python_with("-m", "pip", "install", *quietly, package)

    def installed(self) -> set[str]:
        """Return the names of all packages that are installed."""
        command = [str(self.python), "-m", "pip", "list", "--format=freeze"]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return {line.partition("==")[0] for line in told.splitlines()}


def build(folder: Path) -> Path:
    """Build the sources and the wheel into *folder*; return the wheel, which has all that it should."""
    run(sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT))
    (wheel,) = folder.glob("*.whl")
    brought = {Path(name).name for name in ZipFile(wheel).namelist()}
    pages = {path.name for path in PAGES.iterdir() if path.is_file()}
    missing = (pages | LESSONS) - brought
    assert not missing, f"not in the wheel: {missing}"
    return wheel


def try_alone(wheel: Path, empty: Environment) -> None:
    """Try what needs the standard library alone: the engine, and the command of databound."""
    before = empty.installed()
    empty.install(str(wheel))
    added = empty.installed() - before
    assert added == {"lessonkit"}, f"the wheel alone brings {added}"
    empty.python_with("-c", ALONE)
    empty.python_with("-m", "databound", "--help")


def try_lessons(wheel: Path, empty: Environment) -> None:
    """Try what the extra `lessons` is for: pictures, widgets, and copies of the notebooks."""
    empty.install(f"{wheel}[lessons]")
    empty.python_with("-c", WITH_LESSONS)
    empty.python_with("-c", NOTEBOOK)
    empty.python_with("-m", "lessonkit", "check")
    empty.python_with("-m", "lessonkit", "copy", "lessons")
    copied = {path.name for path in (empty.folder / "lessons").glob("[!.]*")}
    assert copied == LESSONS, copied


def run(*command: str, cwd: Path | None = None) -> None:
    """Run a program; end here if it fails."""
    if returned := subprocess.run(command, cwd=cwd).returncode:
        sys.exit(f"{' '.join(command[:4])} failed with {returned}")


def main() -> None:
    """Build, try, and keep what was built if somebody says where."""
    parser = argparse.ArgumentParser(prog="make wheel", description=__doc__)
    parser.add_argument(
        "--to", type=Path, metavar="FOLDER", help="keep the sources and the wheel there"
    )
    given = parser.parse_args()
    with TemporaryDirectory(prefix="lessonkit-wheel-") as temporary:
        built = Path(temporary, "dist")
        wheel = build(built)
        empty = Environment(Path(temporary))
        try_alone(wheel, empty)
        try_lessons(wheel, empty)
        if given.to:
            shutil.copytree(built, given.to, dirs_exist_ok=True)
    print(
        "The wheel alone runs pipelines and databound; with its lessons it draws, explores and copies them."
    )


if __name__ == "__main__":
    main()
