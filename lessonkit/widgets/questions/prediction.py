"""`Question`, which all types of question go on from; and `Predict`, answered by a number or a choice."""

from collections.abc import Sequence
from math import isclose
from typing import Any

from lessonkit.engine.trace import Trace
from lessonkit.widgets.controls import RefusedError, chosen, is_number
from lessonkit.widgets.explorer import VIEW_HEIGHT
from lessonkit.widgets.page_data import page_data
from lessonkit.widgets.widget import Page
from lessonkit.words import number, percent

TOLERANCE = 0.02  # of the right answer, for what is measured; what is counted must be exact
SURE = chosen("sure", "How sure are you?", ("a guess", "fairly sure", "certain"))
# Of what is measured: what the page shows for 1 second, or the whole
SCALES = {"s": 1, "ms": 1000, "%": 100}
MISTAKEN: dict[str, dict[str, float]] = {
    "s": {"milliseconds": 1000},
    "ms": {"seconds": 1, "microseconds": 1e6},
    "%": {"parts of one": 1},
}

# Of each known misconception what it leads to, and the sentence about it
Wrong = Sequence[tuple[Any, str]]


class Question(Page):
    """Ask *question*; the learner commits to an answer, and says how sure; the judged answer shows the run.

    Of the runs *traces* the last is shown, over the first; *why* explains the right answer.
    *spec* is what the page has to know of the kind of answer.
    """

    questions = ("commit", "reveal")

    def __init__(
        self, question: str, why: str, traces: Sequence[Trace], spec: dict[str, Any]
    ) -> None:
        self.question, self.why, self.traces = question, why, list(traces)
        # What was said, how sure, and whether it was right
        self.tries: list[list[Any]] = []
        super().__init__(
            "predict",
            {"question": question, "sure": SURE.texts, "height": VIEW_HEIGHT} | spec,
        )

    def commit(self, said: Any, sure: Any) -> None:
        """Judge an answer: right, known to be wrong for a reason, or wrong."""
        right, shown, answer = self.judge(said)
        self.tries.append([shown, SURE.value(sure), right])
        self.tell("verdict", answer, right=right, tries=self.tries)

    def judge(self, answer: Any) -> tuple[bool, str, dict[str, Any]]:
        """Say whether an answer is right, how the learner would write it, and what the page is told."""
        raise NotImplementedError

    def reveal(self) -> None:
        """Show the run without an answer."""
        self.tell("verdict", self.revealed(""), right=True, tries=[])

    def revealed(self, begin: str) -> dict[str, Any]:
        """Give the reason and the run; of several, the last over the first."""
        pinned = page_data(self.traces[0]) if len(self.traces) > 1 else None
        return {
            "text": f"{begin} {self.why}".strip(),
            "scene": page_data(self.traces[-1]),
            "pinned": pinned,
        }

    def in_words(self) -> str:
        """Ask the question; the answer would spoil it."""
        return f"Predict: {self.question}"


class Predict(Question):
    """A question whose answer is one of the *choices*, or a number, in seconds for the *unit* "ms"."""

    def __init__(
        self, right: Any, wrong: Wrong, unit: str, choices: Sequence[str], **more: Any
    ) -> None:
        for value, _ in ((right, ""), *wrong):
            if choices and value not in choices:
                raise ValueError(f"answer={value!r}: must be one of {', '.join(choices)}")
        self.right, self.wrong, self.unit, self.choices = right, wrong, unit, list(choices)
        self.scale, self.tolerance = SCALES.get(unit, 1), TOLERANCE if unit in SCALES else 0
        limit = f"within {percent(TOLERANCE)}" if self.tolerance and not choices else ""
        super().__init__(
            spec={"unit": unit, "choices": self.choices, "limit": limit}, **more
        )

    def alike(self, answer: Any, value: Any) -> bool:
        """Whether an answer counts as *value*."""
        return (
            answer == value
            if self.choices
            else isclose(answer, value, rel_tol=self.tolerance)
        )

    def shown(self, value: Any) -> str:
        """Write an answer as the learner would."""
        return (
            str(value)
            if self.choices
            else f"{number(value * self.scale)} {self.unit}".strip()
        )

    def judge(self, answer: Any) -> tuple[bool, str, dict[str, Any]]:
        value = self.accepted(answer)
        right = self.alike(value, self.right)
        return (
            right,
            self.shown(value),
            self.revealed("Right.") if right else {"text": self.objection(value)},
        )

    def accepted(self, answer: Any) -> Any:
        """Return the answer that the page sent, if it is one."""
        if self.choices:
            return chosen("answer", "Your answer", self.choices).value(answer)
        if not is_number(answer) or not abs(answer) <= 1e12:
            raise RefusedError("the answer must be a number")
        return answer / self.scale

    def objection(self, value: Any) -> str:
        """Say why *value* is wrong, as far as that is known."""
        why = next((text for other, text in self.wrong if self.alike(value, other)), "")
        if not self.choices:
            why = why or (
                "It is less than that." if value > self.right else "It is more than that."
            )
            for name, scale in MISTAKEN.get(self.unit, {}).items():
                if self.alike(value * self.scale / scale, self.right):
                    why = f"Is that in {name}? The answer is wanted in {self.unit}."
        return f"Not {self.shown(value)}. {why}".strip()

    def revealed(self, begin: str) -> dict[str, Any]:
        return super().revealed(f"{begin} The answer is {self.shown(self.right)}.".strip())

    def in_words(self) -> str:
        return "\n".join([super().in_words(), *(f"- {choice}" for choice in self.choices)])
