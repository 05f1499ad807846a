"""Run a described pipeline on real tf.data: what reaches the loop, when, and which errors."""

import time
from dataclasses import dataclass, field
from typing import Any, Literal

import tensorflow as tf

from evidence.record import Json
from evidence.tfdata.build import build
from evidence.tfdata.form import Pipeline

MOST_ERRORS = 30  # that a loop sees before it gives up, if the pipeline does not say
MOST_ELEMENTS = 500  # of an endless pipeline


@dataclass
class Epoch:
    """One pass of the loop."""

    elements: list[Json] = field(default_factory=list)
    arrivals: list[float] = field(default_factory=list)  # seconds from the first request
    sequence: list[Json] = field(
        default_factory=list
    )  # of all requests, errors and the end too
    errors: list[tf.errors.OpError] = field(default_factory=list)
    seconds: float = 0.0


@dataclass
class Refused:
    """The pipeline gave no iterator."""

    error: Exception
    when: Literal["when the data set is built", "when an iterator is made"]


@dataclass
class Ran:
    """The pipeline ran."""

    cardinality: int  # -1 is endless, -2 unknown
    epochs: list[Epoch]


def run(pipeline: Pipeline) -> Ran | Refused:
    """Build the pipeline and go through its epochs."""
    try:
        dataset = build(pipeline)
    except (ValueError, TypeError, tf.errors.OpError) as error:
        return Refused(error, "when the data set is built")
    epochs = []
    for _ in range(pipeline.get("epochs", 1)):
        try:
            iterator = iter(dataset)
        except tf.errors.OpError as error:
            return Refused(error, "when an iterator is made")
        epochs.append(one_epoch(iterator, pipeline))
    return Ran(int(dataset.cardinality()), epochs)


def one_epoch(iterator: Any, pipeline: Pipeline) -> Epoch:
    """Ask for elements until the end, or until there were too many errors.

    Times exclude whatever the loop itself does between a request and the next, except for `train`,
    which counts as it is said and not as the sleep took.
    """
    epoch = Epoch()
    most_errors = pipeline.get("max_errors", MOST_ERRORS)
    while len(epoch.elements) < MOST_ELEMENTS:
        asked = time.perf_counter()
        try:
            value = plain(next(iterator))
        except (StopIteration, tf.errors.OutOfRangeError):
            epoch.seconds += time.perf_counter() - asked
            epoch.sequence.append({"end": True})
            break
        except tf.errors.OpError as error:
            epoch.seconds += time.perf_counter() - asked
            epoch.errors.append(error)
            epoch.sequence.append({"error": type(error).__name__})
            if len(epoch.errors) > most_errors:
                break
            continue
        epoch.seconds += time.perf_counter() - asked
        epoch.elements.append(value)
        epoch.arrivals.append(epoch.seconds)
        epoch.sequence.append({"v": value})
        time.sleep(pipeline.get("train", 0))
        epoch.seconds += pipeline.get("train", 0)
    return epoch


def plain(element: Any) -> Json:
    """Return an element as JSON has it: tuples are lists, tensors are numbers or lists of them."""
    if isinstance(element, tuple | list):
        return [plain(part) for part in element]
    if isinstance(element, dict):
        return {name: plain(part) for name, part in element.items()}
    value: Json = element.numpy().tolist()
    return value


def warm_up() -> None:
    """Run a tiny pipeline, so that what TensorFlow does once is not in the first times."""
    run(
        {
            "source": {"kind": "artificial", "open": 0.001, "read": 0.001, "samples": 3},
            "ops": [
                {"op": "map", "cost": 0.001, "num_parallel_calls": 2},
                {"op": "prefetch", "buffer": 1},
            ],
        }
    )
