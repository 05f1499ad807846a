"""tf.data, saved with `tf.train.Checkpoint(iterator=...)`."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import tensorflow as tf

from evidence.record import Case, Conditions, Json
from evidence.resumes.stops import compared, places, pull

IGNORE = "# ignore"  # in a program: save functions that have a state without it
# Elements that are looked at, and those of a program with many
MOST = 200
MOST_OF_LONG = 40
SETTLE = 0.01  # s, for what the first iterator's threads still do

calls = [0]


def counted(x: Any) -> Any:
    """Call Python, and count the calls."""

    def call(value: Any) -> Any:
        calls[0] += 1
        return value

    result = tf.py_function(call, [x], x.dtype)
    result.set_shape(x.shape)
    return result


def numbers() -> Iterator[int]:
    """Yield ten numbers, and count them."""
    for number in range(10):
        calls[0] += 1
        yield number


NAMES = {"D": tf.data.Dataset, "tf": tf, "counted": counted, "numbers": numbers}


def measure(cases: Iterable[Case], conditions: Conditions) -> Iterator[Case]:
    """Run each program through, and stop it at several places."""
    tf.get_logger().setLevel("ERROR")
    for case in cases:
        program = case["program"]
        try:
            whole = pull(iter(built(program)), most(program), plain)
        except Exception as error:  # a program that cannot run is an answer, too
            yield {"program": program, "refused": sentence(error)}
            continue
        stops = [stopped(program, whole, after) for after in places(whole)]
        yield {"program": program, "whole": whole, "stops": stops}


def built(program: str) -> Any:
    """Build the data set, with everything off that would change it unasked."""
    options = tf.data.Options()
    options.autotune.enabled = False
    options.experimental_optimization.apply_default_optimizations = False
    if IGNORE in program:
        policy = tf.data.experimental.ExternalStatePolicy.IGNORE
        options.experimental_external_state_policy = policy
    return eval(program, dict(NAMES)).with_options(options)


def most(program: str) -> int:
    """Return how many elements are looked at."""
    return MOST_OF_LONG if "1000" in program else MOST


def plain(element: Any) -> Json:
    """Return an element as JSON has it."""
    if isinstance(element, tuple):
        return [plain(part) for part in element]
    value: Json = element.numpy().tolist()
    return value


def sentence(error: Exception) -> str:
    """Return what an error says, shortly."""
    return f"{type(error).__name__}: {str(error).splitlines()[0][:200]}"


def stopped(program: str, whole: list[Json], after: int) -> Case:
    """Stop, save, restore into a new iterator, and go on."""
    first = iter(built(program))
    before = pull(first, after, plain)
    stop: Case = {"after": after, "before equal": before == whole[:after]}
    with TemporaryDirectory() as folder:
        try:
            path = tf.train.Checkpoint(iterator=first).write(f"{folder}/state")
            stop["state_bytes"] = size(folder, "state*")
            stop["state_data_bytes"] = size(folder, "state*.data*")
            del first
            time.sleep(SETTLE)
            calls[0] = 0
            second = iter(built(program))
            tf.train.Checkpoint(iterator=second).read(path).expect_partial()
            rest = pull(second, most(program) - after, plain)
        except Exception as error:  # what cannot be saved says so in many ways
            return stop | {"refused": sentence(error)}
    if "counted" in program or "numbers" in program:
        stop["calls after"] = calls[0]
    stop = compared(stop, before, rest, whole)
    if not has_one_order(program):
        stop |= {"exact": None, "before": before, "rest": rest}
    return stop


def size(folder: str, pattern: str) -> int:
    """Return the bytes of these files."""
    return sum(path.stat().st_size for path in Path(folder).glob(pattern))


def has_one_order(program: str) -> bool:
    """Whether two runs give the same."""
    draws = "shuffle" in program or "random.uniform" in program
    return "seed" in program or not draws
