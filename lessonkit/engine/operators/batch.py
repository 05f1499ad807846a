"""`batch` and `unbatch`: many elements made one, and one made many."""

from collections.abc import Iterator

from lessonkit.engine.element import END, Element, split, stack
from lessonkit.engine.operators.base import PATIENCE, EndlessError, Transform, joined, operator


@operator("batch")
class Batch(Transform):
    """Reads its elements one after another, and only then gives them. An error loses the part it had."""

    batch_size: int
    drop_remainder: bool

    async def next(self) -> Element:
        parts: list[Element] = []
        while len(parts) < self.batch_size:
            element = await self.input.next()
            if element is END:
                break
            parts.append(element)
        if not parts or (self.drop_remainder and len(parts) < self.batch_size):
            return END
        return joined(self.run, parts, stack([part.value for part in parts]))


@operator("unbatch")
class Unbatch(Transform):
    """Gives the parts of a batch in a burst, then waits for the next batch."""

    parts: Iterator[Element] = iter(())

    async def next(self) -> Element:
        for _ in range(PATIENCE):
            part = next(self.parts, END)
            if part is not END:
                return part
            batch = await self.input.next()
            if batch is END:
                return END
            self.parts = iter(self.taken_apart(batch))
        raise EndlessError(f"unbatch: {PATIENCE} batches in a row had no parts")

    def taken_apart(self, batch: Element) -> list[Element]:
        parts = [Element(value) for value in split(batch.value)]
        recorder = self.run.recorder
        keys = recorder.members.get(batch.key, ()) if recorder is not None else ()
        for index, part in enumerate(parts):
            part.samples = max(1, batch.samples // len(parts))
            part.nbytes = batch.nbytes // len(parts)
            part.key = keys[index] if len(keys) == len(parts) else batch.key
        return parts
