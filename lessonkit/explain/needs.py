"""What the elements of one epoch needed before they could be trained on."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cache
from itertools import accumulate, pairwise
from typing import NamedTuple

from lessonkit.engine.trace import Epoch, Span, Trace
from lessonkit.explain.idle import ACCELERATOR

SOURCE = re.compile(r"(Open|Read)( \d+)?")  # what the stages of a file are called
HOLD_A_CORE = ("native", "python")
Reads = list[tuple[int, int, int]]  # one after another: the pass, the sample, and when it is read at best


class Arrival(NamedTuple):
    """An element that was trained on: when it came, in nanoseconds, and the accelerator's work on it."""

    time: int
    element: int  # 0 where there was no work: then the trace does not say who it was
    work: int


class Needs:
    """The work that the arrivals of one epoch needed. Times are nanoseconds from its start.

    Work on a batch counts as work on each of its samples: they could be batched later.
    Work on a sample that a cache gave several times counts in equal parts for each.
    """

    def __init__(self, trace: Trace, epoch: Epoch, spans: list[Span], *, in_line: bool) -> None:
        self.batches = trace.batches
        self.members = trace.members
        start = round(epoch.start * 1e9)
        self.arrivals = arrivals(epoch, spans, start)
        last = start + self.arrivals[-1].time if self.arrivals else 0
        before = [span for span in spans if span.end <= last and span.stage not in ACCELERATOR]
        self.arrived = Counter(arrival.element for arrival in self.arrivals if arrival.element)
        self.copies: dict[int, int] = {}  # of each sample that was trained on
        for element, count in (self.arrived or Counter(span.element for span in before)).items():
            for sample in dict.fromkeys(trace.members(element)):
                self.copies[sample] = self.copies.get(sample, 0) + count
        reads: list[Span] = []
        self.work: dict[int, int] = defaultdict(int)
        for span in before:
            if not span.element or is_of_file(span.stage):  # a generator's work has no element yet
                reads.append(span)
            else:
                self.work[span.element] += span.end - span.start
        self.reads, self.ready = reading(trace, reads, self.copies, in_line=in_line)
        # Nobody knows for whom a generator works: it counts.
        self.jobs = [
            (span, samples)
            for span in before
            if span.kind in HOLD_A_CORE and (samples := self.needed(span) if span.element else (0,))
        ]

    def needed(self, span: Span) -> tuple[int, ...]:
        """The samples that a piece of work is on, if one of them was trained on."""
        samples = self.members(span.element)
        return samples if any(sample in self.copies for sample in samples) else ()

    def way(self, arrival: Arrival) -> tuple[int, int]:
        """When the samples of an element are read at best, and when it can arrive."""
        element, ready = arrival.element, self.ready
        if not element:
            return 0, 0
        if samples := self.batches.get(element):
            which = max if self.arrived[element] == 1 else min  # several are parts, which did not need all
            read = which([ready[sample] for sample in samples])
            worked_on = which([ready[sample] + self.own_work(sample) for sample in samples])
            worked_on += self.work[element] // (len(samples) * self.arrived[element])
        else:
            read, worked_on = ready[element], ready[element] + self.own_work(element)
        return read, min(worked_on, arrival.time)

    def own_work(self, sample: int) -> int:
        """What is worked on a sample each time that it comes."""
        return self.work[sample] // self.copies[sample]

    def shared(self, kinds: tuple[str, ...], lanes: int) -> int:
        """When all work of these *kinds* can be done, if so many can be done at once.

        Each lane has to wait until there is something to work on. And of the n * lanes + 1
        longest pieces some lane gets n + 1.
        """
        jobs = [(span.end - span.start, samples) for span, samples in self.jobs if span.kind in kinds]
        if not jobs:
            return 0
        heads = sorted(self.ready.get(sample, 0) for _, samples in jobs for sample in samples)[:lanes]
        pieces = sorted((duration // len(samples) for duration, samples in jobs), reverse=True)
        rounds = max(turn * piece for turn, piece in enumerate(pieces[::lanes], 1))
        return max(heads[0] + rounds, math.ceil((sum(heads) + sum(job for job, _ in jobs)) / len(heads)))

    def bounds(self, cores: int) -> dict[str, int]:
        """How long the epoch takes at least, by what decides it."""
        if not self.arrivals:
            return {}
        total = sum(arrival.work for arrival in self.arrivals)
        least = min(arrival.work for arrival in self.arrivals)
        ways = [self.way(arrival) for arrival in self.arrivals]
        found = {
            "accelerator": total,
            "first element": min(way for _, way in ways) + total,
            "source": max((reads[-1][2] + least for reads in self.reads), default=0),
        }
        for arrival, (read, way) in zip(self.arrivals, ways, strict=True):
            name = "source" if 2 * read >= way else "slowest sample"
            found[name] = max(found.get(name, 0), way + arrival.work)
        for name, kinds, lanes in ("cores", HOLD_A_CORE, cores), ("interpreter lock", ("python",), 1):
            if time := self.shared(kinds, lanes):
                found[name] = time + least
        return found


@cache
def is_of_file(stage: str) -> bool:
    """Whether a stage is the work of a file, by its name."""
    return SOURCE.fullmatch(stage) is not None


def reading(
    trace: Trace, reads: list[Span], samples: Iterable[int], *, in_line: bool
) -> tuple[list[Reads], dict[int, int]]:
    """What each reader had to read for *samples*, and when each of these is read at best.

    With *in_line* all passes over a file are of one reader.
    """
    who = {key: trace.identities[key] for key in samples}
    furthest: dict[tuple[int, int], int] = {}
    for instance, epoch, sample in who.values():
        furthest[instance, epoch] = max(furthest.get((instance, epoch), -1), sample)
    one_file = len({event.instance for event in trace.files}) == 1
    readers: dict[tuple[int, int], list[Span]] = defaultdict(list)
    for span in reads:
        if span.sample <= furthest.get((span.instance, span.epoch), -2) if span.element else one_file:
            readers[span.instance, 0 if in_line else span.epoch].append(span)
    lines: dict[tuple[int, int], Reads] = {}
    for reader, read in readers.items():
        if all(before.end <= after.start for before, after in pairwise(read)):  # or it is something else
            times = accumulate(span.end - span.start for span in read)
            lines[reader] = [(span.epoch, span.sample, time) for span, time in zip(read, times, strict=True)]
    ready = {}
    for key, (instance, epoch, sample) in who.items():
        line = lines.get((instance, 0 if in_line else epoch), [])
        count = bisect_right(line, (epoch, sample, math.inf)) if key else 0
        ready[key] = line[count - 1][2] if count else 0
    return list(lines.values()), ready


def arrivals(epoch: Epoch, spans: list[Span], start: int) -> list[Arrival]:
    """What arrived in an epoch, with the accelerator's spans that follow each arrival."""
    times = [round((epoch.start + time) * 1e9) for time in epoch.arrivals]
    work, elements = [0] * len(times), [0] * len(times)
    for span in spans:
        if span.stage in ACCELERATOR and (number := bisect_right(times, span.start) - 1) >= 0:
            work[number] += span.end - span.start
            elements[number] = span.element
    return [
        Arrival(time - start, element, done)
        for time, element, done in zip(times, elements, work, strict=True)
    ]
