"""Which elements, in which order and with which errors: measured on real tf.data."""

import re
from collections.abc import Iterable, Iterator
from typing import cast

from evidence.record import Case, Conditions, Json
from evidence.tfdata.build import operators_that_run
from evidence.tfdata.form import Pipeline
from evidence.tfdata.run import Ran, Refused, run


def measure(cases: Iterable[Case], conditions: Conditions) -> Iterator[Case]:
    """Run each pipeline and note what its loop sees."""
    for case in cases:
        yield case | {"measured": seen(case["pipeline"])}


def measure_rewrites(cases: Iterable[Case], conditions: Conditions) -> Iterator[Case]:
    """Run each pipeline as it is written, and with the static rewrite that it is about.

    Both times tf.data's names of the operators that really ran are noted, so that a reader
    sees whether the rewrite was applied.
    """
    for case in cases:
        written = case["pipeline"]
        rewritten = cast(Pipeline, {**written, "rewrites": [case["rewrite"]]})
        yield case | {
            "operators": operators_that_run(written),
            "measured": seen(written),
            "rewritten": seen(rewritten) | {"operators": operators_that_run(rewritten)},
        }


def seen(pipeline: Pipeline) -> dict[str, Json]:
    """Run the pipeline and return what its loop saw."""
    result = run(pipeline)
    if isinstance(result, Refused):
        return {
            "raised": result.when,
            "error_type": type(result.error).__name__,
            "message": sentence(result.error),
        }
    return {"epochs": [epoch.elements for epoch in result.epochs]} | told(result)


def told(result: Ran) -> dict[str, Json]:
    """Return what else there is to tell of a pipeline that ran."""
    first = result.epochs[0]
    found: dict[str, Json] = {}
    if first.errors:
        before = next(at for at, one in enumerate(first.sequence) if "error" in str(one))
        found = {
            "sequence": first.sequence,
            "error_type": type(first.errors[0]).__name__,
            "raised": f"from next(), after {before} elements",
            "message": sentence(first.errors[0]),
        }
    return found | {"cardinality": result.cardinality}


def sentence(error: Exception) -> str:
    """Return what an error says, without the names that TensorFlow gives the nodes of a graph."""
    first = str(error).splitlines()[0]
    return re.sub(r"\{\{[^}]*\}\}\s*|\s*\[Op:.*", "", first)[:160]
