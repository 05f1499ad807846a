"""Whether a run still does the job that a challenge gave: what may change is how, not what."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from lessonkit.engine.costs import identity
from lessonkit.engine.recorder import AHEAD
from lessonkit.engine.trace import Trace
from lessonkit.widgets.challenges.task import CLOSE
from lessonkit.widgets.sandbox import Recipe, shortened
from lessonkit.words import milliseconds

ADDRESS = re.compile(" at 0x[0-9a-fA-F]+")  # of an object, and another one each time


class Content(NamedTuple):
    """What a job is: the options of its run, and the elements and nanoseconds of work of one epoch."""

    options: dict[str, Any]
    elements: Counter[str]
    work: Counter[str]


def content_of(trace: Trace) -> Content:
    """Run one epoch of *trace* again, and keep its elements, to see the job that it does."""
    options = trace.options | {"machine": trace.machine}
    once = Recipe(trace.dataset, options | {"num_epochs": 1, "keep": True}).simulate()
    elements = Counter(digest(element) for epoch in once.epochs for element in epoch.elements)
    return Content(options, elements, work_by_stage(once))


def differences(trace: Trace, task: Content) -> Iterator[str]:
    """Say one after another in what *trace* does not do the job of *task*."""
    if any(buffer.name.role == AHEAD and buffer.name.place.inside for buffer in trace.buffers):
        yield "prefetch and parallel calls inside a function are not counted: put them after it"
    options, elements, work = content_of(trace)
    for name, value in task.options.items():
        if options[name] != value:
            now = shortened(repr(options[name]))
            yield f"{name}={now}, and the task has {name}={value!r}: leave it so"
    if more := elements - task.elements:
        yield f"elements that are not in the task: {more.total()} in an epoch, such as {shortened(min(more))}"
    if left := task.elements - elements:
        yield f"elements that are missing: {left.total()} in an epoch, such as {shortened(min(left))}"
    for stage, cost in task.work.items():
        if work[stage] < cost * (1 - CLOSE):
            spent, wanted = milliseconds(work[stage] / 1e9), milliseconds(cost / 1e9)
            yield f"{stage} takes {spent} for all samples, and the task has {wanted} for it"


def digest(value: Any) -> str:
    """Put an element in words that differ where its contents do."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name!r}: {digest(part)}' for name, part in value.items())}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(digest, value))}]"
    if hasattr(value, "tobytes"):
        return f"<{type(value).__name__} {getattr(value, 'shape', ())}, number {identity(value)}>"
    return ADDRESS.sub("", repr(value))


def work_by_stage(once: Trace) -> Counter[str]:
    """Add up the nanoseconds of each kind of work, counted once for each sample: a cache is no less work.

    This finds what no element shows: most lessons have maps that only cost time, so a pipeline without one
    of them gives the same elements.
    """
    visits = defaultdict[tuple[str, int, int], list[float]](list)
    for span in once.work:
        members = once.members(span.element)
        stage = f"{span.stage.wanted} ({span.kind})"  # as it was asked for: it may have got another name
        for one in (once.identities[sample] for sample in members):
            visits[stage, one.instance, one.sample].append((span.end_ns - span.start_ns) / len(members))
    total = Counter[str]()
    for (stage, _, _), times in visits.items():
        total[stage] += sum(times) / len(times)  # type: ignore[assignment]
    return total
