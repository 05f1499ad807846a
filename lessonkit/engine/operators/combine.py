"""`repeat`, `concatenate`, `zip` and `enumerate`: passes and data sets, put together."""

import math

from lessonkit.engine.element import END, Element, settle
from lessonkit.engine.operators.base import Stream, Transform, attempt, joined, operator


@operator("repeat")
class Repeat(Stream):
    """Opens its input anew for each pass; what that held or had open is gone."""

    asked = False  # in this pass

    def prepare(self) -> None:
        self.left = math.inf if self.count is None or self.count < 0 else self.count
        if self.left:
            # Now, so that the parts of a pipeline get their names in its order
            self.open_input()

    async def next(self) -> Element:
        while self.left:
            empty, self.asked = not self.asked, True
            element = await self.opened[0].next()
            if element is not END:
                return element
            self.close()
            # An input that is empty would be repeated for ever: that is the end.
            self.left = 0 if empty and self.left == math.inf else self.left - 1
            if self.left:
                self.open_input()
                self.asked = False
        return END


@operator("concatenate")
class Concatenate(Transform):
    """Gives all of one data set, then all of the other."""

    in_first = True

    async def next(self) -> Element:
        element = await self.input.next()
        if element is END and self.in_first:
            self.in_first = False
            self.close()
            self.input = self.open_input(1)
            return await self.input.next()
        return element


@operator("zip")
class Zip(Stream):
    """Gives tuples, until one input ends. Asks each of them also after an error: they stay in step."""

    def prepare(self) -> None:
        for index in range(len(self.node.inputs)):
            self.open_input(index)

    async def next(self) -> Element:
        parts = [await attempt(stream) for stream in self.opened]
        parts = [settle(part) for part in parts]  # an error is told before an end
        if END in parts:
            return END
        element = joined(self.run, parts, tuple(part.value for part in parts))
        element.samples = max(part.samples for part in parts)
        return element


@operator("enumerate")
class Enumerate(Transform):
    """Gives tuples of a number and the element. An error has a number too."""

    passed = 0

    async def next(self) -> Element:
        number = self.start + self.passed
        self.passed += 1
        element = await self.input.next()
        if element is not END:
            element.value = (number, element.value)
        return element
