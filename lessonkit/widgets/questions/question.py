"""`Question`, from which all types of question go on: `Predict` here is the plain type.

`Marks` is what `Placing` and `Drawing` have in common.
"""

from collections.abc import Sequence
from math import isclose
from typing import Any

from lessonkit.engine.trace import Trace
from lessonkit.widgets.controls import RefusedError, chosen, is_number
from lessonkit.widgets.explorer import VIEW_HEIGHT
from lessonkit.widgets.page_data import Json, page_data
from lessonkit.widgets.widget import Page
from lessonkit.words import number, percent

TOLERANCE = 0.02  # of the right answer, for what is measured; what is counted must be exact
SURE = chosen("sure", "How sure are you?", ("a guess", "fairly sure", "certain"))
# What the page shows for 1 second, or for the whole
SCALES = {"s": 1, "ms": 1000, "%": 100}
MISTAKEN: dict[str, dict[str, float]] = {
    "s": {"milliseconds": 1000},
    "ms": {"seconds": 1, "microseconds": 1e6},
    "%": {"parts of one": 1},
}

# For each known misconception the answer that it leads to, and the sentence about it
Wrong = Sequence[tuple[Any, str]]
# Whether an answer is right, the answer in the learner's words, and what the page is told
Judgement = tuple[bool, str, Json]
# Where each mark is in a known answer, in steps of the axis; inf where it has no such mark
Steps = Sequence[float]


class Question(Page):
    """Ask *question*; judge each answer that the learner commits to; then show the run.

    Of the runs *traces* the last is shown, over the first; *why* explains the right answer.
    *spec* is what the page has to know of the type of question. The answer is in nothing
    that the page has before.
    """

    questions = ("commit", "reveal")

    def __init__(
        self, question: str, why: str, traces: Sequence[Trace], spec: Json
    ) -> None:
        self.question, self.why, self.traces = question, why, list(traces)
        # What was said, how sure, and whether it was right
        self.tries: list[list[Any]] = []
        common = {"question": question, "sure": SURE.texts, "height": VIEW_HEIGHT}
        super().__init__("predict", common | spec)

    def commit(self, said: Any, sure: Any) -> None:
        """Judge an answer, and tell the page."""
        right, shown, answer = self.judge(said)
        self.tries.append([shown, SURE.value(sure), right])
        self.tell("verdict", answer, right=right, tries=self.tries)

    def judge(self, said: Any) -> Judgement:
        """Judge what the page *said*; raise RefusedError if it is no answer."""
        raise NotImplementedError

    def reveal(self) -> None:
        """Show the run without an answer."""
        self.tell("verdict", self.revealed(""), right=True, tries=[])

    def revealed(self, begin: str) -> Json:
        """Return the reason, after *begin*, and the run; of several, the last over the first."""
        pinned = page_data(self.traces[0]) if len(self.traces) > 1 else None
        text = f"{begin} {self.why}".strip()
        return {"text": text, "scene": page_data(self.traces[-1]), "pinned": pinned}

    def in_words(self) -> str:
        """Return the question; the answer would spoil it."""
        return f"Predict: {self.question}"


class Predict(Question):
    """A question whose answer is one of the *choices*, or a number, in seconds for "ms"."""

    def __init__(
        self, right: Any, wrong: Wrong, unit: str, choices: Sequence[str], **more: Any
    ) -> None:
        for value, _ in ((right, ""), *wrong):
            if choices and value not in choices:
                raise ValueError(f"answer={value!r}: must be one of {', '.join(choices)}")
        self.right, self.wrong, self.unit, self.choices = right, wrong, unit, list(choices)
        self.scale, self.tolerance = SCALES.get(unit, 1), TOLERANCE if unit in SCALES else 0
        limit = f"within {percent(TOLERANCE)}" if self.tolerance and not choices else ""
        spec = {"unit": unit, "choices": self.choices, "limit": limit}
        super().__init__(spec=spec, **more)

    def judge(self, said: Any) -> Judgement:
        value = self.accepted(said)
        if self.alike(value, self.right):
            return True, self.shown(value), self.revealed("Right.")
        return False, self.shown(value), {"text": self.objection(value)}

    def accepted(self, said: Any) -> Any:
        """Return the answer that the page *said*, if it is one."""
        if self.choices:
            return chosen("answer", "Your answer", self.choices).value(said)
        if not is_number(said) or not abs(said) <= 1e12:
            raise RefusedError("the answer must be a number")
        return said / self.scale

    def alike(self, answer: Any, value: Any) -> bool:
        """Whether an answer counts as *value*."""
        if self.choices:
            return bool(answer == value)
        return isclose(answer, value, rel_tol=self.tolerance)

    def shown(self, value: Any) -> str:
        """Write an answer as the learner would."""
        if self.choices:
            return str(value)
        return f"{number(value * self.scale)} {self.unit}".strip()

    def objection(self, value: Any) -> str:
        """Say why *value* is wrong, as far as that is known."""
        why = next((text for other, text in self.wrong if self.alike(value, other)), "")
        if not self.choices:
            side = "less" if value > self.right else "more"
            why = why or f"It is {side} than that."
            for name, scale in MISTAKEN.get(self.unit, {}).items():
                if self.alike(value * self.scale / scale, self.right):
                    why = f"Is that in {name}? The answer is wanted in {self.unit}."
        return f"Not {self.shown(value)}. {why}".strip()

    def revealed(self, begin: str) -> Json:
        return super().revealed(f"{begin} The answer is {self.shown(self.right)}.".strip())

    def in_words(self) -> str:
        return "\n".join([super().in_words(), *(f"- {choice}" for choice in self.choices)])


