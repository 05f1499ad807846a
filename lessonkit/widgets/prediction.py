"""`predict`: the learner commits to an answer, and how sure; only then does the run appear."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isclose, isfinite
from typing import Any

from lessonkit.widgets.base import Page
from lessonkit.widgets.controls import RefusedError
from lessonkit.widgets.explorer import HEIGHT
from lessonkit.widgets.page_data import page_data
from lessonkit.widgets.sandbox import Job, job
from lessonkit.words import number, percent

TOLERANCE = 0.02  # of the right answer, for what is measured; what is counted must be exact
SURE = ("a guess", "fairly sure", "certain")
SCALES = {"ms": 1000, "%": 100}  # what the page shows for 1 of ours: seconds, shares


@dataclass(frozen=True)
class Try:
    """An answer that was given."""

    said: Any
    sure: str
    right: bool


class Predict(Page):
    """The widget of `predict`."""

    questions = ("commit", "reveal")

    def __init__(
        self,
        question: str,
        jobs: list[Job],
        answer: Callable[..., Any],
        unit: str,
        choices: Sequence[str],
        wrong: Sequence[tuple[Any, str]],
        why: str,
        tolerance: float,
    ) -> None:
        self.question, self.unit, self.choices = question, unit, list(choices)
        self.why, self.tolerance = why, tolerance
        self.traces = [made.simulate() for made in jobs]
        self.right = answer(*self.traces)
        if choices and self.right not in choices:
            raise ValueError(f"the answer {self.right!r} is not among the choices")
        self.wrong = self.distinct(wrong)
        self.tries: list[Try] = []
        limit = f"within {percent(tolerance)}" if tolerance and not choices else ""
        state = {"question": question, "unit": unit, "choices": self.choices, "sure": SURE, "limit": limit}
        super().__init__("predict", state | {"height": HEIGHT})

    def distinct(self, wrong: Sequence[tuple[Any, str]]) -> list[tuple[Any, str]]:
        """The misconceptions that can be told apart; with other numbers two may come to the same answer."""
        found = [(self.right, "")]
        for given, text in wrong:
            value = given(*self.traces) if callable(given) else given
            if self.choices and value not in self.choices:
                raise ValueError(f"{value!r} is not among the choices")
            if not any(self.alike(value, other) for other, _ in found):
                found.append((value, text))
        return found[1:]

    def alike(self, said: Any, value: Any) -> bool:
        """Whether an answer counts as *value*."""
        return said == value if self.choices else isclose(said, value, rel_tol=self.tolerance)

    def shown(self, value: Any) -> str:
        """An answer as the learner would write it."""
        return (
            str(value) if self.choices else f"{number(value * SCALES.get(self.unit, 1))} {self.unit}".strip()
        )

    # ---- what the page asks ----

    def commit(self, said: Any, sure: Any) -> None:
        """An answer: right, known to be wrong for a reason, or wrong."""
        if type(sure) is not int or not 0 <= sure < len(SURE):
            raise RefusedError("say how sure you are")
        value = self.accepted(said)
        right = self.alike(value, self.right)
        self.tries.append(Try(value, SURE[sure], right))
        tries = [[self.shown(one.said), one.sure, one.right] for one in self.tries]
        if right:
            self.tell("verdict", self.revealed("Right."), right=True, tries=tries)
            return
        known = next((text for other, text in self.wrong if self.alike(value, other)), "")
        if not known and not self.choices:
            known = f"It is {'less' if value > self.right else 'more'} than that."
        self.tell("verdict", {"text": f"Not {self.shown(value)}. {known}".strip()}, right=False, tries=tries)

    def reveal(self) -> None:
        """Show it without an answer."""
        self.tell("verdict", self.revealed(""), right=True, tries=[])

    def accepted(self, said: Any) -> Any:
        """The answer that the page sent, if it is one."""
        if self.choices:
            if type(said) is not int or not 0 <= said < len(self.choices):
                raise RefusedError("choose one of the answers")
            return self.choices[said]
        if (
            isinstance(said, bool)
            or not isinstance(said, (int, float))
            or not isfinite(said)
            or abs(said) > 1e12
        ):
            raise RefusedError("the answer must be a number")
        return said / SCALES.get(self.unit, 1)

    def revealed(self, begin: str) -> dict[str, Any]:
        """The right answer and the run; if there are several, the last over the first."""
        drawn = [page_data(trace) for trace in self.traces[:: max(1, len(self.traces) - 1)]]
        text = f"{begin} The answer is {self.shown(self.right)}. {self.why}".strip()
        return {"text": text, "scene": drawn[-1], "pinned": drawn[0] if len(drawn) > 1 else None}

    def in_words(self) -> str:
        """The question; the answer would spoil it."""
        return "\n".join([f"Predict: {self.question}", *(f"- {choice}" for choice in self.choices)])


def predict(
    question: str,
    *pipelines: Any,
    answer: Callable[..., Any] = lambda trace, *others: trace.duration,
    unit: str = "ms",
    choices: Sequence[str] = (),
    wrong: Sequence[tuple[Any, str]] = (),
    why: str = "",
    tolerance: float | None = None,
) -> Predict:
    """Ask before the run is shown.

    *pipelines* are what a pipeline function may return: a `Dataset`, or one and keywords of
    `benchmark`. *answer* gets the traces of their runs and returns the right answer: one of the
    *choices*, or a number, in seconds for "ms" and as a share for "%". *wrong* has for each known
    misconception the answer it leads to, or a function of the traces that gives it, and the
    sentence that explains it.
    """
    if not pipelines:
        raise ValueError("predict: there must be a pipeline to run")
    if tolerance is None:
        tolerance = TOLERANCE if unit in SCALES else 0
    jobs = [job(made) for made in pipelines]
    return Predict(question, jobs, answer, unit, choices, wrong, why, tolerance)
