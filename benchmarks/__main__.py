"""`python -m benchmarks [--quick]`: print the table, a line as soon as it is measured."""

import argparse
from itertools import chain

from benchmarks import threads, virtual
from benchmarks.measure import HEAD, line


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=virtual.__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repeats: under half a minute")
    quick = parser.parse_args().quick
    print(line(*HEAD))
    for row in chain(virtual.rows(quick), threads.rows(quick)):
        print(row, flush=True)


if __name__ == "__main__":
    main()
