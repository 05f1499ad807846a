"""Keeps what somebody else's script prints away from what we print."""

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple, TextIO

# Lines of a script's output that are shown where it failed: the last ones tell why
LAST_LINES = 40


class Apart(NamedTuple):
    """Our own *console*, and what tells all that others have *printed* meanwhile."""

    console: TextIO
    printed: Callable[[], str]

    def last_lines(self) -> str:
        """Return the end of what was printed, with a line that says so if more was."""
        lines = self.printed().splitlines()
        left_out = len(lines) - LAST_LINES
        shown = lines[-LAST_LINES:]
        if left_out > 0:
            shown.insert(0, f"... {left_out} lines before these")
        return "".join(f"{line}\n" for line in shown)


@contextmanager
def apart() -> Iterator[Apart]:
    """Keep in a file what the block prints, by any means and in any process that it starts.

    The file has no name, so nothing is left of it however this process ends. Who asks a terminal
    for an answer gets none: the question would not be seen.
    """
    with (
        os.fdopen(
            os.dup(2), "w", encoding="utf-8", errors="replace", buffering=1
        ) as console,
        tempfile.TemporaryFile("w+b") as kept,
    ):
        saved = {number: os.dup(number) for number in (1, 2)}
        flush()
        for number in saved:
            os.dup2(kept.fileno(), number)
        if os.isatty(0):
            saved[0] = os.dup(0)
            with open(os.devnull, "rb") as nothing:
                os.dup2(nothing.fileno(), 0)

        def printed() -> str:
            flush()
            end = os.lseek(kept.fileno(), 0, os.SEEK_END)
            os.lseek(kept.fileno(), 0, os.SEEK_SET)
            return os.read(kept.fileno(), end).decode("utf-8", "replace")

        try:
            yield Apart(console, printed)
        finally:
            flush()
            for number, copy in saved.items():
                os.dup2(copy, number)
                os.close(copy)


def flush() -> None:
    """Write what Python still holds back, where it has to go now."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
