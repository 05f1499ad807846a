"""`Drawing`, a type of `Marks`: the answer is a curve, drawn over the values of a knob."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

from lessonkit.engine.trace import Trace
from lessonkit.improve.knobs import KNEE
from lessonkit.widgets.page_data import Json, limit_of
from lessonkit.widgets.questions.question import SCALES, Marks, Steps, Wrong
from lessonkit.words import number, percent

NEAR_ENOUGH = 0.1  # of the right value, or one step: how exactly a curve is to be drawn
FOLLOWS = (
    0.25  # of its value, or two steps: how near a curve is to one whose idea it follows
)
STEPS = 100  # of the axis
HEADROOM = 1.25  # above the highest of all known curves


class Drawing(Marks):
    """A question whose answer is a number for the run with each of the *values* of *knob*.

    *traces* are these runs, *right* is the curve, and *wrong* has curves. The first value is
    given. Raise ValueError if a curve has no number for a value.
    """

    verb = "give"
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
            fits = len(curve) == len(values)
            if not fits or not all(isfinite(value) and value >= 0 for value in curve):
                raise ValueError(
                    f"draw: {curve} must have a number for each of {len(values)} values"
                )
        self.unit, self.step = unit, HEADROOM * max(map(max, curves)) / STEPS or 1.0
        known = [[value / self.step for value in curve] for curve in curves]
        first = known[0][0]
        times = [trace.per_sample for trace in traces if trace.samples]
        limits = [limit_of(trace) for trace in traces[1:]] if right == times else []
        self.least = [(seconds / self.step, what) for seconds, what in limits]
        self.knee = knee_of(known[0])
        self.names = [f"{knob}={value}" for value in values[1:]]
        self.order, self.last = range(len(self.names)), [STEPS] * len(self.names)
        spec = {"knob": knob, "values": [str(value) for value in values], "first": first}
        spec |= {"steps": STEPS, "step": self.step * SCALES.get(unit, 1), "unit": unit}
        shown = [traces[0], traces[self.knee]] if self.knee else [traces[0]]
        steps = [curve[1:] for curve in known]
        super().__init__(steps, wrong, traces=shown, spec={"draw": spec}, **more)

    def near(self, said: int, right: float) -> bool:
        return abs(said - right) <= max(NEAR_ENOUGH * right, 1) * (1 + 1e-9)

    def errs_alike(self, at: Sequence[int], steps: Steps, mark: int) -> bool:
        """A curve cannot be drawn exactly: it follows a misconception all along, to its side."""
        for here, there in zip(at, steps, strict=True):
            if abs(here - there) > max(FOLLOWS * there, 2):
                return False
        right = self.right[mark]
        return abs(steps[mark] - right) > 1 and (at[mark] > right) == (steps[mark] > right)

    def shown(self, step: float) -> str:
        return f"{number(step * self.step * SCALES.get(self.unit, 1))} {self.unit}".strip()

    def remark(self, at: Sequence[int]) -> str:
        for name, step, (least, what) in zip(self.names, at, self.least, strict=False):
            if step + 1 < least:
                least_said = f"No run with {name} takes less than {self.shown(least)}"
                return f"{least_said}: the limit is {what}."
        return ""

    def revealed(self, begin: str) -> Json:
        """Say also where the curve has its knee, if one can see it."""
        if 0 < self.knee < len(self.right):
            begin = f"{begin} From {self.names[self.knee - 1]} on, nothing changes.".strip()
        return super().revealed(begin) | {"knee": self.knee}


def knee_of(curve: Sequence[float]) -> int:
    """Return the place from which on a *curve* is as good as at its best."""
    best = min(curve) if curve[-1] <= curve[0] else max(curve)
    return next(at for at, value in enumerate(curve) if abs(value - best) <= KNEE * best)
