"""`Marks`: the answer is a step of an axis per mark; `Placing` of bars, `Drawing` of a curve."""

from collections import defaultdict
from collections.abc import Sequence
from math import gcd, inf, isfinite
from typing import Any

from lessonkit.engine.trace import Trace
from lessonkit.pictures.layout import Bar, layout
from lessonkit.widgets.page_data import Json, limit_of, micros
from lessonkit.words import milliseconds, number, percent

from .question import SCALES, TOLERANCE, Judgement, Question, Wrong

MOST_STEPS = 200  # along an axis: more could not be told apart on a small screen
# Of its value: how near a curve is to one whose idea it follows
FOLLOWS = 0.25
NEAR_ENOUGH = 0.1  # of the right value, or one step: how exactly a curve is to be drawn
STEPS = 100  # of the axis

# Where each mark is in a known answer, in steps of the axis; inf where it has no such mark
Steps = Sequence[float]


class Marks(Question):
    """A question whose answer is a step of an axis for each mark.

    In *known* are the right answer and those of the misconceptions, which *wrong* explains,
    in a unit of which a step of the axis is *step*. Marks that have the same name are told
    apart by their order alone.
    """

    too_far: str  # what the right mark does if this one is too far on
    too_near: str  # what it does if this one is not far enough
    within: str  # where a mark is that is right
    names: list[str]
    last: list[int]  # the last step at which a mark may be
    order: Steps  # of the marks that are wrong, the one that has least here is spoken of

    def __init__(
        self, known: Sequence[Steps], wrong: Wrong, step: float, **more: Any
    ) -> None:
        self.step = step
        self.right, *others = [[value / step for value in answer] for answer in known]
        texts = [text for _, text in wrong]
        self.wrong = list(zip(others, texts, strict=True))
        super().__init__(**more)

    def judge(self, said: Any) -> Judgement:
        said = self.accepted(said)
        marks = range(len(said))
        sent = sorted(
            marks, key=lambda mark: (self.names.index(self.names[mark]), said[mark])
        )
        at = [said[mark] for mark in sent]
        wrong = [mark for mark in marks if not self.near(at[mark], self.right[mark])]
        counted = f"{len(at) - len(wrong)} of {len(at)} {self.within}"
        if not wrong:
            truth = [self.right[sent.index(mark)] for mark in marks]
            answer = self.revealed(f"Right: all are {self.within}.")
            return Judgement(True, counted, answer | {"truth": truth})
        mark = min(wrong, key=self.order.__getitem__)
        side = self.too_near if at[mark] < self.right[mark] else self.too_far
        text = f"{self.names[mark]} {side} {self.shown(at[mark])}."
        parts = text, self.explanation(at, mark), self.remark(at)
        return Judgement(False, counted, {"text": " ".join(filter(None, parts))})

    def accepted(self, said: Any) -> list[int]:
        """Return the steps that the page *said*, if there is one for each mark."""
        if not isinstance(said, list) or len(said) != len(self.names):
            raise ValueError("the question has changed: run its cell again")
        for name, step, last in zip(self.names, said, self.last, strict=True):
            if type(step) is not int or not -1 <= step <= last:
                raise ValueError(f"{name} is not at a step of the axis")
            if step == -1:
                raise ValueError(f"{name} is not placed yet")
        return said

    def explanation(self, at: Sequence[int], mark: int) -> str:
        """Return the sentence of the nearest misconception that has *mark* wrong as it is *at*."""

        def distance(known: tuple[Steps, str]) -> float:
            return sum(abs(here - there) for here, there in zip(at, known[0], strict=True))

        alike = [known for known in self.wrong if self.errs_alike(at, known[0], mark)]
        return min(alike, key=distance)[1] if alike else ""

    def near(self, said: int, right: float) -> bool:
        """Whether a mark counts as being where it belongs."""
        return said == right

    def errs_alike(self, at: Sequence[int], steps: Steps, mark: int) -> bool:
        """Whether a misconception that leads to *steps* may be why *mark* is wrong."""
        return at[mark] == steps[mark]

    def shown(self, step: float) -> str:
        """Write a step as the page does."""
        raise NotImplementedError

    def remark(self, at: Sequence[int]) -> str:
        """Say what no run can do, if the marks are *at* these steps; or ""."""
        raise NotImplementedError

    def revealed(self, begin: str) -> Json:
        return super().revealed(begin) | {"truth": self.right}


