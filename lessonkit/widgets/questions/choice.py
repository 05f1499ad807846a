"""`Choice`: the learner takes one of several texts."""

from collections.abc import Sequence
from typing import Any, TypedDict

from lessonkit.widgets.controls import chosen
from lessonkit.widgets.page_data import Json

from .question import Judgement, Question, Wrong


class ChoiceState(TypedDict):
    """What the page has to know to offer a choice."""

    choices: list[str]


class Choice(Question):
    """A question whose answer is one of the *choices*.

    Answers are kept as the page says them: as numbers of choices. Raises ValueError if *right*
    or an answer in *wrong* is none of them.
    """

    kind = "choice"

    def __init__(
        self, right: Any, wrong: Wrong, choices: Sequence[str], **more: Any
    ) -> None:
        self.choices = list(choices)
        self.right = self.as_said(right)
        self.wrong = [(self.as_said(answer), text) for answer, text in wrong]
        answer: ChoiceState = {"choices": self.choices}
        super().__init__(answer=answer, **more)

    def as_said(self, answer: Any) -> int:
        """Return the number of the choice *answer*; raise ValueError if it is none of them."""
        if answer not in self.choices:
            raise ValueError(f"answer={answer!r}: must be one of {', '.join(self.choices)}")
        return self.choices.index(answer)

    def judge(self, said: Any) -> Judgement:
        chosen(self.choices, "answer").value(said)
        if said == self.right:
            return Judgement(True, self.shown(said), self.revealed("Right."))
        known = [text for answer, text in self.wrong if answer == said]
        objection = " ".join([f"Not {self.shown(said)}.", *known[:1]])
        return Judgement(False, self.shown(said), {"text": objection})

    def shown(self, said: float) -> str:
        """Write an answer as the learner reads it."""
        return self.choices[int(said)]

    def revealed(self, begin: str) -> Json:
        return super().revealed(f"{begin} The answer is {self.shown(self.right)}.".strip())

    def for_board(self) -> Json:
        more = {"choices": self.choices, "most": len(self.choices) - 1}
        return super().for_board() | more

    def __repr__(self) -> str:
        return "\n".join([super().__repr__(), *(f"- {choice}" for choice in self.choices)])
