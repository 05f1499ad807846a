"""The three-run test of any training loop: the loader alone, the step alone, and both."""

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from itertools import islice
from statistics import median
from textwrap import fill
from time import perf_counter, sleep
from typing import Generic, NamedTuple, TypeVar, cast

from lessonkit.engine import check
from lessonkit.words import milliseconds

from ..measure.batches import bytes_of, own_copy, same, samples_of
from ..measure.runs import restored
from ..measure.state import kept
from ..measure.storage import Pass, Storage, read_so_far
from ..thresholds import COPIES, REPEATS, SMALL, TAKEN_READY, UNTIL_READY
from .verdict import Facts, Verdict, decide

Batch = TypeVar("Batch")
Loader = Iterable[Batch] | Callable[[], Iterable[Batch]]
"""What gives batches more than once, or a function that makes it."""

COLUMN = 90  # characters of a line, so that no notebook breaks one within a word


class ThreeRuns(NamedTuple):
    """The seconds per batch of each of the three runs, and how many *samples* a batch has.

    *ready* is what the loop needs to take a ready batch from a worker; 0 without workers.
    *can_recommend* says whether `recommend` takes the loader. *storage* has two passes over the same
    samples, if the first one read from storage.
    """

    loader: float
    step: float
    both: float
    samples: float
    ready: float = 0
    can_recommend: bool = False
    storage: Storage | None = None

    @property
    def verdict(self) -> Verdict:
        """What decides how long the loop takes."""
        taking = self.ready or None
        facts = Facts(step=self.step, both=self.both, loader=self.loader, taking=taking)
        return decide(facts)

    @property
    def kind(self) -> str:
        """The verdict, one of the keys of VERDICTS."""
        return self.verdict.kind

    @property
    def sentence(self) -> str:
        """The verdict, and what to do about it; in lines that no notebook breaks within a word."""
        loader = milliseconds(self.loader)
        step = milliseconds(self.step)
        both = milliseconds(self.both)
        measured = f"loader {loader} and step {step} per batch alone, {both} together"
        if self.ready:
            measured += f"; {milliseconds(self.ready)} to take a batch that is ready"
        text = f"{self.kind} ({measured}): {self.verdict.advice}."
        if self.can_recommend and self.kind != "step-bound":
            text += " recommend(loader, step) says which setting helps, and by how much."
        if self.storage and (self.storage.share or 0.0) >= SMALL:
            text += f" {self.storage.sentence}"
        return fill(text, COLUMN)

    def __str__(self) -> str:
        rows = [f"{'ms':<8}{'per batch':>12}{'per sample':>12}"]
        for name in ("loader", "step", "both"):
            seconds: float = getattr(self, name)
            each = seconds / self.samples
            rows.append(f"{name:<8}{seconds * 1e3:>12.3f}{each * 1e3:>12.3f}")
        return "\n".join([*rows, self.sentence])


def probe(
    loader: Loader[Batch],
    step: Callable[[Batch], object],
    *,
    synchronise: Callable[[], object] | None = None,
    batches: int = 20,
    skip: int = 2,
) -> ThreeRuns:
    """Return which side of `for batch in loader: step(batch)` is the bottleneck.

    Three runs of *batches*, after *skip* that do not count, are made: the loader alone, the
    step alone on copies of one batch, and both. The whole time of a run counts, because
    a loader that gives batches in bursts has no usual one. Since single runs may be disturbed,
    all three are made three times, and the medians count. If the loader has workers, a few
    batches are taken at the end, each when it has had time to become ready. If the first run read
    from storage, a run over the same samples follows, which finds them in memory: what it saves
    was storage. *step* is really called each time, and may take its batch apart; what it trains is
    put back, as are random states.

    *loader* is an iterable that can be iterated more than once, or a function that makes one.
    *synchronise* is a function that waits until the accelerator has done what *step* only
    started. Raises RuntimeError if the loader raised, and ValueError if it gave too few batches.
    """
    check.function("step", step)
    check.integer("batches", batches, least=1)
    check.integer("skip", skip, least=0)
    wait = check.function("synchronise", synchronise or (lambda: None))
    loop = Loop(loader, step, wait, batches, skip)
    with restored(), kept(step):
        rounds = [loop.three_runs() for _ in range(REPEATS)]
    with restored():  # from the same states, so a loader that draws draws the same
        storage = loop.storage()
    workers = getattr(loader, "num_workers", 0)
    loading = median(one.loader for one in rounds)
    return ThreeRuns(
        loader=loading,
        step=median(one.step for one in rounds),
        both=median(one.both for one in rounds),
        samples=median(one.samples for one in rounds),
        ready=loop.ready(loading) if workers else 0.0,
        can_recommend=hasattr(loader, "num_workers"),
        storage=storage,
    )


