"""Whether a run still does the job that a challenge gave: what may change is how, not what."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from lessonkit.engine.costs import identity
from lessonkit.engine.recorder import AHEAD
from lessonkit.engine.trace import Trace
from lessonkit.widgets.challenges.task import CLOSE
from lessonkit.widgets.sandbox import Job, shortened
from lessonkit.words import milliseconds

ADDRESS = re.compile(" at 0x[0-9a-fA-F]+")  # of an object, and another one each time


class Content(NamedTuple):
    """What a job is: the options of its run, and the elements and nanoseconds of work of one epoch."""

    options: dict[str, Any]
    elements: Counter[str]
    work: Counter[str]


def content(trace: Trace) -> Content:
    """Run one epoch of *trace* again, and keep its elements, to see the job that it does."""
    options = trace.options | {"machine": trace.machine}
    once = Job(trace.dataset, options | {"num_epochs": 1, "keep": True}).simulate()
    elements = Counter(digest(element) for epoch in once.epochs for element in epoch.elements)
    return Content(options, elements, work(once))


def changes(trace: Trace, task: Content) -> Iterator[str]:
    """Say one after another in what *trace* does not do the job of *task*."""
    if any(buffer.name.role == AHEAD and buffer.name.place.inside for buffer in trace.buffers):
        yield "prefetch and parallel calls inside a function are not counted: put them after it"
    mine = content(trace)
    for name, value in task.options.items():
        if mine.options[name] != value:
            now = shortened(repr(mine.options[name]))
            yield f"{name}={now}, and the task has {name}={value!r}: leave it so"
    if more := mine.elements - task.elements:
        yield f"elements that the task has not: {more.total()} in an epoch, such as {shortened(min(more))}"
    if left := task.elements - mine.elements:
        yield f"elements that are missing: {left.total()} in an epoch, such as {shortened(min(left))}"
    for stage, cost in task.work.items():
        if mine.work[stage] < cost * (1 - CLOSE):
            spent, wanted = (milliseconds(nanoseconds / 1e9) for nanoseconds in (mine.work[stage], cost))
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


def work(once: Trace) -> Counter[str]:
    """Add up the nanoseconds that each kind of work takes if it is done once for each sample."""
    spent = defaultdict[tuple[str, int, int], list[float]](list)
    for span in once.work:
        members = once.members(span.element)
        stage = f"{span.stage.wanted} ({span.kind})"  # as it was asked for: it may have got another name
        for who in (once.identities[sample] for sample in members):
            spent[stage, who.instance, who.sample].append((span.end_ns - span.start_ns) / len(members))
    total = Counter[str]()
    for (stage, _, _), times in spent.items():
        total[stage] += sum(times) / len(times)  # type: ignore[assignment]
    return total
