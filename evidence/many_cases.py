"""Cases of many machines: those beside the tests, or those in LESSONKIT_MANY_CASES if that is set."""

import json
import os
from pathlib import Path
from statistics import median
from typing import Any

FOLDER = Path(os.environ.get("LESSONKIT_MANY_CASES") or Path(__file__).parent / "data")


def cases(name: str) -> list[dict[str, Any]]:
    found = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    return [case for case in found if not case.get("note")]


def within(errors: list[float], usual: float, ninety: float) -> bool:
    """Whether errors have at most this median, and this 90th percentile."""
    ordered = sorted(map(abs, errors))
    print(
        f"median {median(ordered):.2%}, 90th percentile {ordered[int(0.9 * len(ordered))]:.2%}"
    )
    return median(ordered) <= usual and ordered[int(0.9 * len(ordered))] <= ninety
