"""The machine that a pipeline runs on, the work of functions, and the cost of an element."""

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

from . import check
from .element import Element, as_int

if TYPE_CHECKING:
    from .run import Price, Process


@dataclass(frozen=True)
class Machine:
    """The machine that a pipeline runs on. The default never depends on this computer.

    *cores* bounds how much `"native"` and `"python"` work goes on at the same time, and is
    what AUTOTUNE and a default `cycle_length` start from. On the virtual clock work waits for a
    free core. With *step_cores*, the cores that the step of a measured job holds, all work
    shares the cores in slices instead.
    """

    cores: int = 4
    step_cores: float | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        # A number of NumPy's becomes Python's
        object.__setattr__(self, "cores", check.integer("cores", self.cores, least=1))
        if self.step_cores is not None:
            check.amount("step_cores", self.step_cores, "cores", "more than 0")


FOUR_CORES = Machine()  # where no other is named


class Work(NamedTuple):
    """Work that a function says: its price, its stage if it has one of its own, and its kind."""

    price: "Price"
    stage: str | None
    kind: str


class WorkLog(list[Work]):
    """Collects the work that a function says, where it cannot be suspended to do it.

    *process* is the one in which the function runs, and *element* what it was called with.
    """

    def __init__(
        self, process: "Process | None" = None, element: Element | None = None
    ) -> None:
        self.process = process
        self.element = element

    def work(self, price: "Price", stage: str | None, kind: str) -> None:
        """Note a piece of work."""
        self.append(Work(price, stage, kind))


# The caller of a function that only tells something: it spends no time
NO_WORK = object()


class Current(threading.local):
    """Knows of each thread the caller of the function on it.

    A caller is a task or a log: it hears of the `work` that the function says. None calls from
    outside a pipeline.
    """

    caller: Any = None


current = Current()


class ThisProcess:
    """Knows the number of this process, so that the system is not asked for each element."""

    def __init__(self) -> None:
        self.pid = os.getpid()


this_process = ThisProcess()


def number_in_hand() -> Any:
    """Return the number of the element that the function on this thread was called with."""
    return current.caller.element.number if current.caller is not None else 0


def begin_anew() -> None:
    """Note that this process was forked: one that a function forks is outside the pipeline."""
    current.caller = None
    this_process.pid = os.getpid()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=begin_anew)


def work(seconds: float, stage: str | None = None, kind: str = "wait") -> None:
    """Spend *seconds*, as a step of a pipeline would.

    *kind* says what the work occupies: `"wait"` nothing (a disk, a network),
    `"native"` a core (NumPy, a decoder), and `"python"` a core and the interpreter lock.
    Outside a pipeline it takes that long in real time.
    """
    duration = check.nanoseconds("seconds", seconds)
    check.one_of("kind", kind, check.KINDS)
    if current.caller is None:
        time.sleep(duration / 1e9)
    elif current.caller is NO_WORK:
        raise ValueError(
            "a function of cost, nbytes or progress called work(): it can only return a number"
        )
    else:
        current.caller.work(duration, stage, kind)


class WorkerInfo(NamedTuple):
    """Which worker of a `DataLoader` runs a function: its number, and how many there are."""

    id: int
    num_workers: int


def get_worker_info() -> WorkerInfo | None:
    """Return in which worker of a `DataLoader` a function runs.

    It is None in the main process, and in a function that only tells something, such as a cost.

    >>> from lessonkit import Dataset, DataLoader
    >>> def mine(number):
    ...     info = get_worker_info()
    ...     return info is None or number % info.num_workers == info.id
    >>> list(DataLoader(Dataset.range(4).filter(mine), num_workers=2))
    [[0], [1], [2], [3]]
    """
    process = getattr(current.caller, "process", None)
    return process.info if process is not None else None


Function = Callable[..., Any]  # a learner's
Cost = float | Callable[[Any], float]
# Of a worker, in seconds; or a function of the epoch and of the worker's number
StartTime = float | Callable[[int, int], float]


@dataclass(frozen=True)
class per_sample:  # noqa: N801 - used like a function, and its repr is the call
    """A cost that grows with a batch: *per_call*, and *seconds* for each sample.

    >>> per_sample(0.001)([7, 8, 9])
    0.003
    """

    seconds: float
    per_call: float = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        check.amount("seconds", self.seconds)
        check.amount("per_call", self.per_call)

    def __call__(self, batch: Any) -> float:
        has_length = hasattr(batch, "__len__") and getattr(batch, "shape", None) != ()
        return self.per_call + self.seconds * (len(batch) if has_length else 1)

    def price_of(self, element: Element) -> int:
        # The element knows how many samples it holds; an image's length is not that.
        return round((self.per_call + self.seconds * element.samples) * 1e9)


@dataclass(frozen=True)
class straggler:  # noqa: N801
    """A cost of *usual*, and of *slow* for the last of every *every* elements.

    An integer counts by its value, any other element by the number of its sample.

    >>> [straggler(0.005, every=3, slow=0.040)(sample) for sample in range(6)]
    [0.005, 0.005, 0.04, 0.005, 0.005, 0.04]
    """

    usual: float
    every: int = field(kw_only=True)
    slow: float = field(kw_only=True)

    def __post_init__(self) -> None:
        check.amount("usual", self.usual)
        check.integer("every", self.every, least=1)
        check.amount("slow", self.slow)

    def __call__(self, value: Any) -> float:
        return self.slow if as_int(value) % self.every == self.every - 1 else self.usual

    def price_of(self, element: Element) -> int:
        value = element.value
        return round(
            self(int(value) if isinstance(value, Integral) else element.number) * 1e9
        )


@dataclass(frozen=True)
class Handling:
    """The seconds that it takes to handle processes: each number is 0 unless it is given.

    *begin* is spent in `iter`, *send* per request, *ask* in each `next`. A message is on its
    way for *hop*; the first result of a worker comes later by *first*. *resume* is spent when
    persistent workers begin again, *stop* and *stop_each* when workers are ended, the latter
    per worker.

    As jobs are measured, the loop computes for *take* to take a batch that is ready.
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

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            check.amount(name, value)
