"""AUTOTUNE: the numbers that are left open in a pipeline, found on the virtual clock."""

from __future__ import annotations

from collections import Counter
from typing import Any

from lessonkit import check
from lessonkit.check import AUTOTUNE
from lessonkit.dataset import Dataset
from lessonkit.engine.costs import Cost
from lessonkit.engine.machine import Machine
from lessonkit.engine.node import Node, rebuilt, walk
from lessonkit.engine.operators.interleave import cycle_length
from lessonkit.engine.training import benchmark
from lessonkit.found import Found
from lessonkit.improve.search import Knob, Result, Search, Setting


def autotune(
    dataset: Dataset,
    machine: Machine | None = None,
    memory: int | None = None,
    train: Cost | None = None,
    *,
    most_places: int = 8,
    **options: Any,
) -> Found:
    r"""Put a number in the place of every AUTOTUNE in *dataset*; no operator is added or moved.

    Calls get no more than the cores of *machine*, a prefetch no more than *most_places*, and
    all buffers and caches together no more than *memory* bytes. Of settings within 2 % of
    the fastest the one with fewer calls is better, and then the one that takes less memory.
    *options* are those of `benchmark`, which runs the pipeline many times, with its
    functions, on the virtual clock; without an end it needs `max_elements`.

    >>> from lessonkit import AUTOTUNE, ArtificialDataset
    >>> dataset = ArtificialDataset(20).map(cost=0.030, num_parallel_calls=AUTOTUNE).prefetch(AUTOTUNE)
    >>> tuned = autotune(dataset, Machine(cores=2))
    >>> tuned.dataset
    ArtificialDataset(20).map(cost=0.03, num_parallel_calls=2).prefetch(1)
    >>> print(*[step for step in tuned.steps if step.accepted], sep="\n")
    + Map 1, prefetch 1: 1880.000 ms, 0 bytes: where the search begins
    + Map 1 -> 2: 1010.000 ms, 0 bytes: 46.3 % faster
    """
    if not isinstance(dataset, Dataset):
        raise TypeError(f"dataset={dataset!r}: must be a Dataset")
    if not isinstance(machine, Machine | None):
        raise TypeError(f"machine={machine!r}: must be a Machine")
    if memory is not None:
        check.integer("memory", memory, least=0)
    check.integer("most_places", most_places, least=1)
    for name in ("clock", "record"):
        if name in options:
            raise TypeError(f"{name}={options[name]!r}: must be left out, the virtual clock is recorded")
    machine = machine or Machine()
    cycles = _cycles(dataset, machine.cores)
    knobs = _knobs(dataset, machine.cores, most_places, cycles)

    def tuned(setting: Setting) -> Dataset:
        changes: dict[Node, dict[str, int]] = {node: {"cycle_length": cycles[node]} for node in cycles}
        for knob, number in zip(knobs, setting, strict=True):
            changes.setdefault(knob.node, {})[knob.argument] = number

        def change(old: Node, new: Node) -> Node:
            return new.replace(**changes[old]) if old in changes else new

        return Dataset(rebuilt(dataset.node, change, {})) if changes else dataset

    def run(setting: Setting) -> Result:
        trace = benchmark(tuned(setting), train=train, machine=machine, **options)
        return Result(trace.duration, trace.max_bytes)

    if not knobs:
        return Found(tuned(()), [], "there is no number of calls or places to be found")
    if options.get("max_elements") is None and _never_ends(dataset.node):
        raise ValueError("the pipeline never ends: say max_elements, or repeat it a number of times")
    search = Search(knobs, run, memory)
    found = search.found()
    return Found(tuned(found), search.steps, search.reason(found))


def _never_ends(node: Node) -> bool:
    """Whether something is repeated for ever and never cut short; an empty one would end."""
    count, endless = node.arguments.get("count"), [_never_ends(part) for part in node.inputs]
    if node.method in ("repeat", "shuffle_and_repeat"):
        return count is None or count < 0 or (count > 0 and endless[0])
    if node.method == "take" and count is not None and count >= 0:
        return False
    return all(endless) if node.method == "zip" else any(endless)


def _cycles(dataset: Dataset, cores: int) -> dict[Node, int]:
    """How many files an interleave with AUTOTUNE has open: the order of the elements hangs on it.

    So it is not a knob, and stays what it was, also when the calls have a number.
    """
    return {
        node: cycle_length(node.arguments["cycle_length"], node.arguments["num_parallel_calls"], cores)
        for node in walk(dataset.node)
        if node.method == "interleave"
        and AUTOTUNE in (node.arguments["cycle_length"], node.arguments["num_parallel_calls"])
    }


def _knobs(dataset: Dataset, cores: int, most_places: int, cycles: dict[Node, int]) -> list[Knob]:
    """The numbers to be found, from the sources on; a map is called by its stage."""
    knobs = []
    names = Counter[str]()
    for node in dict.fromkeys(walk(dataset.node)):  # one that is used twice counts once
        name = str(node.arguments.get("stage", node.method))
        names[name] += 1
        name += f" {names[name]}" if names[name] > 1 else ""
        if node.arguments.get("num_parallel_calls") == AUTOTUNE:
            knobs.append(Knob(name, node, "num_parallel_calls", min(cores, cycles.get(node, cores))))
        elif node.method == "prefetch" and node.arguments["buffer_size"] == AUTOTUNE:
            knobs.append(Knob(name, node, "buffer_size", most_places))
    return knobs
