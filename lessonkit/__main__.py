"""`python -m lessonkit check` looks at this installation; `... copy FOLDER` copies the lessons there."""

from __future__ import annotations

import argparse
import shutil
import sys
from importlib import metadata
from pathlib import Path

from lessonkit import install_check

HERE = Path(__file__).parent.parent / "notebooks"


def check() -> int:
    """Print what was found; 1 if something is not good."""
    found = [*install_check.findings(), install_check.kernel()]
    print(install_check.in_words(found))
    print("Whether a page and its kernel hear each other shows the first cell of 00_start_here.ipynb.")
    return int(not all(finding.good for finding in found))


def lessons() -> list[Path]:
    """The notebooks: beside the package in a clone, or where an installation has put them."""
    if HERE.is_dir():
        return sorted(HERE.glob("*.ipynb"))
    brought = metadata.files("lessonkit") or []
    return sorted(Path(str(path.locate())).resolve() for path in brought if path.suffix == ".ipynb")


def copy(folder: Path) -> int:
    """Copy the lessons, and never over what a learner has written."""
    folder.mkdir(parents=True, exist_ok=True)
    for lesson in lessons():
        if (folder / lesson.name).exists():
            print(f"{folder / lesson.name} is there already, and is left as it is")
        else:
            shutil.copy(lesson, folder)
    print(f"The lessons are in {folder}. Open the first: jupyter lab {folder / '00_start_here.ipynb'}")
    return 0


def main() -> int:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m lessonkit", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check", help="look at this installation, and say what to do about it")
    commands.add_parser("copy", help="copy the lessons into a folder").add_argument("folder", type=Path)
    given = parser.parse_args()
    return check() if given.command == "check" else copy(given.folder)


if __name__ == "__main__":
    sys.exit(main())
