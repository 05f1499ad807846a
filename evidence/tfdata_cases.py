"""Pipelines as the measured cases spell them, built with lessonkit."""

from collections.abc import Callable
from typing import Any

from evidence.record import cases as cases
from lessonkit import ArtificialDataset, Dataset
from lessonkit.engine.element import END
from lessonkit.engine.machine import Machine
from lessonkit.engine.node import NodeStates
from lessonkit.engine.operators.stream import Scope
from lessonkit.engine.trace import Name
from lessonkit.engine.virtual import Virtual

CORES = 2  # of the machine on which tf.data was measured

FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "identity": lambda x, k: x,
    "add": lambda x, k: x + k,
    "mul": lambda x, k: x * k,
    "square": lambda x, k: x * x,
}


class PlannedError(Exception):
    """The error that a case asks for."""


class OutsideError(Exception):
    """The case needs an operator that is outside this project."""


def build(pipeline: dict[str, Any], x: Any = None) -> Dataset:
    """The pipeline of a case; *x* is the outer element, for an inner data set."""
    dataset = source(pipeline, x)
    for op in pipeline.get("ops", []):
        dataset = apply(dataset, op)
    return dataset


def source(pipeline: dict[str, Any], x: Any) -> Dataset:
    if "source" in pipeline:
        return build(pipeline["source"], x)
    spec = pipeline
    kind = spec["kind"]
    if kind == "slices":
        columns = spec["columns"]
        return Dataset.from_tensor_slices(
            columns if isinstance(columns, dict) else tuple(columns)
        )
    if kind == "range":
        if "n" in spec:
            return Dataset.range(spec["n"])
        return Dataset.range(spec.get("start", 0), spec["stop"], spec.get("step", 1))
    if kind == "list":
        return Dataset.from_tensor_slices(spec["values"])
    if kind == "range_x":
        return Dataset.range(x, x + spec["k"])
    if kind == "repeat_x":
        return Dataset.from_list([x]).repeat(x)
    if kind == "const_x":
        return Dataset.from_list([x])
    if kind == "artificial":
        files = ArtificialDataset(spec["samples"], open=spec["open"], read=spec["read"])
        offset = spec.get("stride", 0) * (x or 0)
        return files.map(lambda sample: sample + offset) if offset else files
    raise OutsideError(kind)


def apply(dataset: Any, op: dict[str, Any]) -> Any:  # noqa: C901, PLR0912 - one branch an operator
    name = op["op"]
    if name == "map":
        return dataset.map(
            function(op),
            cost=cost(op),
            num_parallel_calls=op.get("num_parallel_calls"),
            deterministic=op.get("deterministic", True),
        )
    if name in ("interleave", "flat_map"):
        options = {key: op[key] for key in op if key not in ("op", "source")}
        return getattr(dataset, name)(lambda x: build(op["source"], x), **options)
    if name == "zip":
        return Dataset.zip(
            dataset, *(build(part) for part in op.get("sources") or [op["source"]])
        )
    if name == "concatenate":
        return dataset.concatenate(build(op["source"]))
    if name == "enumerate":
        return dataset.enumerate(op.get("start", 0))
    if name == "take_while":
        return dataset.take_while(failing(op, lambda x: x < op["below"]))
    if name == "map_and_batch":
        options = {key: op[key] for key in ("drop_remainder", "num_parallel_calls")}
        return dataset.map_and_batch(function(op), op["size"], cost=cost(op), **options)
    if name == "shuffle_and_repeat":
        return dataset.shuffle_and_repeat(op["buffer"], op["count"], op.get("seed"))
    if name == "shuffle":
        return dataset.shuffle(op["buffer"], op.get("seed"), op.get("reshuffle", True))
    if name == "batch":
        options = {key: op[key] for key in op if key not in ("op", "size")}
        return dataset.batch(op["size"], **options)
    if name == "filter":
        return dataset.filter(failing(op, lambda x: x % op.get("keep_mod", 1) == 0))
    if name == "shard":
        return dataset.shard(op["num"], op["index"])
    if name in ("cache", "unbatch"):
        return getattr(dataset, name)()
    if name in ("repeat", "take", "skip", "prefetch"):
        value = [op[key] for key in ("count", "n", "buffer") if key in op]
        return getattr(dataset, name)(*value)
    raise OutsideError(name)


def function(op: dict[str, Any]) -> Any:
    if "fail_on" not in op and "fn" not in op:
        return None
    apply_to = FUNCTIONS[op.get("fn", "identity")]
    return failing(op, lambda x: apply_to(x, op.get("k", 0)))


def failing(op: dict[str, Any], function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The *function*, which fails on the values that *op* names."""

    def called(x: Any) -> Any:
        if x in op.get("fail_on", ()):
            raise PlannedError(x)
        return function(x)

    return called


def cost(op: dict[str, Any]) -> Any:
    usual = op.get("cost", 0)
    special = op.get("cost_of")
    return (lambda x: special.get(str(x), usual)) if special else usual


def plain(value: Any) -> Any:
    """A value as JSON has it: tuples are lists."""
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, (list, tuple)) else value


def sequence(dataset: Dataset, states: NodeStates, limit: int = 10_000) -> list[Any]:
    """One pass: values, `PlannedError` in the place of errors, and "end"."""
    run = Virtual(Machine(CORES), states, None)

    async def consume() -> list[Any]:
        stream = Scope(run).open(dataset.node)
        seen: list[Any] = []
        while len(seen) < limit:
            try:
                element = await stream.next()
            except PlannedError:
                seen.append(PlannedError)
                continue
            if element is END:
                seen.append("end")
                break
            seen.append(plain(element.value))
        stream.close()
        return seen

    result: list[Any] = run.complete(consume(), Name("Test"))
    return result
