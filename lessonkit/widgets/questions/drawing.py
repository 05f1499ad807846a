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
# Of its value, or two steps: how near a curve is to one whose idea it follows
FOLLOWS = 0.25
STEPS = 100  # of the axis


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
            fits = [isfinite(value) and value >= 0 for value in curve]
            if len(fits) != len(values) or not all(fits):
                raise ValueError(
                    f"draw: {curve} must have a number for each of {len(values)} values"
                )
        times = [trace.per_sample for trace in traces if trace.samples]
        self.limits = [limit_of(trace) for trace in traces[1:]] if right == times else []
        self.knee = knee_of(right)
        self.names = [f"{knob}={value}" for value in values[1:]]
        self.order, self.last = range(len(self.names)), [STEPS] * len(self.names)
        self.unit, self.scale = unit, SCALES.get(unit, 1)
        # A quarter is free above the highest of all known curves
        step = 1.25 * max(map(max, curves)) / STEPS or 1.0
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
            if abs(here - there) > max(FOLLOWS * there, 2):
                return False
        right = self.right[mark]
        return abs(steps[mark] - right) > 1 and (at[mark] > right) == (steps[mark] > right)

    def shown(self, step: float) -> str:
        return f"{number(step * self.step * self.scale)} {self.unit}".strip()

    def remark(self, at: Sequence[int]) -> str:
        for name, step, (least, what) in zip(self.names, at, self.limits, strict=False):
            if (step + 1) * self.step < least:
                least_said = (
                    f"No run with {name} takes less than {self.shown(least / self.step)}"
                )
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
