"""`python -m databound my_module:loader my_module:step` says what to change in a training job."""

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
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
        print(f"databound: {why}", file=sys.stderr)
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
    parser = argparse.ArgumentParser(prog="python -m databound", description=__doc__)
    for name in ("loader", "step"):
        parser.add_argument(name, metavar=f"MODULE:{name}", help=f"where the {name} is")
    parser.add_argument("--form", choices=FORMS, default="text", help="what to print")
    given = parser.parse_args()
    return recommend_for(given.loader, given.step, given.form)


if __name__ == "__main__":
    sys.exit(main())
