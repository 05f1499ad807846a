"""`Marks`, which `Placing` and `Drawing` go on from: questions answered by a place for each mark."""

from collections.abc import Sequence
from typing import Any

from lessonkit.widgets.controls import RefusedError
from lessonkit.widgets.questions.prediction import Question

# Of a known answer, in steps of the axis; infinite where it has no such mark
Places = Sequence[float]


class Marks(Question):
    """A question with a place, in whole steps of an axis, for each mark.

    *wrong* has for each known misconception the places that it leads to, and the sentence that
    explains it. Which of two marks of one name is which, only their order tells.
    """

    off: str  # a template: what is said of a mark that is wrong, and where it is
    right_said: str
    counted: str  # a template: how many marks are right, and how many there are
    names: list[str]
    last: list[int]  # the last step that a mark may be at
    right: Places
    order: Places  # that mark speaks first for which this is least
    wrong: list[tuple[Places, str]]

    def judge(self, said: Any) -> tuple[bool, str, dict[str, Any]]:
        said = self.accepted(said)
        turns = sorted(
            range(len(said)),
            key=lambda mark: (self.names.index(self.names[mark]), said[mark]),
        )
        at = [said[mark] for mark in turns]
        wrong = [
            mark for mark, place in enumerate(at) if not self.near(place, self.right[mark])
        ]
        counted = self.counted.format(len(at) - len(wrong), len(at))
        if wrong:
            first = min(wrong, key=self.order.__getitem__)
            off = self.off.format(self.names[first], self.shown(at[first]))
            return (
                False,
                counted,
                {
                    "text": " ".join(
                        filter(None, [off, self.meant(at, first), self.remark(at)])
                    )
                },
            )
        truth = [self.right[turns.index(mark)] for mark in range(len(at))]
        return True, counted, self.revealed(self.right_said) | {"truth": truth}

    def accepted(self, said: Any) -> list[int]:
        """Return the places that the page sent, if there is one for each mark."""
        if not isinstance(said, list) or len(said) != len(self.names):
            raise RefusedError("this question has other marks: run its cell again")
        for name, place, last in zip(self.names, said, self.last, strict=True):
            if type(place) is not int or not -1 <= place <= last:
                raise RefusedError(f"{name} is not at a step of the axis")
            if place < 0:
                raise RefusedError(f"{name} has no place yet")
        return said

    def meant(self, at: Sequence[int], first: int) -> str:
        """Say why the mark *first* is wrong: the sentence of the nearest misconception that errs alike."""
        alike = [one for one in self.wrong if self.errs_alike(at, one[0], first)]
        away = [
            sum(abs(here - there) for here, there in zip(at, places, strict=True))
            for places, _ in alike
        ]
        return alike[away.index(min(away))][1] if alike else ""

    def near(self, said: int, right: float) -> bool:
        """Whether a mark counts as being where it belongs."""
        return said == right

    def errs_alike(self, at: Sequence[int], places: Places, first: int) -> bool:
        """Whether a misconception that leads to *places* may be why the mark *first* is wrong."""
        return at[first] == places[first]

    def shown(self, place: float) -> str:
        """Write a place as the page does."""
        raise NotImplementedError

    def remark(self, at: Sequence[int]) -> str:
        """Say what of these places no run can do."""
        raise NotImplementedError

    def revealed(self, begin: str) -> dict[str, Any]:
        return super().revealed(begin) | {"truth": self.right}
