"""The record of a run as it happens, and the trace that adds it up."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from operator import attrgetter, mul
from typing import TYPE_CHECKING, Any, NamedTuple

from lessonkit.words import counted, milliseconds

from . import check
from .machine import Machine
from .node import Description
from .options import RunOptions
from .resume import State, state_of

if TYPE_CHECKING:
    from .ranks import Ranks
    from .storage import Storage

# The roles of stages:
OPEN, READ, CALL, FILL, LOAD, TRAIN = "open", "read", "call", "fill", "load", "train"
START, QUEUE = "start", "queue"  # of worker processes, and of the index lists for them
TAKE = "take"  # the loop's own time for each batch
MEET = "meet"  # to wait for other ranks
COPY = "copy"  # to the accelerator, while it trains on something else
LAUNCH = "launch"  # of work for the accelerator, which does it later
ACCELERATOR = (LOAD, TRAIN)
# The roles of buffers: elements made ahead by background tasks, a shuffle's choice, or a cache.
AHEAD, CHOICE, CACHE = "ahead", "choice", "cache"

Site = tuple[int, ...]  # the way from the end of a pipeline up to an operator


class Position(NamedTuple):
    """Where in a pipeline something is.

    *operator* counts the steps of the description as `walk` does; the training loop is -1. Steps
    that an operator's function makes belong to that operator, and are *inside* it.
    """

    site: Site = ()
    operator: int = -1
    inside: bool = False


LOOP = Position()


class Name(str):
    """The unique name of a stage or a buffer in a run, which knows its position and role."""

    position = LOOP
    role = TRAIN
    wanted = ""  # the name as it was asked for: others may have asked for the same
    storage: "Storage | None" = None  # that this stage reads from

    @property
    def operator(self) -> int:
        """The step of the description that it belongs to; -1 is the training loop."""
        return self.position.operator


# The instance and the number of the sample for which a function made a source, if one did
OuterSample = tuple[int, int] | None


class Identity(NamedTuple):
    """The identity of a sample: its source or file, the pass over it, its number in it."""

    instance: int
    epoch: int
    sample: int


NOBODY = Identity(-1, -1, -1)  # of what is done for no element


@dataclass(eq=False, repr=False)
class Recorder:
    """Records a run as it happens.

    It must not slow the run down, nor fill the memory: the fields of all spans stand one after
    another in a flat list, the first of a `Span` up to its place, and those of all buffer events in
    another. Only this class knows so. A span is known by its index, and an element by its key.
    """

    is_repeatable = True  # are the steps that functions made

    flat_spans: list[Any] = field(default_factory=list)
    flat_events: list[Any] = field(default_factory=list)
    # Files that were opened or closed, of the stage that reads
    files: list["BufferEvent"] = field(default_factory=list)
    # Of each element, by its key: the fields of an `Identity`; key 0 is nobody's
    identities: list[tuple[int, int, int]] = field(default_factory=lambda: [NOBODY])
    # Of batches: the samples in them
    members: dict[int, tuple[int, ...]] = field(default_factory=dict)
    # Of batches of a loader, by their keys: their numbers in the epoch
    numbers: dict[int, int] = field(default_factory=dict)
    # Index lists that wait for a worker, each as a buffer event of its batch
    queued: list["BufferEvent"] = field(default_factory=list)
    # Of stages and buffers, as they were opened
    names: list[Name] = field(default_factory=list)
    # Of the buffers: how many elements there is room for
    capacities: dict[Name, int | None] = field(default_factory=dict)
    # Buffers of each name
    open: Counter[Name] = field(default_factory=Counter)
    # Sources, in the order in which they were opened
    instances: dict[tuple[Site, OuterSample], int] = field(default_factory=dict)
    # Of each source
    positions: list[Position] = field(default_factory=list)
    # Of each loader that has opened: how many processes it has
    workers: dict[Site, int] = field(default_factory=dict)

    def add_span(
        self,
        stage: Name,
        kind: str,
        began: int,
        ended: int,
        lane: int,
        element: int,
        cause: int,
        place: str = "",
    ) -> int:
        """Add a span, and return its index."""
        spans = self.flat_spans
        spans += (stage, kind, began, ended, lane, element, cause, place)
        return len(spans) // SPAN_FIELDS - 1

    def add_event(self, *fields: Any) -> None:
        """Add what happened in a buffer: the *fields* of a `BufferEvent`."""
        self.flat_events += fields

    def spans_from(self, index: int) -> Iterator[tuple[Any, ...]]:
        """Give the fields of each span from this *index* on."""
        return rows(self.flat_spans[index * SPAN_FIELDS :], SPAN_FIELDS)

    @property
    def span_count(self) -> int:
        """How many spans there are."""
        return len(self.flat_spans) // SPAN_FIELDS

    @property
    def causes(self) -> list[int]:
        """The cause of each span."""
        return self.flat_spans[CAUSE::SPAN_FIELDS]

    @property
    def events(self) -> Iterator["BufferEvent"]:
        """What happened in buffers, in the order of time."""
        return map(BufferEvent._make, rows(self.flat_events, EVENT_FIELDS))

    @property
    def changes(self) -> list[int]:
        """The elements that came or left at each of these events, +1 or -1."""
        return self.flat_events[CHANGE::EVENT_FIELDS]

    @property
    def sizes(self) -> list[int]:
        """The bytes of the element at each of these events."""
        return self.flat_events[NBYTES::EVENT_FIELDS]

    def fork(self) -> "Recorder":
        """Make one for another process, which knows the elements and sources of this one."""
        return Recorder(
            identities=[*self.identities],
            members={**self.members},
            instances={**self.instances},
            positions=[*self.positions],
        )

    def opened(self, position: Position, outer: OuterSample) -> int:
        """Number the source at *position*, made from the *outer* sample."""
        instance = self.instances.setdefault((position.site, outer), len(self.instances))
        if instance == len(self.positions):
            self.positions.append(position)
        return instance

    def identify(self, instance: int, epoch: int, sample: int) -> int:
        """Return a key for a *sample* that a source gives."""
        identities = self.identities
        identities.append((instance, epoch, sample))
        return len(identities) - 1

    def join(self, parts: list[int]) -> int:
        """Return a key for an element that is made of *parts*."""
        members: list[int] = []
        for part in parts:
            members += self.members.get(part, (part,))
        key = self.identify(*self.identities[members[0]])  # the first sample's
        self.members[key] = tuple(members)
        return key


def rows(flat: list[Any], width: int) -> Iterator[tuple[Any, ...]]:
    """Give the records of a *flat* list, *width* fields each."""
    return zip(*[iter(flat)] * width, strict=True)


class Wait(NamedTuple):
    """How waits of one kind look, and the words for them: in a legend, and in a sentence.

    *pattern* repeats the mark that fills the bars of such a wait. "{}" stands for the buffer at
    which it waits.
    """

    pattern: str
    legend: str
    sentence: str


EMPTY, NO_CORE = "buffer empty", "no core"
WAITS = {
    EMPTY: Wait("////", "waits for input", "Nothing is ready in {}."),
    "buffer full": Wait(
        "\\\\\\\\", "waits for a free slot", "There is no free slot in {}."
    ),
    NO_CORE: Wait("....", "waits for a core", "Every core is busy."),
    "interpreter lock held": Wait(
        "xxxx",
        "waits for the interpreter lock",
        "Another call holds the interpreter lock.",
    ),
    "storage busy": Wait(
        "**",
        "shares the storage system",
        "Others read from the storage system, too.",
    ),
}
NS = 1e9  # nanoseconds in a second


class Span(NamedTuple):
    """A stretch of time in which one task worked or waited.

    *start* and *end* are in seconds; the clock's own whole nanoseconds are *start_ns* and *end_ns*.
    *role* is open, read, call, fill, load or train. *cause* is the index of the span that decided
    when this one could start, or -1. The *place* of a wait is the buffer or the resource that it
    waited for.
    """

    stage: Name
    kind: str
    start_ns: int
    end_ns: int
    lane: int
    element: int
    cause: int
    place: str
    instance: int
    epoch: int
    sample: int

    @property
    def start(self) -> float:
        return self.start_ns / NS

    @property
    def end(self) -> float:
        return self.end_ns / NS

    @property
    def role(self) -> str:
        return self.stage.role

    @property
    def is_wait(self) -> bool:
        return self.kind in WAITS


class BufferEvent(NamedTuple):
    """An element that came into a buffer (+1) or left it (-1), and its bytes; or a file.

    The name of a *buffer* knows its operator, and its role: ahead, choice or cache.
    """

    buffer: Name
    time_ns: int
    change: int
    element: int
    nbytes: int

    @property
    def time(self) -> float:
        return self.time_ns / NS


# How the flat lists of a recorder are laid out
SPAN_FIELDS = Span._fields.index("instance")  # the others belong to the element
ELEMENT = Span._fields.index("element")
CAUSE = Span._fields.index("cause")
EVENT_FIELDS = len(BufferEvent._fields)
CHANGE = BufferEvent._fields.index("change")
NBYTES = BufferEvent._fields.index("nbytes")


@dataclass
class Epoch:
    """One pass of the training loop; times in seconds from its first request.

    *elements* are the values that arrived: numbers and short text as they are, and
    batches of them; of anything larger only a description, unless the run kept it. *keys* has
    their keys in the trace. All three are empty if the run was not recorded.
    """

    start: float
    duration: float = 0.0
    count: int = 0
    samples: int = 0
    elements: list[Any] = field(default_factory=list)
    arrivals: list[float] = field(default_factory=list)
    keys: list[int] = field(default_factory=list, repr=False)


@dataclass(eq=False, repr=False)
class Trace:
    """A run as data: its spans and events, and its *dataset*, *machine* and *options*.

    Everything that explains a run reads this and nothing else.
    """

    recorder: Recorder | None
    epochs: list[Epoch]
    duration: float  # seconds, from the first request to the end of the last step
    clock: str
    cancelled: bool
    dataset: Description  # the pipeline that ran
    machine: Machine
    options: RunOptions  # how it was run
    # What all ranks did, if this is the trace of one of several
    ranks: "Ranks | None" = None

    @property
    def recorded(self) -> Recorder:
        """The record of the run; ValueError if nothing was recorded."""
        if self.recorder is None:
            raise ValueError("this run was not recorded: run it again without record=False")
        return self.recorder

    @cached_property
    def spans(self) -> list[Span]:
        """Every span, in the order in which it was recorded.

        Raises ValueError if one has a later span as its cause: a chain of causes might have no end.
        """
        who = self.identities
        if any(cause >= index for index, cause in enumerate(self.recorded.causes)):
            raise ValueError("this trace is damaged: a span has a later one as its cause")
        return [Span(*row, *who[row[ELEMENT]]) for row in self.recorded.spans_from(0)]

    @cached_property
    def work(self) -> list[Span]:
        """The spans that are no waits."""
        return [span for span in self.spans if span.kind not in WAITS]

    @cached_property
    def events(self) -> list[BufferEvent]:
        """Everything that came into a buffer or left one, in the order of time."""
        return [*self.recorded.events]

    @property
    def files(self) -> list[BufferEvent]:
        """Every file that was opened (+1) or closed (-1), with the stage that reads it."""
        return self.recorded.files

    @property
    def buffers(self) -> dict[Name, int | None]:
        """The slots of each buffer that the events speak of; None if it has any number."""
        return self.recorded.capacities

    @cached_property
    def identities(self) -> list[Identity]:
        """The identity of each element, by its key; that of a batch is its first sample's."""
        return [Identity(*fields) for fields in self.recorded.identities]

    def members(self, element: int) -> tuple[int, ...]:
        """Return the samples in an *element*: itself, or those of a batch."""
        return self.recorded.members.get(element, (element,))

    # ---- what it adds up to ----

    @property
    def samples(self) -> int:
        """How many samples were trained on."""
        return sum(epoch.samples for epoch in self.epochs)

    @property
    def per_sample(self) -> float:
        """The seconds per sample, in all; ValueError without samples."""
        if not self.samples:
            raise ValueError(
                "no element reached the training loop: there is no time per sample"
            )
        return self.duration / self.samples

    @property
    def counts(self) -> tuple[int, str]:
        """How many samples were trained on; or how many steps, and what they are called.

        Several ranks train in steps together, and a loader that gets whole batches does not know
        how many samples are in them.
        """
        if self.ranks or self.dataset.node.arguments.get("batch_size", 0) is None:
            return sum(epoch.count for epoch in self.epochs), "steps"
        return self.samples, "samples"

    @property
    def rate(self) -> str:
        """How many samples or steps there were, and how long they took, in words."""
        count, unit = self.counts
        words = f"{counted(count, unit)} in {milliseconds(self.duration)}"
        each = f", {milliseconds(self.duration / count)} per {unit[:-1]}" if count else ""
        return words + each

    @cached_property
    def stages(self) -> list[Name]:
        """The stages in the order in which they first worked, the accelerator's last."""
        first = dict.fromkeys(
            span.stage for span in sorted(self.work, key=attrgetter("start_ns"))
        )
        return sorted(
            first, key=lambda stage: (stage.role in ACCELERATOR, stage.role == TRAIN)
        )

    def times(self, stage: str, *, waits: bool = False) -> list[int]:
        """Return the nanoseconds of each stretch of work of *stage*, or of its *waits*."""
        chosen = (
            span for span in self.spans if span.stage == stage and span.is_wait == waits
        )
        return [span.end_ns - span.start_ns for span in chosen]

    def busy(self, stage: str) -> float:
        """Return the share of the run in which at least one call of *stage* was at work."""
        busy = 0
        reached = 0
        for start, end in sorted(
            (span.start_ns, span.end_ns) for span in self.work if span.stage == stage
        ):
            busy += max(0, end - max(start, reached))
            reached = max(reached, end)
        return busy / NS / self.duration if self.duration else 0.0

    @property
    def max_open_files(self) -> int:
        """How many files were open at the same time, at most."""
        return _peak(event.change for event in self.files)

    @property
    def max_bytes(self) -> int:
        """How many bytes all buffers and caches held at the same time, at most."""
        return _peak(map(mul, self.recorded.changes, self.recorded.sizes))

    @property
    def max_held(self) -> int:
        """How many elements all buffers and caches held at the same time, at most."""
        return _peak(self.recorded.changes)

    def state(self, *, after: int) -> State:
        """Return the point *after* this number of elements, for `benchmark(..., resume=state)`.

        Raises ValueError if there were fewer, or if what follows cannot be made again.

        >>> from lessonkit import Dataset, benchmark
        >>> shuffled = Dataset.range(6).shuffle(3)
        >>> whole = benchmark(shuffled, num_epochs=2)
        >>> rest = benchmark(shuffled, num_epochs=2, resume=whole.state(after=4))
        >>> whole.epochs[0].elements[4:] == rest.epochs[0].elements
        True
        >>> whole.epochs[1].elements == rest.epochs[1].elements
        True
        """
        return state_of(self, check.integer("after", after, least=0))

    def __repr__(self) -> str:
        count = sum(epoch.count for epoch in self.epochs)
        what = f"{counted(len(self.epochs), 'epochs')}, {counted(count, 'elements')}"
        return f"<Trace: {what}, {milliseconds(self.duration)}>"

    def __str__(self) -> str:
        """Write a table: per stage the number, time and share of its work, and its waiting."""
        if self.recorder is None:
            return repr(self)
        lines = [
            f"{'stage':<14}{'count':>7}{'busy ms':>12}{'share %':>8}{'waiting ms':>13}"
        ]
        for stage in dict.fromkeys([*self.stages, *(span.stage for span in self.spans)]):
            work = self.times(stage)
            waits = self.times(stage, waits=True)
            busy = f"{sum(work) / 1e6:>12,.3f}{100 * self.busy(stage):>8.1f}"
            lines.append(f"{stage:<14}{len(work):>7}{busy}{sum(waits) / 1e6:>13,.3f}")
        lines.append(
            f"total {self.duration * 1e3:,.3f} ms"
            + (" (cancelled)" if self.cancelled else "")
        )
        count, unit = self.counts
        if count:
            lines[-1] += f", {self.duration / count * 1e3:.3f} ms per {unit[:-1]}"
        return "\n".join(lines)


def _peak(changes: Iterable[int]) -> int:
    return max(accumulate(changes, initial=0))
