"""What it takes to handle processes."""

from dataclasses import dataclass
from types import SimpleNamespace

from lessonkit import check


@dataclass(frozen=True)
class Handling:
    """What it takes to handle processes, in seconds; nothing, unless one says so.

    *begin* is spent in `iter`, *send* for each task, *ask* in each `next`; *hop* is how long a message
    is on its way, *first* what the first result of a worker takes in addition. *resume* is spent when
    persistent workers begin again, *stop* and *stop_each* when workers are ended, the latter for each.
    """

    begin: float = 0
    send: float = 0
    ask: float = 0
    hop: float = 0
    first: float = 0
    resume: float = 0
    stop: float = 0
    stop_each: float = 0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            check.duration(name, value)

    def ns(self) -> SimpleNamespace:
        """Return the same in whole nanoseconds."""
        return SimpleNamespace(**{name: round(value * 1e9) for name, value in vars(self).items()})
