"""Takes down a run as it happens: spans, buffer events, file events, and whose they are."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

# What a stage does for its operator:
OPEN, READ, CALL, FILL, LOAD, TRAIN = "open", "read", "call", "fill", "load", "train"
# Of worker processes: how one starts, a task in its queue, and a batch that is ready.
START, QUEUE, READY = "start", "queue", "ready"
TAKE = "take"  # the loop's own time for each batch
MEET = "meet"  # to wait for other ranks
COPY = "copy"  # to the accelerator, while it trains on something else
ACCELERATOR = (LOAD, TRAIN)
# What a buffer is for: elements made ahead by helpers, a shuffle's choice, or a cache.
AHEAD, CHOICE, CACHE = "ahead", "choice", "cache"

Site = tuple[int, ...]  # the way from the end of a pipeline up to an operator


class Place(NamedTuple):
    """Where in a pipeline something is.

    *operator* counts the steps of the description as `walk` does; the training loop is -1. What an
    operator's function makes on the way belongs to that operator, and is *inside* it.
    """

    site: Site = ()
    operator: int = -1
    inside: bool = False


LOOP = Place()


class Name(str):
    """The name of a stage or a buffer, which no other part of the run has; it knows its place and role."""

    place = LOOP
    role = TRAIN
    wanted = ""  # the name as it was asked for: others may have asked for the same
    storage: Any = None  # that this stage reads from

    @property
    def operator(self) -> int:
        """The step of the description that it belongs to; -1 is the training loop."""
        return self.place.operator


class Identity(NamedTuple):
    """Who a sample is: of which source or file, in which pass over it, which one in it."""

    instance: int
    epoch: int
    sample: int


class BufferInfo(NamedTuple):
    """A buffer: its name, and how many elements it has room for; None for no limit."""

    name: Name
    capacity: int | None


NOBODY = Identity(-1, -1, -1)


class Recorder:
    """Takes down a run as it happens.

    It must not slow the run down, nor fill the memory: the fields of all spans stand in
    one flat list, eight for each, and those of buffer events and identities likewise.
    """

    is_repeatable = True  # are the steps that functions made

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.events: list[Any] = []
        self.files: list[tuple[int, int, int, Name]] = []
        # By epochs: the elements that the training loop got
        self.arrived: list[list[int]] = []
        self.identities: list[int] = [*NOBODY]
        self.members: dict[int, tuple[int, ...]] = {}  # of batches: who is in them
        self.names: list[Name] = []  # of stages and buffers, as they were opened
        # Of the buffers: how many elements there is room for
        self.rooms: dict[Name, int | None] = {}
        self.open = Counter[Name]()  # buffers of each name
        # Sources, in the order in which they were opened
        self.instances: dict[Any, int] = {}
        self.places: list[Place] = []  # where each of them is
        # Of each loader that has opened: how many processes it has
        self.workers: dict[Site, int] = {}

    @property
    def count(self) -> int:
        """How many spans there are."""
        return len(self.spans) // 8

    @property
    def people(self) -> int:
        """How many elements it knows, nobody included: the key of the next one."""
        return len(self.identities) // 3

    def heir(self) -> "Recorder":
        """Make one for another process, which begins with the elements and sources that this one knows."""
        other = Recorder()
        other.identities, other.members = [*self.identities], {**self.members}
        other.instances, other.places = {**self.instances}, [*self.places]
        return other

    def opened(self, place: Place, outer: Any) -> int:
        """Number the source at *place* made from the *outer* sample."""
        instance = self.instances.setdefault((place.site, outer), len(self.instances))
        if instance == len(self.places):
            self.places.append(place)
        return instance

    def identify(self, instance: int, epoch: int, sample: int) -> int:
        """Return a key for a *sample* that a source gives."""
        self.identities += (instance, epoch, sample)
        return self.people - 1

    def join(self, parts: list[int]) -> int:
        """Return a key for an element that is made of *parts*."""
        members = tuple(who for part in parts for who in self.members.get(part, (part,)))
        key = self.identify(*self.identity(members[0]))
        self.members[key] = members
        return key

    def identity(self, element: int) -> Identity:
        """Tell who an *element* is; a batch is who its first sample is."""
        return Identity(*self.identities[3 * element : 3 * element + 3])


def rows(flat: list[Any], width: int) -> Iterator[tuple[Any, ...]]:
    """Give the records of a *flat* list, *width* fields each."""
    return zip(*[iter(flat)] * width, strict=True)
