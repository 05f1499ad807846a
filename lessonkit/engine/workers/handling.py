"""What it takes to handle processes."""

from dataclasses import dataclass
from types import SimpleNamespace

from lessonkit import check


@dataclass(frozen=True)
class Handling:
    """What it takes to handle processes, in seconds; nothing, unless one says so.

    *begin* is spent in `iter`, *send* for each task, *ask* in each `next`; *hop* is how
    long a message is on its way, *first* what the first result of a worker takes in
    addition. *resume* is spent when persistent workers begin again, *stop* and *stop_each*
    when workers are ended, the latter for each.

    As measured jobs have it, the loop needs *take* for each batch that it takes from a
    worker, of which *take_core* is work, and a batch is *way* on its way; *take_busy* and
    *way_busy* say the same where the worker is at work on the next batch meanwhile.
    """

    begin: float = 0
    send: float = 0
    ask: float = 0
    hop: float = 0
    first: float = 0
    resume: float = 0
    stop: float = 0
    stop_each: float = 0
    take: float = 0
    take_busy: float = 0
    take_core: float = 0
    way: float = 0
    way_busy: float = 0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            check.duration(name, value)

    def ns(self) -> SimpleNamespace:
        """Return the same in whole nanoseconds."""
        return SimpleNamespace(
            **{name: round(value * 1e9) for name, value in vars(self).items()}
        )
