"""The pipeline as a row of parts that work, hold or pass on, in the order in which data flows."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from lessonkit.dataset import Dataset
from lessonkit.engine.node import Node, walk
from lessonkit.engine.trace import Trace
from lessonkit.explain.idle import ACCELERATOR

# What an operator's buffer is called in a trace, at the beginning; a map's is called after its stage.
BUFFERS = {
    "prefetch": "prefetch(",
    "cache": "cache",
    "shuffle": "shuffle(",
    "shuffle_and_repeat": "shuffle(",
    "interleave": "interleave(",
}
MAPS = ("map", "map_and_batch")
OF_FILES = re.compile(r"(Open|Read)( \d+)?")
FILES = ("interleave", "flat_map", "from_generator", "ArtificialDataset")


class Part(NamedTuple):
    """An operator: the *stages* that work in it, and the number of its *buffer*, -1 for none."""

    name: str
    stages: tuple[str, ...]
    calls: int  # that may be under way at once
    buffer: int


def plumbing(dataset: Dataset, trace: Trace) -> tuple[Part, ...]:
    """The parts of *dataset* as *trace* shows them, the accelerator last.

    >>> from lessonkit import ArtificialDataset, benchmark
    >>> dataset = ArtificialDataset().map(cost=0.01, num_parallel_calls=2).batch(3).prefetch(1)
    >>> for part in plumbing(dataset, benchmark(dataset)):
    ...     print(part.name, part.stages, part.calls, part.buffer)
    file ('Open', 'Read') 1 -1
    Map ('Map',) 2 0
    batch(3) () 1 -1
    prefetch(1) () 1 1
    accelerator ('Train',) 1 -1
    """
    buffers = dict(enumerate(buffer.name for buffer in trace.buffers))
    nodes = list(walk(dataset.node))
    parts: list[Part] = []
    count: Counter[str] = Counter()
    for node in nodes:
        own = own_stages(node, count)
        prefix = f"{own[0]}: " if node.method in MAPS else BUFFERS.get(node.method, "nothing")
        number = next((key for key, name in buffers.items() if name.startswith(prefix)), -1)
        buffered = buffers.pop(number, "")
        calls = node.arguments.get("num_parallel_calls") or 1
        if calls < 0 and buffered:  # AUTOTUNE; the name of the buffer has the number
            calls = int(re.findall(r"\d+", buffered)[-1])
        parts.append(Part(title(node, own, buffered), own, calls, number))
    said = {stage for part in parts for stage in part.stages}
    others = [stage for stage in trace.stages if stage not in said and stage not in ACCELERATOR]
    places = hosts(nodes, others)
    for stage, place in list(zip(others, places, strict=True))[::-1]:
        parts[place] = parts[place]._replace(stages=(stage, *parts[place].stages))
    accelerator = tuple(stage for stage in trace.stages if stage in ACCELERATOR)
    return (*parts, Part("accelerator", accelerator or ("Train",), 1, -1))


def own_stages(node: Node, count: Counter[str]) -> tuple[str, ...]:
    """The stages that an operator works under, numbered as in a run, which opens the sources first."""
    wanted: tuple[str, ...] = ()
    if node.method in MAPS:
        wanted = (node.arguments["stage"],)
    elif node.method == "ArtificialDataset":
        wanted = ("Open", "Read")
    count.update(wanted)
    return tuple(f"{stage} {count[stage]}" if count[stage] > 1 else stage for stage in wanted)


def title(node: Node, own: tuple[str, ...], buffered: str) -> str:
    """What to write on a part."""
    if node.method in MAPS:
        return own[0]
    if node.method == "ArtificialDataset":
        return "file"
    numbers = [value for value in node.arguments.values() if type(value) is int and value >= 0]
    return buffered or node.method + (f"({numbers[0]})" if numbers else "")


def hosts(nodes: list[Node], stages: list[str]) -> list[int]:
    """The operators in which stages work that functions name, or the data sets that they make.

    Functions come in the order in which their stages first worked, as far as can be told.
    """
    files = [index for index, node in enumerate(nodes) if node.method in FILES] or [0]
    functions = [
        index
        for index, node in enumerate(nodes)
        if node.method == "from_generator" or (node.method in MAPS and node.arguments["map_func"])
    ]
    named = [index for index in functions if nodes[index].method in MAPS] or files
    others = [stage for stage in stages if not OF_FILES.fullmatch(stage)]
    return [
        files[-1] if stage not in others else named[min(others.index(stage), len(named) - 1)]
        for stage in stages
    ]
