"""How fast a pipeline can be at best: what no other order and no more parallel calls can beat."""

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from operator import itemgetter
from typing import NamedTuple

from lessonkit.engine.storage import Storage
from lessonkit.engine.trace import (
    ACCELERATOR,
    COPY,
    LOAD,
    NS,
    OPEN,
    READ,
    TAKE,
    Epoch,
    Name,
    Site,
    Span,
    Trace,
)

from .roofs import Roofs

OF_FILES = (OPEN, READ)  # the roles of stages in which one reader works
HOLD_A_CORE = ("native", "python")  # kinds of work
# The roles of stages that copy: each has one element after another
COPIES = (TAKE, LOAD, COPY)


class CoreWork(NamedTuple):
    """Work that needs a core or a lock: its nanoseconds, and the samples that it is on."""

    time: int
    samples: tuple[int, ...]


class Shared(NamedTuple):
    """What has to be shared: its name, in which loader's processes, and how many there are."""

    name: str
    site: Site
    most: int


class Read(NamedTuple):
    """A sample that a reader reads: in which pass, its number, and when it is there at best."""

    epoch: int
    sample: int
    ready_ns: int


class Way(NamedTuple):
    """When the samples of an element are read at best, and when it can arrive, in nanoseconds."""

    read: int
    arrived: int


# Of each bound what sets it, and why
REASONS = {
    "accelerator": (
        "training",
        "The accelerator itself has to work this long.",
    ),
    "first element": (
        "the wait for the first sample",
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
        "All work in Python has to be done one piece after another: a process has only one lock.",
    ),
    "storage": (
        "the storage system",
        "All that is read has to come through one storage system.",
    ),
    "copy": (
        "the copy of batches",
        "Batches are copied one after another, into the loop or to the accelerator.",
    ),
    "epochs": (
        "one epoch after another",
        "One epoch comes after another, and not all of them have the same limit.",
    ),
}


