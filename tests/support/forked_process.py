"""A function called in a process that is forked for it."""

import os
import signal
from collections.abc import Callable
from typing import Any


def forked(function: Callable[[], Any]) -> str:
    """What *function* returns or raises in a forked process, as text; nothing if it hangs."""
    read, write = os.pipe()
    if (child := os.fork()) == 0:
        signal.alarm(60)
        try:
            os.write(write, repr(function()).encode())
        except Exception as error:
            os.write(write, repr(error).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return text
