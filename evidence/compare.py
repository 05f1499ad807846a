"""How far two files of measured truth differ: what is exact is counted, times are compared by ratios."""

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import NamedTuple

from evidence.kinds import Kind
from evidence.record import Case, Json, Record

# Keys that name a case, the most telling first
NAMES = ("id", "name", "case", "program", "title", "method", "misfit", "repeated", "system")
# Seconds: a ratio of shorter times says more of the clock than of what was measured
SHORTEST = 0.005
SHOWN = 12  # of the cases that differ, so many are named


class Time(NamedTuple):
    """A measured time, and the key under which it stands."""

    key: str
    seconds: float


@dataclass(frozen=True)
class Comparison:
    """What two files have in common, and what they do not."""

    both: int  # cases whose question is in both
    only_old: list[str]
    only_new: list[str]
    different: list[str]  # cases that differ in something that is no time
    ratios: dict[str, list[float]]  # by key: new times to old ones, of the cases in both

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
        for key, ratios in self.ratios.items():
            yield f"{key}: {of_times(ratios)}"


def of_times(ratios: list[float]) -> str:
    """Say how times differ."""
    off = sorted(abs(ratio - 1) for ratio in ratios)
    nine_in_ten = off[min(len(off) - 1, int(0.9 * len(off)))]
    return (
        f"{len(off)} times of {1000 * SHORTEST:g} ms or more, new to old {median(ratios):.3f} in the "
        f"median; off by {median(off):.1%} in the median, nine in ten by at most {nine_in_ten:.1%}, "
        f"all by at most {off[-1]:.0%}"
    )


def compare(kind: Kind, old: Record, new: Record) -> Comparison:
    """Compare the answers to the questions that both files have."""
    before = by_question(kind, old["cases"])
    after = by_question(kind, new["cases"])
    both = [question for question in before if question in after]
    ratios: defaultdict[str, list[float]] = defaultdict(list)
    different = []
    for question in both:
        one = before[question]
        other = after[question]
        if exact(kind, one) != exact(kind, other):
            different.append(label(one))
            continue  # what came at other places came at other times
        for early, late in zip(times(kind, one), times(kind, other), strict=False):
            if early.seconds >= SHORTEST:
                ratios[early.key].append(late.seconds / early.seconds)
    return Comparison(
        len(both),
        [label(case) for question, case in before.items() if question not in after],
        [label(case) for question, case in after.items() if question not in before],
        different,
        dict(ratios),
    )


def by_question(kind: Kind, cases: list[Case]) -> dict[str, Case]:
    """Return the cases by what is asked in them."""
    found = {}
    for case in cases:
        question = {key: part for key, part in case.items() if key not in kind.answers}
        found[json.dumps(question, sort_keys=True)] = case
    return found


def label(case: Case) -> str:
    """Return the name by which a reader finds a case; of a job it is also the setting."""
    if "setting" in case:
        return f"{case['job']} {case['setting']}"
    for part in (case, case.get("pipeline"), case.get("spec")):
        for key in NAMES:
            if isinstance(part, dict) and key in part:
                return str(part[key])
    return json.dumps(case)[:60]


def exact(kind: Kind, said: Json) -> Json:
    """Return a part of a case without times and chance."""
    if isinstance(said, dict):
        left_out = kind.times | kind.chance
        return {key: exact(kind, part) for key, part in said.items() if key not in left_out}
    return [exact(kind, part) for part in said] if isinstance(said, list) else said


def times(kind: Kind, said: Json, key: str = "") -> Iterator[Time]:
    """Give the times of a part of a case, in the order in which they stand there.

    *key* is that of the times in which the part stands, if it does. One that ends with `_ms` has
    milliseconds, any other one has seconds.
    """
    if isinstance(said, dict):
        for name, part in said.items():
            if name not in kind.chance:
                yield from times(kind, part, name if name in kind.times else key)
    elif isinstance(said, list):
        for part in said:
            yield from times(kind, part, key)
    elif isinstance(said, int | float) and key:
        yield Time(key, said / 1000 if key.endswith("_ms") else said)


def kind_of(path: Path, kinds: dict[str, Kind]) -> Kind:
    """Return the kind of a file, whose name begins with that of its kind.

    Raise ValueError if there is none.
    """
    stem = path.stem.replace("_", "-")
    fits = [kind for name, kind in kinds.items() if stem.startswith(name)]
    if not fits:
        raise ValueError(f"{path.name}: must begin with one of {', '.join(kinds)}")
    return max(fits, key=lambda kind: len(kind.name))
