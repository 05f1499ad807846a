"""Running what a pipeline function returns, within limits, and saying in a sentence what went wrong."""

import builtins
import io
import os
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from typing import Any, NamedTuple, TextIO

from lessonkit.code.functions import INSTALLED, OURS
from lessonkit.dataset import Dataset
from lessonkit.engine.ranks import Ranks
from lessonkit.engine.trace import Trace
from lessonkit.engine.training import benchmark
from lessonkit.widgets.time_limit import Result, TookTooLongError, in_time, is_limited

MOST_SPANS = 200_000
MOST_SECONDS = 2.0
STUCK = 10.0  # s; a question that takes longer, whatever is done, never ends
MOST_SHOWN, MOST_PRINTED = 1000, 10_000  # characters: what is below them is still to be seen
MOST_SAID = 400  # characters of an error
ONE_AT_A_TIME = threading.RLock()  # for what all threads share: standard output, and `input`
OPTIONS = ("num_epochs", "train", "step", "load", "ahead", "queue", "machine", "max_elements")
OF_RANKS = ("ranks", "allreduce")


class Printed(io.TextIOBase):
    """Passes on the beginning of what a pipeline function prints *to* a stream, and stops it if it prints on.

    All threads print to the same stream: what others print passes through as it is.
    """

    def __init__(self, to: TextIO) -> None:
        self.to = to
        self.count = 0

    def write(self, text: str) -> int:
        """Pass on as much of *text* as there is room for; raise ValueError if it is far too much."""
        if not is_limited.get():
            return self.to.write(text)
        room = max(0, MOST_SHOWN - self.count)
        self.count += len(text)
        if self.count > MOST_PRINTED:
            raise ValueError(f"the pipeline function printed more than {MOST_PRINTED:,} characters")
        return self.to.write(text if len(text) <= room else f"{text[:room]}…\n" if room else "")


def bounded(what: str, function: Callable[[], Result]) -> Result:
    """Return what *function* returns; stop it if it takes or prints too much, or asks for input.

    *what* names it in sentences. Raise TookTooLongError if it takes too long, or if an earlier one
    cannot be stopped; ValueError if it prints too much, asks for input, or wants to end Python.
    """
    if is_limited.get():
        return function()  # all this is so already
    if not ONE_AT_A_TIME.acquire(timeout=STUCK):
        raise TookTooLongError("an earlier pipeline function waits and cannot be stopped: restart the kernel")
    process, ask = os.getpid(), builtins.input

    def refuse(prompt: object = "") -> str:
        if is_limited.get():  # a page that waits for an answer runs no other cell
            raise ValueError("input() cannot be used in a pipeline function")
        return ask(prompt)

    builtins.input = refuse
    try:
        with redirect_stdout(Printed(sys.stdout)), redirect_stderr(Printed(sys.stderr)):
            return in_time(MOST_SECONDS, what, function)
    except (SystemExit, GeneratorExit) as error:
        stopped = ValueError(f"{what} wanted to end Python, and was stopped")
        raise stopped.with_traceback(error.__traceback__) from None
    finally:
        if os.getpid() != process:
            os._exit(0)  # the other process of a fork, which must not answer as well
        builtins.input = ask
        ONE_AT_A_TIME.release()


class Recipe(NamedTuple):
    """What a pipeline function returns: a pipeline, or a function of the rank, and how to run it."""

    dataset: Any
    options: dict[str, Any]

    @property
    def one(self) -> "Recipe":
        """The pipeline itself; of several ranks that of the first, which then trains alone."""
        if isinstance(self.dataset, Dataset):
            return self
        return Recipe(self.dataset(0), {name: self.options[name] for name in self.options if name in OPTIONS})

    def simulate(self, rank: int = 0) -> Trace:
        """Run it on the virtual clock; raise TookTooLongError or ValueError if it is too much to look at.

        Of several ranks the trace is that of *rank*, or of the last if there are fewer; it knows the others.
        """
        options, count = dict(self.options), self.options.get("ranks", 1)
        rank = min(rank, count - 1) if type(count) is int else 0
        if count != 1:
            options["record"] = rank  # nobody looks at the others
        made = bounded("simulating this pipeline", lambda: benchmark(self.dataset, **options))
        trace = made.traces[rank] if isinstance(made, Ranks) else made
        if len(trace.spans) > MOST_SPANS:
            raise ValueError(f"this run has more than {MOST_SPANS:,} spans: make it smaller to see it")
        return trace


def recipe_of(returned: Any) -> Recipe:
    """Take what a pipeline function *returned*, a `Dataset` or one and options; raise TypeError otherwise.

    With *ranks* among the options, it is a function that makes the pipeline of a rank, by its number.
    """
    dataset, options = returned if isinstance(returned, tuple) and len(returned) == 2 else (returned, {})
    if dataset is None:
        raise TypeError("the pipeline function returned nothing: it must return a Dataset (return dataset)")
    of_ranks = isinstance(options, dict) and "ranks" in options
    if not (callable(dataset) if of_ranks else isinstance(dataset, Dataset)) or not isinstance(options, dict):
        wrong = returned if isinstance(dataset, Dataset) else dataset
        raise TypeError(f"{wrong!r}: a pipeline function must return a Dataset, or a Dataset and options")
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
    sentences = (ValueError, TookTooLongError, *((TypeError, AttributeError) if is_ours else ()))
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
