"""Build a described pipeline of real tf.data."""

import os
import re

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.data.experimental.ops import testing

from evidence.tfdata.form import Pipeline, Source, Step

Dataset = Any  # TensorFlow has no types
Tensor = Any

# Without AUTOTUNE tf.data leaves these out, and says so only in its log. Explicit integers stay as they are.
NEED_AUTOTUNE = {
    "map_fusion",
    "map_parallelization",
    "parallel_batch",
    "filter_parallelization",
}
POOL = 16  # threads: as many calls as any case has run at the same time, whatever the machine has


def build(pipeline: Pipeline) -> Dataset:
    """Build what is described, with everything off that would change it unasked.

    AUTOTUNE stays where it is written (-1), and starts from tf.data's own defaults, but nothing tunes it.
    """
    return with_options(with_steps(source(pipeline["source"]), pipeline["ops"]), pipeline)


def with_options(dataset: Dataset, pipeline: Pipeline) -> Dataset:
    """Turn everything off but the rewrites that the pipeline asks for."""
    options = tf.data.Options()
    options.autotune.enabled = not NEED_AUTOTUNE.isdisjoint(pipeline.get("rewrites", []))
    options.experimental_optimization.apply_default_optimizations = False
    options.experimental_optimization.inject_prefetch = False
    for rewrite in pipeline.get("rewrites", []):
        setattr(options.experimental_optimization, rewrite, True)
    options.threading.private_threadpool_size = POOL
    return dataset.with_options(options)


def with_steps(dataset: Dataset, steps: list[Step]) -> Dataset:
    """Put the operators behind each other."""
    for step in steps:
        dataset = STEPS[step["op"]](dataset, step)
    return dataset


def operators_that_run(pipeline: Pipeline) -> list[str]:
    """Return tf.data's names of the operators behind the source, after all rewrites.

    tf.data has an operator that fails unless the next ones have given names, and says which name it
    met instead. So the names are found one after the other.
    """
    names: list[str] = []
    while True:
        asserting = source(pipeline["source"]).apply(testing.assert_next([*names, "?"]))
        dataset = with_options(with_steps(asserting, pipeline["ops"]), pipeline)
        try:
            next(iter(dataset))
        except StopIteration:  # nobody asks the source for anything
            return names
        except tf.errors.InvalidArgumentError as error:
            # No text of an error of the pipeline's own has this form
            met = re.search(r"encountered (\S+) transformation instead", str(error))
            if not met or met[1] == "Root":  # there are no more operators
                return [
                    name.split("[")[0] for name in names
                ]  # a repeat is numbered by passes
            names.append(met[1])


# ---- sources ----


def source(said: Source, x: Tensor = None) -> Dataset:
    """Make the described source; *x* is the outer element, for an inner data set."""
    return with_steps(SOURCES[said["kind"]](said, x), said.get("ops", []))


def artificial(said: Source, x: Tensor) -> Dataset:
    """Open once, then read samples; both are sleeps in tf.data itself, so no Python takes part."""
    base = tf.constant(0, tf.int64) if x is None else tf.cast(x, tf.int64)
    stride = said.get("stride", 0)
    samples = said.get("samples", 3)

    def opened(_: Tensor) -> Dataset:
        reading = slept(tf.data.Dataset.range(samples), said["read"], samples)
        return reading.map(lambda i: base * stride + i)

    return slept(tf.data.Dataset.range(1), said["open"], 1).flat_map(opened)


def slept(dataset: Dataset, seconds: float, count: int) -> Dataset:
    """Sleep before each of the *count* elements; `take` keeps it from sleeping once more at the end."""
    if not seconds:
        return dataset
    return dataset.apply(testing.sleep(round(seconds * 1e6))).take(count)


def counted(said: Source, x: Tensor) -> Dataset:
    """Count *n*, or from *start* to *stop*."""
    if "n" in said:
        return tf.data.Dataset.range(said["n"])
    return tf.data.Dataset.range(said.get("start", 0), said["stop"], said.get("step", 1))


def listed(said: Source, x: Tensor) -> Dataset:
    """Give numbers, or rows of equal length."""
    has_fractions = any(isinstance(value, float) for value in said["values"])
    values = np.asarray(said["values"], np.float64 if has_fractions else np.int64)
    return tf.data.Dataset.from_tensor_slices(values)


def sliced(said: Source, x: Tensor) -> Dataset:
    """Cut columns into rows: a dict of columns gives dicts, a list of columns gives tuples."""
    columns = said["columns"]
    return tf.data.Dataset.from_tensor_slices(
        columns if isinstance(columns, dict) else tuple(columns)
    )


SOURCES: dict[str, Callable[[Source, Tensor], Dataset]] = {
    "artificial": artificial,
    "range": counted,
    "list": listed,
    "slices": sliced,
    "range_x": lambda said, x: tf.data.Dataset.range(x, x + said["k"]),
    "repeat_x": lambda said, x: tf.data.Dataset.from_tensors(x).repeat(x),
    "const_x": lambda said, x: tf.data.Dataset.from_tensors(x),
}

# ---- operators ----


def function(step: Step) -> Callable[[Tensor], Tensor]:
    """Return the function of a map: it sleeps inside the graph, fails where it is told to, and computes."""
    computed: Callable[[Tensor, Tensor], Tensor] = {
        "identity": lambda x, k: x,
        "add": lambda x, k: x + k,
        "mul": lambda x, k: x * k,
        "square": lambda x, k: x * x,
    }[step.get("fn", "identity")]

    def mapped(x: Tensor) -> Tensor:
        if step.get("cost") or step.get("cost_of"):
            x = after_sleep(x, seconds_of(step, x))
        x = checked(step, x)
        return computed(x, tf.cast(step.get("k", 1), x.dtype))

    return mapped


