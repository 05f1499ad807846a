"""The vote of a lesson: a question whose right answer no run has to give."""

from collections.abc import Callable, Sequence
from typing import TypedDict


class Ballot(TypedDict):
    """What `predict` asks in a vote."""

    question: str
    choices: list[str]
    answer: Callable[[], str]
    wrong: Sequence[tuple[str, str]]
    why: str


def ballot(question: str, right: str, wrong: Sequence[tuple[str, str]], why: str) -> Ballot:
    """Return what `predict` needs to ask *question*.

    Each choice begins with its letter, and they are shown in that order. *wrong* has each choice that
    is not the *right* one, with what is said to whoever takes it; *why* is said with the right one.
    """
    choices = sorted([right, *(choice for choice, _ in wrong)])
    return Ballot(
        question=question, choices=choices, answer=lambda: right, wrong=wrong, why=why
    )