class Marks(Question):
    """A question whose answer is a step of an axis for each mark.

    In *known* are the right answer and those of the misconceptions, which *wrong* explains.
    Marks that have the same name are told apart by their order alone.
    """

    wrong_said: str  # a template: the mark that is wrong, and where it is
    right_said: str
    counted: str  # a template: how many marks are right, and how many there are
    names: list[str]
    last: list[int]  # the last step at which a mark may be
    order: Steps  # of the marks that are wrong, the one that has least here is spoken of

    def __init__(self, known: Sequence[Steps], wrong: Wrong, **more: Any) -> None:
        self.right, *others = known
        each = zip(others, wrong, strict=True)
        self.wrong = [(steps, text) for steps, (_, text) in each]
        super().__init__(**more)

    def judge(self, said: Any) -> Judgement:
        said = self.accepted(said)
        first = [self.names.index(name) for name in self.names]
        sent = sorted(range(len(said)), key=lambda mark: (first[mark], said[mark]))
        at = [said[mark] for mark in sent]
        wrong = [
            mark for mark, step in enumerate(at) if not self.near(step, self.right[mark])
        ]
        counted = self.counted.format(len(at) - len(wrong), len(at))
        if not wrong:
            truth = [self.right[sent.index(mark)] for mark in range(len(at))]
            return True, counted, self.revealed(self.right_said) | {"truth": truth}
        mark = min(wrong, key=self.order.__getitem__)
        text = self.wrong_said.format(self.names[mark], self.shown(at[mark]))
        parts = text, self.explanation(at, mark), self.remark(at)
        return False, counted, {"text": " ".join(filter(None, parts))}

    def accepted(self, said: Any) -> list[int]:
        """Return the steps that the page *said*, if there is one for each mark."""
        if not isinstance(said, list) or len(said) != len(self.names):
            raise RefusedError("this question has other marks: run its cell again")
        for name, step, last in zip(self.names, said, self.last, strict=True):
            if type(step) is not int or not -1 <= step <= last:
                raise RefusedError(f"{name} is not at a step of the axis")
            if step < 0:
                raise RefusedError(f"{name} has no place yet")
        return said

    def explanation(self, at: Sequence[int], mark: int) -> str:
        """Return the sentence of the nearest misconception that has *mark* wrong as it is *at*."""

        def distance(known: tuple[Steps, str]) -> float:
            return sum(abs(here - there) for here, there in zip(at, known[0], strict=True))

        alike = [known for known in self.wrong if self.errs_alike(at, known[0], mark)]
        return min(alike, key=distance)[1] if alike else ""

    def near(self, said: int, right: float) -> bool:
        """Whether a mark counts as being where it belongs."""
        return said == right

    def errs_alike(self, at: Sequence[int], steps: Steps, mark: int) -> bool:
        """Whether a misconception that leads to *steps* may be why *mark* is wrong."""
        return at[mark] == steps[mark]

    def shown(self, step: float) -> str:
        """Write a step as the page does."""
        raise NotImplementedError

    def remark(self, at: Sequence[int]) -> str:
        """Say what no run can do, if the marks are *at* these steps; or ""."""
        raise NotImplementedError

    def revealed(self, begin: str) -> Json:
        return super().revealed(begin) | {"truth": self.right}
