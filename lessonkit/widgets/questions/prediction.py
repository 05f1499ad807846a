"""`Question`, which all types of question go on from; and `Predict`, answered by a number or a choice."""

from collections.abc import Callable, Sequence
from math import isclose, isfinite
from typing import Any

from lessonkit.engine.trace import Trace
from lessonkit.widgets.controls import RefusedError
from lessonkit.widgets.explorer import VIEW_HEIGHT
from lessonkit.widgets.page_data import page_data
from lessonkit.widgets.widget import Page
from lessonkit.words import number, percent

TOLERANCE = 0.02  # of the right answer, for what is measured; what is counted must be exact
SURE = ("a guess", "fairly sure", "certain")
SCALES = {"s": 1, "ms": 1000, "%": 100}  # of what is measured: what the page shows for 1 second, or the whole
MISTAKEN: dict[str, dict[str, float]] = {
    "s": {"milliseconds": 1000},
    "ms": {"seconds": 1, "microseconds": 1e6},
    "%": {"parts of one": 1},
}


class Question(Page):
    """Ask *question*; the learner commits to an answer, and says how sure; the judged answer shows the run.

    Of the runs *traces* the last is shown, over the first; *why* explains the right answer. *spec* is
    what the page has to know of the kind of answer.
    """

    questions = ("commit", "reveal")

    def __init__(self, question: str, why: str, traces: Sequence[Trace], spec: dict[str, Any]) -> None:
        self.question, self.why, self.traces = question, why, list(traces)
        self.tries: list[list[Any]] = []  # what was said, how sure, and whether it was right
        super().__init__("predict", {"question": question, "sure": SURE, "height": VIEW_HEIGHT} | spec)

    def commit(self, said: Any, sure: Any) -> None:
        """Judge an answer: right, known to be wrong for a reason, or wrong."""
        if type(sure) is not int or not 0 <= sure < len(SURE):
            raise RefusedError("say how sure you are")
        right, shown, answer = self.judge(said)
        self.tries.append([shown, SURE[sure], right])
        self.tell("verdict", answer, right=right, tries=self.tries)

    def judge(self, said: Any) -> tuple[bool, str, dict[str, Any]]:
        """Say whether an answer is right, how the learner would write it, and what the page is told."""
        raise NotImplementedError

    def reveal(self) -> None:
        """Show the run without an answer."""
        self.tell("verdict", self.revealed(""), right=True, tries=[])

    def revealed(self, begin: str) -> dict[str, Any]:
        """Give the reason and the run; of several, the last over the first."""
        pinned = page_data(self.traces[0]) if len(self.traces) > 1 else None
        return {"text": f"{begin} {self.why}".strip(), "scene": page_data(self.traces[-1]), "pinned": pinned}

    def in_words(self) -> str:
        """Ask the question; the answer would spoil it."""
        return f"Predict: {self.question}"


class Predict(Question):
    """A question whose answer is one of the *choices*, or a number, in seconds for the *unit* "ms"."""

    def __init__(
        self,
        traces: Sequence[Trace],
        wrong: Sequence[tuple[Any, str]],
        answer: Callable[..., Any],
        unit: str,
        choices: Sequence[str],
        **more: Any,
    ) -> None:
        self.unit, self.choices = unit, list(choices)
        self.scale, self.tolerance = SCALES.get(unit, 1), TOLERANCE if unit in SCALES else 0
        self.right = self.checked(answer(*traces))
        self.wrong = self.distinct(wrong, traces)
        limit = f"within {percent(TOLERANCE)}" if self.tolerance and not choices else ""
        spec = {"unit": unit, "choices": self.choices, "limit": limit}
        super().__init__(traces=traces, spec=spec, **more)

    def checked(self, value: Any) -> Any:
        """Return a right or a known wrong answer, if it is one of the choices."""
        if self.choices and value not in self.choices:
            raise ValueError(f"answer={value!r}: must be one of {', '.join(self.choices)}")
        return value

    def distinct(self, wrong: Sequence[tuple[Any, str]], traces: Sequence[Trace]) -> list[tuple[Any, str]]:
        """List the misconceptions that can be told apart; with other numbers two may come to one answer."""
        apart = [(self.right, "")]
        for given, text in wrong:
            value = self.checked(given(*traces) if callable(given) else given)
            if not any(self.alike(value, other) for other, _ in apart):
                apart.append((value, text))
        return apart[1:]

    def alike(self, said: Any, value: Any) -> bool:
        """Whether an answer counts as *value*."""
        return said == value if self.choices else isclose(said, value, rel_tol=self.tolerance)

    def shown(self, value: Any) -> str:
        """Write an answer as the learner would."""
        return str(value) if self.choices else f"{number(value * self.scale)} {self.unit}".strip()

    def judge(self, said: Any) -> tuple[bool, str, dict[str, Any]]:
        value = self.accepted(said)
        right = self.alike(value, self.right)
        return right, self.shown(value), self.revealed("Right.") if right else {"text": self.objection(value)}

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
        units = MISTAKEN.get(self.unit, {}) if not self.choices else {}
        for name, scale in units.items():
            if self.alike(value * self.scale / scale, self.right):
                why = f"Is that in {name}? The answer is wanted in {self.unit}."
        if not why and not self.choices:
            why = f"It is {'less' if value > self.right else 'more'} than that."
        return f"Not {self.shown(value)}. {why}".strip()

    def revealed(self, begin: str) -> dict[str, Any]:
        return super().revealed(f"{begin} The answer is {self.shown(self.right)}.".strip())

    def in_words(self) -> str:
        return "\n".join([super().in_words(), *(f"- {choice}" for choice in self.choices)])
