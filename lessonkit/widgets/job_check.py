"""Whether a run still does the job that a challenge gave: what may change is how, not what."""

from __future__ import annotations

import inspect
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

from lessonkit.dataset import Dataset
from lessonkit.engine.machine import Machine
from lessonkit.engine.recorder import AHEAD, CACHE
from lessonkit.engine.trace import Trace
from lessonkit.engine.training import benchmark
from lessonkit.explain.memory import memory
from lessonkit.loops.costs import identity
from lessonkit.widgets.sandbox import OPTIONS, Job, shortened
from lessonkit.widgets.task import CLOSE
from lessonkit.words import milliseconds, size

DEFAULTS = {name: inspect.signature(benchmark).parameters[name].default for name in OPTIONS} | {
    "machine": Machine()
}


def checked(other: Dataset, options: dict[str, Any]) -> Callable[[Trace], str]:
    """Make a function that says what a run leaves out of the job of *other*; nothing if all is there."""
    # Now, and not at the first attempt: names that its functions use may be changed until then.
    whole = benchmark(other, **options)
    values, once = elements(whole), kept(whole)
    contents, costs = digests(once), work(once)

    def missing(trace: Trace) -> str:
        if said := option_changed(trace.options | {"machine": trace.machine}, options):
            return said
        if said := difference(elements(trace), values):
            return said
        if any(buffer.name.role == AHEAD and buffer.name.place.inside for buffer in trace.buffers):
            return "prefetch and parallel calls inside a function are not counted: put them after it"
        mine = kept(trace)
        if said := difference(digests(mine), contents):
            return said
        spent = work(mine)
        for stage, cost in costs.items():
            if spent[stage] < cost * (1 - CLOSE):
                times = [milliseconds(nanoseconds / 1e9) for nanoseconds in (spent[stage], cost)]
                return f"{stage} takes {times[0]} for all samples, and the task has {times[1]} for it"
        if (now := weight(mine)) < (full := weight(once)):
            return f"all samples together have {size(now)}, and the task has {size(full)}"
        return ""

    return missing


def kept(trace: Trace) -> Trace:
    """Run one epoch with a cache at the end: what a function remembers of the run before shows here."""
    options = trace.options | {"machine": trace.machine, "num_epochs": 1, "keep": True}
    return Job(Dataset(trace.dataset.node).cache(), options).simulate()


def option_changed(mine: dict[str, Any], wanted: dict[str, Any]) -> str:
    """Name the first option of the run that is not that of the task."""
    for name, default in DEFAULTS.items():
        given = (options.get(name) for options in (mine, wanted))
        is_so, should = (default if option is None else option for option in given)
        if is_so != should:
            return f"{name}={shortened(repr(is_so))}, and the task has {name}={should!r}: leave it so"
    return ""


def difference(mine: Counter[str], values: Counter[str]) -> str:
    """Say which elements are too many or missing, with an example."""
    if others := mine - values or values - mine:
        which = "that the task has not" if mine - values else "that are missing"
        return f"elements {which}: {others.total()}, such as {shortened(min(others))}"
    return ""


def elements(trace: Trace) -> Counter[str]:
    """Count what was trained on, in whatever order."""
    return Counter(repr(element) for epoch in trace.epochs for element in epoch.elements)


def digests(once: Trace) -> Counter[str]:
    """Count what was trained on by its contents, where a trace only says what it is."""
    return Counter(digest(element) for epoch in once.epochs for element in epoch.elements)


def digest(value: Any) -> str:
    """Put an element in words that differ where its contents do."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name!r}: {digest(part)}' for name, part in value.items())}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(digest, value))}]"
    if hasattr(value, "tobytes"):
        return f"<{type(value).__name__} {getattr(value, 'shape', ())}, number {identity(value)}>"
    has_words = type(value).__repr__ is not object.__dict__["__repr__"]
    return repr(value) if has_words else f"<{type(value).__name__}>"


def work(trace: Trace) -> Counter[str]:
    """Add up the nanoseconds that each kind of work takes if it is done once for each sample."""
    spent = defaultdict[tuple[str, int, int], list[float]](list)
    for span in trace.work:
        members = trace.members(span.element)
        stage = (
            f"{span.stage.wanted} ({span.kind})"  # whose it is of several that want a name is all the same
        )
        for who in (trace.identities[sample] for sample in members):
            spent[stage, who.instance, who.sample].append((span.end_ns - span.start_ns) / len(members))
    total = Counter[str]()
    for (stage, _, _), times in spent.items():
        total[stage] += sum(times) / len(times)  # type: ignore[assignment]
    return total


def weight(once: Trace) -> int:
    """Count the bytes of all samples of an epoch, as the cache at the end has them."""
    steps = memory(once).bytes.steps
    caches = [buffer.name for buffer in once.buffers if buffer.name.role == CACHE]
    return max(held for cache in caches for _, held in steps[cache])
