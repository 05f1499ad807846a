"""A task: goals, each a number that a run has with a limit on it, and the verdict on a run."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from lessonkit.engine.trace import Trace
from lessonkit.widgets.page_data import Json

CLOSE = 1e-9  # what floating point may add to a number, or take from it


class Attempt(NamedTuple):
    """A run, and the values of the controls that made it, if there were any."""

    trace: Trace
    values: dict[str, Any] = {}  # noqa: RUF012 - a named tuple never changes it
    start: dict[str, Any] = {}  # noqa: RUF012


class Judged(NamedTuple):
    """Whether a goal was met, and what to say about it."""

    met: bool
    said: str


@dataclass(frozen=True)
class Goal:
    """Ask for any number that an attempt has, with a limit on one side: *at_most* or *at_least*.

    *name* says what is measured. *measure* is a function of the `Attempt` that gives the
    number, and *text* one that writes it. Where no number says what is wrong, *measure* may
    do so in words; *zero* says the goal where it allows none. Raise ValueError if there is
    no limit, or if there are two.
    """

    name: str
    measure: Callable[[Attempt], float | str]
    text: Callable[[float], str] = "{:g}".format
    at_most: float | None = None
    at_least: float | None = None
    zero: str = ""

    def __post_init__(self) -> None:
        if (self.at_most is None) == (self.at_least is None):
            raise ValueError(f"{self.name}: say either at_most= or at_least=")

    @property
    def limit(self) -> str:
        """The limit in words."""
        if self.at_most is not None:
            return f"at most {self.text(self.at_most)}"
        return f"at least {self.text(self.at_least or 0)}"

    def asked(self, so_far: str = "") -> str:
        """Return the goal in words, with what an attempt reached *so_far*."""
        if self.zero and not self.at_most:
            return self.zero
        return so_far or f"{self.name}: {self.limit}"

    def judge(self, attempt: Attempt) -> Judged:
        """Say how an attempt stands to this goal, and by how much it misses it."""
        value = self.measure(attempt) or 0
        if isinstance(value, str):
            return Judged(False, f"{self.name}: {value}")
        if self.at_most is not None:
            missing, how = value - self.at_most, "too much"
        else:
            missing, how = (self.at_least or 0) - value, "missing"
        measured = f"{self.name}: {self.text(value)} ({self.limit})"
        if missing <= CLOSE:
            return Judged(True, self.asked(measured))
        return Judged(False, f"{measured}, {self.text(missing)} {how}")


@dataclass(frozen=True)
class ChallengeTask:
    """What is asked for, in words and as goals, and what helps."""

    text: str
    goals: tuple[Goal, ...]
    hints: tuple[str, ...] = ()
    solution: str = ""

    def spec(self) -> Json:
        """Return what the page has to know."""
        goals = [goal.asked() for goal in self.goals]
        return {
            "text": self.text,
            "goals": goals,
            "hints": self.hints,
            "solution": self.solution,
        }

    def judge(self, attempt: Attempt) -> Json:
        """Judge goal by goal; the message names the first that was missed."""
        if not attempt.trace.samples:  # it would take no time, and meet most goals
            return failed("Not yet: no element reached the training loop.")
        judged = [goal.judge(attempt) for goal in self.goals]
        missed = next((said for met, said in judged if not met), "")
        if missed:
            return failed(f"Not yet. {missed[0].upper()}{missed[1:]}.", judged)
        return {"passed": True, "goals": judged, "message": "Passed: every goal is met."}


def failed(message: str, goals: list[Judged] | None = None) -> Json:
    """Return the verdict on an attempt that does not pass."""
    return {"passed": False, "goals": goals or [], "message": message}
