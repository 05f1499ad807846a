"""The pipeline as a row of parts that work, hold or pass on, and what they held over time."""

from collections import Counter, defaultdict
from typing import NamedTuple

from lessonkit.engine.check import AUTOTUNE
from lessonkit.engine.node import Node, walk
from lessonkit.engine.operators.interleave import cycle_length
from lessonkit.engine.trace import CALL, FILL, LOOP, QUEUE, Trace
from lessonkit.words import counted


class Part(NamedTuple):
    """A part of a pipeline: its *name*, and the *stages* that worked in it.

    At most *calls* are under way in it at a time. *buffer* is the number of the buffer in which it
    puts elements, in the order of `Trace.buffers`; None if it has none.
    """

    name: str
    stages: tuple[str, ...]
    calls: int = 1
    buffer: int | None = None


class Held(NamedTuple):
    """What a buffer holds from this second on: how many elements, and how many bytes."""

    time: float
    elements: int
    nbytes: int


def plumbing(trace: Trace) -> tuple[Part, ...]:
    r"""List the parts of the pipeline that *trace* ran, the accelerator last.

    What a function makes on the way, such as the files of an interleave, works in the part
    that calls it.

    >>> from lessonkit import ArtificialDataset, benchmark
    >>> dataset = ArtificialDataset().map(cost=0.01, num_parallel_calls=2).batch(3).prefetch(1)
    >>> print(*plumbing(benchmark(dataset)), sep="\n")
    Part(name='file', stages=('Open', 'Read'), calls=1, buffer=None)
    Part(name='Map', stages=('Map',), calls=2, buffer=0)
    Part(name='batch(3)', stages=(), calls=1, buffer=None)
    Part(name='prefetch(1)', stages=(), calls=1, buffer=1)
    Part(name='accelerator', stages=('Train',), calls=1, buffer=None)
    """
    stages: dict[int, list[str]] = defaultdict(list)
    for stage in trace.stages:
        stages[stage.operator].append(stage)
    own = [name for name in trace.recorded.names if not name.position.inside]
    buffers: dict[int, str] = {}  # by the operator that fills each
    numbers: dict[int, int] = {}
    for number, buffer in enumerate(trace.buffers):
        if not buffer.position.inside:
            buffers[buffer.operator] = buffer
            numbers[buffer.operator] = number
    parts: list[Part] = []
    for operator, node in enumerate(walk(trace.dataset.node)):
        has = numbers.get(operator)  # a loader that never opened has no buffer
        roles = {name.role: name for name in reversed(own) if name.operator == operator}
        if workers := node.arguments.get("num_workers"):
            # What its workers do is drawn as theirs
            del parts[len(parts) + 1 - len(list(walk(node))) :]
            queue = (roles[QUEUE],) if QUEUE in roles else ()
            fill = (roles[FILL],) if FILL in roles else ()
            parts.append(Part("queues", queue, calls=0))
            parts.append(Part(counted(workers, "workers"), fill, workers, has))
        else:
            name = title(node, roles.get(CALL, ""), buffers.get(operator, ""))
            calls = most_calls(node, trace.machine.cores)
            parts.append(Part(name, tuple(stages[operator]), calls, has))
    accelerator = Part("accelerator", tuple(stages[LOOP.operator]) or ("Train",))
    return *parts, accelerator


def title(node: Node, stage: str, buffer: str) -> str:
    """Choose what to write on a part: the *stage* of its function, its *buffer*, or its step."""
    if "stage" in node.arguments:
        worked = stage or str(node.arguments["stage"])
        if node.method == "map_and_batch":
            return f"{worked}, batch({node.arguments['batch_size']})"
        return worked
    if node.method == "ArtificialDataset":
        return "file"
    values = node.arguments.values()
    number = next((f"({n})" for n in values if type(n) is int and n >= 0), "")
    return buffer or node.method + number


def most_calls(node: Node, cores: int) -> int:
    """Return how many calls a run on *cores* has under way at the same time, at most."""
    calls: int = node.arguments.get("num_parallel_calls") or 1
    if calls != AUTOTUNE:
        return calls
    cycle = node.arguments.get("cycle_length", cores)
    return min(cores, cycle_length(cycle, calls, cores))


def memory(trace: Trace) -> dict[str, list[Held]]:
    """Return what each buffer and cache of *trace* held after each change, also of one moment.

    >>> from lessonkit import ArtificialDataset, benchmark
    >>> run = benchmark(ArtificialDataset(3, nbytes=100).cache().prefetch(2), 1)
    >>> [tuple(held) for held in memory(run)["cache"]]
    [(0.045, 1, 100), (0.06, 2, 200), (0.075, 3, 300)]
    """
    steps: dict[str, list[Held]] = {name: [] for name in trace.buffers}
    elements = Counter[str]()
    nbytes = Counter[str]()
    for event in trace.events:
        name = event.buffer
        elements[name] += event.change
        nbytes[name] += event.change * event.nbytes
        steps[name].append(Held(event.time, elements[name], nbytes[name]))
    return steps