# The parts that set a pace, in the order in which a sample meets them, by the names of their bounds
ROOFS = {
    "storage": "storage",
    "source": "reader",
    "cores": "cores",
    "interpreter lock": "GIL",
    "copy": "copy",
    "accelerator": "step",
}
# What takes its time once, however many samples follow, is a roof only where it is the lowest
ONCE = {
    "first element": "first sample",
    "slowest sample": "slowest sample",
    "epochs": "epochs",
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
    """The bounds that a run cannot beat, the highest first, and its headroom; times in seconds."""

    duration: float
    training: float  # the time that training alone takes
    bounds: tuple[Bound, ...] = field(repr=False)
    samples: int = field(repr=False)  # that were trained on

    @property
    def bound(self) -> float:
        """The shortest time that the work allows on this machine."""
        return self.bounds[0].seconds

    @property
    def reason(self) -> str:
        """Why it cannot be shorter."""
        return self.bounds[0].reason

    @property
    def headroom(self) -> float:
        """How many times faster the run would be if samples cost nothing."""
        if not self.training:
            return math.inf if self.duration else 1.0
        return self.duration / self.training

    @property
    def roofs(self) -> Roofs:
        """The same bounds as samples per second, by the parts that set them, and those of the run.

        Raises ValueError for a run without samples, or one that takes no time.
        """
        rates = {
            bound.name: self.samples / bound.seconds
            for bound in self.bounds
            if bound.seconds and self.samples
        }
        found = {roof: rates[name] for name, roof in ROOFS.items() if name in rates}
        if "step" in found:  # it cannot begin before its first sample is there
            found["step"] = min(found["step"], rates["first element"])
        least = self.bounds[0].name
        if least in rates and rates[least] < min(found.values(), default=math.inf):
            found[ONCE[least]] = rates[least]
        return Roofs(found, self.samples / self.duration if self.duration else None)


def limits(trace: Trace) -> Limits:
    """Bound the time that the work of *trace* takes on its machine, in whatever order it is done.

    It counts only the work that was needed for the samples that were trained on. With less
    work, as with a cache at another position, a run may be faster. Epochs of the training
    loop come one after another.

    >>> from lessonkit import ArtificialDataset, benchmark
    >>> found = limits(benchmark(ArtificialDataset(20, open=0, read=0.005), num_epochs=1))
    >>> found
    Limits(duration=0.3, training=0.2)
    >>> found.bound, round(found.headroom, 3)
    (0.205, 1.5)
    >>> found.reason
    'The accelerator has to wait for the first element, and then to do all its work.'
    """
    starts = [round(epoch.start * NS) for epoch in trace.epochs]
    parts: list[list[Span]] = [[] for _ in starts]
    for span in trace.work if starts else ():
        parts[max(0, bisect_right(starts, span.start_ns) - 1)].append(span)
    totals = Counter[str]()
    highest = 0
    for epoch, part in zip(trace.epochs, parts, strict=True):
        least = Counter[str]()
        for name, time in Needs(trace, epoch, part).bounds() if epoch.keys else ():
            least[name] = max(least[name], time)
        totals += least
        highest += max(least.values(), default=0)
    if highest > max(totals.values(), default=0):
        totals["epochs"] = highest
    bounds = [
        Bound(name, totals[name] / NS, *why)
        for name, why in REASONS.items()
        if totals[name] or name == "accelerator"
    ]
    bounds.sort(key=lambda bound: -bound.seconds)
    training = totals["accelerator"] / NS
    return Limits(trace.duration, training, tuple(bounds), trace.samples)


class Needs:
    """The work that the elements of one epoch needed, in nanoseconds from its start.

    Work on a batch counts as work on each of its samples: they could be batched later.
    Work on an element that came several times counts in equal parts for each time.
    """

    def __init__(self, trace: Trace, epoch: Epoch, spans: list[Span]) -> None:
        self.trace = trace
        keys = epoch.keys
        times = [round(time * NS) for time in epoch.arrivals]
        # By element: how often it came, and when for the first time
        self.arrived = Counter(keys)
        self.arrivals = dict(zip(reversed(keys), reversed(times), strict=True))
        self.copies = Counter(key for one in keys for key in {*trace.members(one)})
        self.work = Counter[int]()
        self.training = Counter[int]()
        self.jobs: dict[Shared, list[CoreWork]] = defaultdict(list)
        self.storage_reads: dict[Storage, list[int]] = defaultdict(list)
        self.copying = Counter[Name]()
        of_files: list[Span] = []
        last = round(epoch.start * NS) + times[-1]
        end = round((epoch.start + epoch.duration) * NS)
        workers = trace.recorded.workers
        for span in spans:
            time = span.end_ns - span.start_ns
            samples = trace.members(span.element)
            work = CoreWork(time, samples)
            if self.is_needed_copy(span, samples) and span.end_ns <= end:
                self.copying[span.stage] += time
            if span.role in ACCELERATOR:
                self.training[span.element] += time
            elif span.end_ns <= last:
                if span.role in OF_FILES:
                    of_files.append(span)
                else:
                    self.work[span.element] += time
                if self.copies.keys().isdisjoint(samples):
                    continue
                if span.kind in HOLD_A_CORE:
                    self.jobs[Shared("cores", (), trace.machine.cores)].append(work)
                if span.kind == "python":
                    site = loader_of(span.stage.position.site, workers)
                    locks = Shared("interpreter lock", site, workers.get(site, 1))
                    self.jobs[locks].append(work)
                elif span.kind == "storage" and span.stage.storage is not None:
                    self.storage_reads[span.stage.storage].append(time)
        self.reads, self.ready = reading(trace, of_files, self.copies)

    def is_needed_copy(self, span: Span, samples: tuple[int, ...]) -> bool:
        """Whether *span* copies some of the *samples* that were trained on.

        Loaders that a function makes may copy side by side.
        """
        one_by_one = span.role in COPIES and not span.stage.position.inside
        return one_by_one and not self.copies.keys().isdisjoint(samples)

    def bounds(self) -> Iterator[tuple[str, int]]:
        """Give times that the epoch takes at least, each after the name of what decides it."""
        total = self.training.total()
        training = {key: self.training[key] // times for key, times in self.arrived.items()}
        least = min(training.values())
        ways = {key: self.way(key) for key in self.arrivals}
        yield "accelerator", total
        yield "first element", min(way.arrived for way in ways.values()) + total
        for reads in self.reads:
            yield "source", reads[-1].ready_ns + least
        for key, way in ways.items():
            # By what takes more of the way, reading or working on it
            name = "source" if 2 * way.read >= way.arrived else "slowest sample"
            yield name, way.arrived + training[key]
        for storage, times in self.storage_reads.items():
            # Each as if alone: the first byte, and then its bytes
            first = round(storage.first_byte * NS)
            share = storage.most / storage.bandwidth
            streamed = round(share * sum(time - first for time in times))
            yield "storage", first + streamed + least
        for time in self.copying.values():
            yield "copy", time
        for shared, jobs in self.jobs.items():
            yield shared.name, self.shared(jobs, shared.most) + least

    def way(self, element: int) -> Way:
        """Return when the samples of an *element* are read at best, and when it can arrive."""
        samples = self.trace.members(element)
        times = self.arrived[element]
        # Several are parts of a batch, which did not need all of its samples
        which = max if times == 1 else min
        read = which(self.ready[sample] for sample in samples)
        worked_on = which(
            self.ready[sample] + self.work[sample] // self.copies[sample]
            for sample in samples
        )
        if samples != (element,):
            worked_on += self.work[element] // (len(samples) * times)
        return Way(read, min(worked_on, self.arrivals[element]))

    def shared(self, jobs: list[CoreWork], most: int) -> int:
        """Return when all *jobs* can be done, at most *most* of them at the same time.

        Each core or lock has to wait until there is something to work on. And of the
        n * most + 1 longest pieces some core or lock gets n + 1.
        """
        ready = sorted(self.ready[sample] for job in jobs for sample in job.samples)
        heads = ready[:most]
        pieces = sorted((job.time // len(job.samples) for job in jobs), reverse=True)
        rounds = max(n * piece for n, piece in enumerate(pieces[::most], 1))
        total = sum(heads) + sum(job.time for job in jobs)
        return max(heads[0] + rounds, math.ceil(total / len(heads)))


def loader_of(site: Site, workers: Mapping[Site, int]) -> Site:
    """Return the site of the loader whose *workers* run an operator at *site*; () for none."""
    outer = (site[:end] for end in range(len(site) - 1, 0, -1))
    return next((loader for loader in outer if loader in workers), ())


def reading(
    trace: Trace, of_files: list[Span], samples: Iterable[int]
) -> tuple[list[list[Read]], Counter[int]]:
    """List what each reader had to read for *samples*, and tell when each of these is read at best.

    All passes over a file are of one reader, but a file that is made on the way may be open
    twice at the same time.
    """
    positions = trace.recorded.positions
    who = {key: trace.identities[key] for key in samples if key}

    def reader(instance: int, epoch: int) -> tuple[int, int]:
        return instance, epoch if positions[instance].inside else 0

    furthest = Counter[tuple[int, int]]()
    for instance, epoch, sample in who.values():
        furthest[instance, epoch] = max(furthest[instance, epoch], sample + 1)
    readers: dict[tuple[int, int], list[Span]] = defaultdict(list)
    for span in of_files:
        if span.sample < furthest[span.instance, span.epoch]:
            readers[reader(span.instance, span.epoch)].append(span)
    reads: dict[tuple[int, int], list[Read]] = {}
    for one, spans in readers.items():
        # Or it is something else
        if all(span.end_ns <= after.start_ns for span, after in pairwise(spans)):
            times = accumulate(span.end_ns - span.start_ns for span in spans)
            reads[one] = [
                Read(span.epoch, span.sample, time)
                for span, time in zip(spans, times, strict=True)
            ]
    ready = Counter[int]()
    for key, (instance, epoch, sample) in who.items():
        own = reads.get(reader(instance, epoch), [])
        count = bisect_right(own, (epoch, sample), key=itemgetter(0, 1))  # up to its own
        ready[key] = own[count - 1].ready_ns if count else 0
    return [*reads.values()], ready
