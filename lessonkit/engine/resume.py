"""Where a run stood: enough to begin again there, and what it costs to do so, by three ways of keeping it."""

from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from typing import Any

from lessonkit.engine.costs import identity
from lessonkit.engine.node import Node, walk


@dataclass(frozen=True)
class State:
    """Where a run stood *after* so many elements; `benchmark(..., resume=state)` goes on there.

    *pipeline* is a digest of what ran, *passes* are those that had begun over its sources. Systems
    keep one of three things. The contents of all buffers are *contents* bytes, and take no time. A
    position takes *position* seconds, until the first element is there again. Without either, all
    is made again: *replay* seconds.
    """

    pipeline: str
    after: int
    passes: int
    contents: int
    position: float
    replay: float


def state_of(trace: Any, after: int) -> State:
    """Tell where the run of *trace* stood *after* so many elements; ValueError if it cannot go on there."""
    node, given = trace.dataset.node, sum(map(len, trace.arrived))
    if after > given:
        raise ValueError(f"after={after}: must be {given} or less, so many elements were trained on")
    if any(part.arguments.get("random") for part in walk(node)):
        raise ValueError("a map with random=True cannot be resumed: what it draws is drawn anew")
    orders = [part.arguments.get(name) for part in walk(node) for name in ("in_order", "deterministic")]
    if trace.clock == "real" and False in orders:
        raise ValueError("an order that hangs on times cannot be resumed: keep the order of the elements")
    times = [epoch.start + time for epoch in trace.epochs for time in epoch.arrivals]
    now = round(times[after - 1] * 1e9) if after else 0
    held = sum(event.change * event.nbytes for event in trace.events if event.time_ns <= now)
    keys = islice((key for keys in trace.arrived for key in keys), after)
    passes = max((trace.identities[key].epoch + 1 for key in keys), default=0)
    return State(fingerprint(node), after, passes, held, times[0] if times else 0.0, now / 1e9)


def fingerprint(root: Node) -> str:
    """Return a digest of the pipeline that ends in *root*: steps, arguments, what functions do."""
    digest = sha256()
    for node in walk(root):
        digest.update(repr((node.method, len(node.inputs))).encode())
        for name, value in node.arguments.items():
            digest.update(f"{name}={told_apart(value)};".encode())
    return digest.hexdigest()


def told_apart(value: Any) -> str:
    """Return a text that tells an argument from others, the same in every process."""
    code = getattr(value, "__code__", None)
    if code is not None:
        return f"{code.co_name} {code.co_code.hex()} {[told_apart(one) for one in code.co_consts]}"
    if hasattr(value, "co_code"):  # a function within a function
        return str(value.co_code.hex())
    if callable(value) and not isinstance(value, type) and " at 0x" in repr(value):
        return type(value).__qualname__
    return str(identity(value))
