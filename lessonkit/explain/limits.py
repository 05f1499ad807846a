"""How fast a pipeline can be at best: what no other order and no more parallel calls can beat."""

import math
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field

from lessonkit.engine.trace import Span, Trace
from lessonkit.explain.needs import Needs

REASONS = {
    "accelerator": "The accelerator itself has to work so long.",
    "first element": "The accelerator has to wait for the first element, and then to do all its work.",
    "source": "A file is read by one reader, one sample after another, and the last is then trained on.",
    "slowest sample": "One sample takes so long to be read, worked on and trained on.",
    "cores": "All work that needs a core has to share the cores of this machine.",
    "interpreter lock": "All work in Python has to be done one after another: there is one interpreter lock.",
    "epochs": "One epoch comes after another, and not all of them have the same limit.",
}


@dataclass(frozen=True)
class Bound:
    """A time, in seconds, that the run can not go below, and why."""

    name: str
    seconds: float
    reason: str


@dataclass(frozen=True)
class Limits:
    """What a run can not beat, the highest bound first; times in seconds."""

    duration: float
    headspace: float  # the time if all elements were already there
    bounds: tuple[Bound, ...] = field(repr=False)

    @property
    def bound(self) -> float:
        """The shortest time that the work allows on this machine."""
        return self.bounds[0].seconds

    @property
    def reason(self) -> str:
        """Why it can not be shorter."""
        return self.bounds[0].reason

    @property
    def closeness(self) -> float:
        """How close the run is to its bound: 1 is as fast as can be."""
        return self.bound / self.duration if self.duration else 1.0

    @property
    def most(self) -> float:
        """How many times faster any change to the pipeline can make the run, at most."""
        if not self.headspace:
            return math.inf if self.duration else 1.0
        return self.duration / self.headspace


def limits(trace: Trace) -> Limits:
    """Bound the time that the work of *trace* takes on its machine, in whatever order it is done.

    It counts only work that the samples which were trained on needed. Less work, as with a
    cache in another place or filled by a prefetch, may do better. Epochs of the training
    loop come one after another.

    >>> from lessonkit import ArtificialDataset, benchmark
    >>> found = limits(benchmark(ArtificialDataset(20, open=0, read=0.005), num_epochs=1))
    >>> found
    Limits(duration=0.3, headspace=0.2)
    >>> found.bound, f"{found.closeness:.0%}", round(found.most, 3)
    (0.205, '68%', 1.5)
    >>> found.reason
    'The accelerator has to wait for the first element, and then to do all its work.'
    """
    starts = [round(epoch.start * 1e9) for epoch in trace.epochs]
    parts: list[list[Span]] = [[] for _ in starts]
    for span in trace.work if starts else ():
        parts[max(0, bisect_right(starts, span.start_ns) - 1)].append(span)
    epochs = zip(trace.epochs, trace.arrived, parts, strict=True)
    needs = [Needs(trace, epoch, keys, part) for epoch, keys, part in epochs]
    by_epoch = [need.bounds(trace.machine.cores) for need in needs]
    totals = sum(map(Counter, by_epoch), Counter[str]())
    highest = sum(max(bounds.values(), default=0) for bounds in by_epoch)
    if highest > max(totals.values(), default=0):
        totals["epochs"] = highest
    bounds = [
        Bound(name, totals[name] / 1e9, reason)
        for name, reason in REASONS.items()
        if totals[name] or name == "accelerator"
    ]
    headspace = sum(arrival.work for need in needs for arrival in need.arrivals) / 1e9
    return Limits(trace.duration, headspace, tuple(sorted(bounds, key=lambda bound: -bound.seconds)))
