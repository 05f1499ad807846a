"""`predict`: the learner commits to an answer, and how sure; only then does the run appear."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isclose, isfinite
from typing import Any

from lessonkit.widgets.base import Page
from lessonkit.widgets.controls import RefusedError
from lessonkit.widgets.explorer import HEIGHT
from lessonkit.widgets.page_data import page_data
from lessonkit.widgets.sandbox import job
from lessonkit.words import number, percent

TOLERANCE = 0.02  # of the right answer, for what is measured; what is counted must be exact
SURE = ("a guess", "fairly sure", "certain")
SCALES = {"ms": 1000, "%": 100}  # what the page shows for 1 of ours: seconds, shares


class Predict(Page):
    """Ask *question* before the run is shown.

    *pipelines* are what a pipeline function may return: a `Dataset`, or one and keywords of
    `benchmark`. *answer* gets the traces of their runs and returns the right answer: one of the
    *choices*, or a number, in seconds for the *unit* "ms" and as a share for "%". *wrong* has for
    each known misconception the answer it leads to, or a function of the traces that gives it, and
    the sentence that explains it. *why* explains the right answer.
    """

    questions = ("commit", "reveal")

    def __init__(
        self,
        question: str,
        *pipelines: Any,
        answer: Callable[..., Any] = lambda trace, *others: trace.duration,
        unit: str = "ms",
        choices: Sequence[str] = (),
        wrong: Sequence[tuple[Any, str]] = (),
        why: str = "",
    ) -> None:
        if not pipelines:
            raise ValueError("predict: there must be a pipeline to run")
        self.question, self.unit, self.choices, self.why = question, unit, list(choices), why
        self.scale, self.tolerance = SCALES.get(unit, 1), TOLERANCE if unit in SCALES else 0
        self.traces = [job(made).simulate() for made in pipelines]
        self.right = self.checked(answer(*self.traces))
        self.wrong = self.distinct(wrong)
        self.tries: list[list[Any]] = []  # what was said, how sure, and whether it was right
        limit = f"within {percent(TOLERANCE)}" if self.tolerance and not choices else ""
        state = {"question": question, "unit": unit, "choices": self.choices, "sure": SURE, "limit": limit}
        super().__init__("predict", state | {"height": HEIGHT})

    def checked(self, value: Any) -> Any:
        """Return a right or a known wrong answer, if it is one of the choices."""
        if self.choices and value not in self.choices:
            raise ValueError(f"answer={value!r}: must be one of {', '.join(self.choices)}")
        return value

    def distinct(self, wrong: Sequence[tuple[Any, str]]) -> list[tuple[Any, str]]:
        """List the misconceptions that can be told apart; with other numbers two may come to one answer."""
        found = [(self.right, "")]
        for given, text in wrong:
            value = self.checked(given(*self.traces) if callable(given) else given)
            if not any(self.alike(value, other) for other, _ in found):
                found.append((value, text))
        return found[1:]

    def alike(self, said: Any, value: Any) -> bool:
        """Whether an answer counts as *value*."""
        return said == value if self.choices else isclose(said, value, rel_tol=self.tolerance)

    def shown(self, value: Any) -> str:
        """Write an answer as the learner would."""
        return str(value) if self.choices else f"{number(value * self.scale)} {self.unit}".strip()

    # ---- what the page asks ----

    def commit(self, said: Any, sure: Any) -> None:
        """Judge an answer: right, known to be wrong for a reason, or wrong."""
        if type(sure) is not int or not 0 <= sure < len(SURE):
            raise RefusedError("say how sure you are")
        value = self.accepted(said)
        right = self.alike(value, self.right)
        self.tries.append([self.shown(value), SURE[sure], right])
        answer = self.revealed("Right.") if right else {"text": self.objection(value)}
        self.tell("verdict", answer, right=right, tries=self.tries)

    def reveal(self) -> None:
        """Show the run without an answer."""
        self.tell("verdict", self.revealed(""), right=True, tries=[])

    def accepted(self, said: Any) -> Any:
        """Return the answer that the page sent, if it is one."""
        if self.choices:
            if type(said) is not int or not 0 <= said < len(self.choices):
                raise RefusedError("choose one of the answers")
            return self.choices[said]
        is_number = isinstance(said, (int, float)) and not isinstance(said, bool)
        if not is_number or not isfinite(said) or abs(said) > 1e12:
            raise RefusedError("the answer must be a number")
        return said / self.scale

    def objection(self, value: Any) -> str:
        """Say why *value* is wrong, as far as that is known."""
        why = next((text for other, text in self.wrong if self.alike(value, other)), "")
        if not why and not self.choices:
            why = f"It is {'less' if value > self.right else 'more'} than that."
        return f"Not {self.shown(value)}. {why}".strip()

    def revealed(self, begin: str) -> dict[str, Any]:
        """Give the right answer and the run; of several, the last over the first."""
        text = f"{begin} The answer is {self.shown(self.right)}. {self.why}".strip()
        pinned = page_data(self.traces[0]) if len(self.traces) > 1 else None
        return {"text": text, "scene": page_data(self.traces[-1]), "pinned": pinned}

    def in_words(self) -> str:
        """Ask the question; the answer would spoil it."""
        return "\n".join([f"Predict: {self.question}", *(f"- {choice}" for choice in self.choices)])


predict = Predict
