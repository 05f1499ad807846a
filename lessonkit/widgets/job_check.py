"""Whether a pipeline still does the job that a challenge gave: what may change is how, not what."""

from __future__ import annotations

import inspect
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

from lessonkit.dataset import Dataset
from lessonkit.engine.machine import Machine
from lessonkit.engine.node import walk
from lessonkit.engine.trace import Trace
from lessonkit.engine.training import TRAIN, benchmark
from lessonkit.explain.memory import memory
from lessonkit.widgets.sandbox import OPTIONS, Job, shortened
from lessonkit.words import milliseconds, size

CLOSE = 1e-9  # what floating point may add to a number, or take from it
DEFAULTS = {name: inspect.signature(benchmark).parameters[name].default for name in OPTIONS} | {
    "machine": Machine(),
    "train": TRAIN,
}
HELPED = re.compile(r" calls$|^prefetch\(|^interleave\(")  # buffers of what has helpers


def checked(other: Dataset, options: dict[str, Any]) -> Callable[[Job, Trace], str]:
    """A function that says what a job and its run leave out of another one; nothing if all is there."""
    # Now, and not at the first attempt: names that its functions use may be changed until then.
    values, whole = elements(benchmark(other, **options)), kept(Job(other, options))
    costs = work(whole)

    def missing(job: Job, trace: Trace) -> str:
        if said := option_changed(job.options, options):
            return said
        mine = elements(trace)
        if others := mine - values or values - mine:
            which = "that the task has not" if mine - values else "that are missing"
            return f"elements {which}: {others.total()}, such as {shortened(min(others))}"
        if hidden(job.dataset, trace):
            return "prefetch and parallel calls inside a function are not counted: put them behind it"
        once = kept(job)
        spent = work(once)
        for stage, cost in costs.items():
            if spent[stage] < cost * (1 - CLOSE):
                times = [milliseconds(nanoseconds / 1e9) for nanoseconds in (spent[stage], cost)]
                return f"{stage} takes {times[0]} for all samples, and the task has {times[1]} for it"
        if (now := weight(once)) < (full := weight(whole)):
            return f"all samples together have {size(now)}, and the task has {size(full)}"
        return ""

    return missing


def kept(job: Job) -> Trace:
    """One epoch with a cache at the end: what a learner's function remembers of the run before shows here."""
    return Job(job.dataset.cache(), job.options | {"num_epochs": 1}).simulate()


def option_changed(mine: dict[str, Any], wanted: dict[str, Any]) -> str:
    """The first option of the run that is not that of the task."""
    for name, default in DEFAULTS.items():
        given = (options.get(name) for options in (mine, wanted))
        is_so, should = (default if option is None else option for option in given)
        if is_so != should:
            return f"{name}={shortened(repr(is_so))}, and the task has {name}={should!r}: leave it so"
    return ""


def elements(trace: Trace) -> Counter[str]:
    """What was trained on, in whatever order."""
    return Counter(repr(element) for epoch in trace.epochs for element in epoch.elements)


def work(trace: Trace) -> Counter[str]:
    """Nanoseconds that each kind of work takes if it is done once for each sample."""
    spent = defaultdict[tuple[str, int, int], list[float]](list)
    for span in trace.work:
        members = trace.members(span.element)
        # Two stages of one name are numbered; whose they are makes no difference here.
        stage = f"{re.sub(r' [0-9]+$', '', span.stage)} ({span.kind})"
        for who in (trace.identities[sample] for sample in members):
            spent[stage, who.instance, who.sample].append((span.end - span.start) / len(members))
    total = Counter[str]()
    for (stage, _, _), times in spent.items():
        total[stage] += sum(times) / len(times)  # type: ignore[assignment]
    return total


def hidden(dataset: Dataset, trace: Trace) -> bool:
    """Whether there are helpers that the description does not show: a function makes them."""
    nodes = list(walk(dataset.node))
    shown = [node for node in nodes if node.method == "prefetch" or node.arguments.get("num_parallel_calls")]
    return sum(bool(HELPED.search(buffer.name)) for buffer in trace.buffers) > len(shown)


def weight(once: Trace) -> int:
    """Bytes of all samples of an epoch, as the cache at the end has them."""
    steps = memory(once).bytes.steps
    return max(held for name, levels in steps.items() if name.startswith("cache") for _, held in levels)
