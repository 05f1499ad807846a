"""How fast a pipeline can be at best: what no other order and no more parallel calls can beat."""

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from lessonkit.engine.trace import ACCELERATOR, OPEN, READ, Epoch, Site, Span, Trace

OF_FILES = (OPEN, READ)  # the roles of stages that one reader works in
HOLD_A_CORE = ("native", "python")
# Work that holds a core, and the samples that it is on
CoreWork = tuple[Span, tuple[int, ...]]
# One after another: the pass, the sample, and when it is read at best
Reads = list[tuple[int, int, int]]

# Of each bound what sets it, and why
REASONS = {
    "accelerator": (
        "its own work",
        "The accelerator itself has to work this long.",
    ),
    "first element": (
        "the first sample",
        "The accelerator has to wait for the first element, and then to do all its work.",
    ),
    "source": (
        "the reader",
        "A file is read by one reader, one sample after another, and the last is then trained on.",
    ),
    "slowest sample": (
        "the slowest sample",
        "Reading, working on and training on one sample takes this long.",
    ),
    "cores": (
        "the cores",
        "All work that needs a core has to share the cores of this machine.",
    ),
    "interpreter lock": (
        "the interpreter lock",
        "All work in Python has to be done one piece after another: a process has one lock.",
    ),
    "storage": (
        "the storage",
        "All that is read has to come through one storage.",
    ),
    "epochs": (
        "epoch by epoch",
        "One epoch comes after another, and not all of them have the same limit.",
    ),
}


@dataclass(frozen=True)
class Bound:
    """A time in *seconds* that the run cannot go below, *what* sets it, and the *reason*."""

    name: str
    seconds: float
    what: str
    reason: str


@dataclass(frozen=True)
class Limits:
    """The bounds that a run cannot beat, the highest first; times in seconds."""

    duration: float
    headspace: float  # the time if all elements were already there
    bounds: tuple[Bound, ...] = field(repr=False)

    @property
    def bound(self) -> float:
        """The shortest time that the work allows on this machine."""
        return self.bounds[0].seconds

    @property
    def reason(self) -> str:
        """Why it cannot be shorter."""
        return self.bounds[0].reason

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
    >>> found.bound, round(found.most, 3)
    (0.205, 1.5)
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
    names = [name for name in REASONS if totals[name] or name == "accelerator"]
    bounds = [Bound(name, totals[name] / 1e9, *REASONS[name]) for name in names]
    headspace = sum(arrival.work for need in needs for arrival in need.arrivals) / 1e9
    return Limits(
        trace.duration, headspace, tuple(sorted(bounds, key=lambda bound: -bound.seconds))
    )


# ---- what the elements of one epoch needed before they could be trained on ----


class Arrival(NamedTuple):
    """An element that was trained on: when it came, in nanoseconds, and the accelerator's work on it."""

    time: int
    element: int
    work: int