class Placing(Marks):
    """A question whose answer is when each bar of the *stages* begins in the run *trace*.

    *wrong* has pairs: the run that a misconception would be, and the sentence that explains
    it. Raises ValueError if the run has no such stage, or if its axis would have too many steps.
    """

    too_far = "begins before"
    too_near = "begins after"
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
        spec = {
            "rows": self.rows,
            "bars": [[bar.row, bar.label, length, name] for bar, length, name in each],
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


class Drawing(Marks):
    """A question whose answer is a number for the run with each of the *values* of *knob*.

    *traces* are these runs, *right* is the curve, and *wrong* has curves. The first value is
    given. Raises ValueError if a curve has no number for a value.
    """

    too_far = "gives less than"
    too_near = "gives more than"
    within = f"within {percent(NEAR_ENOUGH)}"

    def __init__(
        self,
        traces: Sequence[Trace],
        right: Steps,
        wrong: Wrong,
        unit: str,
        knob: str,
        values: Sequence[Any],
        **more: Any,
    ) -> None:
        curves = [right, *(curve for curve, _ in wrong)]
        for curve in curves:
            fits = [isfinite(value) and value >= 0 for value in curve]
            if len(fits) != len(values) or not all(fits):
                raise ValueError(
                    f"draw: {curve} must have a number for each of {len(values)} values"
                )
        times = [trace.per_sample for trace in traces if trace.samples]
        self.knee = knee_of(right)
        self.names = [f"{knob}={value}" for value in values[1:]]
        self.order = range(len(self.names))
        self.last = [STEPS for _ in self.names]
        self.unit = unit
        self.scale = SCALES.get(unit, 1)
        # A quarter is free above the highest of all known curves
        step = 1.25 * max(map(max, curves)) / STEPS or 1.0
        limits = map(limit_of, traces[1:] if right == times else [])
        self.limits = [(least / step, what) for least, what in limits]
        spec = {
            "knob": knob,
            "values": [str(value) for value in values],
            "first": right[0] / step,
            "steps": STEPS,
            "step": step * self.scale,
            "unit": unit,
        }
        more["traces"] = [traces[0], traces[self.knee]] if self.knee else [traces[0]]
        drawn = [curve[1:] for curve in curves]
        super().__init__(drawn, wrong, step, spec={"draw": spec}, **more)

    def near(self, said: int, right: float) -> bool:
        return abs(said - right) <= max(NEAR_ENOUGH * right, 1) * (1 + 1e-9)

    def errs_alike(self, at: Sequence[int], steps: Steps, mark: int) -> bool:
        """A curve cannot be drawn exactly: it follows a misconception all along, to its side."""
        for here, there in zip(at, steps, strict=True):
            if abs(here - there) > max(FOLLOWS * there, 2):  # two steps always do
                return False
        right = self.right[mark]
        is_same_side = (at[mark] > right) == (steps[mark] > right)
        return is_same_side and abs(steps[mark] - right) > 1

    def shown(self, step: float) -> str:
        return f"{number(step * self.step * self.scale)} {self.unit}".strip()

    def remark(self, at: Sequence[int]) -> str:
        for name, step, (least, what) in zip(self.names, at, self.limits, strict=False):
            if step + 1 < least:
                time = self.shown(least)
                return f"No run with {name} takes less than {time}: the limit is set by {what}."
        return ""

    def revealed(self, begin: str) -> Json:
        """Say also where the curve has its knee, if one can see it, and the limits of the runs."""
        if 0 < self.knee < len(self.right):
            begin = f"{begin} From {self.names[self.knee - 1]} on, nothing changes.".strip()
        return super().revealed(begin) | {"knee": self.knee, "limits": self.limits}


def knee_of(curve: Sequence[float]) -> int:
    """Return the first step of a *curve* that is as good as its best one."""
    best = min(curve) if curve[-1] <= curve[0] else max(curve)
    return next(
        at for at, value in enumerate(curve) if abs(value - best) <= TOLERANCE * best
    )
