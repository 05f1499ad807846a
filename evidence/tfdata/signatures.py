"""The parameters of the methods of `tf.data.Dataset`, as Python itself reports them.

Two more are functions of `tf.data.experimental`, which make what `Dataset.apply` takes.
"""

import inspect
from collections.abc import Iterable, Iterator

import tensorflow as tf

from evidence.record import Case, Conditions, Json


def measure(cases: Iterable[Case], conditions: Conditions) -> Iterator[Case]:
    """Look each method up."""
    for case in cases:
        name = case["method"]
        method = getattr(tf.data.Dataset, name, None) or getattr(tf.data.experimental, name)
        signature = inspect.signature(method)
        parameters = list(signature.parameters.values())
        if parameters[0].name == "self":
            del parameters[0]
        yield case | {"parameters": [described(parameter) for parameter in parameters]}


def described(parameter: inspect.Parameter) -> Json:
    """Return a parameter as the file has it."""
    found: dict[str, Json] = {"name": parameter.name, "kind": parameter.kind.name}
    if parameter.default is not inspect.Parameter.empty:
        found["default"] = parameter.default
    return found
