"""When each element reaches the loop, and how long an epoch takes: measured on real tf.data.

Costs are spent larger than they are written, by the *scale*, and times are divided by it, so that
tf.data's own overhead of 0.1 to 3 ms stays below a few per cent of them.
"""

from collections.abc import Iterable, Iterator
from typing import Any, cast

from evidence.record import Case, Conditions, Json
from evidence.tfdata.form import Pipeline
from evidence.tfdata.run import Epoch, Ran, run, warm_up

COSTS = ("open", "read", "cost", "train")


def scaled(said: Any, scale: float) -> Any:
    """Return a description whose costs are larger by *scale*."""
    if isinstance(said, list):
        return [scaled(part, scale) for part in said]
    if not isinstance(said, dict):
        return said
    return {name: larger(name, part, scale) for name, part in said.items()}


def larger(name: str, part: Any, scale: float) -> Any:
    """Return a part of a description, larger by *scale* if it is a cost."""
    if name in COSTS:
        return part * scale
    if name == "cost_of":
        return {element: cost * scale for element, cost in part.items()}
    return scaled(part, scale)


def measured(pipeline: Pipeline, scale: float) -> list[Json]:
    """Run the pipeline and return its epochs in milliseconds.

    Raise ValueError if it does not run to its end: such a case says nothing about time.
    """
    result = run(scaled(pipeline, scale))
    if not isinstance(result, Ran) or any(epoch.errors for epoch in result.epochs):
        raise ValueError(f"{pipeline.get('name')}: must run without errors; gave {result}")
    return [in_milliseconds(epoch, scale) for epoch in result.epochs]


def in_milliseconds(epoch: Epoch, scale: float) -> Json:
    """Return an epoch as the files have it."""
    return {
        "elements": epoch.elements,
        "arrival_ms": [round(1000 * at / scale, 2) for at in epoch.arrivals],
        "epoch_ms": round(1000 * epoch.seconds / scale, 2),
    }


def measure(cases: Iterable[Case], conditions: Conditions) -> Iterator[Case]:
    """Run each pipeline and note when its elements arrive."""
    warm_up()
    for case in cases:
        yield case | {"epochs": measured(case["pipeline"], conditions["scale"])}


def measure_rewrites(cases: Iterable[Case], conditions: Conditions) -> Iterator[Case]:
    """Run each pipeline as it is written, and with the static rewrites that it names."""
    warm_up()
    for case in cases:
        written = cast(Pipeline, {**case["pipeline"], "rewrites": []})
        yield case | {
            "as_written": measured(written, conditions["scale"]),
            "epochs": measured(case["pipeline"], conditions["scale"]),
        }
