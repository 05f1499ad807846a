"""The pipeline as a row of parts that work, hold or pass on, in the order in which data flows."""

from collections import defaultdict
from typing import NamedTuple

from lessonkit.check import AUTOTUNE
from lessonkit.engine.node import Node, walk
from lessonkit.engine.operators.interleave import cycle_length
from lessonkit.engine.trace import CALL, FILL, QUEUE, Trace


class Part(NamedTuple):
    """An operator: the *stages* that worked in it, and the number of its *buffer*, -1 for none."""

    name: str
    stages: tuple[str, ...]
    calls: int  # that may be under way at once
    buffer: int


def plumbing(trace: Trace) -> tuple[Part, ...]:
    """List the parts of the pipeline that *trace* ran, the accelerator last.

    What a function makes on the way, such as the files of an interleave, works in the part
    that calls it.

    >>> from lessonkit import ArtificialDataset, benchmark
    >>> dataset = ArtificialDataset().map(cost=0.01, num_parallel_calls=2).batch(3).prefetch(1)
    >>> for part in plumbing(benchmark(dataset)):
    ...     print(part.name, part.stages, part.calls, part.buffer)
    file ('Open', 'Read') 1 -1
    Map ('Map',) 2 0
    batch(3) () 1 -1
    prefetch(1) () 1 1
    accelerator ('Train',) 1 -1
    """
    stages: dict[int, list[str]] = defaultdict(list)
    for stage in trace.stages:
        stages[stage.operator].append(stage)
    own = [name for name in trace.recorded.names if not name.place.inside]
    named = {name.operator: name for name in reversed(own) if name.role == CALL}
    rooms = enumerate(trace.buffers)
    buffers = {
        room.name.operator: number for number, room in rooms if not room.name.place.inside
    }
    parts: list[Part] = []
    for operator, node in enumerate(walk(trace.dataset.node)):
        number = buffers.get(operator, -1)
        name = title(
            node, named.get(operator, ""), trace.buffers[number].name if number >= 0 else ""
        )
        if node.method == "DataLoader" and (count := node.arguments["num_workers"]):
            # What its workers do is drawn as theirs
            del parts[len(parts) + 1 - len(list(walk(node))) :]
            crew = {name.role: (name,) for name in own if name.operator == operator}
            # It may never have opened
            room = trace.buffers[number].capacity if number >= 0 else None
            parts.append(Part("queues", crew.get(QUEUE, ()), room or count, -1))
            parts.append(Part(f"{count} workers", crew.get(FILL, ()), count, number))
            continue
        parts.append(
            Part(
                name,
                tuple(stages[operator]),
                calls_at_most(node, trace.machine.cores),
                number,
            )
        )
    return (*parts, Part("accelerator", tuple(stages[-1]) or ("Train",), 1, -1))


def title(node: Node, stage: str, buffer: str) -> str:
    """Choose what to write on a part: the *stage* of its function, its *buffer*, or its step."""
    if "stage" in node.arguments:
        return stage or str(node.arguments["stage"])
    if node.method == "ArtificialDataset":
        return "file"
    numbers = [
        value for value in node.arguments.values() if type(value) is int and value >= 0
    ]
    return buffer or node.method + (f"({numbers[0]})" if numbers else "")


def calls_at_most(node: Node, cores: int) -> int:
    """Count the calls that may be under way at once, as a run on so many *cores* starts them."""
    calls = node.arguments.get("num_parallel_calls") or 1
    if calls == AUTOTUNE:
        calls = cores
        if node.method == "interleave":
            calls = min(
                cores, cycle_length(node.arguments["cycle_length"], AUTOTUNE, cores)
            )
    return int(calls)
