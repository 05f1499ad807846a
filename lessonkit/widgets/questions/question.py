"""`Question`, from which all types of question go on, and the plain type, `Predict`."""

from collections.abc import Sequence
from math import isclose
from typing import Any, NamedTuple

from lessonkit.engine.trace import Trace
from lessonkit.widgets.controls import chosen, control, is_number
from lessonkit.widgets.page_data import Json, page_data
from lessonkit.widgets.widget import Page
from lessonkit.words import number, percent

TOLERANCE = 0.02  # of the right answer, for what is measured; what is counted must be exact
SURE = control("sure", ("a guess", "fairly sure", "certain"))
# What the page shows for 1 second, or for the whole
SCALES = {"s": 1, "ms": 1000, "%": 100}
# The unit of a question, another one in which it was answered, and what that one has to be times
OTHER_UNITS = [
    ("s", "milliseconds", 0.001),
    ("ms", "seconds", 1000),
    ("ms", "microseconds", 0.001),
    ("%", "parts of one", 100),
]

# For each known misconception the answer that it leads to, and the sentence about it
Wrong = Sequence[tuple[Any, str]]


class Judgement(NamedTuple):
    """Whether an answer is *right*, the answer in the learner's words, and what the page is told."""

    right: bool
    shown: str
    told: Json


class Question(Page):
    """Ask *question*; judge each answer that the learner commits to; then show the run.

    Of the runs *traces* the last is shown, over the first; a vote has none. *why* explains the
    right answer. *spec* is what the page has to know of the type of question. The answer is in
    nothing that the page has before.
    """

    questions = ("commit", "reveal")

    def __init__(
        self, question: str, why: str, traces: Sequence[Trace], spec: Json
    ) -> None:
        self.question = question
        self.why = why
        self.traces = traces
        # What was said, how sure, and whether it was right
        self.tries: list[list[Any]] = []
        self.asks = "Predict" if self.traces else "Vote"
        about = {"asks": self.asks, "question": question, "sure": SURE.texts}
        super().__init__("predict", about | spec)

    def commit(self, said: Any, sure: Any, anew: bool = False) -> None:
        """Judge an answer, the first one if the learner begins *anew*, and tell the page."""
        right, shown, answer = self.judge(said)
        made = [shown, SURE.value(sure), right]
        if anew:
            self.tries.clear()
        self.tries.append(made)
        self.tell("verdict", answer, right=right, tries=self.tries)

    def judge(self, said: Any) -> Judgement:
        """Judge what the page *said*; raise ValueError if it is no answer."""
        raise NotImplementedError

    def reveal(self) -> None:
        """Show the run without an answer."""
        self.tell("verdict", self.revealed(""), right=True, tries=[])

    def revealed(self, begin: str) -> Json:
        """Return the reason, after *begin*, and the run; of several, the last over the first."""
        text = f"{begin} {self.why}".strip()
        scene = page_data(self.traces[-1]) if self.traces else None
        pinned = page_data(self.traces[0]) if len(self.traces) > 1 else None
        return {"text": text, "scene": scene, "pinned": pinned}

    def __repr__(self) -> str:
        """Return the question; the answer would spoil it."""
        return f"{self.asks}: {self.question}"


class Predict(Question):
    """A question whose answer is one of the *choices*, or a number, in seconds for "ms".

    Answers are kept as the page says them: the number of a choice, or a number in *unit*.
    """

    def __init__(
        self, right: Any, wrong: Wrong, unit: str, choices: Sequence[str], **more: Any
    ) -> None:
        self.unit = unit
        self.choices = list(choices)
        self.right = self.as_said(right)
        self.wrong = [(self.as_said(answer), text) for answer, text in wrong]
        is_exact = bool(choices) or unit not in SCALES
        self.tolerance = 0 if is_exact else TOLERANCE
        tolerance = "" if is_exact else f"within {percent(TOLERANCE)}"
        spec = {"unit": unit, "choices": self.choices, "tolerance": tolerance}
        super().__init__(spec=spec, **more)

    def as_said(self, answer: Any) -> float:
        """Return *answer* as the page says it; raise ValueError if it is none of the choices."""
        if not self.choices:
            return float(answer * SCALES.get(self.unit, 1))
        if answer not in self.choices:
            raise ValueError(f"answer={answer!r}: must be one of {', '.join(self.choices)}")
        return self.choices.index(answer)

    def judge(self, said: Any) -> Judgement:
        if self.choices:
            chosen(self.choices, "answer").value(said)
        elif not is_number(said) or not abs(said) <= 1e12:
            raise ValueError("the answer must be a number")
        if self.alike(said, self.right):
            return Judgement(True, self.shown(said), self.revealed("Right."))
        return Judgement(False, self.shown(said), {"text": self.objection(said)})

    def alike(self, said: float, answer: float) -> bool:
        """Whether what was *said* counts as *answer*."""
        return isclose(said, answer, rel_tol=self.tolerance)

    def shown(self, said: float) -> str:
        """Write an answer as the learner would."""
        if self.choices:
            return self.choices[int(said)]
        return f"{number(said)} {self.unit}".strip()

    def objection(self, said: float) -> str:
        """Say why an answer is wrong, as far as that is known."""
        known = [text for answer, text in self.wrong if self.alike(said, answer)]
        if not self.choices:
            known.append(f"That is too {'high' if said > self.right else 'low'}.")
            for unit, other, scale in OTHER_UNITS:
                if unit == self.unit and self.alike(said * scale, self.right):
                    known = [f"Is that in {other}? The answer must be in {unit}."]
        return " ".join([f"Not {self.shown(said)}.", *known[:1]])

    def revealed(self, begin: str) -> Json:
        return super().revealed(f"{begin} The answer is {self.shown(self.right)}.".strip())

    def __repr__(self) -> str:
        return "\n".join([super().__repr__(), *(f"- {choice}" for choice in self.choices)])
