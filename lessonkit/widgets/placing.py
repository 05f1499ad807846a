"""A question that is answered by placing the bars of a run on its time axis."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import gcd
from typing import Any, NamedTuple

from lessonkit.engine.trace import Trace
from lessonkit.pictures.layout import Layout, ink_on, layout
from lessonkit.widgets.marks import Marks
from lessonkit.widgets.page_data import micros
from lessonkit.words import milliseconds

MOST_STEPS = 200  # along an axis: more could not be told apart on a small screen


class Bar(NamedTuple):
    """A bar to be placed; times in nanoseconds. *members* are whom it works on."""

    row: int
    label: str
    start: int
    end: int
    members: frozenset[tuple[int, ...]]


class Placing(Marks):
    """A question whose answer is when each bar of the *stages* begins.

    The run of *traces* is the right one; each of *wrong* is a run that a misconception would be.
    """

    def __init__(
        self,
        question: str,
        traces: Sequence[Trace],
        why: str,
        wrong: Sequence[tuple[Trace, str]],
        stages: Sequence[str],
    ) -> None:
        laid = layout(traces[0])
        rows = [row.stage for row in laid.rows]
        for stage in stages:
            if stage not in rows:
                raise ValueError(f"place={stage!r}: must be one of {', '.join(rows)}")
        self.rows = laid.rows
        self.bars = sorted(
            (bar for bar in bars(laid, traces[0]) if rows[bar.row] in stages),
            key=lambda bar: (bar.row, len(bar.label), bar.label, bar.start),
        )
        others = [(starts(trace), text) for trace, text in wrong]
        known = [[found.get(key) for key in keys(rows, self.bars)] for found, _ in others]
        times = [time for places in known for time in places if time is not None]
        self.step = reduce(gcd, times + [time for bar in self.bars for time in (bar.start, bar.end)])
        end = max(laid.duration, sum(bar.end - bar.start for bar in self.bars), *times, 0)
        self.steps = -(-end // self.step) + 1
        if self.steps > MOST_STEPS:
            raise ValueError(
                f"place: all bars begin and end at multiples of {milliseconds(self.step / 1e9)}, and "
                f"{self.steps} of those are too many to choose from: take other costs"
            )
        self.names = [f"{rows[bar.row]} {bar.label}".strip() for bar in self.bars]
        self.right = [bar.start // self.step for bar in self.bars]
        self.lengths = [(bar.end - bar.start) // self.step for bar in self.bars]
        self.last = [self.steps - length for length in self.lengths]
        self.wrong = self.distinct(
            [
                ([None if time is None else time // self.step for time in places], text)
                for places, (_, text) in zip(known, others, strict=True)
            ]
        )
        given = [bar for bar in laid.bars if bar.kind == "work" and rows[bar.row] not in stages]
        spec = {
            "rows": [[row.stage, row.lanes, row.colour, ink_on(row.colour)] for row in laid.rows],
            "bars": [
                [bar.row, bar.label, length, name]
                for bar, length, name in zip(self.bars, self.lengths, self.names, strict=True)
            ],
            "given": [[bar.row, bar.lane, micros(bar.start), micros(bar.end - bar.start)] for bar in given],
            "step": micros(self.step),
            "steps": self.steps,
        }
        super().__init__(question, traces, why, {"place": spec})

    def judge(self, said: Any) -> tuple[bool, str, dict[str, Any]]:
        at = self.in_turn(self.accepted(said))
        order = sorted(range(len(at)), key=lambda bar: self.bars[bar].start)
        wrong = [bar for bar in order if at[bar] != self.right[bar]]
        place = dict(zip(self.turns(said), self.right, strict=True))
        truth = [place[bar] for bar in range(len(at))]
        shown = f"{len(at) - len(wrong)} of {len(at)} bars in place"
        if not wrong:
            return True, shown, self.revealed("Right: every bar is in its place.") | {"truth": truth}
        first = wrong[0]
        began, begins = (milliseconds(steps * self.step / 1e9) for steps in (at[first], self.right[first]))
        impossible = self.impossible(at, order)
        meant = self.objection(at, first) or impossible.pop(first, "")
        more = next(iter(impossible.values()), "") if not meant else ""
        text = f"{self.names[first]} begins at {begins}, not at {began}. {meant} {more}"
        return False, shown, self.revealed(" ".join(text.split())) | {"truth": truth}

    def revealed(self, begin: str) -> dict[str, Any]:
        return super().revealed(begin) | {"truth": self.right}

    def turns(self, said: list[int]) -> list[int]:
        """Order bars of one name by time: which of them is which, only their order tells."""
        groups: dict[str, list[int]] = {}
        for bar, name in enumerate(self.names):
            groups.setdefault(name, []).append(bar)
        return [bar for group in groups.values() for bar in sorted(group, key=lambda bar: said[bar])]

    def in_turn(self, said: list[int]) -> list[int]:
        """Give the places of the bars as if those of one name had been placed in order."""
        return [said[bar] for bar in self.turns(said)]

    def impossible(self, at: list[int], order: list[int]) -> dict[int, str]:
        """Say of each bar what no run could do: begin before what it needs, or be one too many in its row."""
        found = {}
        ends = [place + length for place, length in zip(at, self.lengths, strict=True)]
        for bar in order:
            mine = self.bars[bar]
            beside = [
                other
                for other in order
                if self.bars[other].row == mine.row and at[other] <= at[bar] < ends[other] and other != bar
            ]
            stage, lanes, _ = self.rows[mine.row]
            needed = [other for other in order if needs(mine, self.bars[other]) and ends[other] > at[bar]]
            if needed:
                found[bar] = f"{self.names[bar]} cannot begin before {self.names[needed[0]]} has ended."
            elif len(beside) >= lanes:
                both = f"{self.names[bar]} and {self.names[beside[0]]} cannot be worked on at once"
                found[bar] = f"{both}: {stage} has {lanes} lane{'s' * (lanes > 1)}."
        return found


def bars(laid: Layout, trace: Trace) -> list[Bar]:
    """List the bars of a run that are work, with whom they work on."""
    who = trace.identities
    return [
        Bar(
            bar.row,
            bar.label,
            bar.start,
            bar.end,
            frozenset(tuple(who[member]) for member in trace.members(trace.spans[bar.span].element)),
        )
        for bar in laid.bars
        if bar.kind == "work"
    ]


def keys(rows: Sequence[str], found: Sequence[Bar]) -> list[tuple[str, str, int]]:
    """Name bars so that those of two runs can be compared: which of those of this stage and label it is."""
    seen: dict[tuple[str, str], int] = {}
    named = []
    for bar in found:
        key = (rows[bar.row], bar.label)
        seen[key] = seen.get(key, -1) + 1
        named.append((*key, seen[key]))
    return named


def starts(trace: Trace) -> dict[tuple[str, str, int], int]:
    """When each bar of a run begins."""
    laid = layout(trace)
    found = sorted(bars(laid, trace), key=lambda bar: bar.start)
    return dict(zip(keys([row.stage for row in laid.rows], found), [bar.start for bar in found], strict=True))


def needs(later: Bar, earlier: Bar) -> bool:
    """Whether a bar needs what the other one makes: the same sample, or its file."""
    if later.row == earlier.row or earlier.end > later.start:
        return False
    files = {who[:2] for who in later.members}
    return bool(later.members & earlier.members) or any(
        who[-1] < 0 and who[:2] in files for who in earlier.members
    )
