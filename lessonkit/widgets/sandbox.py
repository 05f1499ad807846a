"""A learner's code: run within limits, and what went wrong said in a sentence."""

import traceback
from collections.abc import Callable
from typing import Any, NamedTuple

from lessonkit.dataset import Dataset
from lessonkit.engine.ranks import Ranks
from lessonkit.engine.resume import INSTALLED, OURS
from lessonkit.engine.trace import Trace
from lessonkit.engine.training import benchmark
from lessonkit.widgets.time_limit import Returned, TookTooLongError, in_time

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
    "ranks",
)


class RefusedError(ValueError):
    """The page asked for something that there is not. Its sentence needs no line of code."""


def bounded(what: str, function: Callable[[], Returned]) -> Returned:
    """Return what *function* returns; stop it if it takes too long.

    *what* names it in sentences. Raise TookTooLongError then, and ValueError if it wants to
    end Python.
    """
    return in_time(MOST_SECONDS, what, function)


class PipelineRun(NamedTuple):
    """A pipeline, or a function of the rank that makes one, and how `benchmark` is to run it."""

    dataset: Any
    options: dict[str, Any]

    @property
    def of_one_rank(self) -> "PipelineRun":
        """The run of one pipeline alone: of several ranks, that of the first."""
        if isinstance(self.dataset, Dataset):
            return self
        alone = {name: value for name, value in self.options.items() if name != "ranks"}
        return PipelineRun(self.dataset(0), alone)

    def simulate(self, rank: int = 0) -> Trace:
        """Run it on the virtual clock; of several ranks return the trace of *rank*, or the last.

        Raise TookTooLongError, or ValueError if the run is too large to look at.
        """
        options = dict(self.options)
        count = options.get("ranks", 1)
        rank = min(rank, count - 1) if type(count) is int else 0
        if count != 1:
            options["record"] = rank  # nobody looks at the others
        what = "simulating this pipeline"
        made = bounded(what, lambda: benchmark(self.dataset, **options))
        trace = made.traces[rank] if isinstance(made, Ranks) else made
        if len(trace.spans) > MOST_SPANS:
            raise ValueError(
                f"this run has more than {MOST_SPANS:,} spans: make it smaller to see it"
            )
        return trace


def pipeline_run(returned: Any) -> PipelineRun:
    """Take what a pipeline function *returned*, a `Dataset` or one and options.

    With *ranks* among the options, it is a function that makes the pipeline of a rank, by its
    number. Raise TypeError if it is something else.
    """
    is_pair = isinstance(returned, tuple) and len(returned) == 2
    dataset, options = returned if is_pair else (returned, {})
    if dataset is None:
        raise TypeError(
            "the pipeline function returned nothing: it must return a Dataset (return dataset)"
        )
    of_ranks = isinstance(options, dict) and "ranks" in options
    fits = callable(dataset) if of_ranks else isinstance(dataset, Dataset)
    if not fits or not isinstance(options, dict):
        wrong = returned if isinstance(dataset, Dataset) else dataset
        raise TypeError(
            f"{wrong!r}: a pipeline function must return a Dataset, or a Dataset and options"
        )
    for name, value in options.items():
        if name not in OPTIONS:
            raise TypeError(f"{name}={value!r}: must be one of {', '.join(OPTIONS)}")
    return PipelineRun(dataset, options)


def described(pipeline: Callable[..., Any], **values: Any) -> PipelineRun:
    """Return what the function *pipeline* makes of *values*; it is called within limits."""
    name = getattr(pipeline, "__name__", "the function")
    return bounded(name, lambda: pipeline_run(pipeline(**values)))


def sentence_of(error: BaseException) -> str:
    """Put *error* in a sentence, with the line of the learner's code that it came from."""
    text = shortened(words_of(error))
    frames = traceback.extract_tb(error.__traceback__)
    is_ours = bool(frames) and frames[-1].filename.startswith(OURS)
    is_sentence = isinstance(error, ValueError | TookTooLongError)
    if not is_sentence and not (is_ours and isinstance(error, TypeError | AttributeError)):
        text = f"{type(error).__name__}: {text}"
    for frame in () if isinstance(error, RefusedError) else reversed(frames):
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


def explain_missing_names(shell: Any) -> None:
    """Let *shell* say after a NameError how to get the name; there may be no shell.

    A name that a function of the cell would have to make, as in an UnboundLocalError, gets no
    such note.
    """

    def explained(
        shell: Any, kind: type, error: NameError, trace: Any, tb_offset: Any = None
    ) -> None:
        if type(error) is NameError and error.name:
            error.add_note(
                f"If a cell above makes {error.name!r}: menu Run, Run All Above Selected Cell."
            )
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset)

    if shell is not None:
        shell.set_custom_exc((NameError,), explained)
