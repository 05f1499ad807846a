"""`Drawing`, a type of `Marks`: a question answered by drawing a figure of runs over the values of a knob."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

from lessonkit.engine.trace import Trace
from lessonkit.improve.knobs import KNEE
from lessonkit.widgets.page_data import limit_of
from lessonkit.widgets.questions.marks import Marks, Places
from lessonkit.widgets.questions.prediction import SCALES, Wrong
from lessonkit.words import number, percent

NEAR_ENOUGH = 0.1  # of the right value, or one step: so exactly is a curve to be drawn
# Of its value, or two steps: a curve that stays so near to another follows its idea
FOLLOWS = 0.25
STEPS = 100  # of the axis
HEADROOM = 1.25  # above the highest of all known curves
Draw = tuple[str, Sequence[Any]]  # a knob, and its values


class Drawing(Marks):
    """A question whose answer is a curve: a number for the run with each value of a knob.

    In *wrong* are curves. The first value of all is shown.
    """

    off, right_said = (
        "{} does not give {}.",
        f"Right: all are within {percent(NEAR_ENOUGH)}.",
    )
    counted = f"{{}} of {{}} within {percent(NEAR_ENOUGH)}"

    def __init__(
        self,
        traces: Sequence[Trace],
        right: Places,
        wrong: Wrong,
        unit: str,
        draw: Draw,
        **more: Any,
    ) -> None:
        (knob, values), self.unit = draw, unit
        curves = [right, *(curve for curve, _ in wrong)]
        for curve in curves:
            if len(curve) != len(values) or not all(
                isfinite(value) and value >= 0 for value in curve
            ):
                raise ValueError(
                    f"draw: {curve} must have a number for each of {len(values)} values"
                )
        self.step = HEADROOM * max(map(max, curves)) / STEPS or 1.0
        curve, *known = [[value / self.step for value in curve] for curve in curves]
        self.right, self.order = curve[1:], range(len(values))
        times = [trace.per_sample for trace in traces if trace.samples]
        limits = [limit_of(trace) for trace in traces[1:]] if right == times else []
        self.least = [(seconds / self.step, what) for seconds, what in limits]
        self.wrong = [
            (places[1:], text) for places, (_, text) in zip(known, wrong, strict=True)
        ]
        best = min(curve) if curve[-1] <= curve[0] else max(curve)
        self.knee = next(
            place for place, value in enumerate(curve) if abs(value - best) <= KNEE * best
        )
        self.names = [f"{knob}={value}" for value in values[1:]]
        self.last = [STEPS] * len(self.right)
        spec = {"knob": knob, "values": [str(value) for value in values], "first": curve[0]}
        spec |= {"steps": STEPS, "step": self.step * SCALES.get(unit, 1), "unit": unit}
        shown = [traces[0], traces[self.knee]] if self.knee else [traces[0]]
        super().__init__(traces=shown, spec={"draw": spec}, **more)

    def near(self, said: int, right: float) -> bool:
        return abs(said - right) <= max(NEAR_ENOUGH * right, 1) * (1 + 1e-9)

    def errs_alike(self, at: Sequence[int], places: Places, first: int) -> bool:
        """A curve cannot be drawn exactly: it follows a misconception all along, and errs to its side."""
        right, pairs = self.right[first], zip(at, places, strict=True)
        follows = all(abs(here - there) <= max(FOLLOWS * there, 2) for here, there in pairs)
        return (
            follows
            and abs(places[first] - right) > 1
            and (at[first] > right) == (places[first] > right)
        )

    def shown(self, place: float) -> str:
        return f"{number(place * self.step * SCALES.get(self.unit, 1))} {self.unit}".strip()

    def remark(self, at: Sequence[int]) -> str:
        for name, place, (least, what) in zip(self.names, at, self.least, strict=False):
            if place + 1 < least:
                return f"No run with {name} takes less than {self.shown(least)}: the limit is {what}."
        return ""

    def revealed(self, begin: str) -> dict[str, Any]:
        """Say also where the curve has its knee, if one can see it."""
        if 0 < self.knee < len(self.right):
            begin = f"{begin} From {self.names[self.knee - 1]} on, nothing changes.".strip()
        return super().revealed(begin) | {"knee": self.knee}
