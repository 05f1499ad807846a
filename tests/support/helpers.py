"""Whether the helper threads of real runs have ended."""

import threading
import time
from collections.abc import Callable


def helpers() -> int:
    """Count the threads that runs have started and that have not ended."""
    return sum(thread.name == "lessonkit" for thread in threading.enumerate())


def eventually(condition: Callable[[], object], seconds: float = 60) -> bool:
    """Whether it comes true in a time that is long even for a busy machine."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
