"""Questions that are answered by hand, mark by mark: bars on a time axis, or points of a curve."""

from __future__ import annotations

from collections.abc import Sequence

from lessonkit.widgets.controls import RefusedError
from lessonkit.widgets.prediction import Question

Places = Sequence[float | None]  # of a known answer, in steps; None where it has no such mark


class Marks(Question):
    """A question with a place, in whole steps of an axis, for each mark.

    *wrong* has for each known misconception the places that it leads to, and the sentence that
    explains it.
    """

    names: list[str]
    last: list[int]  # the last step that a mark may be at
    right: Sequence[float]
    wrong: list[tuple[Places, str]]

    def accepted(self, said: object) -> list[int]:
        """Return the places that the page sent, if there is one for each mark."""
        if not isinstance(said, list) or len(said) != len(self.names):
            raise RefusedError("the page has other marks than this question: run its cell again")
        for name, place, last in zip(self.names, said, self.last, strict=True):
            if type(place) is not int or place < -1:
                raise RefusedError(f"{name} must be at a step of the axis")
            if place < 0:
                raise RefusedError(f"{name} has no place yet")
            if place > last:
                raise RefusedError(f"{name} is outside the axis")
        return said

    def distinct(self, wrong: Sequence[tuple[Places, str]]) -> list[tuple[Places, str]]:
        """List the misconceptions that can be told apart; with other numbers two may come to one answer."""
        found: list[tuple[Places, str]] = [(self.right, "")]
        for places, text in wrong:
            if all(list(places) != list(other) for other, _ in found):
                found.append((places, text))
        return found[1:]

    def near(self, said: int, place: float | None) -> bool:
        """Whether a mark counts as being at *place*."""
        return said == place

    def objection(self, said: Sequence[int], first: int) -> str:
        """Say what it means that the mark *first* is wrong.

        Of the misconceptions that have it there too, the one speaks that has most other marks where
        the learner has them.
        """
        fitting = [known for known in self.wrong if self.near(said[first], known[0][first])]
        alike = [sum(map(self.near, said, places)) for places, _ in fitting]
        return fitting[alike.index(max(alike))][1] if fitting else ""
