"""How time is spent: `work()`, the machine it is spent on, and costs that vary."""

import random
import threading
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from lessonkit import check
from lessonkit.element import Element

KINDS = ("wait", "native", "python")


@dataclass(frozen=True)
class Machine:
    """What a pipeline runs on. The default never depends on this computer.

    *cores* bounds how much `"native"` and `"python"` work goes on at once, and is
    what AUTOTUNE and a default `cycle_length` start from.
    """

    cores: int = 4

    def __post_init__(self) -> None:
        check.integer("cores", self.cores, least=1)


class Worker(Protocol):
    """Whoever a function runs for: it takes note of the work the function does."""

    def work(self, duration: int, stage: str | None, kind: str) -> None: ...


class _Current(threading.local):
    worker: Worker | None = None


current = _Current()  # the worker whose function runs on this thread


def work(seconds: float, stage: str | None = None, kind: str = "wait") -> None:
    """Spend *seconds*, as a step of a pipeline would.

    *kind* says what is held meanwhile: `"wait"` nothing (a disk, a network),
    `"native"` a core (NumPy, a decoder), `"python"` a core and the interpreter lock.
    Outside a pipeline it simply takes that long.
    """
    duration = check.nanoseconds("seconds", seconds)
    check.one_of("kind", kind, KINDS)
    if current.worker is None:
        time.sleep(seconds)
    else:
        current.worker.work(duration, stage, kind)


# ---- costs ----

Cost = float | Callable[[Any], float]
Price = int | Callable[[Element], int]


def price(cost: Cost, name: str) -> Price:
    """What an element costs, in nanoseconds: a number, or a function of the element."""
    if isinstance(cost, PerSample):
        return cost.price
    if not callable(cost):
        return check.nanoseconds(name, cost)
    return lambda element: check.nanoseconds(f"{name} of {element.value!r}", cost(element.value))


def charge(price: Price, element: Element) -> int:
    """The nanoseconds that *element* costs."""
    return price if price.__class__ is int else price(element)  # type: ignore[operator]


@dataclass(frozen=True, repr=False)
class PerSample:
    """So much a call and so much for each sample in it."""

    seconds: float
    per_call: float = 0

    def __call__(self, batch: Any) -> float:
        samples = len(batch) if hasattr(batch, "__len__") else 1
        return self.per_call + self.seconds * samples

    def price(self, element: Element) -> int:
        # The element knows how many samples it holds; an image's length is not that.
        return round((self.per_call + self.seconds * element.samples) * 1e9)

    def __repr__(self) -> str:
        call = f", per_call={self.per_call!r}" if self.per_call else ""
        return f"per_sample({self.seconds!r}{call})"


def per_sample(seconds: float, *, per_call: float = 0) -> PerSample:
    """A cost that grows with a batch: *per_call*, and *seconds* for each sample.

    >>> per_sample(0.001)([7, 8, 9])
    0.003
    """
    return PerSample(check.seconds("seconds", seconds), check.seconds("per_call", per_call))


@dataclass(frozen=True, repr=False)
class Jitter:
    """A cost that varies evenly around a mean."""

    mean: float
    spread: float
    seed: int

    def __call__(self, value: Any) -> float:
        draw = random.Random(f"{self.seed}:{_number(value)}").uniform(-1, 1)
        return self.mean * (1 + self.spread * draw)

    def __repr__(self) -> str:
        return f"jitter({self.mean!r}, spread={self.spread!r}, seed={self.seed!r})"


def jitter(mean: float, *, spread: float = 0.5, seed: int = 0) -> Jitter:
    """A cost between `mean * (1 - spread)` and `mean * (1 + spread)`, drawn from the element.

    The same element costs the same on every run and on both clocks.

    >>> costs = [jitter(0.015, spread=0.5, seed=1)(sample) for sample in range(100)]
    >>> 0.0075 <= min(costs) < max(costs) <= 0.0225
    True
    """
    if check.seconds("spread", spread) > 1:
        raise ValueError(f"spread={spread!r}: must be between 0 and 1")
    return Jitter(check.seconds("mean", mean), spread, check.integer("seed", seed))


@dataclass(frozen=True, repr=False)
class Straggler:
    """A cost with a slow element now and then."""

    usual: float
    every: int
    slow: float

    def __call__(self, value: Any) -> float:
        return self.slow if _number(value) % self.every == self.every - 1 else self.usual

    def __repr__(self) -> str:
        return f"straggler({self.usual!r}, every={self.every!r}, slow={self.slow!r})"


def straggler(usual: float, *, every: int, slow: float) -> Straggler:
    """A cost of *usual*, and of *slow* for the last of every *every* elements.

    >>> [straggler(0.005, every=3, slow=0.040)(sample) for sample in range(6)]
    [0.005, 0.005, 0.04, 0.005, 0.005, 0.04]
    """
    check.integer("every", every, least=1)
    return Straggler(check.seconds("usual", usual), every, check.seconds("slow", slow))


def _number(value: Any) -> int:
    """A number that tells one value from another, the same in every process."""
    if isinstance(value, (int, float)):
        return int(value)
    if isinstance(value, (str, bytes)):
        return zlib.crc32(value.encode() if isinstance(value, str) else value)
    if isinstance(value, dict):
        value = list(value.values())
    if hasattr(value, "__len__") and hasattr(value, "__getitem__"):
        return _number(value[0]) if len(value) else 0  # a batch costs what its first sample says
    if hasattr(value, "__int__"):
        return int(value)
    raise TypeError(f"a cost cannot tell {value!r} from others: give a function of your own")
