"""`Marks`: the answer is a step of an axis for each of several marks, as bars or points are."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple

from lessonkit.widgets.page_data import Json

from .question import Judgement, Question, Wrong

# Where each mark is in a known answer, in steps of the axis; inf where it has no such mark
Steps = Sequence[float]


class Closeness(NamedTuple):
    """How far from a known place a mark may be and still count as there."""

    steps: float  # of the axis
    share: float  # of the known place, if that is more

    def holds(self, said: float, known: float) -> bool:
        """Whether a mark that was *said* counts as being where a known answer has it."""
        return abs(said - known) <= max(self.share * known, self.steps) * (1 + 1e-9)


EXACTLY = Closeness(steps=0, share=0)


class Marks(Question):
    """A question whose answer is a step of an axis for each mark.

    In *known* are the right answer and those of the misconceptions, which *wrong* explains,
    in a unit of which a step of the axis is *step*. Marks that have the same name are told
    apart by their order alone.
    """

    # What the right mark does if this one is too far on, and if it is not far enough
    too_early: str
    too_late: str
    within: str  # where a mark is that is right
    is_right = EXACTLY
    is_alike = EXACTLY  # as a misconception has it
    names: list[str]
    last: list[int]  # the last step at which a mark may be
    order: Steps  # of the marks that are wrong, the one that has least here is spoken of

    def __init__(
        self,
        known: Sequence[Steps],
        wrong: Wrong,
        step: float,
        *,
        answer: Mapping[str, Any],
        **more: Any,
    ) -> None:
        self.step = step
        self.answer = dict(answer)
        in_steps = [[value / step for value in answer] for answer in known]
        self.right = in_steps[0]
        texts = [text for _, text in wrong]
        self.wrong = list(zip(in_steps[1:], texts, strict=True))
        super().__init__(answer=answer, **more)

    def judge(self, said: Any) -> Judgement:
        said = self.accepted(said)
        marks = range(len(said))
        sent = sorted(
            marks, key=lambda mark: (self.names.index(self.names[mark]), said[mark])
        )
        at = [said[mark] for mark in sent]
        wrong = [
            mark for mark in marks if not self.is_right.holds(at[mark], self.right[mark])
        ]
        counted = f"{len(at) - len(wrong)} of {len(at)} {self.within}"
        if not wrong:
            truth = [self.right[sent.index(mark)] for mark in marks]
            answer = self.revealed(f"Right: all are {self.within}.")
            return Judgement(True, counted, answer | {"truth": truth})
        mark = min(wrong, key=self.order.__getitem__)
        side = self.too_late if at[mark] < self.right[mark] else self.too_early
        text = f"{self.names[mark]} {side} {self.shown(at[mark])}."
        parts = text, self.explanation(at, mark), self.remark(at)
        return Judgement(False, counted, {"text": " ".join(filter(None, parts))})

    def accepted(self, said: Any) -> list[int]:
        """Return the steps that the page *said*, if there is one for each mark."""
        if not isinstance(said, list) or len(said) != len(self.names):
            raise ValueError("the question has changed: run its cell again")
        for name, step, last in zip(self.names, said, self.last, strict=True):
            if type(step) is not int or not -1 <= step <= last:
                raise ValueError(f"{name} is not at a step of the axis")
            if step == -1:
                raise ValueError(f"{name} is not placed yet")
        return said

    def explanation(self, at: Sequence[int], mark: int) -> str:
        """Return the sentence of the nearest misconception that has *mark* wrong as it is *at*."""

        def distance(known: tuple[Steps, str]) -> float:
            return sum(abs(here - there) for here, there in zip(at, known[0], strict=True))

        alike = [known for known in self.wrong if self.errs_alike(at, known[0], mark)]
        return min(alike, key=distance)[1] if alike else ""

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

    def for_board(self) -> Json:
        """Say also what is to be placed; a mistake that lacks a mark nobody can make."""
        wrong = [
            (places, text) for places, text in self.wrong if all(map(isfinite, places))
        ]
        more = {
            "worded": False,
            "names": self.names,
            "wrong": wrong,
            "most": self.last,
            "within": self.within,
            "is_right": self.is_right,
            "is_alike": self.is_alike,
        }
        return super().for_board() | self.answer | more
