"""What it costs to watch a training loop, in processor time."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from time import process_time

from benchmarks.measure import compared, limited, pairs
from databound.whole_runs.loops import TrainingLoops

BATCHES = 50_000
STEPS = 200
# Numbers that are added in a step: about a millisecond
ADDED = 60_000
# 1 % of a step of a millisecond
MICROSECONDS = 10.0
RATIO = 1.01


class Loader:
    """A loader that has its batches already: nothing is faster."""


def plain(batches: int, step: Callable[[], None]) -> None:
    """Train on so many batches, unwatched."""
    for _ in iter([None] * batches):
        step()


def watched(batches: int, step: Callable[[], None]) -> None:
    """The same, with all that watching does for a batch."""
    loops = TrainingLoops(lambda epoch: None)
    for _ in loops.iterate(Loader(), lambda: iter([None] * batches), None):
        loops.note_backward()
        step()


def nothing() -> None:
    """Take no time."""


def add() -> None:
    """Compute for about a millisecond."""
    sum(range(ADDED))


def of_pytorch(batches: int) -> None:
    """Go over the cheapest loader of PyTorch, without workers and with batches of one number."""
    from torch.utils.data import DataLoader

    for _ in DataLoader([0.0] * batches, batch_size=None):
        pass


def rows(quick: bool) -> Iterator[str]:
    """The lines of the table."""
    repeats = 5 if quick else 15
    cost = pairs(
        lambda: watched(BATCHES, nothing),
        lambda: plain(BATCHES, nothing),
        repeats,
        clock=process_time,
    )
    peer = None
    with suppress(ImportError):
        peer = pairs(
            lambda: watched(BATCHES, nothing),
            lambda: of_pytorch(BATCHES),
            repeats,
            clock=process_time,
        )
    yield limited(
        "watching adds to a batch / PyTorch's next()",
        (cost.ours - cost.peer) / BATCHES * 1e6,
        MICROSECONDS,
        "µs",
        peer,
        1e6 / BATCHES,
    )
    loop = pairs(
        lambda: watched(STEPS, add), lambda: plain(STEPS, add), repeats, clock=process_time
    )
    yield compared(
        "a loop of steps of 1 ms, watched / unwatched",
        f"{loop.ours * 1e3:.1f} ms",
        f"{loop.peer * 1e3:.1f} ms",
        loop.ratio,
        f"< {RATIO}",
        loop.ratio < RATIO,
    )
