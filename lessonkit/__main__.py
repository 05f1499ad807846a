"""`python -m lessonkit check` looks at this installation; `copy FOLDER` copies the lessons there."""

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


def main() -> int:
    """Run the command that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m lessonkit", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser(
        "check", help="look at this installation, and say what to do about it"
    )
    commands.add_parser("copy", help="copy the lessons into a folder").add_argument(
        "folder", type=Path
    )
    given = parser.parse_args()
    return check_installation() if given.command == "check" else copy_into(given.folder)


if __name__ == "__main__":
    sys.exit(main())
