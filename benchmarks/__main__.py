"""`python -m benchmarks [--quick] [part ...]`: print the table, each line as soon as it is measured."""

import argparse

from benchmarks import __doc__ as subject
from benchmarks import (
    autotune,
    instructions,
    loader,
    pictures,
    place,
    ranks,
    site,
    threads,
    view,
    virtual,
    watching_epochs,
)
from benchmarks.measure import line

MODULES = (
    virtual,
    instructions,
    loader,
    autotune,
    ranks,
    pictures,
    threads,
    view,
    place,
    watching_epochs,
    site,
)
PARTS = {module.__name__.split(".")[-1]: module for module in MODULES}


def main() -> None:
    """Measure everything, or the parts that are named."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=subject)
    parser.add_argument("--quick", action="store_true", help="fewer repeats: a few minutes")
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(PARTS))
    given = parser.parse_args()
    if unknown := set(given.parts) - set(PARTS):
        parser.error(f"{', '.join(unknown)}: must be of {', '.join(PARTS)}")
    print(line("what / peer", "ours", "peer", "ratio", "goal", "goal is"), flush=True)
    for name in given.parts or PARTS:
        for row in PARTS[name].rows(given.quick):
            print(row, flush=True)


if __name__ == "__main__":
    main()
