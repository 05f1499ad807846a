"""Where a run stood: enough to begin again there, and what it costs to do so, by three ways of keeping it."""

import zlib
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from inspect import getclosurevars
from itertools import islice
from numbers import Integral
from types import BuiltinMethodType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

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
        raise ValueError(
            f"after={after}: must be {given} or less, so many elements were trained on"
        )
    if any(part.arguments.get("random") for part in walk(node)):
        raise ValueError(
            "a map with random=True cannot be resumed: what it draws is drawn anew"
        )
    orders = [
        part.arguments.get(name)
        for part in walk(node)
        for name in ("in_order", "deterministic")
    ]
    if trace.clock == "real" and False in orders:
        raise ValueError(
            "an order that hangs on times cannot be resumed: keep the order of the elements"
        )
    times = [epoch.start + time for epoch in trace.epochs for time in epoch.arrivals]
    now = round(times[after - 1] * 1e9) if after else 0
    held = sum(
        event.change * event.nbytes for event in trace.events if event.time_ns <= now
    )
    keys = islice((key for keys in trace.arrived for key in keys), after)
    passes = max((trace.identities[key].epoch + 1 for key in keys), default=0)
    first = times[0] if times else 0.0
    before = trace.options["resume"]
    # The run was itself resumed: all is counted from the beginning of the first
    if before is not None:
        passes, first, after = (
            max(passes, before.passes),
            before.position,
            before.after + after,
        )
    return State(fingerprint(node), after, passes, held, first, now / 1e9)


def fingerprint(root: Node) -> str:
    """Return a digest of the pipeline that ends in *root*: steps, arguments, what functions do."""
    digest = sha256()
    for node in walk(root):
        digest.update(repr((node.method, len(node.inputs))).encode())
        for name, value in node.arguments.items():
            digest.update(f"{name}={told_apart(value)};".encode())
    return digest.hexdigest()


def told_apart(value: Any, *around: Any) -> str:
    """Return a text that tells an argument from others, the same in every process.

    Of a function it has what it does: its code, its defaults, and all that it takes from
    outside. It is met while these values *around* it are told apart.
    """
    if any(value is one for one in around):  # it calls itself
        return "again"
    parts: Any = None
    if isinstance(value, CodeType):
        parts = value.co_code.hex(), value.co_names, value.co_consts
    elif isinstance(value, FunctionType):
        taken = getclosurevars(value)
        parts = (
            value.__code__,
            value.__defaults__,
            value.__kwdefaults__,
            taken.nonlocals,
            taken.globals,
        )
    elif isinstance(value, partial):
        parts = value.func, value.args, value.keywords
    elif isinstance(value, dict):
        parts = *value, *value.values()
    elif isinstance(value, (set, frozenset)):
        parts = sorted(map(told_apart, value))
    elif isinstance(value, (list, tuple)):
        parts = value
    elif isinstance(value, (MethodType, BuiltinMethodType)):
        parts = getattr(value, "__func__", value.__name__), value.__self__
    if parts is not None:
        return str([told_apart(part, *around, value) for part in parts])
    if isinstance(value, (ModuleType, type)):
        return value.__name__
    if " at 0x" in repr(value):  # an object of a learner's
        return f"{type(value).__qualname__} {told_apart(getattr(value, '__dict__', {}), *around, value)}"
    return str(identity(value))


def identity(value: Any) -> int:
    """Return a number that tells *value* from others, the same in every process."""
    if isinstance(value, Integral):
        return int(value)
    if hasattr(value, "tobytes"):  # of an array all that is in it
        return zlib.crc32(value.tobytes())
    if isinstance(value, (dict, tuple, list)):
        value = [
            identity(part)
            for part in (value.values() if isinstance(value, dict) else value)
        ]
    return zlib.crc32(repr(value).encode())
