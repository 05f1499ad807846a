"""Cases of many machines: those of `evidence`, or those in LESSONKIT_MANY_CASES if that is set."""

import os
from statistics import median
from typing import Any

from evidence import record


def cases(name: str) -> list[dict[str, Any]]:
    folder = os.environ.get("LESSONKIT_MANY_CASES")
    found = record.cases(f"{folder}/{name}.json" if folder else name)
    return [case for case in found if not case.get("note")]


def within(errors: list[float], usual: float, ninety: float) -> bool:
    """Whether errors have at most this median, and this 90th percentile."""
    ordered = sorted(map(abs, errors))
    print(
        f"median {median(ordered):.2%}, 90th percentile {ordered[int(0.9 * len(ordered))]:.2%}"
    )
    return median(ordered) <= usual and ordered[int(0.9 * len(ordered))] <= ninety