def seconds_of(step: Step, x: Tensor) -> Tensor:
    """Return what the call for *x* costs."""
    seconds = tf.constant(step.get("cost", 0), tf.float64)
    for element, other in step.get("cost_of", {}).items():
        is_it = tf.equal(x, tf.cast(int(element), x.dtype))
        seconds = tf.where(is_it, tf.constant(other, tf.float64), seconds)
    return seconds


def after_sleep(x: Tensor, seconds: Tensor) -> Tensor:
    """Return *x* after a sleep: one element of an inner data set that sleeps.

    The sleep waits for *x*. Otherwise two of them in one function, as `map_fusion` makes it, would
    be at the same time.
    """
    with tf.control_dependencies([x]):
        pause = tf.cast(tf.round(seconds * 1e6), tf.int64)
    sleeping = tf.data.Dataset.from_tensors(0).repeat().apply(testing.sleep(pause)).take(1)
    with tf.control_dependencies([sleeping.get_single_element()]):
        return tf.nest.map_structure(tf.identity, x)


def checked(step: Step, x: Tensor) -> Tensor:
    """Return *x*, or raise an error if it is one of those that fail."""
    if not step.get("fail_on"):
        return x
    is_bad = tf.reduce_any([tf.equal(x, tf.cast(bad, x.dtype)) for bad in step["fail_on"]])
    check = tf.debugging.Assert(tf.logical_not(is_bad), ["bad element", x])
    with tf.control_dependencies([check]):
        return tf.identity(x)


def calls(step: Step) -> dict[str, Any]:
    """Return the options that operators with parallel calls have in common."""
    return {
        "num_parallel_calls": step.get("num_parallel_calls"),
        "deterministic": step.get("deterministic"),
    }


def interleaved(dataset: Dataset, step: Step) -> Dataset:
    """Interleave inner data sets."""
    return dataset.interleave(
        lambda x: source(step["source"], x),
        cycle_length=step.get("cycle_length"),
        block_length=step.get("block_length"),
        **calls(step),
    )


def kept(step: Step) -> Callable[[Tensor], Tensor]:
    """Return the predicate of a filter."""
    return lambda x: tf.equal(checked(step, x) % tf.cast(step["keep_mod"], x.dtype), 0)


def zipped(dataset: Dataset, step: Step) -> Dataset:
    """Zip with one source, or with several."""
    others = step.get("sources") or [step["source"]]
    return tf.data.Dataset.zip((dataset, *map(source, others)))


def windowed(dataset: Dataset, step: Step) -> Dataset:
    """Make windows, each of them a batch."""
    drop = step.get("drop_remainder", False)
    windows = dataset.window(
        step["size"], step.get("shift"), step.get("stride", 1), drop_remainder=drop
    )
    return windows.flat_map(lambda window: window.batch(max(1, step["size"]), drop))


def mapped_and_batched(dataset: Dataset, step: Step) -> Dataset:
    """Use the operator that tf.data makes of a map and the batch after it."""
    return dataset.apply(
        tf.data.experimental.map_and_batch(
            function(step),
            step["size"],
            drop_remainder=step.get("drop_remainder", False),
            num_parallel_calls=step.get("num_parallel_calls"),
        )
    )


STEPS: dict[str, Callable[[Dataset, Step], Dataset]] = {
    "map": lambda dataset, step: dataset.map(function(step), **calls(step)),
    "map_and_batch": mapped_and_batched,
    "filter": lambda dataset, step: dataset.filter(kept(step)),
    "interleave": interleaved,
    "flat_map": lambda dataset, step: dataset.flat_map(lambda x: source(step["source"], x)),
    "batch": lambda dataset, step: dataset.batch(
        step["size"], step.get("drop_remainder", False), **calls(step)
    ),
    "rebatch": lambda dataset, step: dataset.rebatch(
        step["size"], step.get("drop_remainder", False)
    ),
    "unbatch": lambda dataset, step: dataset.unbatch(),
    "window": windowed,
    "cache": lambda dataset, step: dataset.cache(),
    "prefetch": lambda dataset, step: dataset.prefetch(step["buffer"]),
    "shuffle": lambda dataset, step: dataset.shuffle(
        step["buffer"], step.get("seed"), step.get("reshuffle")
    ),
    "shuffle_and_repeat": lambda dataset, step: dataset.apply(
        tf.data.experimental.shuffle_and_repeat(
            step["buffer"], step.get("count"), step.get("seed")
        )
    ),
    "repeat": lambda dataset, step: dataset.repeat(step.get("count")),
    "take": lambda dataset, step: dataset.take(step["n"]),
    "take_while": lambda dataset, step: dataset.take_while(
        lambda x: checked(step, x) < tf.cast(step["below"], x.dtype)
    ),
    "skip": lambda dataset, step: dataset.skip(step["n"]),
    "shard": lambda dataset, step: dataset.shard(step["num"], step["index"]),
    "enumerate": lambda dataset, step: dataset.enumerate(step.get("start", 0)),
    "zip": zipped,
    "concatenate": lambda dataset, step: dataset.concatenate(source(step["source"])),
    "ignore_errors": lambda dataset, step: dataset.ignore_errors(),
}