class Timed(NamedTuple):
    """The *seconds* per batch of a run, its last *batch*, and what it *read* as a pass."""

    seconds: float
    batch: object
    read: Pass


class Loop(Generic[Batch]):
    """A loop over a *loader* with a *step*, timed over *batches* after *skip* others."""

    def __init__(
        self,
        loader: Loader[Batch],
        step: Callable[[Batch], object],
        wait: Callable[[], object],
        batches: int,
        skip: int,
    ) -> None:
        self.loader = loader
        self.step = step
        self.wait = wait
        self.batches = batches
        self.skip = skip
        self.first: Timed | None = None  # run of the loader alone

    def three_runs(self) -> ThreeRuns:
        """Make each of the three runs once."""
        loading = self.run(lambda batch: None)
        self.first = self.first or loading
        stepping = self.run_step(cast(Batch, loading.batch))
        both = self.run(self.step)
        samples = max(1, samples_of(loading.batch))
        return ThreeRuns(loading.seconds, stepping, both.seconds, samples)

    def run(self, each: Callable[[Batch], object]) -> Timed:
        """Go over the loader, and call *each* for its batches."""
        before = read_so_far()
        with closing(self.source()) as source:
            for batch in islice(source, self.skip):
                each(batch)
            self.wait()
            began = perf_counter()
            for batch in islice(source, self.batches):
                each(batch)
            self.wait()
            seconds = (perf_counter() - began) / self.batches
        # What workers read is known when they have ended
        read = Pass.since(before, seconds, self.skip + self.batches)
        return Timed(seconds, batch, read)

    def storage(self) -> Storage | None:
        """Return what storage took of the first run, by another one over the same samples.

        None is returned if it read nothing from there, or if the samples are others.
        """
        first = self.first
        if first is None or first.read.read is None or not first.read.read.fetched:
            return None
        again = self.run(lambda batch: None)
        if not same(first.batch, again.batch):
            return None
        return Storage(first.read, again.read)

    def run_step(self, batch: Batch) -> float:
        """Return the seconds of the step, which gets a copy of *batch* each time.

        Copies are made when no time is taken, and as many at one time as there is room for.
        """
        room = max(1, COPIES // max(1, bytes_of(batch)))
        for _ in range(self.skip):
            self.step(own_copy(batch))
        self.wait()
        seconds = 0.0
        for first in range(0, self.batches, room):
            copies = [own_copy(batch) for _ in range(min(room, self.batches - first))]
            began = perf_counter()
            for copy in copies:
                self.step(copy)
            self.wait()
            seconds += perf_counter() - began
        return seconds / self.batches

    def ready(self, loading: float) -> float:
        """Return what the loop needs to take a batch that is ready.

        *loading* is what the loader needs for one: after some times that, one is ready.
        """
        times = []
        with closing(self.source()) as source:
            for _ in range(min(TAKEN_READY, self.batches)):
                sleep(UNTIL_READY * loading)
                began = perf_counter()
                next(source)
                times.append(perf_counter() - began)
        return median(times)

    def source(self) -> Generator[Batch, None, None]:
        """Return the batches of one pass."""
        return batches_of(self.loader, self.skip + self.batches)


def batches_of(loader: Loader[Batch], needed: int) -> Generator[Batch, None, None]:
    """Yield the batches of *loader* once.

    Raises TypeError if it is no loader, RuntimeError if it raises, and ValueError if it can be
    iterated only once or gives fewer batches than are *needed*.
    """
    is_function = callable(loader) and (
        isinstance(loader, type) or not hasattr(loader, "__iter__")
    )
    make = cast(Callable[[], Iterable[Batch]], loader)
    made = make() if is_function else loader
    if not hasattr(made, "__iter__") and not hasattr(made, "__getitem__"):
        allowed = "must be an iterable, or a function that makes one"
        raise TypeError(f"loader={made!r}: {allowed}")
    iterator: Iterator[Batch] = iter(cast(Iterable[Batch], made))
    if iterator is loader:
        why = "can be iterated only once; give the function that makes it"
        raise ValueError(f"loader={loader!r}: {why}")
    given = 0
    try:
        for batch in iterator:
            given += 1
            yield batch
    except Exception as error:
        raise RuntimeError(f"the loader raised at batch {given + 1}: {error!r}") from error
    finally:
        close = getattr(iterator, "close", None)
        if close is not None:
            close()
    why = "set batches= to fewer, or give a function that makes a new loader"
    raise ValueError(f"the loader gave too few batches, {given} of {needed}: {why}")
