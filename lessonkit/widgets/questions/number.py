"""`Number`: the learner types a number."""

from math import isclose
from typing import Any, TypedDict

from lessonkit.widgets.controls import is_number
from lessonkit.widgets.page_data import Json
from lessonkit.words import as_typed, number, percent

from .question import SCALES, TOLERANCE, Judgement, Question, Wrong

TOO_HIGH = "That is too high."
TOO_LOW = "That is too low."
LARGEST = 1e12  # more than any answer of a lesson, and exact as a number of any page
# The unit of a question, another one in which it was answered, and what that one has to be times
OTHER_UNITS = [
    ("s", "milliseconds", 0.001),
    ("ms", "seconds", 1000),
    ("ms", "microseconds", 0.001),
    ("%", "parts of one", 100),
]


class NumberState(TypedDict):
    """What the page has to know to have a number typed."""

    unit: str
    tolerance: str  # in words


class Number(Question):
    """A question whose answer is a number in *unit*; *right* is in seconds for "ms", as in `predict`.

    Answers are kept as the page says them: as numbers in that unit.
    """

    kind = "number"

    def __init__(self, right: Any, wrong: Wrong, unit: str, **more: Any) -> None:
        self.unit = unit
        self.right = self.as_said(right)
        self.wrong = [(self.as_said(answer), text) for answer, text in wrong]
        is_exact = unit not in SCALES
        self.tolerance = 0 if is_exact else TOLERANCE
        answer: NumberState = {
            "unit": unit,
            "tolerance": "" if is_exact else f"within {percent(TOLERANCE)}",
        }
        super().__init__(answer=answer, **more)

    def as_said(self, answer: Any) -> float:
        """Return *answer* as the page says it."""
        return float(answer * SCALES.get(self.unit, 1))

    def judge(self, said: Any) -> Judgement:
        if not is_number(said) or not abs(said) <= LARGEST:
            raise ValueError("the answer must be a number")
        if self.is_alike(said, self.right):
            return Judgement(True, self.quoted(said), self.revealed("Right."))
        return Judgement(False, self.quoted(said), {"text": self.objection(said)})

    def is_alike(self, said: float, answer: float) -> bool:
        """Whether what was *said* counts as *answer*."""
        return isclose(said, answer, rel_tol=self.tolerance)

    def shown(self, answer: float) -> str:
        """Write a right answer as the figures of its run have it."""
        return f"{number(answer)} {self.unit}".strip()

    def quoted(self, said: float) -> str:
        """Write what the learner typed, digit by digit: rounded it would be another answer."""
        return f"{as_typed(said)} {self.unit}".strip()

    def objection(self, said: float) -> str:
        """Say why an answer is wrong, as far as that is known."""
        known = [text for answer, text in self.wrong if self.is_alike(said, answer)]
        known.append(TOO_HIGH if said > self.right else TOO_LOW)
        for unit, other, scale in OTHER_UNITS:
            if unit == self.unit and self.is_alike(said * scale, self.right):
                known = [f"Is that in {other}? The answer must be in {unit}."]
        return f"Not {self.quoted(said)}. {known[0]}"

    def rules(self) -> Json:
        """Return what a page without a kernel needs to judge as `judge` does.

        Of *known* the first answer that is alike counts; for the page says all in one unit.
        """
        other_units = [
            [self.right / scale, f"Is that in {other}? The answer must be in {unit}."]
            for unit, other, scale in OTHER_UNITS
            if unit == self.unit
        ]
        return {
            "unit": self.unit,
            "room": self.tolerance,
            "right": self.right,
            "told": self.revealed("Right."),
            "known": [*other_units, *self.wrong],
            "low": TOO_LOW,
            "high": TOO_HIGH,
        }

    def revealed(self, begin: str) -> Json:
        return super().revealed(f"{begin} The answer is {self.shown(self.right)}.".strip())

    def for_board(self) -> Json:
        more = {"unit": self.unit, "tolerance": self.tolerance, "most": LARGEST}
        return super().for_board() | more
