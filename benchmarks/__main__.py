"""`python -m benchmarks [--quick]`: print the table, each line as soon as it is measured."""

import argparse

from benchmarks import __doc__ as subject
from benchmarks import autotune, pictures, predict, probe, threads, virtual
from benchmarks.measure import line


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=subject)
    parser.add_argument("--quick", action="store_true", help="fewer repeats: about a minute and a half")
    quick = parser.parse_args().quick
    print(line("what / peer", "ours", "peer", "ratio", "goal", "goal is"), flush=True)
    for part in (virtual, autotune, pictures, threads, probe, predict):
        for row in part.rows(quick):
            print(row, flush=True)


if __name__ == "__main__":
    main()
