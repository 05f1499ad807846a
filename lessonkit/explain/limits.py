"""How fast a pipeline can be at best: what no other order and no more parallel calls can beat."""

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any

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
    bounds.sort(key=lambda bound: -bound.seconds)
    headspace = sum(need.training.total() for need in needs) / 1e9
    return Limits(trace.duration, headspace, tuple(bounds))


class Needs:
    """The work that the elements of one epoch needed, in nanoseconds from its start.

    Work on a batch counts as work on each of its samples: they could be batched later.
    Work on an element that came several times counts in equal parts for each time.
    """

    def __init__(
        self, trace: Trace, epoch: Epoch, keys: list[int], spans: list[Span]
    ) -> None:
        start = round(epoch.start * 1e9)
        self.trace = trace
        times = [round((epoch.start + time) * 1e9) for time in epoch.arrivals]
        came = zip(reversed(keys), reversed(times), strict=True)
        self.arrivals = {key: time - start for key, time in came}  # the first time of each
        self.arrived = Counter(keys)
        self.copies = Counter(key for one in keys for key in {*trace.members(one)})
        self.work, self.training = Counter[int](), Counter[int]()
        self.jobs: list[CoreWork] = []
        self.storage_reads: dict[Any, list[int]] = defaultdict(list)
        last = times[-1] if times else start
        before = [span for span in spans if span.end_ns <= last]
        for span in spans:
            if span.role in ACCELERATOR:
                self.training[span.element] += length_ns(span)
        for span in before:
            samples = trace.members(span.element)
            if span.role in ACCELERATOR:
                continue
            if span.role not in OF_FILES:
                self.work[span.element] += length_ns(span)
            if not self.copies.keys().isdisjoint(samples):
                if span.kind in HOLD_A_CORE:
                    self.jobs.append((span, samples))
                elif span.kind == "storage":
                    self.storage_reads[span.stage.storage].append(length_ns(span))
        self.reads, self.ready = reading(trace, before, self.copies)

    def bounds(self, cores: int) -> dict[str, int]:
        """Return how long the epoch takes at least on so many *cores*, by what decides it."""
        if not self.arrivals:
            return {}
        total = self.training.total()
        training = {key: self.training[key] // times for key, times in self.arrived.items()}
        least = min(training.values())
        found = Counter({"accelerator": total})
        ways = {key: self.way(key) for key in self.arrivals}
        found["first element"] = min(way for _, way in ways.values()) + total
        found["source"] = max((reads[-1][2] + least for reads in self.reads), default=0)
        for key, (read, way) in ways.items():
            name = "source" if 2 * read >= way else "slowest sample"
            found[name] = max(found[name], way + training[key])
        for storage, times in self.storage_reads.items():
            # Each as if alone: the first byte, and then its bytes
            first, share = round(storage.first_byte * 1e9), storage.most / storage.bandwidth
            time = first + round(share * sum(time - first for time in times))
            found["storage"] = max(found["storage"], time + least)
        for name, jobs, lanes in self.holders(cores):
            if jobs:
                found[name] = max(found[name], self.shared(jobs, lanes) + least)
        return found

    def way(self, element: int) -> tuple[int, int]:
        """Return when the samples of an *element* are read at best, and when it can arrive."""
        samples, times = self.trace.members(element), self.arrived[element]
        # Several are parts of a batch, which did not need all of its samples
        which = max if times == 1 else min
        read = which(self.ready[sample] for sample in samples)
        worked_on = which(
            self.ready[sample] + self.work[sample] // self.copies[sample]
            for sample in samples
        )
        if samples != (element,):
            worked_on += self.work[element] // (len(samples) * times)
        return read, min(worked_on, self.arrivals[element])

    def holders(self, cores: int) -> Iterator[tuple[str, list[CoreWork], int]]:
        """Give what work has to share: by what it is called, the work, and how much of it there is.

        All work shares the *cores*. Work in Python shares the locks of its processes: those of the
        loader that it is done under, or the one of the main process.
        """
        yield "cores", self.jobs, cores
        workers = self.trace.recorded.workers
        crews: dict[Site, list[CoreWork]] = defaultdict(list)
        for job in self.jobs:
            if job[0].kind == "python":
                crews[crew_of(job[0].stage.place.site, workers)].append(job)
        for site, jobs in crews.items():
            yield "interpreter lock", jobs, workers.get(site, 1)

    def shared(self, jobs: list[CoreWork], lanes: int) -> int:
        """Return when all *jobs* can be done, on so many *lanes* at once.

        Each lane has to wait until there is something to work on. And of the n * lanes + 1
        longest pieces some lane gets n + 1.
        """
        samples = (sample for _, samples in jobs for sample in samples)
        heads = sorted(self.ready[sample] for sample in samples)[:lanes]
        pieces = sorted((length_ns(span) // len(samples) for span, samples in jobs))[::-1]
        rounds = max(n * piece for n, piece in enumerate(pieces[::lanes], 1))
        total = sum(heads) + sum(length_ns(span) for span, _ in jobs)
        return max(heads[0] + rounds, math.ceil(total / len(heads)))


def length_ns(span: Span) -> int:
    """Return how long *span* took, in nanoseconds."""
    return span.end_ns - span.start_ns


def crew_of(site: Site, workers: Mapping[Site, int]) -> Site:
    """Return the site of the loader whose *workers* run an operator at *site*; () for none."""
    outer = (site[:end] for end in range(len(site) - 1, 0, -1))
    return next((loader for loader in outer if loader in workers), ())


def reading(
    trace: Trace, work: list[Span], samples: Iterable[int]
) -> tuple[list[Reads], Counter[int]]:
    """List what each reader had to read for *samples*, and tell when each of these is read at best.

    All passes over a file are of one reader, but a file that is made on the way may be open
    twice at once.
    """
    places = trace.recorded.places
    who = {key: trace.identities[key] for key in samples if key}

    def reader(instance: int, epoch: int) -> tuple[int, int]:
        return instance, epoch if places[instance].inside else 0

    furthest = Counter[tuple[int, int]]()
    for instance, epoch, sample in who.values():
        furthest[instance, epoch] = max(furthest[instance, epoch], sample + 1)
    readers: dict[tuple[int, int], list[Span]] = defaultdict(list)
    for span in work:
        if span.role in OF_FILES and span.sample < furthest[span.instance, span.epoch]:
            readers[reader(span.instance, span.epoch)].append(span)
    reads: dict[tuple[int, int], Reads] = {}
    for one, spans in readers.items():
        # Or it is something else
        if all(span.end_ns <= after.start_ns for span, after in pairwise(spans)):
            times = accumulate(map(length_ns, spans))
            rows = zip(spans, times, strict=True)
            reads[one] = [(span.epoch, span.sample, time) for span, time in rows]
    ready = Counter[int]()
    for key, (instance, epoch, sample) in who.items():
        line = reads.get(reader(instance, epoch), [])
        count = bisect_right(line, (epoch, sample, math.inf))
        ready[key] = line[count - 1][2] if count else 0
    return [*reads.values()], ready
