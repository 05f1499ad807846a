"""Running what a pipeline function returns, within limits, and saying in a sentence what went wrong."""

import traceback
from collections.abc import Callable
from typing import Any, NamedTuple

from lessonkit.dataset import Dataset
from lessonkit.engine.ranks import Ranks
from lessonkit.engine.resume import INSTALLED, OURS
from lessonkit.engine.trace import Trace
from lessonkit.engine.training import benchmark
from lessonkit.widgets.time_limit import Result, TookTooLongError, in_time

MOST_SPANS = 200_000
MOST_SECONDS = 2.0
MOST_SAID = 400  # characters of an error
OPTIONS = (
    "num_epochs",
    "train",
    "step",
    "load",
    "ahead",
    "queue",
    "machine",
    "max_elements",
)
OF_RANKS = ("ranks", "allreduce")


def bounded(what: str, function: Callable[[], Result]) -> Result:
    """Return what *function* returns; stop it if it takes too long.

    *what* names it in sentences. Raise TookTooLongError then, and ValueError if it wants to
    end Python.
    """
    try:
        return in_time(MOST_SECONDS, what, function)
    except (SystemExit, GeneratorExit) as error:
        stopped = ValueError(f"{what} wanted to end Python, and was stopped")
        raise stopped.with_traceback(error.__traceback__) from None


class Recipe(NamedTuple):
    """What a pipeline function returns: a pipeline, or a function of the rank, and how to run it."""

    dataset: Any
    options: dict[str, Any]

    @property
    def one(self) -> "Recipe":
        """The pipeline itself; of several ranks that of the first, which then trains alone."""
        if isinstance(self.dataset, Dataset):
            return self
        return Recipe(
            self.dataset(0),
            {name: self.options[name] for name in self.options if name in OPTIONS},
        )

    def simulate(self, rank: int = 0) -> Trace:
        """Run it on the virtual clock; raise TookTooLongError or ValueError if it is too much to look at.

        Of several ranks the trace is that of *rank*, or of the last if there are fewer; it
        knows the others.
        """
        options, count = dict(self.options), self.options.get("ranks", 1)
        rank = min(rank, count - 1) if type(count) is int else 0
        if count != 1:
            options["record"] = rank  # nobody looks at the others
        made = bounded(
            "simulating this pipeline", lambda: benchmark(self.dataset, **options)
        )
        trace = made.traces[rank] if isinstance(made, Ranks) else made
        if len(trace.spans) > MOST_SPANS:
            raise ValueError(
                f"this run has more than {MOST_SPANS:,} spans: make it smaller to see it"
            )
        return trace


def recipe_of(returned: Any) -> Recipe:
    """Take what a pipeline function *returned*, a `Dataset` or one and options; raise TypeError otherwise.

    With *ranks* among the options, it is a function that makes the pipeline of a rank, by
    its number.
    """
    dataset, options = (
        returned if isinstance(returned, tuple) and len(returned) == 2 else (returned, {})
    )
    if dataset is None:
        raise TypeError(
            "the pipeline function returned nothing: it must return a Dataset (return dataset)"
        )
    of_ranks = isinstance(options, dict) and "ranks" in options
    if not (
        callable(dataset) if of_ranks else isinstance(dataset, Dataset)
    ) or not isinstance(options, dict):
        wrong = returned if isinstance(dataset, Dataset) else dataset
        raise TypeError(
            f"{wrong!r}: a pipeline function must return a Dataset, or a Dataset and options"
        )
    for name in options:
        if name not in (known := OPTIONS + OF_RANKS * of_ranks):
            raise TypeError(f"{name}={options[name]!r}: must be one of {', '.join(known)}")
    return Recipe(dataset, options)


def described(pipeline: Callable[..., Any], **values: Any) -> Recipe:
    """Call the function *pipeline* with *values*, within limits, for it may take for ever."""
    name = getattr(pipeline, "__name__", "the function")
    return bounded(name, lambda: recipe_of(pipeline(**values)))


def sentence_of(error: BaseException) -> str:
    """Put *error* in a sentence, with the line of the learner's code that it came from."""
    text = shortened(words_of(error))
    frames = traceback.extract_tb(error.__traceback__)
    is_ours = bool(frames) and frames[-1].filename.startswith(OURS)
    sentences = (
        ValueError,
        TookTooLongError,
        *((TypeError, AttributeError) if is_ours else ()),
    )
    if not isinstance(error, sentences):
        text = f"{type(error).__name__}: {text}"
    for frame in () if getattr(error, "is_whole", False) else reversed(frames):
        if not frame.filename.startswith(INSTALLED) and frame.line:
            return f"{text} (in {frame.name}, line {frame.lineno}: {shortened(frame.line)})"
    return text


def words_of(error: BaseException) -> str:
    """Return what *error* says of itself; a learner's own may fail in that too."""
    try:
        return str(error) or type(error).__name__
    except Exception:
        return type(error).__name__


def shortened(text: str) -> str:
    """Cut a *text* that nobody would read to its end."""
    return text if len(text) <= MOST_SAID else f"{text[:MOST_SAID]}…"
