"""What buffers and caches held over time."""

from collections import Counter

from lessonkit.engine.trace import Trace

Held = tuple[float, int, int]  # from this second on: how many elements, and bytes


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
