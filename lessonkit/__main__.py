"""Checks an installation, copies the lessons, and turns a lesson that was run and saved into a page.

python -m lessonkit check
python -m lessonkit copy FOLDER
python -m lessonkit export NOTEBOOK [--to html]
"""

import argparse
import sys
from pathlib import Path

from . import install_check
from .lessons import copy_lessons


def check_installation() -> int:
    """Print what was found; return 1 if the lessons cannot show widgets."""
    print("Python", install_check.python())
    return int(install_check.check() is None)


def copy_into(folder: Path) -> int:
    """Copy the lessons into *folder*, and print which changed copies have newer versions."""
    try:
        newer = copy_lessons(folder)
    except OSError as error:
        sys.exit(f"lessonkit: The lessons cannot be copied to {folder}: {error}")
    print(f"The lessons are in {folder}; nothing that you write there is overwritten.")
    if newer:
        print(
            f"You have changed {' and '.join(newer)}, and there is a newer version: "
            "to get it, rename or delete your copy, and run this again."
        )
    return 0


def export(notebook: Path) -> int:
    """Write the saved *notebook* as a page beside it, and print where that is."""
    try:
        from .export.notebook import export_html

        page = export_html(notebook)
    except ModuleNotFoundError as missing:
        sys.exit(
            f"lessonkit: {missing.name} is not installed, which turns notebooks into pages: "
            'pip install "lessonkit[lessons]"'
        )
    except (OSError, ValueError) as error:
        sys.exit(f"lessonkit: {error}")
    print(f"The page is {page}; it needs no network.")
    return 0


def main() -> int:
    """Run the command that the command line names."""
    about = __doc__.partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m lessonkit", description=about)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser(
        "check", help="look at this installation, and say what to do about it"
    )
    commands.add_parser("copy", help="copy the lessons into a folder").add_argument(
        "folder", type=Path
    )
    page = commands.add_parser("export", help="write a lesson as a page, as it was saved")
    page.add_argument("notebook", type=Path, help="a lesson that was run and saved")
    page.add_argument("--to", choices=["html"], default="html", help="what is written")
    given = parser.parse_args()
    if given.command == "check":
        return check_installation()
    return export(given.notebook) if given.command == "export" else copy_into(given.folder)


if __name__ == "__main__":
    sys.exit(main())
