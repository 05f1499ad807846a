"""How far two files of measured truth differ: what is exact is counted, times are compared by ratios."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from evidence.kinds import Kind
from evidence.record import Case, Json, Record

SHORTEST = (
    0.005  # s: a ratio of shorter times says more of the clock than of what was measured
)
SHOWN = 12  # of the cases that differ, so many are named


@dataclass(frozen=True)
class Comparison:
    """What two files have in common, and what they do not."""

    both: int  # cases whose question is in both
    only_old: list[str]
    only_new: list[str]
    different: list[str]  # cases that differ in something that is no time
    ratios: list[float]  # new times to old ones, of the cases in both

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """Say it in sentences."""
        alike = self.both - len(self.different)
        yield f"{self.both} cases are in both; {alike} are exactly alike but for times."
        for what, cases in (
            ("Different", self.different),
            ("Only in the old file", self.only_old),
            ("Only in the new file", self.only_new),
        ):
            if cases:
                more = f", and {len(cases) - SHOWN} more" if len(cases) > SHOWN else ""
                yield f"{what} ({len(cases)}): {', '.join(cases[:SHOWN])}{more}."
        if self.ratios:
            yield self.of_times()

    def of_times(self) -> str:
        """Say how the times differ. Invariant: the off-by is that of the ratios from 1."""
        off = sorted(abs(ratio - 1) for ratio in self.ratios)
        nine_in_ten = off[int(0.9 * (len(off) - 1))]
        return (
            f"{len(off)} times of {1000 * SHORTEST:g} ms or more: new to old {median(self.ratios):.4f} "
            f"in the median; off by {median(off):.2%} in the median, {nine_in_ten:.2%} of nine in ten, "
            f"{off[-1]:.1%} at most."
        )


def compare(kind: Kind, old: Record, new: Record) -> Comparison:
    """Compare the answers to the questions that both files have."""
    before, after = by_question(kind, old["cases"]), by_question(kind, new["cases"])
    both = [question for question in before if question in after]
    ratios: list[float] = []
    different = []
    for question in both:
        one, other = before[question], after[question]
        if exact(kind, one) != exact(kind, other):
            different.append(label(one))
        pairs = zip(times(kind, one), times(kind, other), strict=False)
        ratios += [late / early for early, late in pairs if early >= SHORTEST]
    return Comparison(
        len(both),
        [label(case) for question, case in before.items() if question not in after],
        [label(case) for question, case in after.items() if question not in before],
        different,
        ratios,
    )


def by_question(kind: Kind, cases: list[Case]) -> dict[str, Case]:
    """Return the cases by what is asked in them."""
    return {
        json.dumps(
            {key: part for key, part in case.items() if key not in kind.answers},
            sort_keys=True,
        ): case
        for case in cases
    }


def label(case: Case) -> str:
    """Return the name by which a reader finds a case."""
    for part in (case, case.get("pipeline"), case.get("spec"), case.get("misfit")):
        for key in ("id", "name", "case", "program", "title", "method", "what"):
            if isinstance(part, dict) and key in part:
                return str(part[key])
    return json.dumps(case)[:60]


def exact(kind: Kind, said: Json) -> Json:
    """Return a part of a case without times and chance."""
    if isinstance(said, dict):
        left_out = kind.times | kind.chance
        return {key: exact(kind, part) for key, part in said.items() if key not in left_out}
    return [exact(kind, part) for part in said] if isinstance(said, list) else said


def times(kind: Kind, said: Json, unit: float | None = None) -> Iterator[float]:
    """Give the times of a part of a case in seconds, in the order in which they stand there.

    Those below a key for times are in *unit*, and names of keys say which: `_ms` is milliseconds.
    """
    if isinstance(said, dict):
        for key, part in said.items():
            if key in kind.times:
                yield from times(kind, part, 0.001 if key.endswith("_ms") else 1.0)
            elif key not in kind.chance:
                yield from times(kind, part, unit)
    elif isinstance(said, list):
        for part in said:
            yield from times(kind, part, unit)
    elif isinstance(said, int | float) and unit is not None:
        yield said * unit


def kind_of(path: Path, kinds: dict[str, Kind]) -> Kind:
    """Return the kind of a file, whose name begins with that of its kind.

    Raise ValueError if there is none.
    """
    stem = path.stem.replace("_", "-")
    fits = [kind for name, kind in kinds.items() if stem.startswith(name)]
    if not fits:
        raise ValueError(f"{path.name}: must begin with one of {', '.join(kinds)}")
    return max(fits, key=lambda kind: len(kind.name))
