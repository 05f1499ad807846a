"""A question in a page, as a learner handles it: one class for each type of question.

A new type of question is one class more here, named in `CARDS` by its kind. The tests of a page,
the walks through lessons and the ways by keys alone know no other difference between the types.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from lessonkit.widgets.questions import Choice, Number, Question
from lessonkit.widgets.questions.curve import Curve
from lessonkit.widgets.questions.marks import Marks
from lessonkit.widgets.questions.placing import Placing

if TYPE_CHECKING:
    from playwright.sync_api import FloatRect, Locator, Page

Said = TypeVar(
    "Said"
)  # what is answered: a number, the number of a choice, or a step a mark
SHIFT_STEPS = 5  # how many steps a bar moves with Shift
PAGE_STEPS = 10  # how many steps a point moves with a Page key
RIGHT = re.compile(r"\bRight[.:]")


def box_of(node: Locator) -> FloatRect:
    """Return where a node is in its page; it must be visible."""
    box = node.bounding_box()
    assert box
    return box


class Card(Generic[Said]):
    """The card of a question: what is the same whatever is asked.

    It is *shown* in a page, by a locator of the card or of something that has no other card.
    """

    def __init__(self, shown: Locator) -> None:
        self.shown = shown
        self.page: Page = shown.page
        self.sure = ""  # as it was said last

    @property
    def verdict(self) -> Locator:
        return self.shown.locator(".lk-verdict")

    @property
    def to_commit(self) -> Locator:
        return self.shown.get_by_role("button", name="Commit to this answer")

    def say(self, said: Said) -> None:
        """Say *said*, whatever the card has by now."""
        raise NotImplementedError

    def type(self, said: Said) -> None:
        """Say *said* with keys alone, from where the focus is, and go on to how sure one is."""
        raise NotImplementedError

    @classmethod
    def said(cls, asked: Question, known: Any) -> Said:
        """Return what is said by whoever takes *known*, an answer that *asked* knows, for the right one."""
        said: Said = known
        return said

    @classmethod
    def nonsense(cls, asked: Question) -> Sequence[Any]:
        """Return what is no answer to *asked*, though it looks like one of its type."""
        return ()

    def mistake(self, asked: Question) -> Said:
        """Return what the first misconception of the question *asked* leads to."""
        return self.said(asked, asked.wrong[0][0])

    def is_sure(self, how: str) -> None:
        self.sure = how
        self.shown.get_by_label(how, exact=True).check()

    def commit(self, heard: str | re.Pattern[str] = "") -> None:
        """Commit to what the card has, and wait until the verdict has the words *heard*.

        After a wrong answer one has to say again how sure one is.
        """
        if self.sure:
            self.is_sure(self.sure)
        self.to_commit.click()
        if heard:
            self.verdict.get_by_text(heard).wait_for()

    def answer(self, said: Said, sure: str, heard: str | re.Pattern[str] = "") -> None:
        """Say *said*, and how *sure* one is, and commit to it."""
        self.say(said)
        self.is_sure(sure)
        self.commit(heard)

    def answer_by_keys(self, said: Said) -> None:
        """Say *said* and be not sure at all, with keys alone, from where the focus is, and commit."""
        self.type(said)
        self.press("Space", "Tab", "Enter")

    def give_up(self) -> None:
        self.shown.get_by_role("button", name="Show the run without an answer").click()

    def ask_again(self) -> None:
        self.shown.get_by_role("button", name="Ask me again, and forget my tries").click()

    def press(self, *keys: str) -> None:
        """Press *keys*, wherever the focus is."""
        for key in keys:
            self.page.keyboard.press(key)


class NumberCard(Card[float]):
    """A field for a number."""

    @property
    def field(self) -> Locator:
        return self.shown.get_by_role("spinbutton")

    def say(self, said: float) -> None:
        self.field.fill(f"{said:.6g}")

    def type(self, said: float) -> None:
        self.page.keyboard.type(f"{said:.6g}")
        self.press("Tab")


class ChoiceCard(Card[int]):
    """A list of choices, of which the number of one is said."""

    def say(self, said: int) -> None:
        self.shown.locator(".lk-choices").first.get_by_role("radio").nth(said).check()

    def type(self, said: int) -> None:
        self.press("Space", *["ArrowDown"] * said, "Tab")


class MarksCard(Card[Sequence[float]]):
    """Marks on an axis: a step is said for each, in the order of the marks."""

    @property
    def marks(self) -> Locator:
        raise NotImplementedError

    def put(self, step: int) -> None:
        """Put the mark that has the focus to a *step* of the axis, wherever it is by now."""
        raise NotImplementedError

    def say(self, said: Sequence[float]) -> None:
        assert self.marks.count() == len(said)
        for number, step in enumerate(said):
            self.marks.nth(number).focus()
            self.put(round(step))

    def type(self, said: Sequence[float]) -> None:
        for step in said:
            self.put(round(step))
            self.press("Tab")

    @classmethod
    def said(cls, asked: Question, known: Any) -> Sequence[float]:
        """Return where a known answer has each mark, or, of a mark that it lacks, the right place."""
        assert isinstance(asked, Marks)
        each = zip(known, asked.right, asked.last, strict=True)
        return [round(place if place <= last else right) for place, right, last in each]

    @classmethod
    def nonsense(cls, asked: Question) -> Sequence[Any]:
        *others, _ = cls.said(asked, asked.right)
        return [0] * (len(others) + 2), [*others, -1], [*others, 10**9]


class PlacingCard(MarksCard):
    """Bars to place in time, which are in a tray until then."""

    @property
    def marks(self) -> Locator:
        return self.shown.locator(".lk-placing g[role=button]")

    def bar(self, name: str) -> Locator:
        return self.shown.locator(f".lk-placing g[aria-label^='{name},']")

    def place_of(self, name: str) -> str:
        """Return where a bar is, as a screen reader hears it."""
        name_length_place = self.bar(name).get_attribute("aria-label") or ""
        return name_length_place.split(", ", 2)[2]

    def place(self, name: str, step: int) -> None:
        """Place one bar."""
        self.bar(name).focus()
        self.put(step)

    def put(self, step: int) -> None:
        label = self.page.evaluate("document.activeElement.getAttribute('aria-label')")
        if not label.endswith("not placed yet"):
            self.press("Enter", "Delete")
        big, small = divmod(step, SHIFT_STEPS)
        self.press("Enter", *["Shift+ArrowRight"] * big, *["ArrowRight"] * small, "Enter")

    def drag(self, name: str, to: tuple[float, float]) -> None:
        """Drag a bar with the mouse to a point of the page."""
        box = box_of(self.bar(name))
        self.page.mouse.move(box["x"] + 5, box["y"] + 5)
        self.page.mouse.down()
        self.page.mouse.move(*to, steps=5)
        self.page.mouse.up()


class CurveCard(MarksCard):
    """Points of a curve, each of which begins where the one before it is."""

    @property
    def marks(self) -> Locator:
        return self.shown.get_by_role("slider")

    def values(self) -> list[str | None]:
        """Return where each point is, as a screen reader hears it."""
        return [point.get_attribute("aria-valuetext") for point in self.marks.all()]

    def put(self, step: int) -> None:
        self.press("Enter")
        here = int(self.page.evaluate("document.activeElement.ariaValueNow"))
        way = "Up" if step > here else "Down"
        big, small = divmod(abs(step - here), PAGE_STEPS)
        self.press(*[f"Page{way}"] * big, *[f"Arrow{way}"] * small)


CARDS: dict[str, type[Card[Any]]] = {
    Number.kind: NumberCard,
    Choice.kind: ChoiceCard,
    Placing.kind: PlacingCard,
    Curve.kind: CurveCard,
}


def card_of(asked: Question, shown: Locator) -> Card[Any]:
    """Return the card of the question *asked*, which is *shown* there."""
    return CARDS[asked.kind](shown)
