"""The pipeline as a row of parts that work, hold or pass on, and what they held over time."""

from collections import Counter, defaultdict

from lessonkit.engine.check import AUTOTUNE
from lessonkit.engine.node import Node, walk
from lessonkit.engine.operators.interleave import cycle_length
from lessonkit.engine.trace import CALL, FILL, QUEUE, Trace
from lessonkit.words import counted

# What stands on it, the stages that worked in it, how many calls may be under way at a time, and
# the number of its buffer, -1 for none
Part = tuple[str, tuple[str, ...], int, int]
Held = tuple[float, int, int]  # from this second on: how many elements, and bytes


def plumbing(trace: Trace) -> tuple[Part, ...]:
    r"""List the parts of the pipeline that *trace* ran, the accelerator last.

    What a function makes on the way, such as the files of an interleave, works in the part
    that calls it.

    >>> from lessonkit import ArtificialDataset, benchmark
    >>> dataset = ArtificialDataset().map(cost=0.01, num_parallel_calls=2).batch(3).prefetch(1)
    >>> print(*plumbing(benchmark(dataset)), sep="\n")
    ('file', ('Open', 'Read'), 1, -1)
    ('Map', ('Map',), 2, 0)
    ('batch(3)', (), 1, -1)
    ('prefetch(1)', (), 1, 1)
    ('accelerator', ('Train',), 1, -1)
    """
    stages: dict[int, list[str]] = defaultdict(list)
    for stage in trace.stages:
        stages[stage.operator].append(stage)
    own = [name for name in trace.recorded.names if not name.position.inside]
    buffers = {
        name.operator: (number, name)
        for number, name in enumerate(trace.buffers)
        if not name.position.inside
    }
    parts: list[Part] = []
    for operator, node in enumerate(walk(trace.dataset.node)):
        # A loader that never opened has no buffer
        number, buffer = buffers.get(operator, (-1, ""))
        roles = {name.role: name for name in reversed(own) if name.operator == operator}
        if workers := node.arguments.get("num_workers"):
            # What its workers do is drawn as theirs
            del parts[len(parts) + 1 - len(list(walk(node))) :]
            queue, fill = (
                (roles[role],) if role in roles else () for role in (QUEUE, FILL)
            )
            parts.append(("queues", queue, 0, -1))
            parts.append((counted(workers, "workers"), fill, workers, number))
        else:
            name = title(node, roles.get(CALL, ""), buffer)
            at_once = most_calls(node, trace.machine.cores)
            parts.append((name, tuple(stages[operator]), at_once, number))
    return *parts, ("accelerator", tuple(stages[-1]) or ("Train",), 1, -1)


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
    >>> memory(benchmark(ArtificialDataset(3, nbytes=100).cache().prefetch(2), 1))["cache"]
    [(0.045, 1, 100), (0.06, 2, 200), (0.075, 3, 300)]
    """
    steps: dict[str, list[Held]] = {name: [] for name in trace.buffers}
    elements, nbytes = Counter[str](), Counter[str]()
    for event in trace.events:
        name = event.buffer
        elements[name] += event.change
        nbytes[name] += event.change * event.nbytes
        steps[name].append((event.time, elements[name], nbytes[name]))
    return steps
