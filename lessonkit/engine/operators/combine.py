"""`repeat` and `zip`: passes and data sets, put together."""

import math

from lessonkit.engine.element import END, Element, settle
from lessonkit.engine.operators.base import Stream, attempt, joined, operator


@operator("repeat")
class Repeat(Stream):
    """Opens its input anew for each pass; what that held or had open is gone."""

    opens_inputs = False
    asked = False  # in this pass

    def prepare(self) -> None:
        self.left = math.inf if self.count is None or self.count < 0 else self.count
        if self.left:
            # Now, so that the parts of a pipeline get their names in its order
            self.open_input()

    async def next(self) -> Element:
        while self.left:
            empty, self.asked = not self.asked, True
            element = await self.input.next()
            if element is not END:
                return element
            self.close()
            # An input that is empty would be repeated for ever: that is the end.
            self.left = 0 if empty and self.left == math.inf else self.left - 1
            if self.left:
                self.open_input()
                self.asked = False
        return END


@operator("zip")
class Zip(Stream):
    """Gives tuples until one input ends. After an error it still asks each: they stay in step."""

    async def next(self) -> Element:
        parts = [await attempt(stream) for stream in self.opened]
        parts = [settle(part) for part in parts]  # an error is told before an end
        if END in parts:
            return END
        element = joined(self.run, parts, tuple(part.value for part in parts))
        element.samples = max(part.samples for part in parts)
        element.number = tuple(element.number)  # its parts are no samples
        return element
