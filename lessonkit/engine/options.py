"""How a run was made: the options of `benchmark` that a trace keeps."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .machine import Cost
from .resume import State


@dataclass(frozen=True)
class RunOptions:
    """The options of `benchmark` on which it depends what a run does, each as it was taken.

    `benchmark(trace.dataset, machine=trace.machine, **vars(trace.options))` does the same again.
    A challenge names the first field that differs from its task. A step of one's own also
    changes *train*, so *step* stands before it.
    """

    num_epochs: int
    max_elements: int | None
    step: Callable[[Any], Any] | None
    ahead: bool
    queue: int
    train: Cost | None
    load: Cost
    resume: State | None
