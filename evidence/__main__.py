"""`python -m evidence`: list the kinds of evidence, measure one anew, or compare two files of one kind.

python -m evidence                                    what there is, and what each needs
python -m evidence tfdata-elements                    measure it anew, into its file
python -m evidence tfdata-elements --out FILE         ... into another one
python -m evidence tfdata-elements --missing          only what has no answer yet
python -m evidence uneven-ends --only ddp              only some cases
python -m evidence tfdata-timings --draw 2 60         draw 60 other questions with seed 2
python -m evidence compare OLD NEW                    say how far two files differ
"""

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

from evidence.compare import compare, kind_of, label
from evidence.kinds import KINDS, Kind
from evidence.record import Case, Record, about, read, write

FIRST = 10  # of 99: above all that merely wants to run, below what keeps the machine alive


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(
        prog="python -m evidence",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "what", nargs="?", choices=[*KINDS, "compare"], metavar="KIND or compare"
    )
    parser.add_argument("files", nargs="*", type=Path, help="OLD and NEW, to compare")
    parser.add_argument(
        "--out", type=Path, help="where to write, if not into the kind's own file"
    )
    parser.add_argument(
        "--missing", action="store_true", help="only cases without an answer"
    )
    parser.add_argument(
        "--only", default="", help="only cases whose name contains this text"
    )
    parser.add_argument(
        "--real-time", action="store_true", help="run before other programs"
    )
    parser.add_argument("--draw", nargs=2, type=int, metavar=("SEED", "COUNT"))
    given = parser.parse_args()
    try:
        if given.what == "compare":
            old, new = given.files
            print(compare(kind_of(old, KINDS), read(old), read(new)))
        elif given.what:
            measure(KINDS[given.what], given)
        else:
            print("\n".join(listed()))
    except (ImportError, ValueError) as error:
        parser.error(str(error))


def listed() -> Iterator[str]:
    """Say which kinds there are, what each file has, and whether it can be measured here."""
    for kind in KINDS.values():
        record = read(kind.path)
        needs = [library.module for library in kind.libraries if not library.is_here]
        yield f"{kind.name} ({len(record['cases'])} cases): {record['about']['what']}"
        if needs:
            yield f"    needs {', '.join(needs)}"


def measure(kind: Kind, given: argparse.Namespace) -> None:
    """Measure a kind as the command line says, and write its file after each case.

    So whoever stops a long measurement keeps what is there.
    """
    program = kind.measure()
    stored = read(kind.path)
    asked = questions(kind, stored, given)
    conditions = stored["about"]["conditions"]
    if given.real_time or conditions.get("priority") == "real-time":
        conditions |= {"priority": priority()}
    record: Record = {
        "about": about(
            stored["about"]["what"], [one.module for one in kind.libraries], conditions
        ),
        "cases": [],
    }
    kept = [case for case in stored["cases"] if case not in asked] if given.missing else []
    path = given.out or kind.path
    for case in program(asked, conditions):
        record["cases"].append(case)
        print(
            f"{len(record['cases'])} of {len(asked)}", end="\r", file=sys.stderr, flush=True
        )
        write(path, {"about": record["about"], "cases": kept + record["cases"]})


def questions(kind: Kind, stored: Record, given: argparse.Namespace) -> list[Case]:
    """Return the cases that are asked for: drawn ones, those without an answer, or all."""
    if given.draw:
        seed, count = given.draw
        random = Random(seed)
        draw = kind.drawing()
        return [draw(random, number) for number in range(count)]
    cases = stored["cases"]
    if given.missing:
        cases = [case for case in cases if kind.answers.isdisjoint(case)]
    return [case for case in cases if given.only in label(case)]


def priority() -> str:
    """Ask the system to run this program before others, and say whether it does."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(FIRST))
    except (AttributeError, PermissionError):
        return "ordinary"
    return "real-time"


if __name__ == "__main__":
    main()
