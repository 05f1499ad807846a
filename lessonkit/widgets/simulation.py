"""Running what a pipeline function returns, within limits, and saying in a sentence what went wrong."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Callable
from typing import Any, NamedTuple

from lessonkit.benchmark import benchmark
from lessonkit.dataset import Dataset
from lessonkit.trace import Trace
from lessonkit.widgets.patience import TookTooLongError, patience

MOST_SPANS = 200_000
MOST_SECONDS = 2.0
OPTIONS = ("num_epochs", "train", "load", "machine", "max_elements")


class Job(NamedTuple):
    """A pipeline, and how to run it."""

    dataset: Dataset
    options: dict[str, Any]

    def simulate(self) -> Trace:
        """Run it on the virtual clock, if that does not take too long."""
        with patience(MOST_SECONDS, "simulating this pipeline"):
            trace = benchmark(self.dataset, **self.options)
        if len(trace.spans) > MOST_SPANS:
            raise ValueError(f"this run has more than {MOST_SPANS:,} spans: make it smaller to see it")
        return trace


def job(made: Any) -> Job:
    """What a pipeline function may give: a `Dataset`, or one and keywords of `benchmark`."""
    if made is None:
        raise TypeError("the pipeline function returned nothing: it must return a Dataset (return dataset)")
    dataset, options = made if isinstance(made, tuple) and len(made) == 2 else (made, {})
    if not isinstance(dataset, Dataset) or not isinstance(options, dict):
        raise TypeError(f"{made!r}: a pipeline function must return a Dataset, or a Dataset and options")
    for name in options:
        if name not in OPTIONS:
            raise TypeError(f"{name}={options[name]!r}: must be one of {', '.join(OPTIONS)}")
    return Job(dataset, options)


def made_by(pipeline: Callable[..., Any], **values: Any) -> Job:
    """Call a pipeline function, which may be a learner's: it may take for ever."""
    with patience(MOST_SECONDS, f"{getattr(pipeline, '__name__', 'the function')}"):
        return job(pipeline(**values))


def said(error: BaseException) -> str:
    """An error as a sentence, with the line of the learner's code that it came from."""
    text = str(error) or type(error).__name__
    found = traceback.extract_tb(error.__traceback__)
    frames = [frame for frame in found if frame.filename != contextlib.__file__]
    ours = bool(frames) and is_ours(frames[-1])
    if not isinstance(error, (ValueError, TookTooLongError)) and not (ours and isinstance(error, TypeError)):
        text = f"{type(error).__name__}: {text}"
    for frame in reversed(frames):
        if not is_ours(frame) and frame.line:
            return f"{text} (in {frame.name}, line {frame.lineno}: {frame.line})"
    return text


def is_ours(frame: traceback.FrameSummary) -> bool:
    """Whether this is lessonkit's own code, whose errors are sentences for the learner."""
    return "lessonkit" in frame.filename.replace("\\", "/").split("/")
