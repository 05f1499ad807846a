"""`Curve`: the learner draws what a run gives for each value of a knob."""

from collections.abc import Sequence
from math import isfinite
from typing import Any, TypedDict

from lessonkit.engine.trace import Trace
from lessonkit.widgets.page_data import Json, limit_of
from lessonkit.words import number, percent

from .marks import Closeness, Marks, Steps
from .question import SCALES, TOLERANCE, Wrong

NEAR_ENOUGH = 0.1  # of the right value, or one step: nobody draws a curve more exactly
STEPS = 100  # of the axis


class CurveState(TypedDict):
    """What the page has to know to have a curve drawn."""

    knob: str
    values: list[str]
    first: float  # the point that is given, in steps of the axis
    steps: int
    step: float  # in the unit
    unit: str
    within: float  # the share of the true value by which a point may be off


class Curve(Marks):
    """A question whose answer is a number for the run with each of the *values* of *knob*.

    *traces* are these runs, *right* is the curve, and *wrong* has curves. The first value is
    given. Raises ValueError if a curve has no number for a value.
    """

    kind = "curve"
    too_early = "gives less than"
    too_late = "gives more than"
    within = f"within {percent(NEAR_ENOUGH)}"
    is_right = Closeness(steps=1, share=NEAR_ENOUGH)
    is_alike = Closeness(steps=2, share=0.25)

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
        answer: CurveState = {
            "knob": knob,
            "values": [str(value) for value in values],
            "first": right[0] / step,
            "steps": STEPS,
            "step": step * self.scale,
            "unit": unit,
            "within": NEAR_ENOUGH,
        }
        more["traces"] = [traces[0], traces[self.knee]] if self.knee else [traces[0]]
        drawn = [curve[1:] for curve in curves]
        super().__init__(drawn, wrong, step, answer=answer, **more)

    def errs_alike(self, at: Sequence[int], steps: Steps, mark: int) -> bool:
        """A curve cannot be drawn exactly: it follows a misconception all along, to its side."""
        pairs = zip(at, steps, strict=True)
        if not all(self.is_alike.holds(here, there) for here, there in pairs):
            return False
        right = self.right[mark]
        is_same_side = (at[mark] > right) == (steps[mark] > right)
        return is_same_side and bool(abs(steps[mark] - right) > 1)

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
