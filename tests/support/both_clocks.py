"""One description run on the real clock and on the virtual one, to be compared."""

import re
from collections.abc import Callable
from typing import Any

from lessonkit import Dataset, Machine, Trace, benchmark
from lessonkit.engine.element import END
from lessonkit.engine.node import NodeStates
from lessonkit.engine.operators.stream import Scope
from lessonkit.engine.trace import Name
from lessonkit.engine.virtual import Virtual
from support.random_pipelines import PlannedError


def both(dataset: Dataset, **options: Any) -> list[Trace]:
    """Return a run on the virtual clock, and one on the real one."""
    return [benchmark(dataset, clock=clock, **options) for clock in ("virtual", "real")]


def is_a_race(dataset: Dataset) -> bool:
    """Whether what reads ahead completes a cache before it is closed may be seen in the elements.

    It is if a pass that fills the cache gives others than one that replays it. Who is first
    is open on threads, as it is in tf.data.
    """
    return re.search("(shuffle|fails).*cache", repr(dataset)) is not None


def outcomes(dataset: Dataset, told: Callable[[Exception], Any] = repr) -> list[Any]:
    """Return every element of a real pass, and in the place of an error what is *told* of it."""
    iterator = iter(dataset)
    seen = []
    while True:
        try:
            seen.append(next(iterator))
        except StopIteration:
            return seen
        except Exception as error:
            seen.append(told(error))


def on_threads(dataset: Dataset) -> list[Any]:
    """Return the same, with the class of an error: what it says depends on where it was raised."""
    return outcomes(dataset, type)


def on_virtual(dataset: Dataset) -> list[Any]:
    """Return the same of a pass on the virtual clock."""
    run = Virtual(Machine(), NodeStates(fixed_seed=True), None)

    async def everything() -> list[Any]:
        stream = Scope(run).open(dataset.node)
        seen = []
        while True:
            try:
                element = await stream.next()
            except PlannedError:
                seen.append(PlannedError)
                continue
            if element is END:
                stream.close()
                return seen
            seen.append(element.value)

    result: list[Any] = run.complete(everything(), Name("Test"))
    return result
