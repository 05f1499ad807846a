"""Prints what a measuring finds, as it finds it, with the time that is left."""

from collections.abc import Callable
from typing import TextIO

from lessonkit.words import milliseconds

WIDTH = 92  # characters of a line, so that it is not broken where a terminal happens to end


class Progress:
    """Writes sentences to a *stream*, and below each the numbers that come, side by side.

    What *printed* returns is shown above the reason of a failure.
    """

    def __init__(self, stream: TextIO, printed: Callable[[], str] = str) -> None:
        self.stream = stream
        self.printed = printed
        self.column = 0

    def say(self, sentence: str) -> None:
        """Write a sentence of its own."""
        self.end_line()
        self.write(f"{sentence}\n")

    def begin(self, sentence: str) -> None:
        """Write the beginning of a line, which `end` goes on."""
        self.end_line()
        self.write(sentence)
        self.column = len(sentence)

    def end(self, words: str) -> None:
        """Write the end of a line that was begun."""
        self.write(f" {words}\n")
        self.column = 0

    def note(self, what: str, seconds: float, left: float | None = None) -> None:
        """Write that something was seen to take so many *seconds*, and how many are *left*."""
        words = f"{what} {milliseconds(seconds)}"
        if left is not None:
            words += f" ({max(0, round(left))} s left)"
        if self.column + len(words) + 2 > WIDTH:
            self.write(",\n")
            self.column = 0
        lead = ", " if self.column else "    "
        self.write(f"{lead}{words}")
        self.column += len(lead + words)

    def fail(self, why: str) -> None:
        """Write *why* nothing more comes, in lines of its own, below what was printed until then."""
        self.end_line()
        self.write(self.printed() + why)

    def end_line(self) -> None:
        """Begin a new line if one was begun."""
        if self.column:
            self.write("\n")
        self.column = 0

    def write(self, text: str) -> None:
        """Write so that it is seen now."""
        self.stream.write(text)
        self.stream.flush()
