"""How a command ends that runs somebody else's script: when it is told to, and with nothing left."""

import os
import signal
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import active_children
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from .kept_apart import flush
from .replaced import replaced

if TYPE_CHECKING:
    import greenlet  # what only watches runs without it

TASKS = Path("/proc/self/task")
END = os._exit  # as it is, also where it is noted


@contextmanager
def interruptible(main: "greenlet.greenlet") -> Iterator[Callable[[], None]]:
    """Let Ctrl+C, and who ends us politely, do so also while a script runs, which might take it for itself.

    The block gets a function that makes it so again, after the script may have had its own way.
    """
    import greenlet

    def stop(number: int, frame: FrameType | None) -> None:
        if greenlet.getcurrent() is main:
            raise KeyboardInterrupt
        main.throw(KeyboardInterrupt)

    def take_it() -> None:
        for number in before:
            signal.signal(number, stop)

    before = {
        number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)
    }
    take_it()
    try:
        yield take_it
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def end_children(but: Collection[int] = ()) -> None:
    """End every process that the script or we have started; not those that lived before (*but*)."""
    children = [child for child in active_children() if child.pid not in but]
    for child in children:
        child.terminate()
    for child in children:
        child.join(1)
        if child.is_alive():
            child.kill()
    kill_children(but)


def kill_children(but: Collection[int] = ()) -> None:
    """End the same processes, also those of other libraries, without a moment for any of them."""
    for pid in children_of_this() - {*but}:
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def children_of_this() -> set[int]:
    """Return the processes that this one has started and that live; none where nobody says."""
    found = set[int]()
    with suppress(OSError, ValueError):
        for task in TASKS.iterdir():
            found |= {int(pid) for pid in (task / "children").read_text().split()}
    return found


def leave(code: int) -> NoReturn:
    """End this process now: no function that a script has registered for its end is called."""
    flush()
    END(code)


@contextmanager
def ends_noted(note: Callable[[int], object]) -> Iterator[None]:
    """Call *note* with the code when the block ends this process by `os._exit`, which tells nobody.

    When it returns, the process ends. One that was forked in the block ends without a word.
    """
    process = os.getpid()

    def end(status: int) -> NoReturn:
        if os.getpid() == process:
            note(status)
        END(status)

    with replaced(os, {"_exit": end}):
        yield
