"""`Question`, from which all types of question go on."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple

from lessonkit.engine.trace import Trace
from lessonkit.pictures.scene import QuestionState
from lessonkit.widgets.controls import control
from lessonkit.widgets.page_data import Json, page_data
from lessonkit.widgets.widget import Page
from lessonkit.words import OUR_WORDS

TOLERANCE = 0.02  # of the right answer, for what is measured; what is counted must be exact
SURE = control("sure", ("a guess", "fairly sure", "certain"))
# What the page shows for 1 second, or for the whole
SCALES = {"s": 1, "ms": 1000, "%": 100}

# For each known misconception the answer that it leads to, and the sentence about it
Wrong = Sequence[tuple[Any, str]]


class Judgement(NamedTuple):
    """Whether an answer is right, the answer in the learner's words, and what the page is told."""

    right: bool
    words: str
    told: Json


class Question(Page):
    """Ask *question*; judge each answer that the learner commits to; then show the run.

    Of the runs *traces* the last is shown, over the first; a vote has none. *why* explains the
    right answer. *answer* is what the page has to know of this type of question. The right
    answer is in nothing that the page has before. The run is told in the *words* of the page.
    """

    kind: ClassVar[
        str
    ]  # the name of its type, for the page, its records and a class's board
    questions = ("commit", "reveal")
    right: Any
    wrong: list[tuple[Any, str]]

    def __init__(
        self,
        question: str,
        why: str,
        *,
        answer: Mapping[str, Any],
        traces: Sequence[Trace] = (),
        words: Mapping[str, str] = OUR_WORDS,
    ) -> None:
        self.question = question
        self.why = why
        self.traces = list(traces)
        self.words = words
        self.tries: list[
            list[Any]
        ] = []  # answers and confidences, in words, and the verdicts
        self.asks = "Predict" if self.traces else "Vote"
        state: QuestionState = {
            "kind": self.kind,
            "asks": self.asks,
            "question": question,
            "sure": SURE.texts,
            "answer": dict(answer),
        }
        super().__init__("question", state)

    def commit(self, said: Any, sure: Any, anew: bool = False) -> None:
        """Judge an answer, the first one if the learner begins *anew*, and tell the page."""
        judged = self.judge(said)
        made = [judged.words, SURE.value(sure), judged.right]
        if anew:
            self.tries.clear()
        self.tries.append(made)
        self.tell("verdict", judged.told, right=judged.right, tries=self.tries)

    def judge(self, said: Any) -> Judgement:
        """Judge what the page *said*; raise ValueError if it is no answer."""
        raise NotImplementedError

    def reveal(self) -> None:
        """Show the run without an answer."""
        self.tell("verdict", self.revealed(""), right=True, tries=[])

    def revealed(self, begin: str) -> Json:
        """Return the reason, after *begin*, and the run; of several, the last over the first."""
        text = f"{begin} {self.why}".strip()
        draw = partial(page_data, words=self.words)
        scene = draw(self.traces[-1]) if self.traces else None
        pinned = draw(self.traces[0]) if len(self.traces) > 1 else None
        return {"text": text, "scene": scene, "pinned": pinned}

    def for_board(self) -> Json:
        """Return what the board of a class knows of this question, the right answer among it.

        Every type says in *most* how large an answer may be; of marks, each of which has one
        of the *names*, it is a list. It adds what a server needs to judge an answer without a
        kernel. The board lists the answers by their words; where these tell nothing
        (*worded*), it has to have a drawing for the type.
        """
        return {
            "kind": self.kind,
            "asks": self.asks,
            "question": self.question,
            "why": self.why,
            "right": self.right,
            "wrong": self.wrong,
            "worded": True,
            "names": None,
        }

    def __repr__(self) -> str:
        """Return the question; the answer would spoil it."""
        return f"{self.asks}: {self.question}"
