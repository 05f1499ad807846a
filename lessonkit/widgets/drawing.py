"""A question that is answered by drawing a curve: a figure of a run against the values of a knob."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite, log10
from typing import Any

from lessonkit.engine.trace import Trace
from lessonkit.improve.knobs import KNEE
from lessonkit.widgets.marks import Marks
from lessonkit.widgets.prediction import SCALES
from lessonkit.words import number, percent

NEAR = 0.1  # of the right value: so exactly is a curve to be drawn
STEPS = 100  # of the axis
ROOM = 1.25  # above the highest of all known curves
ROUND = (1, 1.5, 2, 3, 4, 5, 6, 8, 10)
SHAPES: dict[str, Callable[[float, float, float, bool], bool]] = {  # said, right, before, past the knee
    "falls": lambda said, right, before, past: past and said < right,
    "flat": lambda said, right, before, past: not past and said >= before,
    "rises": lambda said, right, before, past: past and said > max(right, before),
}


class Drawing(Marks):
    """A question whose answer is a curve: what *answer* gives for the run with each of *values* of *knob*.

    *wrong* has curves, functions of all traces that give one, or names of SHAPES. The first value is
    shown.
    """

    def __init__(
        self,
        question: str,
        traces: Sequence[Trace],
        why: str,
        wrong: Sequence[tuple[Any, str]],
        answer: Callable[..., float],
        unit: str,
        knob: str,
        values: Sequence[Any],
    ) -> None:
        self.unit, self.knob, self.values = unit, knob, values
        curve = self.checked([answer(trace) for trace in traces])
        curves = [
            (self.checked(given(*traces) if callable(given) else given), text)
            for given, text in wrong
            if not isinstance(given, str)
        ]
        self.shapes = [(SHAPES[given], text) for given, text in wrong if isinstance(given, str)]
        self.step = rounded(ROOM * max(max(one) for one, _ in [(curve, ""), *curves])) / STEPS
        self.curve = [value / self.step for value in curve]
        self.knee = knee_of(curve)
        self.names = [f"{knob}={value}" for value in values[1:]]
        self.last = [STEPS] * len(self.names)
        self.right = self.curve[1:]
        self.wrong = self.distinct([([value / self.step for value in one[1:]], text) for one, text in curves])
        spec = {
            "knob": knob,
            "values": [str(value) for value in values],
            "first": self.curve[0],
            "steps": STEPS,
            "step": self.step * SCALES.get(unit, 1),
        }
        limit = f"within {percent(NEAR)}"
        shown = [traces[0], traces[self.knee]] if self.knee else [traces[0]]
        super().__init__(question, shown, why, {"draw": spec, "unit": unit, "limit": limit})

    def checked(self, curve: Sequence[float]) -> list[float]:
        """Return a known curve, if it is one."""
        if len(curve) != len(self.values) or not all(isfinite(value) and value >= 0 for value in curve):
            raise ValueError(f"draw: {curve!r} must have a number for each of {len(self.values)} values")
        return list(curve)

    def near(self, said: int, place: float | None) -> bool:
        return place is not None and abs(said - place) <= max(NEAR * place, 1) * (1 + 1e-9)

    def shown(self, place: float) -> str:
        """Write a value as the page shows it."""
        return f"{number(place * self.step * SCALES.get(self.unit, 1))} {self.unit}".strip()

    def judge(self, said: Any) -> tuple[bool, str, dict[str, Any]]:
        at = self.accepted(said)
        wrong = [point for point, place in enumerate(at) if not self.near(place, self.right[point])]
        shown = f"{len(at) - len(wrong)} of {len(at)} points {f'within {percent(NEAR)}'}"
        knee = f"From {self.knob}={self.values[self.knee]} on, nothing changes." if self.bends else ""
        if not wrong:
            return True, shown, self.revealed(f"Right: every point is within {percent(NEAR)}. {knee}")
        first = wrong[0]
        text = f"{self.names[first]} gives {self.shown(self.right[first])}, not {self.shown(at[first])}."
        meant = self.objection(at, first) or self.misshapen(at, first)
        return False, shown, self.revealed(" ".join(f"{text} {meant} {knee}".split()))

    def revealed(self, begin: str) -> dict[str, Any]:
        return super().revealed(begin) | {"truth": self.curve, "knee": self.knee}

    @property
    def bends(self) -> bool:
        """Whether there is a knee to be seen: with values before it and after it."""
        return 0 < self.knee < len(self.values) - 1

    def misshapen(self, at: Sequence[int], first: int) -> str:
        """Say which shape the curve has where it begins to be wrong."""
        place = (at[first], self.right[first], [self.curve[0], *at][first], first + 1 > self.knee)
        return next((text for fits, text in self.shapes if fits(*place)), "")


def rounded(value: float) -> float:
    """Give a round number that is not smaller.

    >>> rounded(0.034), rounded(0.0), rounded(26.0)
    (0.04, 1.0, 30.0)
    """
    power = 10.0 ** (int(log10(value) // 1) if value else 0)
    return next(power * step for step in ROUND if power * step >= value)


def knee_of(curve: Sequence[float]) -> int:
    """Find the first value that is within 2 % of the best, wherever the curve is heading.

    >>> knee_of([50, 27, 20, 20]), knee_of([0.2, 0.5, 0.5])
    (2, 1)
    """
    best = min(curve) if curve[-1] <= curve[0] else max(curve)
    return next(place for place, value in enumerate(curve) if abs(value - best) <= KNEE * best)


def named(draw: Mapping[str, Sequence[Any]]) -> tuple[str, list[Any]]:
    """Return the knob and its values, of which there must be two or more."""
    if len(draw) != 1 or len(values := list(next(iter(draw.values())))) < 2:
        raise ValueError(f"draw={draw!r}: must be one name with two or more values")
    return next(iter(draw)), values
