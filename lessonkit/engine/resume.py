"""Where a run stood: enough to go on there, and what two ways to keep that cost."""

import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from .node import Node, is_repeatable, walk

if TYPE_CHECKING:
    from .trace import Trace

PLAIN = (type(None), bool, int, float, complex, str)
OURS = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")
# Where code is that no learner wrote; in a browser folders begin with two slashes
INSTALLED = (
    OURS,
    *(
        os.path.join(folder, "").replace("//", "/")
        for folder in (
            os.path.dirname(os.__file__),
            sysconfig.get_path("purelib"),
            sysconfig.get_path("platlib"),
        )
    ),
)


@dataclass(frozen=True)
class State:
    """A point in a run, *after* a number of elements; `benchmark(..., resume=state)` goes on there.

    *pipeline* is a digest of the pipeline that ran. A system that keeps the contents of all buffers
    keeps *contents* bytes. One that keeps a position takes *position* seconds until the first
    element is there again. One that keeps neither makes all elements again, as a resumed run does:
    the first arrival in that run tells how long it takes.
    """

    pipeline: str
    after: int
    contents: int
    position: float


def state_of(trace: "Trace", after: int) -> State:
    """Return the state of a run after *after* elements; ValueError if it has none."""
    node = trace.dataset.node
    recorded = trace.recorded
    times = [epoch.start + time for epoch in trace.epochs for time in epoch.arrivals]
    if after > len(times):
        must = f"must be {len(times)} or less, the number of elements that were trained on"
        raise ValueError(f"after={after}: {must}")
    if not (recorded.is_repeatable and all(map(is_repeatable, walk(node)))):
        raise ValueError(
            "this run depends on timing or on chance, so it cannot be resumed: "
            "keep the order of the elements, and draw nothing (random=True)"
        )
    now = round(times[after - 1] * 1e9) if after else 0
    held = sum(
        event.change * event.nbytes for event in trace.events if event.time_ns <= now
    )
    first = times[0] if times else 0.0
    before = trace.options.resume
    if before is not None:  # all is counted from the beginning of the run before
        first = before.position
        after = before.after + after
    return State(fingerprint(node, trace.machine.cores), after, held, first)


def fingerprint(root: Node, cores: int) -> str:
    """Return a digest of the pipeline that ends in *root*, the same in every process.

    It holds the steps, their arguments, and of functions their code, what they captured and the
    globals that they name; and *cores*, if the order may depend on that number.
    """
    steps = [(node.method, len(node.inputs), node.arguments) for node in walk(root)]
    # The cycle of an interleave, also of one that a function makes, may be left to the machine
    uses_cores = any(step[0] in ("interleave", "flat_map") for step in steps)
    text = content_of([steps, cores if uses_cores else None], {})
    return sha256(text.encode()).hexdigest()


def content_of(value: Any, met: dict[int, tuple[int, Any]]) -> str:
    """Return a text that tells *value* from others by all that is in it.

    *met* has the values before it by id, each with its number; it holds them, so no id is reused.
    """
    if type(value) in PLAIN:
        return repr(value)
    if isinstance(value, bytes):
        return sha256(value).hexdigest()
    if id(value) in met:
        return f"again {met[id(value)][0]}"
    met[id(value)] = len(met), value
    parts = ", ".join(content_of(part, met) for part in parts_of(value))
    return f"{type(value).__qualname__}({parts})"


def parts_of(value: Any) -> Iterable[Any]:
    """Return the parts of *value*: of an object what a pickle would keep of it."""
    if isinstance(value, dict):
        return value.items()
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=repr)
    if isinstance(value, (list, tuple)):
        return value
    if isinstance(value, CodeType):
        return value.co_code, value.co_names, value.co_consts
    with suppress(Exception):  # a learner's object may raise anything
        if name := global_name(value):
            return (name,)
        if isinstance(value, FunctionType):
            cells = [cell.cell_contents for cell in value.__closure__ or ()]
            known = value.__globals__
            names = sorted({*names_in(value.__code__)})
            used = {name: known[name] for name in names if name in known}
            return value.__code__, value.__defaults__, value.__kwdefaults__, cells, used
        if isinstance(value, (staticmethod, classmethod, property)):
            return getattr(value, "__func__", None), getattr(value, "fget", None)
        if isinstance(value, type):
            return value.__bases__, dict(vars(value))
        if not hasattr(value, "__next__"):  # an iterator may be shared, and moves on
            made: Any = value.__reduce_ex__(2)
            # Of what a list or dict has beside, iterators; or the name of a global
            parts = [made] if isinstance(made, str) else made
            return [[*part] if hasattr(part, "__next__") else part for part in parts]
    return (repr(value).partition(" at 0x")[0],)


def global_name(value: Any) -> str:
    """Return the name of a module, or of a member of an installed one; else an empty string."""
    if isinstance(value, ModuleType):
        return value.__name__
    name = getattr(value, "__qualname__", "")
    module = getattr(value, "__module__", "")
    found = sys.modules.get(module or "")
    path = str(getattr(found, "__file__", ""))
    is_installed = module in sys.builtin_module_names or path.startswith(INSTALLED)
    return f"{module}.{name}" if is_installed and vars(found).get(name) is value else ""


def names_in(code: CodeType) -> Iterator[str]:
    """Give the names that *code* looks up, and those of the functions and comprehensions in it."""
    yield from code.co_names
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from names_in(part)
