"""A learner's code: run with a deadline, and what went wrong said in a sentence."""

import _thread
import ctypes
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from functools import cache
from time import perf_counter, sleep
from typing import Any, NamedTuple, TypeVar

from lessonkit.dataset import Dataset
from lessonkit.engine.ranks import Ranks
from lessonkit.engine.resume import INSTALLED, OURS
from lessonkit.engine.trace import Trace
from lessonkit.engine.training import benchmark

MOST_SECONDS = 2.0  # for a run, after which a learner would think that nothing happens
MOST_SPANS = 200_000  # of a run that is looked at
MOST_SAID = 400  # characters of an error, or of a value
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


# ---- a deadline, so that an endless loop ends with a sentence ----


Returned = TypeVar("Returned")
BETWEEN_LOOKS = 0.05  # s from one look at the clock to the next
# Whether there is one. The threads of a real run inherit it from the thread that began the run.
has_deadline = ContextVar("has_deadline", default=False)


def interrupt(thread: threading.Thread) -> None:
    """Raise KeyboardInterrupt in *thread*; of all threads only the main one wakes up for it."""
    if thread is not threading.main_thread():
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident or 0), ctypes.py_object(KeyboardInterrupt)
        )
    elif hasattr(signal, "pthread_kill"):
        signal.pthread_kill(thread.ident or 0, signal.SIGINT)
    else:  # Windows, where this wakes it up too
        _thread.interrupt_main()


class Deadline:
    """The time until which the thread that sets it may run. It never interrupts after `end`."""

    def __init__(self, seconds: float, cancelled: threading.Event | None) -> None:
        self.until = perf_counter() + seconds
        self.cancelled = cancelled
        self.thread = threading.current_thread()
        self.lock = threading.Lock()
        self.has_ended = False
        self.has_fired = False

    def look(self) -> None:
        """Interrupt the thread if it is late or cancelled; again later, if that had no effect."""
        with self.lock:
            if self.cancelled and self.cancelled.is_set() and not self.has_fired:
                self.until = 0
            if not self.has_ended and perf_counter() > self.until:
                self.has_fired = True
                # Again in 1 s: Python ignores what is raised while it clears up memory
                self.until = perf_counter() + 1.0
                interrupt(self.thread)

    def end(self) -> None:
        """Interrupt no more; wait for an interrupt that may still be on its way."""
        with self.lock:
            self.has_ended = True
        if self.has_fired:
            sleep(0.001)


running: set[Deadline] = set()  # of all threads


def watch() -> None:
    """Look at all deadlines, for ever.

    It goes by the clock and is never woken up: a thread that wakes wants the interpreter, and
    the one that runs would have to wait for it.
    """
    while True:
        sleep(BETWEEN_LOOKS)
        for deadline in [*running]:
            deadline.look()


@cache
def start_watch() -> None:
    """Start the watch once for all; as a Thread it would be waited for, and counted."""
    _thread.start_new_thread(watch, ())


def in_time(
    what: str,
    function: Callable[[], Returned],
    seconds: float | None = None,
    cancelled: threading.Event | None = None,
) -> Returned:
    """Return what *function* returns; stop it after *seconds*, or MOST_SECONDS, or if *cancelled*.

    Raises TimeoutError then, whose sentence begins with *what*, and ValueError if it wants
    to end Python. Where no thread can start, as in a browser, nothing is stopped. A kernel runs
    cells on its main thread; it may answer the page's questions on others. This is no context
    manager, for an interrupt could come between its own code and the body.
    """
    if has_deadline.get():
        return function()  # inside another call of this, whose deadline counts
    seconds = seconds or MOST_SECONDS
    deadline = Deadline(seconds, cancelled)
    with suppress(RuntimeError):
        start_watch()
    is_main = deadline.thread is threading.main_thread()
    before = signal.signal(signal.SIGINT, signal.default_int_handler) if is_main else None
    outside = has_deadline.set(True)
    try:
        try:
            running.add(deadline)
            return function()
        finally:
            deadline.end()
    except KeyboardInterrupt as stopping:
        if not deadline.has_fired:
            raise
        late = TimeoutError(f"{what} took longer than {seconds:g} s and was stopped")
        # The traceback names the learner's line.
        raise late.with_traceback(stopping.__traceback__) from None
    except (SystemExit, GeneratorExit) as ending:
        refused = ValueError(f"{what} tried to end Python and was stopped")
        raise refused.with_traceback(ending.__traceback__) from None
    finally:
        running.discard(deadline)
        has_deadline.reset(outside)
        if is_main:
            signal.signal(signal.SIGINT, before)


# ---- what a pipeline function returns, and its run ----


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

        Raises TimeoutError, or ValueError if the run has more than 200,000 spans.
        """
        options = dict(self.options)
        count = options.get("ranks", 1)
        rank = min(rank, count - 1) if type(count) is int else 0
        if count != 1:
            options["record"] = rank  # the others are not shown
        what = "simulating this pipeline"
        made = in_time(what, lambda: benchmark(self.dataset, **options))
        trace = made.traces[rank] if isinstance(made, Ranks) else made
        if len(trace.spans) > MOST_SPANS:
            raise ValueError(
                f"this run has more than {MOST_SPANS:,} spans: make it smaller to see it"
            )
        return trace


def pipeline_run(returned: Any) -> PipelineRun:
    """Take what a pipeline function *returned*, a `Dataset` or one and options.

    With *ranks* among the options, it is a function that makes the pipeline of a rank, by its
    number. Raises TypeError if it is something else.
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
    """Return what the function *pipeline* makes of *values*; it is called with a deadline."""
    name = getattr(pipeline, "__name__", "the function")
    return in_time(name, lambda: pipeline_run(pipeline(**values)))


# ---- sentences ----


def sentence_of(error: BaseException) -> str:
    """Put *error* in a sentence, with the line of the learner's code that it came from."""
    try:
        text = shortened(str(error) or type(error).__name__)
    except Exception:  # a learner's own may fail in that too
        text = type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    is_ours = bool(frames) and frames[-1].filename.startswith(OURS)
    is_sentence = isinstance(error, ValueError | TimeoutError)
    if not is_sentence and not (is_ours and isinstance(error, TypeError | AttributeError)):
        text = f"{type(error).__name__}: {text}"
    for frame in reversed(frames):
        if not frame.filename.startswith(INSTALLED) and frame.line:
            return f"{text} (in {frame.name}, line {frame.lineno}: {shortened(frame.line)})"
    return text


def shortened(text: str) -> str:
    """Cut a long *text*, which would not be read to its end."""
    return text if len(text) <= MOST_SAID else f"{text[:MOST_SAID]}…"


def explain_missing_names(shell: Any) -> None:
    """Let *shell* say after a NameError how to get the name; there may be no shell.

    A name that a function of the cell would have to make, as in an UnboundLocalError, gets no
    such note.
    """

    def explained(
        shell: Any, kind: type, error: NameError, trace: Any, tb_offset: Any = None
    ) -> None:
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
        if type(error) is NameError and error.name:
            print(
                f"If a cell above makes {error.name!r}, choose Run, Run All Above Selected Cell.",
                file=sys.stderr,
            )

    if shell is not None:
        shell.set_custom_exc((NameError,), explained)
