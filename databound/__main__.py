"""`python -m databound my_module:loader my_module:step` says what to change in a training job.

Its exit code is for programs: 0 nothing is worth changing, 1 something is, 2 the job could not be
measured, 3 the runs cannot tell, 130 it was stopped by Ctrl+C.
"""

import argparse
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from enum import IntEnum
from pathlib import Path
from pkgutil import resolve_name

from .advice import recommend
from .page import Recommendation

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
OURS = str(Path(__file__).parent)


class Exit(IntEnum):
    """What the command tells a program that started it."""

    NOTHING_TO_CHANGE = 0
    CHANGE = 1
    FAILED = 2
    CANNOT_TELL = 3
    STOPPED = 130  # as shells say of Ctrl+C


def recommend_for(loader: str, step: str, form: str) -> Exit:
    """Print in a *form* what to change in the job of *loader* and *step*, each a module:name.

    Return what there is to say to a program. An error of the user's modules is printed with the
    lines of theirs in which it was raised.
    """
    sys.path.insert(0, "")
    sys.argv = [loader.partition(":")[0]]  # a module that parses arguments has none of ours
    try:
        with printed_apart():
            advice = recommend(resolve_name(loader), resolve_name(step))
        page = FORMS[form](advice)
    except KeyboardInterrupt:
        print("databound: stopped", file=sys.stderr)
        return Exit.STOPPED
    except BaseException as error:  # of the user's modules: SystemExit, too
        tell_error(error)
        return Exit.FAILED
    print_all(page)
    return what_to_tell(advice)


def what_to_tell(advice: Recommendation) -> Exit:
    """Return the exit code of a page."""
    if advice.verdict == "cannot tell":
        return Exit.CANNOT_TELL
    return Exit.CHANGE if advice.changes else Exit.NOTHING_TO_CHANGE


def tell_error(error: BaseException) -> None:
    """Print an *error* in a sentence, below the lines of the user's own modules that raised it."""
    raised = error.__cause__ or error
    frames = [
        frame
        for frame in traceback.extract_tb(raised.__traceback__)
        if not frame.filename.startswith((OURS, "<frozen", sys.prefix, sys.base_prefix))
    ]
    for line in traceback.format_list(frames):
        print(line, end="", file=sys.stderr)
    why = f"{type(error).__name__}: {str(error) or 'without a message'}"
    print(f"databound: {why}", file=sys.stderr)


def print_all(page: str) -> None:
    """Print a *page*; whoever reads it may go away before its end, as `head` does."""
    try:
        print(page, flush=True)
    except BrokenPipeError:
        # What is left in the buffer has nowhere to go when Python ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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
    parser = argparse.ArgumentParser(
        prog="python -m databound",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for name in ("loader", "step"):
        parser.add_argument(name, metavar=f"MODULE:{name}", help=f"where the {name} is")
    parser.add_argument("--form", choices=FORMS, default="text", help="what to print")
    given = parser.parse_args()
    return recommend_for(given.loader, given.step, given.form)


if __name__ == "__main__":
    sys.exit(main())
