"""AUTOTUNE: the numbers that are left open in a pipeline, found on the virtual clock."""

from collections import Counter
from typing import Any

from lessonkit import check
from lessonkit.check import AUTOTUNE
from lessonkit.dataset import Dataset
from lessonkit.engine.costs import Cost
from lessonkit.engine.machine import Machine
from lessonkit.engine.node import Node, walk
from lessonkit.engine.operators.interleave import cycle_length
from lessonkit.engine.training import benchmark
from lessonkit.found import Found
from lessonkit.improve.climb import Search, Setting
from lessonkit.improve.knobs import Knob, all_turned, on_the_virtual_clock


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
    on_the_virtual_clock(options)
    check.instance("dataset", dataset, Dataset)
    machine = check.instance("machine", machine or Machine(), Machine)
    if memory is not None:
        check.integer("memory", memory, least=0)
    check.integer("most_places", most_places, least=1)
    fixed, open_knobs = open_numbers(dataset.node, machine.cores, most_places)

    def tuned(setting: Setting) -> Dataset:
        values = fixed | dict(zip(open_knobs, setting, strict=True))
        return Dataset(all_turned(dataset.node, values)) if values else dataset

    def run(setting: Setting) -> tuple[float, int]:
        trace = benchmark(tuned(setting), train=train, machine=machine, **options)
        return trace.duration, trace.max_bytes

    if not open_knobs:
        return Found(tuned(()), [], "there is no number of calls or places to find")
    search = Search(open_knobs, run, memory)
    found = search.found()
    return Found(tuned(found), search.tries, search.reason(found))


def open_numbers(
    root: Node, cores: int, most_places: int
) -> tuple[dict[Knob, int | None], list[Knob]]:
    """List how many files an interleave has open, and then the knobs to be turned, from the sources on.

    The order of the elements hangs on these files: their number is not to be found, and
    stays what it was.
    """
    fixed: dict[Knob, int | None] = {}
    wanted, names = list[Knob](), Counter[str]()
    for node in dict.fromkeys(walk(root)):  # one that is used twice counts once
        arguments, most = node.arguments, cores
        label, calls = (
            str(arguments.get("stage", node.method)),
            arguments.get("num_parallel_calls"),
        )
        names[label] += 1
        label += f" {names[label]}" if names[label] > 1 else ""
        if node.method == "interleave" and AUTOTUNE in (arguments["cycle_length"], calls):
            turns = cycle_length(arguments["cycle_length"], calls, cores)
            fixed[Knob(node, "cycle_length", arguments["cycle_length"])] = turns
            most = min(cores, turns)
        if calls == AUTOTUNE:
            wanted.append(Knob(node, "num_parallel_calls", calls, most, label))
        elif node.method == "prefetch" and arguments["buffer_size"] == AUTOTUNE:
            wanted.append(Knob(node, "buffer_size", AUTOTUNE, most_places, label))
    return fixed, wanted
