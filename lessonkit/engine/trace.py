"""What happened in a run: spans, buffer events and file events, and what they add up to."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from operator import attrgetter, mul
from os import PathLike
from typing import Any, NamedTuple, TypeVar

from lessonkit.engine import perfetto

WAITS = ("buffer empty", "buffer full", "no core", "interpreter lock held")
WAITING = frozenset(WAITS)  # to look it up
Named = TypeVar("Named", bound=tuple[Any, ...])


class Identity(NamedTuple):
    """Who a sample is: of which source or file, in which pass over it, which one in it."""

    instance: int
    epoch: int
    sample: int


class Span(NamedTuple):
    """A stretch of time, in nanoseconds, in which one task worked or waited.

    *cause* is the index of the span that decided when this one could start, or -1.
    A wait says at which *place* it waited.
    """

    stage: str
    kind: str
    start: int
    end: int
    lane: int
    element: int
    cause: int
    place: str
    instance: int
    epoch: int
    sample: int

    @property
    def is_wait(self) -> bool:
        return self.kind in WAITING


class BufferEvent(NamedTuple):
    """An element that came into a buffer (+1) or left it (-1), and its bytes."""

    buffer: int
    time: int
    change: int
    element: int
    nbytes: int


class FileEvent(NamedTuple):
    """A file that was opened (+1) or closed (-1)."""

    time: int
    change: int
    instance: int


class BufferInfo(NamedTuple):
    """A buffer: what it is called, and how many elements it has room for."""

    name: str
    capacity: int | None


NOBODY = Identity(-1, -1, -1)


class Recorder:
    """Takes down a run as it happens.

    It must not slow the run down, nor fill the memory: the fields of all spans stand in
    one flat list, eight for each, and those of buffer events and identities likewise.
    """

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.events: list[int] = []
        self.files: list[tuple[int, int, int]] = []
        self.identities: list[int] = [*NOBODY]
        self.members: dict[int, tuple[int, ...]] = {}  # of batches: who is in them
        self.buffers: list[BufferInfo] = []
        self.instances: dict[Any, int] = {}  # sources, in the order in which they were opened
        self.passes: dict[int, int] = {}  # how often each was opened

    @property
    def count(self) -> int:
        """How many spans there are."""
        return len(self.spans) // 8

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """The spans, one by one, as eight fields."""
        return _rows(self.spans, 8)

    def opened(self, key: Any) -> tuple[int, int]:
        """A source is opened: which one it is, and in which pass over it."""
        instance = self.instances.setdefault(key, len(self.instances))
        epoch = self.passes.get(instance, -1) + 1
        self.passes[instance] = epoch
        return instance, epoch

    def identify(self, instance: int, epoch: int, sample: int) -> int:
        """A key for a sample that a source gives."""
        self.identities += (instance, epoch, sample)
        return len(self.identities) // 3 - 1

    def join(self, parts: list[int]) -> int:
        """A key for an element that is made of others."""
        members = tuple(who for part in parts for who in self.members.get(part, (part,)))
        key = self.identify(*self.identity(members[0]))
        self.members[key] = members
        return key

    def identity(self, element: int) -> Identity:
        """Who an element is; a batch is who its first sample is."""
        return Identity(*self.identities[3 * element : 3 * element + 3])

    def buffer(self, name: str, capacity: int | None) -> int:
        """The number of a buffer: the same one in every epoch."""
        info = BufferInfo(name, capacity)
        if info not in self.buffers:
            self.buffers.append(info)
        return self.buffers.index(info)


@dataclass
class Epoch:
    """One pass of the training loop; times in seconds from its first request.

    *elements* are the values that arrived: numbers and short text as they are, and
    batches of them; of anything larger only what it is, unless the run kept it.
    """

    start: float
    duration: float = 0.0
    count: int = 0
    samples: int = 0
    elements: list[Any] = field(default_factory=list)
    arrivals: list[float] = field(default_factory=list)


class Trace:
    """What a run did, as data. Everything that explains a run reads this and nothing else."""

    def __init__(
        self, recorder: Recorder | None, epochs: list[Epoch], duration: float, clock: str, cancelled: bool
    ) -> None:
        self.epochs = epochs
        self.duration = duration  # seconds, from the first request to the end of the last step
        self.clock = clock
        self.cancelled = cancelled
        self._recorder = recorder

    @property
    def recorded(self) -> bool:
        """Whether there is more than durations."""
        return self._recorder is not None

    def _records(self) -> Recorder:
        if self._recorder is None:
            raise ValueError("this run was not recorded: run it again without record=False")
        return self._recorder

    @cached_property
    def spans(self) -> list[Span]:
        """Every span, in the order in which they ended."""
        who = self.identities
        return _named(Span, (row + who[row[5]] for row in self._records().rows()))

    @cached_property
    def work(self) -> list[Span]:
        """The spans that are no waits."""
        return [span for span in self.spans if span.kind not in WAITING]

    @cached_property
    def events(self) -> list[BufferEvent]:
        """Everything that came into a buffer or left one, in the order of time."""
        return _named(BufferEvent, _rows(self._records().events, 5))

    @property
    def files(self) -> list[FileEvent]:
        """Every file that was opened or closed, in the order of time."""
        return [FileEvent(*event) for event in self._records().files]

    @property
    def buffers(self) -> list[BufferInfo]:
        """The buffers that the events speak of."""
        return self._records().buffers

    @cached_property
    def identities(self) -> list[Identity]:
        """Who each element is, by its key; the first is nobody. A batch is who its first sample is."""
        return _named(Identity, _rows(self._records().identities, 3))

    @property
    def batches(self) -> dict[int, tuple[int, ...]]:
        """The samples in each element that has several places, by its key."""
        return self._records().members

    def members(self, element: int) -> tuple[int, ...]:
        """The samples in an element: itself, or those of a batch."""
        return self._records().members.get(element, (element,))

    # ---- what it adds up to ----

    @property
    def samples(self) -> int:
        """How many samples were trained on."""
        return sum(epoch.samples for epoch in self.epochs)

    @property
    def per_sample(self) -> float:
        """Seconds for each sample, in all."""
        if not self.samples:
            raise ValueError("no element reached the training loop: there is no time per sample")
        return self.duration / self.samples

    @cached_property
    def stages(self) -> list[str]:
        """The stages in the order in which they first worked, the accelerator's last."""
        first = dict.fromkeys(span.stage for span in sorted(self.work, key=attrgetter("start")))
        last = [stage for stage in ("Load", "Train") if stage in first]
        return [stage for stage in first if stage not in last] + last

    def busy(self, stage: str) -> float:
        """The share of the run in which at least one call of *stage* was at work."""
        busy = reached = 0
        for start, end in sorted((span.start, span.end) for span in self.work if span.stage == stage):
            busy += max(0, end - max(start, reached))
            reached = max(reached, end)
        return busy / 1e9 / self.duration if self.duration else 0.0

    @property
    def max_open_files(self) -> int:
        """How many files were open at once, at most."""
        return _peak(event.change for event in self.files)

    @property
    def max_bytes(self) -> int:
        """How many bytes all buffers and caches held at once, at most."""
        events = self._records().events
        return _peak(map(mul, events[2::5], events[4::5]))

    @property
    def max_held(self) -> int:
        """How many elements all buffers and caches held at once, at most."""
        return _peak(self._records().events[2::5])

    def records(self) -> list[dict[str, Any]]:
        """Every span as a dictionary, for a table or a file."""
        return [span._asdict() for span in self.spans]

    def to_perfetto(self, path: str | PathLike[str]) -> None:
        """Write a file that Perfetto and `chrome://tracing` open."""
        perfetto.write(self, path)

    def __repr__(self) -> str:
        elements = sum(epoch.count for epoch in self.epochs)
        return f"<Trace: {len(self.epochs)} epochs, {elements} elements, {self.duration * 1e3:.3f} ms>"

    def __str__(self) -> str:
        """A table for people: per stage how often, how long, which share, and how much waiting."""
        if self._recorder is None:
            return repr(self)
        lines = [f"{'stage':<14}{'count':>7}{'busy ms':>12}{'share':>8}{'waiting ms':>13}"]
        spans = [(row[0], row[1] in WAITS, (row[3] - row[2]) / 1e6) for row in self._recorder.rows()]
        for stage in dict.fromkeys([*self.stages, *(stage for stage, *_ in spans)]):
            work = [time for name, is_wait, time in spans if name == stage and not is_wait]
            waiting = sum(time for name, is_wait, time in spans if name == stage and is_wait)
            lines.append(
                f"{stage:<14}{len(work):>7}{sum(work):>12.3f}{self.busy(stage):>8.1%}{waiting:>13.3f}"
            )
        lines.append(f"total {self.duration * 1e3:.3f} ms" + (" (cancelled)" if self.cancelled else ""))
        if self.samples:
            lines[-1] += f", {self.per_sample * 1e3:.3f} ms a sample"
        return "\n".join(lines)


def _rows(flat: list[Any], width: int) -> Iterator[tuple[Any, ...]]:
    fields = iter(flat)
    return zip(*[fields] * width, strict=True)


def _named(kind: type[Named], rows: Iterable[tuple[Any, ...]]) -> list[Named]:
    """The rows as named tuples: `_make` does the same, but counts the fields of each."""
    new = tuple.__new__
    return [new(kind, row) for row in rows]


def _peak(changes: Iterable[int]) -> int:
    return max(accumulate(changes, initial=0))
