"""`Placing`, a type of `Marks`: the bars of a run are placed on its time axis."""

from collections.abc import Sequence
from math import gcd, inf
from typing import Any

from lessonkit.engine.trace import Trace
from lessonkit.pictures.layout import Bar, layout
from lessonkit.widgets.page_data import micros, row_data
from lessonkit.widgets.questions.question import Marks, Wrong
from lessonkit.words import milliseconds

MOST_STEPS = 200  # along an axis: more could not be told apart on a small screen


class Placing(Marks):
    """A question whose answer is when each bar of the *stages* begins in the run *trace*.

    *wrong* has pairs: the run that a misconception would be, and the sentence that explains
    it. Raise ValueError if the run has no such stage, or if its axis would have too many steps.
    """

    verb = "begin at"
    within = "in place"

    def __init__(
        self, trace: Trace, wrong: Wrong, stages: Sequence[str], **more: Any
    ) -> None:
        self.rows = layout(trace).rows
        rows = [row.stage for row in self.rows]
        if missing := set(stages) - set(rows):
            raise ValueError(f"place={missing.pop()!r}: must be one of {', '.join(rows)}")
        named = named_bars(trace)
        wanted = [(name, bar) for name, bar in named if rows[bar.row] in stages]
        given = [bar for _, bar in named if rows[bar.row] not in stages]
        self.names = [name for name, _ in wanted]
        self.bars = [bar for _, bar in wanted]
        identities = trace.identities
        self.samples = [
            {identities[one] for one in trace.members(trace.spans[bar.span].element)}
            for bar in self.bars
        ]
        runs = [trace, *(run for run, _ in wrong)]
        known = [starts(run, self.names) for run in runs]
        ends: list[float] = [bar.end for bar in self.bars]
        times = [time for column in (*known, ends) for time in column if time < inf]
        step = self.step = gcd(*map(int, times))
        work = sum(ends) - sum(known[0])  # the length of all bars, one after another
        steps = int(max(work, *(run.duration * 1e9 for run in runs)) // step) + 1
        if steps > MOST_STEPS:
            raise ValueError(
                f"place: {steps} steps of {self.shown(1)} are too many to choose from"
            )
        self.order = known[0]
        self.lengths = [(bar.end - bar.start) // step for bar in self.bars]
        self.last = [steps - length for length in self.lengths]
        each = zip(wanted, self.lengths, strict=True)
        spec = {
            "rows": row_data(self.rows),
            "bars": [[bar.row, bar.label, length, name] for (name, bar), length in each],
            "given": [
                [bar.row, bar.lane, micros(bar.start), micros(bar.end - bar.start)]
                for bar in given
            ],
            "step": micros(step),
            "steps": steps,
        }
        super().__init__(known, wrong, step, traces=[trace], spec={"place": spec}, **more)

    def shown(self, step: float) -> str:
        return milliseconds(step * self.step / 1e9)

    def remark(self, at: Sequence[int]) -> str:
        """Say what no run could do: too much at once, or work on what is not yet there."""
        ends = [step + length for step, length in zip(at, self.lengths, strict=True)]
        bars = range(len(at))
        for bar in sorted(bars, key=at.__getitem__):
            row = self.bars[bar].row
            stage, lanes, _ = self.rows[row]
            at_once = [one for one in bars if at[one] <= at[bar] < ends[one]]
            *others, last = [
                self.names[one] for one in at_once if self.bars[one].row == row
            ]
            if len(others) >= lanes:
                both = f"{', '.join(others)} and {last}"
                return f"{both} cannot overlap: {stage} has no further lane."
            for one, end in enumerate(ends):
                if end > at[bar] and self.needs(bar, one):
                    name, first = self.names[bar], self.names[one]
                    return f"{name} cannot begin before {first} has ended."
        return ""

    def needs(self, bar: int, other: int) -> bool:
        """Whether *bar* works on what *other* made: on the same sample, or on one of its file."""
        if self.bars[other].row == self.bars[bar].row:
            return False
        files = {one._replace(sample=-1) for one in self.samples[bar]}
        is_earlier = self.right[other] < self.right[bar]
        return is_earlier and not self.samples[other].isdisjoint(self.samples[bar] | files)


def named_bars(trace: Trace) -> list[tuple[str, Bar]]:
    """List the bars of work with their names, such as "Read 0"; those of one name in order."""
    laid = layout(trace)
    work = [bar for bar in laid.bars if bar.kind == "work"]
    work.sort(key=lambda bar: (bar.row, len(bar.label), bar.label, bar.start))
    return [(f"{laid.rows[bar.row].stage} {bar.label}".strip(), bar) for bar in work]


def starts(trace: Trace, names: list[str]) -> list[float]:
    """List when the bars of these *names* begin in *trace*; inf for each that it lacks."""
    bars = named_bars(trace)
    times = {
        wanted: iter([bar.start for name, bar in bars if name == wanted])
        for wanted in names
    }
    return [next(times[name], inf) for name in names]
