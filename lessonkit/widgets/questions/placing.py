"""`Placing`, a type of `Marks`: a question answered by placing the bars of a run on its time axis."""

from collections.abc import Sequence
from math import gcd, inf
from typing import Any

from lessonkit.engine.trace import Trace
from lessonkit.pictures.layout import Bar, ink_on, layout
from lessonkit.widgets.page_data import micros
from lessonkit.widgets.questions.marks import Marks
from lessonkit.widgets.questions.prediction import Wrong
from lessonkit.words import milliseconds

MOST_PLACES = 200  # along an axis: more could not be told apart on a small screen


class Placing(Marks):
    """A question whose answer is when each bar of the *stages* begins in the run *trace*.

    *wrong* has pairs: the run that a misconception would be, and the sentence that explains
    it. Raise ValueError if the run has no such stage, or if its axis would have too many
    steps.
    """

    off, right_said, counted = (
        "{} does not begin at {}.",
        "Right: all are in place.",
        "{} of {} in place",
    )

    def __init__(
        self, trace: Trace, wrong: Wrong, stages: Sequence[str], **more: Any
    ) -> None:
        self.rows = layout(trace).rows
        rows = [row.stage for row in self.rows]
        if missing := set(stages) - set(rows):
            raise ValueError(f"place={missing.pop()!r}: must be one of {', '.join(rows)}")
        runs, named = [trace, *(run for run, _ in wrong)], named_bars(trace)
        self.names = [name for name, bar in named if rows[bar.row] in stages]
        self.bars = [bar for _, bar in named if rows[bar.row] in stages]
        given = [bar for _, bar in named if rows[bar.row] not in stages]
        who, spans = trace.identities, trace.spans
        self.who = [
            {who[one] for one in trace.members(spans[bar.span].element)}
            for bar in self.bars
        ]
        known = [starts(run, self.names) for run in runs]
        ends: list[float] = [bar.end for bar in self.bars]
        self.step = gcd(
            *(int(time) for times in [*known, ends] for time in times if time < inf)
        )
        work = sum(ends) - sum(known[0])  # so long are all bars, one after another
        steps = int(max(work, *(run.duration * 1e9 for run in runs)) // self.step) + 1
        if steps > MOST_PLACES:
            raise ValueError(
                f"place: {steps} steps of {self.shown(1)} are too many to choose from"
            )
        self.right, *others = ([time / self.step for time in times] for times in known)
        self.order = self.right
        self.wrong = [
            (places, text) for places, (_, text) in zip(others, wrong, strict=True)
        ]
        self.lengths = [(bar.end - bar.start) // self.step for bar in self.bars]
        self.last = [steps - length for length in self.lengths]
        each = zip(self.bars, self.lengths, self.names, strict=True)
        spec = {
            "rows": [
                [row.stage, row.lanes, row.colour, ink_on(row.colour)] for row in self.rows
            ],
            "bars": [[bar.row, bar.label, length, name] for bar, length, name in each],
            "given": [
                [bar.row, bar.lane, micros(bar.start), micros(bar.end - bar.start)]
                for bar in given
            ],
            "step": micros(self.step),
            "steps": steps,
        }
        super().__init__(traces=[trace], spec={"place": spec}, **more)

    def shown(self, place: float) -> str:
        return milliseconds(place * self.step / 1e9)

    def remark(self, at: Sequence[int]) -> str:
        """Say what no run could do: work on too many at once, or on what is not yet there."""
        ends = [place + length for place, length in zip(at, self.lengths, strict=True)]
        for bar in sorted(range(len(at)), key=at.__getitem__):
            stage, lanes, _ = self.rows[self.bars[bar].row]
            at_once = [one for one in range(len(at)) if at[one] <= at[bar] < ends[one]]
            *most, last = [
                self.names[one]
                for one in at_once
                if self.bars[one].row == self.bars[bar].row
            ]
            if len(most) >= lanes:
                return f"{', '.join(most)} and {last} cannot overlap: {stage} has no further lane."
            for one, end in enumerate(ends):
                if end > at[bar] and self.needs(bar, one):
                    return f"{self.names[bar]} cannot begin before {self.names[one]} has ended."
        return ""

    def needs(self, bar: int, other: int) -> bool:
        """Whether *bar* works on what the *other* made: on the same sample, or on one of its file."""
        first = (
            self.bars[other].row != self.bars[bar].row
            and self.right[other] < self.right[bar]
        )
        return first and any(
            made in (one, one._replace(sample=-1))
            for made in self.who[other]
            for one in self.who[bar]
        )


def named_bars(trace: Trace) -> list[tuple[str, Bar]]:
    """List the bars that are work with their names, such as "Read 0"; those of one name in order."""
    laid = layout(trace)
    work = [bar for bar in laid.bars if bar.kind == "work"]
    work.sort(key=lambda bar: (bar.row, len(bar.label), bar.label, bar.start))
    return [(f"{laid.rows[bar.row].stage} {bar.label}".strip(), bar) for bar in work]


def starts(trace: Trace, names: list[str]) -> list[float]:
    """Say when the bars of these *names* begin in *trace*; those that are not there never do."""
    named = named_bars(trace)
    times = {
        name: iter([bar.start for other, bar in named if other == name]) for name in names
    }
    return [next(times[name], inf) for name in names]
