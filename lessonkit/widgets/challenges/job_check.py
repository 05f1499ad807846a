"""Whether a run still does the job that a challenge gave: what may change is how, not what."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from lessonkit.engine.recorder import AHEAD
from lessonkit.engine.trace import Trace
from lessonkit.widgets.challenges.task import CLOSE
from lessonkit.widgets.sandbox import Recipe, shortened
from lessonkit.words import milliseconds

ADDRESS = re.compile(" at 0x[0-9a-fA-F]+")  # of an object, and another one each time
# The options of a run, and of one epoch the elements and the nanoseconds of work of each
# stage. Of an element the first words and a number: all words of an image take four times
# the memory of it.
GivenJob = tuple[dict[str, Any], Counter[tuple[str, int]], Counter[str]]


def job_of(trace: Trace) -> GivenJob:
    """Run one epoch of *trace* again, with its elements, to see the job that it does.

    The work finds what no element shows: most lessons have maps that only cost time, so a
    pipeline without one of them gives the same elements.
    """
    options = trace.options | {"machine": trace.machine}
    once = Recipe(trace.dataset, options | {"num_epochs": 1, "keep": True}).simulate()
    words = (ADDRESS.sub("", repr(element)) for element in once.epochs[0].elements)
    elements = Counter((shortened(one), hash(one)) for one in words)
    work = Counter[str]()
    for span in once.work:  # a stage as it was asked for: it may have got another name
        work[f"{span.stage.wanted} ({span.kind})"] += span.end_ns - span.start_ns
    return options, elements, work


def differences(trace: Trace, job: GivenJob) -> Iterator[str]:
    """Say one after another in what *trace* does not do the *job*."""
    if any(
        buffer.name.role == AHEAD and buffer.name.place.inside for buffer in trace.buffers
    ):
        yield "prefetch and parallel calls inside a function are not counted: put them after it"
    (options, elements, work), (wanted_options, wanted_elements, wanted_work) = (
        job_of(trace),
        job,
    )
    for name, value in wanted_options.items():
        if options[name] != value:
            yield f"{name}={shortened(repr(options[name]))}, and the task has {name}={value!r}: leave it so"
    if more := elements - wanted_elements:
        yield f"elements that are not in the task: {more.total()} in an epoch, such as {min(more)[0]}"
    if left := wanted_elements - elements:
        yield f"elements that are missing: {left.total()} in an epoch, such as {min(left)[0]}"
    for stage, cost in wanted_work.items():
        if work[stage] < cost * (1 - CLOSE):
            spent, wanted = milliseconds(work[stage] / 1e9), milliseconds(cost / 1e9)
            yield f"{stage} takes {spent} for all samples, and the task has {wanted} for it"
