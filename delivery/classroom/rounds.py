"""`State`: how a class stands, which the store keeps and every page is told."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any, TypedDict

ROUNDS = 2


class Asked(TypedDict):
    """What a record names its question by."""

    lesson: str
    kind: str
    question: str


ASKED: tuple[str, ...] = tuple(Asked.__annotations__)


def asked_of(about: dict[str, Any]) -> Asked:
    """Return by what a record, or the board, names its question."""
    return Asked(lesson=about["lesson"], kind=about["kind"], question=about["question"])


@dataclass
class Standing:
    """How one question stands in a group.

    A round that was opened may be closed, and opened again. Once the verdict was shown, none is:
    the question would have to be asked anew.
    """

    asking: int = 1  # how many times the group has been asked it
    round: int = 0  # the last one that was opened
    open: bool = False
    shown: bool = False  # whether everybody has the verdict

    def may_open(self, round: int) -> bool:
        """Whether this round may be opened: the last one again, or the next one."""
        is_next = round == self.round + 1 and round <= ROUNDS
        return not self.shown and (is_next or round == self.round > 0)


@dataclass
class State:
    """How a class stands. At most one round is open: that of the question that is *asked*."""

    asked: Asked
    group: int = 1
    leading: bool = False
    covered: bool = False
    left_out: list[str] = field(default_factory=list)  # addresses and learners, not counted
    standings: dict[str, Standing] = field(default_factory=dict)  # by questions as JSON

    @staticmethod
    def read(text: str) -> State:
        """Return the state that `written` wrote."""
        kept = json.loads(text)
        standings = {key: Standing(**one) for key, one in kept.pop("standings").items()}
        return State(**kept, standings=standings)

    def written(self) -> str:
        """Write the state as text."""
        return json.dumps(asdict(self))

    def of(self, asked: Asked) -> Standing:
        """Return how a question stands."""
        return self.standings.setdefault(json.dumps(asked), Standing())

    @property
    def now(self) -> Standing:
        """How the question that is asked stands."""
        return self.of(self.asked)

    def choose(self, asked: Asked) -> None:
        """Ask another question, and close the round of the one before; the same changes nothing."""
        if asked == self.asked:
            return
        self.now.open = False
        self.asked = asked
        self.covered = self.leading and not self.now.shown

    def lead(self, leading: bool) -> None:
        """Let the pages wait for the class, or let everybody go on."""
        self.leading = leading
        self.covered = leading and not self.now.shown
        self.now.open &= leading

    def open(self, round: int) -> bool:
        """Open a round of what is asked, the last one again or the next; return whether it may be."""
        now = self.now
        if not self.leading or not now.may_open(round):
            return False
        now.round = round
        now.open = True
        self.covered = True
        return True

    def show(self) -> None:
        """Give everybody the verdict."""
        self.now.open = False
        self.now.shown = True
        self.covered = False

    def ask_anew(self) -> None:
        """Begin the question again, as if the group had never been asked it."""
        self.standings[json.dumps(self.asked)] = Standing(asking=self.now.asking + 1)
        self.covered = self.leading

    def begin_group(self) -> None:
        """Begin with another group of learners, who have answered nothing."""
        self.group += 1
        self.standings = {}
        self.left_out = []
        self.covered = self.leading

    def for_pages(self, mark: str) -> dict[str, Any]:
        """Return what a learner's page may know; the *mark* is that of this class's file."""
        known = [(json.loads(key), one) for key, one in self.standings.items()]
        return {
            "group": f"{mark}-{self.group}",
            "leading": self.leading,
            "asked": self.asked,
            "round": self.now.round,
            "open": self.now.open,
            "shown": [asked for asked, one in known if one.shown],
            "anew": [
                {**asked, "asking": one.asking} for asked, one in known if one.asking > 1
            ],
        }
