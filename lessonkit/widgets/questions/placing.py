"""`Placing`: the learner puts bars on the axis of a run."""

from collections import defaultdict
from collections.abc import Sequence
from math import gcd, inf
from typing import Any, TypedDict

from lessonkit.engine.trace import Trace
from lessonkit.pictures.layout import Bar, layout
from lessonkit.pictures.scene import RowScene
from lessonkit.widgets.page_data import micros, rows_of
from lessonkit.words import milliseconds

from .marks import Marks
from .question import Wrong

MOST_STEPS = 200  # along an axis: more could not be told apart on a small screen


class PlacedBar(TypedDict):
    """A bar to place; its length is in steps of the axis."""

    row: int
    label: str  # what stands on it
    length: int
    name: str


class GivenBar(TypedDict):
    """A bar that is there from the start, in microseconds."""

    row: int
    lane: int
    start: int
    length: int


class PlacingState(TypedDict):
    """What the page has to know to have bars placed."""

    rows: list[RowScene]
    bars: list[PlacedBar]
    given: list[GivenBar]
    step: int  # microseconds
    steps: int  # of the axis


class Placing(Marks):
    """A question whose answer is when each bar of the *stages* begins in the run *trace*.

    *wrong* has pairs: the run that a misconception would be, and the sentence that explains
    it. Raises ValueError if the run has no such stage, or if its axis would have too many steps.
    """

    kind = "placing"
    too_early = "begins before"
    too_late = "begins after"
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
            {identities[one] for one in trace.members(trace.spans[bar.spans[-1]].element)}
            for bar in self.bars
        ]
        runs = [trace, *(run for run, _ in wrong)]
        known = [starts(run, self.names) for run in runs]
        lengths = [bar.end - bar.start for bar in self.bars]
        times = [int(time) for column in known for time in column if time < inf]
        step = gcd(*times, *lengths)
        self.step = step
        durations = [run.duration * 1e9 for run in runs]
        steps = int(max(sum(lengths), *durations) // step) + 1
        if steps > MOST_STEPS:
            raise ValueError(
                f"place: {steps} steps of {self.shown(1)} are too many to choose from"
            )
        self.order = known[0]
        self.lengths = [length // step for length in lengths]
        self.last = [steps - length for length in self.lengths]
        each = zip(self.bars, self.lengths, self.names, strict=True)
        answer: PlacingState = {
            "rows": rows_of(self.rows),
            "bars": [
                {"row": bar.row, "label": bar.label, "length": length, "name": name}
                for bar, length, name in each
            ],
            "given": [
                {
                    "row": bar.row,
                    "lane": bar.lane,
                    "start": micros(bar.start),
                    "length": micros(bar.end - bar.start),
                }
                for bar in given
            ],
            "step": micros(step),
            "steps": steps,
        }
        super().__init__(known, wrong, step, traces=[trace], answer=answer, **more)

    def shown(self, step: float) -> str:
        return milliseconds(step * self.step / 1e9)

    def remark(self, at: Sequence[int]) -> str:
        """Say what no run could do: too many bars at a time, or work on what is not there yet."""
        ends = [step + length for step, length in zip(at, self.lengths, strict=True)]
        bars = range(len(at))
        for bar in sorted(bars, key=at.__getitem__):
            row = self.bars[bar].row
            stage, lanes, _ = self.rows[row]
            at_once = [
                self.names[one]
                for one in bars
                if self.bars[one].row == row and at[one] <= at[bar] < ends[one]
            ]
            if len(at_once) > lanes:
                both = f"{', '.join(at_once[:-1])} and {at_once[-1]}"
                return f"{both} cannot overlap: {stage} has no free lane."
            for one, end in enumerate(ends):
                if end > at[bar] and self.needs(bar, one):
                    first = self.names[one]
                    return f"{self.names[bar]} cannot begin before {first} has ended."
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
    begun = defaultdict[str, list[float]](list)
    for name, bar in named_bars(trace):
        begun[name].append(bar.start)
    return [begun[name].pop(0) if begun[name] else inf for name in names]
