"""`python -m lessonkit check` looks at this installation; `copy FOLDER` copies the lessons there.

`recommend my_module:loader my_module:step` says what to change in a training job.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from pkgutil import resolve_name

from lessonkit.job.recommend import Recommendation, recommend

from . import install_check
from .lessons import copy_lessons

JOB_PAGE = """<!doctype html><meta charset=utf-8><meta name=viewport content='width=device-width'>
<title>What to change</title>
<style>:root{{color-scheme:light dark;font-family:sans-serif}}
td,th{{padding:0 1em 0 0;text-align:left}}</style>
{}"""
FORMS: dict[str, Callable[[Recommendation], str]] = {
    "text": str,
    "html": lambda advice: JOB_PAGE.format(advice._repr_html_()),
    "json": lambda advice: json.dumps(advice.numbers(), indent=1),
}


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


def recommend_for(loader: str, step: str, form: str) -> int:
    """Print in a *form* what to change in the job of *loader* and *step*, each a module:name.

    Return 1 if there is something to change, 0 if there is not, and 2 if the job could not
    be measured.
    """
    sys.path.insert(0, "")
    sys.argv = [loader.partition(":")[0]]  # a module that parses arguments has none of ours
    try:
        with printed_apart():
            advice = recommend(resolve_name(loader), resolve_name(step))
        print(FORMS[form](advice))
    except BaseException as error:  # of the learner's modules: SystemExit, too
        why = f"{type(error).__name__}: {str(error) or 'without a message'}"
        print(f"lessonkit: {why}", file=sys.stderr)
        return 2
    return int(bool(advice.changes))


@contextmanager
def printed_apart() -> Iterator[None]:
    """Send all that the block prints to stderr, also what processes print that it starts."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


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
    job = commands.add_parser(
        "recommend", help="measure a training job, and say what to change"
    )
    for name in ("loader", "step"):
        job.add_argument(name, metavar=f"MODULE:{name}", help=f"where the {name} is")
    job.add_argument("--form", choices=FORMS, default="text", help="what to print")
    given = parser.parse_args()
    if given.command == "recommend":
        return recommend_for(given.loader, given.step, given.form)
    return check_installation() if given.command == "check" else copy_into(given.folder)


if __name__ == "__main__":
    sys.exit(main())
