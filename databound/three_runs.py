"""The three-run test of any training loop: the loader alone, the step alone, and both."""

from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from itertools import islice, repeat
from statistics import median
from textwrap import fill
from time import perf_counter, sleep
from typing import Any, NamedTuple

from lessonkit.engine import check
from lessonkit.words import milliseconds

# Verdicts on how long an epoch takes: what each means, and what to do. `recommend` gives the same
# ones, and knows more of the job.
VERDICTS = {
    "step-bound": "the loader keeps up with the step. Stop here: a faster loader saves next to "
    "nothing",
    "data-bound": "the step waits for the loader. Make its slowest part cheaper, or load with "
    "more workers",
    "they take turns": "the step waits while the loader loads, and the loader waits while the "
    "step runs. Load in the background; if threads already load in the background, try processes",
    "the loop's own time": "the loop spends time on each batch that it takes from a worker, even "
    "if the batch is ready. Hand over fewer, larger batches, or load without workers",
    "both want the same cores": "step and loader slow each other down. Give the step fewer "
    "threads, or the loader fewer workers; they may also share a disk or a lock",
    "cannot tell": "the runs overlap only in part, or differ too much from each other. Deepen "
    "the buffer, and run this again when nothing else runs on this machine",
}


class Verdict(NamedTuple):
    """The seconds per batch of each of the three runs, and how many *samples* a batch has.

    *ready* is what the loop needs to take a ready batch from a worker; 0 without workers.
    *can_recommend* says whether `recommend` takes the loader.
    """

    loader: float
    step: float
    both: float
    samples: float
    ready: float = 0
    can_recommend: bool = False

    @property
    def kind(self) -> str:
        """The verdict, one of the keys of VERDICTS."""
        shorter, longer = sorted((self.loader, self.step))
        apart = shorter + longer
        # Whether a run as short as a tenth is hidden does not matter.
        hidden = (apart - self.both) / shorter if shorter > 0.1 * longer else 1
        if self.ready > 0.25 * self.both:
            return "the loop's own time"
        if self.both > 1.25 * apart:  # loader and step slow each other down
            return "both want the same cores"
        if hidden < 0.75:  # if more is hidden, all counts as hidden
            return "they take turns" if hidden < 0.25 else "cannot tell"
        return "data-bound" if self.loader > self.step else "step-bound"

    @property
    def sentence(self) -> str:
        """The verdict, and what to do about it; in lines that no notebook breaks within a word."""
        loader, step, both = map(milliseconds, self[:3])
        measured = f"loader {loader} and step {step} per batch alone, {both} together"
        if self.ready:
            measured += f"; {milliseconds(self.ready)} to take a batch that is ready"
        text = f"{self.kind} ({measured}): {VERDICTS[self.kind]}."
        if self.can_recommend and self.kind != "step-bound":
            text += " recommend(loader, step) says which setting helps, and by how much."
        return fill(text, 90)

    def __str__(self) -> str:
        rows = [f"{'ms':<8}{'per batch':>12}{'per sample':>12}"]
        for name, seconds in zip(self._fields, self[:3], strict=False):
            each = f"{seconds * 1e3:>12.3f}{seconds * 1e3 / self.samples:>12.3f}"
            rows.append(f"{name:<8}{each}")
        return "\n".join([*rows, self.sentence])


def probe(
    loader: Any,
    step: Callable[[Any], Any],
    *,
    synchronise: Callable[[], Any] | None = None,
    batches: int = 20,
    skip: int = 2,
) -> Verdict:
    """Return which side of `for batch in loader: step(batch)` is the bottleneck.

    Three runs of *batches*, after *skip* that do not count, are made: the loader alone, the
    step alone on one batch again and again, and both. The whole time of a run counts, because
    a loader that gives batches in bursts has no usual one. Since single runs may be disturbed,
    all three are made three times, and the medians count. If the loader has workers, a few
    batches are taken at the end, each when it has had time to become ready. *step* is really
    called each time, so give it a model that may be trained.

    *loader* is an iterable that can be iterated more than once, or a function that makes one.
    *synchronise* is a function that waits until the accelerator has done what *step* only
    started. Raises RuntimeError if the loader raised, and ValueError if it gave too few batches.
    """
    check.function("step", step)
    check.integer("batches", batches, least=1)
    check.integer("skip", skip, least=0)
    wait = check.function("synchronise", synchronise or (lambda: None))
    needed = skip + batches

    def run(
        source: Generator[Any, None, None], each: Callable[[Any], Any]
    ) -> tuple[float, Any]:
        """Return the seconds per batch, and the last batch."""
        with closing(source):
            for batch in islice(source, skip):
                each(batch)
            wait()
            began = perf_counter()
            for batch in islice(source, batches):
                each(batch)
            wait()
            return (perf_counter() - began) / batches, batch

    rounds = []
    for _ in range(3):
        loading, batch = run(_batches(loader, needed), lambda batch: None)
        stepping, _ = run((same for same in repeat(batch)), step)
        both, _ = run(_batches(loader, needed), step)
        rounds.append(Verdict(loading, stepping, both, max(1, _samples(batch))))
    verdict = Verdict(*map(median, zip(*rounds, strict=True)))
    verdict = verdict._replace(can_recommend=hasattr(loader, "num_workers"))
    if not getattr(loader, "num_workers", 0):
        return verdict
    times = []
    with closing(_batches(loader, needed)) as source:
        for _ in range(min(5, batches)):
            sleep(4 * verdict.loader)  # by then one is ready
            began = perf_counter()
            next(source)
            times.append(perf_counter() - began)
    return verdict._replace(ready=median(times))


def _samples(batch: Any) -> int:
    """Return how many samples a *batch* has; if it has parts, the first one tells."""
    if isinstance(batch, Mapping):
        batch = tuple(batch.values())
    # PyTorch makes of pairs a list of two arrays
    is_pair = isinstance(batch, list) and any(
        getattr(one, "shape", ()) for one in batch[:1]
    )
    if is_pair or isinstance(batch, tuple):
        return _samples(batch[0]) if batch else 0
    try:
        return 1 if isinstance(batch, (str, bytes)) else len(batch)
    except TypeError:
        return 1


def _batches(loader: Any, needed: int) -> Generator[Any, None, None]:
    """Yield the batches of *loader* once; raise ValueError if they are fewer than *needed*."""
    is_function = callable(loader) and (
        isinstance(loader, type) or not hasattr(loader, "__iter__")
    )
    made = loader() if is_function else loader
    if not hasattr(made, "__iter__") and not hasattr(made, "__getitem__"):
        allowed = "must be an iterable, or a function that makes one"
        raise TypeError(f"loader={made!r}: {allowed}")
    iterator, given = iter(made), 0
    if iterator is loader:
        why = "can be iterated only once; give the function that makes it"
        raise ValueError(f"loader={loader!r}: {why}")
    try:
        for batch in iterator:
            given += 1
            yield batch
    except Exception as error:
        raise RuntimeError(f"the loader raised at batch {given + 1}: {error!r}") from error
    finally:
        getattr(iterator, "close", lambda: None)()
    why = "set batches= to fewer, or give a function that makes a new loader"
    raise ValueError(f"the loader gave too few batches, {given} of {needed}: {why}")