class Needs:
    """The work that the arrivals of one epoch needed. Times are nanoseconds from its start.

    Work on a batch counts as work on each of its samples: they could be batched later.
    Work on a sample that a cache gave several times counts in equal parts for each.
    """

    def __init__(
        self, trace: Trace, epoch: Epoch, keys: list[int], spans: list[Span]
    ) -> None:
        self.recorded = trace.recorded
        start = round(epoch.start * 1e9)
        self.arrivals = arrivals(epoch, keys, spans, start)
        last = start + self.arrivals[-1].time if self.arrivals else 0
        before = [
            span
            for span in spans
            if span.end_ns <= last and span.stage.role not in ACCELERATOR
        ]
        self.arrived = Counter(keys)
        # How often each sample was trained on:
        self.copies = Counter(
            sample for key in keys for sample in dict.fromkeys(trace.members(key))
        )
        self.reads, self.ready = reading(trace, before, self.copies)
        self.work = Counter[int]()
        for span in before:
            if span.role not in OF_FILES:
                self.work[span.element] += span.end_ns - span.start_ns
        work = [(span, trace.members(span.element)) for span in before]
        needed = [
            (span, samples)
            for span, samples in work
            if not self.copies.keys().isdisjoint(samples)
        ]
        self.jobs = [job for job in needed if job[0].kind in HOLD_A_CORE]
        self.storage_reads: dict[Any, list[int]] = defaultdict(list)
        for span, _ in needed:
            if span.kind == "storage":
                self.storage_reads[span.stage.storage].append(span.end_ns - span.start_ns)

    def way(self, arrival: Arrival) -> tuple[int, int]:
        """Return when the samples of an element are read at best, and when it can arrive."""
        element, ready = arrival.element, self.ready
        if samples := self.recorded.members.get(element):
            # Several are parts, which did not need all
            which = max if self.arrived[element] == 1 else min
            read = which([ready[sample] for sample in samples])
            worked_on = which([ready[sample] + self.own_work(sample) for sample in samples])
            worked_on += self.work[element] // (len(samples) * self.arrived[element])
        else:
            read, worked_on = ready[element], ready[element] + self.own_work(element)
        return read, min(worked_on, arrival.time)

    def own_work(self, sample: int) -> int:
        """Return the work on a *sample* each time that it comes."""
        return self.work[sample] // self.copies[sample]

    def shared(self, jobs: list[CoreWork], lanes: int) -> int:
        """Return when all *jobs* can be done, on so many *lanes* at once.

        Each lane has to wait until there is something to work on. And of the n * lanes + 1
        longest pieces some lane gets n + 1.
        """
        heads = sorted(
            self.ready.get(sample, 0) for _, samples in jobs for sample in samples
        )[:lanes]
        times = [span.end_ns - span.start_ns for span, _ in jobs]
        pairs = zip(times, jobs, strict=True)
        pieces = sorted(
            (time // len(samples) for time, (_, samples) in pairs), reverse=True
        )
        rounds = max(turn * piece for turn, piece in enumerate(pieces[::lanes], 1))
        return max(heads[0] + rounds, math.ceil((sum(heads) + sum(times)) / len(heads)))

    def holders(self, cores: int) -> Iterator[tuple[str, list[CoreWork], int]]:
        """Give what work has to share: by what it is called, the work, and how much of it there is.

        All work shares the *cores*. Work in Python shares the locks of its processes: those of the
        loader that it is done under, or the one of the main process.
        """
        yield "cores", self.jobs, cores
        crews: dict[Site, list[CoreWork]] = defaultdict(list)
        for job in self.jobs:
            if job[0].kind == "python":
                crews[crew_of(job[0].stage.place.site, self.recorded.workers)].append(job)
        for site, jobs in crews.items():
            yield "interpreter lock", jobs, self.recorded.workers.get(site, 1)

    def bounds(self, cores: int) -> dict[str, int]:
        """Return how long the epoch takes at least on so many *cores*, by what decides it."""
        if not self.arrivals:
            return {}
        total = sum(arrival.work for arrival in self.arrivals)
        least = min(arrival.work for arrival in self.arrivals)
        ways = [self.way(arrival) for arrival in self.arrivals]
        bounds = {
            "accelerator": total,
            "first element": min(way for _, way in ways) + total,
            "source": max((reads[-1][2] + least for reads in self.reads), default=0),
        }
        for arrival, (read, way) in zip(self.arrivals, ways, strict=True):
            name = "source" if 2 * read >= way else "slowest sample"
            bounds[name] = max(bounds.get(name, 0), way + arrival.work)
        for (
            storage,
            times,
        ) in (
            self.storage_reads.items()
        ):  # each as if alone: the first byte, and then its bytes
            first, share = round(storage.first_byte * 1e9), storage.most / storage.bandwidth
            time = first + round(share * sum(time - first for time in times)) + least
            bounds["storage"] = max(bounds.get("storage", 0), time)
        for name, jobs, lanes in self.holders(cores):
            if jobs:
                bounds[name] = max(bounds.get(name, 0), self.shared(jobs, lanes) + least)
        return bounds


def crew_of(site: Site, workers: Mapping[Site, int]) -> Site:
    """Return the site of the loader in whose *workers* an operator at *site* runs; () is the main process."""
    return next(
        (site[:end] for end in range(len(site) - 1, 0, -1) if site[:end] in workers), ()
    )


def reading(
    trace: Trace, work: list[Span], samples: Iterable[int]
) -> tuple[list[Reads], dict[int, int]]:
    """List what each reader had to read for *samples*, and tell when each of these is read at best.

    All passes over a file are of one reader, but a file that is made on the way may be open
    twice at once.
    """
    inside = {
        instance for instance, place in enumerate(trace.recorded.places) if place.inside
    }
    who = {key: trace.identities[key] for key in samples}
    furthest: dict[tuple[int, int], int] = {}
    for instance, epoch, sample in who.values():
        furthest[instance, epoch] = max(furthest.get((instance, epoch), -1), sample)
    readers: dict[tuple[int, int], list[Span]] = defaultdict(list)
    for span in work:
        if span.role in OF_FILES and span.sample <= furthest.get(
            (span.instance, span.epoch), -2
        ):
            readers[span.instance, span.epoch if span.instance in inside else 0].append(
                span
            )
    lines: dict[tuple[int, int], Reads] = {}
    for reader, read in readers.items():
        # Or it is something else
        if all(one.end_ns <= after.start_ns for one, after in pairwise(read)):
            times = accumulate(span.end_ns - span.start_ns for span in read)
            lines[reader] = [
                (span.epoch, span.sample, time)
                for span, time in zip(read, times, strict=True)
            ]
    ready = {}
    for key, (instance, epoch, sample) in who.items():
        line = lines.get((instance, epoch if instance in inside else 0), [])
        count = bisect_right(line, (epoch, sample, math.inf)) if key else 0
        ready[key] = line[count - 1][2] if count else 0
    return list(lines.values()), ready


def arrivals(epoch: Epoch, keys: list[int], spans: list[Span], start: int) -> list[Arrival]:
    """List what arrived in an *epoch*, each with the accelerator's work on it, which may be queued."""
    times = [round((epoch.start + time) * 1e9) for time in epoch.arrivals]
    work = [0] * len(times)
    for span in spans:
        if (
            span.stage.role in ACCELERATOR
            and (number := bisect_right(times, span.start_ns) - 1) >= 0
        ):
            while number and keys[number] != span.element:
                number -= 1
            work[number] += span.end_ns - span.start_ns
    return [
        Arrival(time - start, *who) for time, *who in zip(times, keys, work, strict=True)
    ]
