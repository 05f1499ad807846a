"""What an answer is: the server judges and words each one itself, from what was said.

A page's kernel judges, too, and its learner could make it say anything. So of a page the server
takes nothing but what was said and how sure. The rules are those of `lessonkit.widgets.questions`,
whose classes need a run; the tests hold both to the same verdicts.
"""

import re
from math import isclose
from typing import Any, NamedTuple

from lessonkit.words import as_typed

Json = dict[str, Any]

NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")  # the first one in the sentence about a goal
LARGEST = 1e12  # more than any number that a run reaches


class Judged(NamedTuple):
    """An answer in words of the server, and whether it is right."""

    right: bool
    words: str
    mistake: str  # what a known mistake is told; "" for any other answer


class Reached(NamedTuple):
    """What somebody's attempt at a challenge reached of one goal: the page says so, and runs it."""

    met: bool
    number: float | None  # None if the sentence has none


def is_answer(question: Json, said: Any) -> bool:
    """Whether what was *said* has the shape of an answer: a number, or one for each of its names."""
    most = question["most"]
    if isinstance(said, list) != bool(question["names"]):
        return False
    numbers = said if question["names"] else [said]
    limits = most if question["names"] else [most]
    return len(numbers) == len(limits) and all(
        0 <= one <= limit for one, limit in zip(numbers, limits, strict=True)
    )


def judged(question: Json, said: Any) -> Judged:
    """Judge an answer to a *question* that `is_answer` lets through.

    Raises ValueError for a kind of question that has no rule here.
    """
    if question["names"]:
        return judged_marks(question, said)
    kind = question["kind"]
    if kind == "choice":
        words = question["choices"][said]
    elif kind == "number":
        words = f"{as_typed(said)} {question['unit']}".strip()
    else:
        raise ValueError(
            f"kind={kind!r}: must be choice or number, where nothing has a name"
        )
    room = question.get("tolerance", 0)

    def is_it(known: float) -> bool:
        return isclose(said, known, rel_tol=room)

    is_right = is_it(question["right"])
    known = [text for wrong, text in question["wrong"] if not is_right and is_it(wrong)]
    return Judged(is_right, words, known[0] if known else "")


def judged_marks(question: Json, said: list[int]) -> Judged:
    """Judge placed bars or a drawn curve; marks of one name count in their order."""
    names: list[str] = question["names"]
    at = [step for _, step in sorted(zip(map(names.index, names), said, strict=True))]

    def near(known: list[float], within: str) -> list[bool]:
        steps, share = question[within]
        pairs = zip(at, known, strict=True)
        return [abs(one - it) <= max(share * it, steps) * (1 + 1e-9) for one, it in pairs]

    right = near(question["right"], "is_right")
    words = f"{sum(right)} of {len(at)} {question['within']}"
    alike = [text for wrong, text in question["wrong"] if all(near(wrong, "is_alike"))]
    mistake = alike[0] if alike and not all(right) else ""
    return Judged(all(right), words, mistake)


def reached(told: list[tuple[bool, str]]) -> list[Reached]:
    """Return of each goal what a page *told*: a mark and a number, and none of its words.

    Raises ValueError if a number is larger than any run's.
    """
    found = []
    for met, words in told:
        match = NUMBER.search(words)
        value = float(match[0].replace(",", "")) if match else None
        if value is not None and value > LARGEST:
            raise ValueError(f"{value}: no run reaches that")
        found.append(Reached(met, value))
    return found
