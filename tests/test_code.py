"""A pipeline as a whole program: for this package, and for tf.data."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from random_pipelines import loaded, pipeline

from lessonkit import (
    ArtificialDataset,
    Dataset,
    Machine,
    benchmark,
    per_sample,
    straggler,
    work,
)
from lessonkit.loops.fitting import fitted

SCALE = 3
X = Dataset.range(4)


def scaled(x: int) -> int:
    return x * SCALE


def is_even(x: int) -> bool:
    return x % 2 == 0  # a comment


def read_file(samples: int) -> Iterator[int]:
    work(0.030, stage="Open")
    for sample in range(samples):
        work(0.015, stage="Read")
        yield sample


def built(text: str) -> Dataset:
    """The data set of a program, which is run without its last line."""
    names: dict[str, Any] = {}
    exec(text[: text.rindex("print(")], names)
    assert isinstance(names["dataset"], Dataset)
    return names["dataset"]


# ---- for this package ----


def test_a_function_stands_with_all_that_it_needs() -> None:
    def around(offset: int) -> Callable[[int], int]:
        return lambda x: x + offset

    dataset = Dataset.range(5).filter(is_even).map(scaled).map(around(7)).map(math.sqrt)
    assert dataset.code() == (
        "from __future__ import annotations\n"
        "import math\n"
        "from lessonkit import Dataset, benchmark\n"
        "\n"
        "def is_even(x: int) -> bool:\n"
        "    return x % 2 == 0  # a comment\n"
        "\n"
        "def scaled(x: int) -> int:\n"
        "    return x * 3\n"
        "\n"
        "dataset = (\n"
        "    Dataset.range(5)\n"
        "    .filter(is_even)\n"
        "    .map(scaled)\n"
        "    .map(lambda x: x + 7)\n"
        "    .map(math.sqrt)\n"
        ")\n"
        "print(benchmark(dataset, num_epochs=2, train=0.01))\n"
    )


def test_two_functions_of_one_name_are_told_apart() -> None:
    def number(x: int) -> int:
        return x

    one = number

    def number(x: int) -> int:  # type: ignore[no-redef]
        return -x

    dataset = Dataset.range(3).map(one).map(number)
    assert ".map(number).map(number_2)" in dataset.code()
    assert list(built(dataset.code())) == list(dataset)


@pytest.mark.parametrize("language", ["lessonkit", "tf.data"])
def test_what_has_no_text_is_left_to_the_reader(language: str) -> None:
    names: dict[str, Any] = {}
    exec("def decode(x): return 2 * x", names)
    assert "def decode(*args):  # put its source here" in Dataset.range(2).map(
        names["decode"]
    ).code(language)
    model = object()
    assert "model = None  # put the object here" in Dataset.range(2).map(
        lambda x: (x, model)[0]
    ).code(language)


@pytest.mark.parametrize("drawn", [pipeline, loaded])
def test_the_program_builds_the_same_pipeline(drawn: Callable[[int], Dataset]) -> None:
    for seed in range(150):
        dataset = drawn(seed)
        text = dataset.code()
        again = built(text)
        assert repr(again) == repr(dataset)
        # What is used twice has a cache of its own each
        if "zip" not in text:
            ours, theirs = benchmark(dataset, train=0), benchmark(again, train=0)
            assert ours.duration == theirs.duration, text
            assert [epoch.elements for epoch in ours.epochs] == [
                epoch.elements for epoch in theirs.epochs
            ]


OPTIONS: list[dict[str, Any]] = [
    {"max_elements": 7, "load": 0.004, "train": 0.02, "num_epochs": 1},
    {"max_elements": 0},
    {
        "machine": Machine(cores=2),
        "load": per_sample(0.001),
        "step": lambda value: work(0.003),
    },
    {"ahead": True, "load": lambda value: 0.001 * value, "train": 0},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_a_program_gives_benchmark_all_that_it_was_given(options: dict[str, Any]) -> None:
    dataset = Dataset.range(8).map(cost=0.01, kind="native", num_parallel_calls=3)
    dataset = dataset.repeat() if "max_elements" in options else dataset
    shown: list[Any] = []
    exec(dataset.code(**options), {"print": shown.append})
    assert shown[0].duration == benchmark(dataset, **options).duration


def test_a_program_of_an_endless_pipeline_ends() -> None:
    shown: list[Any] = []
    exec(X.repeat().code(), {"print": shown.append})
    assert shown[0].samples == 100


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"train": 0.1, "step": print}, "must be a cost or a function to call, not both"),
        ({"max_elements": -1}, "max_elements=-1: must be 0 or more"),
        ({"machine": 4}, "machine=4: must be a Machine"),
        ({"load": "slow"}, "load='slow'"),
        ({"ahead": 1}, "ahead=1: must be True or False"),
    ],
)
def test_options_that_benchmark_refuses_are_refused(
    options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=sentence):
        X.code(**options)


# ---- for tf.data ----


@pytest.mark.parametrize("failing", [False, True])
def test_a_program_for_tf_data_is_complete_and_always_the_same(failing: bool) -> None:
    for seed in range(75):
        text = pipeline(seed, failing=failing).code("tf.data")
        compile(text, "program", "exec")
        assert "lessonkit" not in text
        assert " at 0x" not in text
        assert text == pipeline(seed, failing=failing).code("tf.data")


NAIVE = '''import tensorflow as tf
import time


def artificial(num_samples, open, read):
    """A file that is slow on purpose: it takes seconds to open it, and to read each sample."""
    time.sleep(float(open))
    for sample in range(num_samples):
        time.sleep(float(read))
        yield sample


def ArtificialDataset(num_samples=3, open=0.03, read=0.015):
    return tf.data.Dataset.from_generator(
        artificial, args=(num_samples, open, read), output_signature=tf.TensorSpec((), tf.int64)
    )


dataset = ArtificialDataset()

# Without these two, tf.data would add a prefetch of its own, and let few calls sleep at once.
options = tf.data.Options()
options.experimental_optimization.apply_default_optimizations = False
options.threading.private_threadpool_size = 16
dataset = dataset.with_options(options)

start = time.perf_counter()
for epoch in range(2):
    for element in dataset:
        time.sleep(0.01)  # the training step
print(f"{time.perf_counter() - start:.3f} s")
'''
MAPPED = """def mapped(x):
    tf.py_function(lambda: time.sleep(0.03), [], [])
    return x


dataset = ArtificialDataset().map(mapped, num_parallel_calls=2).prefetch(1)
"""
INTERLEAVED = """def inner(x):
    made = {
        0: lambda: ArtificialDataset(5).map(lambda i: 10 * 0 + i),
        1: lambda: ArtificialDataset(5).map(lambda i: 10 * 1 + i),
    }
    return tf.switch_case(tf.cast(tf.where(x == [*made])[0, 0], tf.int32), [*made.values()])


def is_even(x: int) -> bool:
    return x % 2 == 0  # a comment


dataset = (
    tf.data.Dataset.range(2)
    .interleave(inner, cycle_length=2)
    .filter(is_even)
    .prefetch(tf.data.AUTOTUNE)
)
"""


def test_programs_for_tf_data_read_like_tf_data() -> None:
    assert ArtificialDataset().code("tf.data") == NAIVE
    assert (
        ArtificialDataset().code("tf.data", whole=False) == "dataset = ArtificialDataset()"
    )
    mapped = ArtificialDataset().map(cost=0.03, num_parallel_calls=2).prefetch(1)
    assert mapped.code("tf.data") == NAIVE.replace(
        "dataset = ArtificialDataset()\n", MAPPED
    )
    interleaved = Dataset.range(2).interleave(
        lambda x: ArtificialDataset(5).map(lambda i: 10 * x + i), cycle_length=2
    )
    assert INTERLEAVED in interleaved.filter(is_even).prefetch(-1).code("tf.data")


class Rows(list[int]):
    """A list of another kind."""


WRITTEN: list[tuple[Dataset, str]] = [
    (
        X.map(lambda x: (x / 2, str(x))),
        ".map(in_python(lambda x: (x / 2, str(x)), (tf.float64, tf.string)))",
    ),
    (
        X.map(cost=straggler(0.1, every=3, slow=1.0)),
        "return 1.0 if value % 3 == 2 else 0.1",
    ),
    (X.map(str).map(cost=straggler(0.1, every=1, slow=1.0)), "return 1  # on average"),
    (X.map(cost=fitted((0.1,))), "return 0.1  # on average"),
    (X.batch(2).map(cost=per_sample(0.1)), "return 0.1 * len(value)"),
    (X.map(cost=0.1, kind="native"), "# only waits; native code would hold a core"),
    (X.map(nbytes=5).take(2), ".map(lambda x: x).take(2)"),
    (
        X.flat_map(lambda f: ArtificialDataset(5, nbytes=8)),
        ".flat_map(lambda _: ArtificialDataset(5))",
    ),
    (
        X.flat_map(lambda f: ArtificialDataset([5, 2, 4, 1][f])),
        "        2: lambda: ArtificialDataset(4),",
    ),
    (
        Dataset.from_list(["a", "b"]).flat_map(lambda f: Dataset.from_list([f])),
        "        'b': lambda: tf.data.",
    ),
    (
        X.flat_map(lambda f: ArtificialDataset(1, open=straggler(f, every=5, slow=9))),
        "3: lambda: ArtificialDataset(1, open=3.0)",
    ),
    (
        X.flat_map(lambda decode: X.map(cost=0.1, stage="Decode")),
        "lambda _: tf.data.Dataset.range(4).map(decode)",
    ),
    (X.flat_map(lambda x: X if x else None), "def inner(*args):  # put its source here"),
    (X.flat_map(lambda x: x), "def inner(*args):  # put its source here"),
    (
        X.flat_map(lambda x: X.take(x) if x else X.repeat(x)),
        "0: lambda: tf.data.Dataset.range(4).repeat(0)",
    ),
    (
        X.zip(X, X).flat_map(lambda x, y: X.take(x + y)),
        "def inner(*args):  # put its source here",
    ),
    (
        X.zip(X, X).flat_map(lambda x, y: X.take(3)),
        "lambda *_: tf.data.Dataset.range(4).take(3)",
    ),
    (
        X.batch(2).map(lambda x: (x, x)).map(cost=per_sample(0.1)),
        "return 0.1 * len(value[0])",
    ),
    (
        X.map(lambda x: (0, x)).flat_map(lambda x, y: X.take(y)),
        "def inner(*args):  # put its source here",
    ),
    (
        X.flat_map(lambda x: Dataset.from_generator(read_file, args=(x,))),
        "from_generator(lambda: read_file(3), output_",
    ),
    (X.repeat(), "for element in islice(elements, 100):"),
    (
        Dataset.from_list([[1], [2, 3]]),
        "from_generator(lambda: [[1], [2, 3]], output_signature=tf.TensorSpec(None, tf.int64))",
    ),
    (Dataset.from_list([Rows([1]), Rows([2, 3])]), "the_list = None  # put the list here"),
    (
        Dataset.from_list([(1, "a"), (2, "b")]),
        "[(1, 'a'), (2, 'b')], output_signature=(tf.TensorSpec((), tf.int64), tf.TensorSpec((), tf.string))",
    ),
]


@pytest.mark.parametrize(
    ("dataset", "expected"), WRITTEN, ids=[str(at) for at in range(len(WRITTEN))]
)
def test_what_stands_in_a_program_for_tf_data(dataset: Dataset, expected: str) -> None:
    assert expected in "".join(
        line.strip() if line[:5] == "    ." else line for line in split(dataset)
    )


def split(dataset: Dataset) -> list[str]:
    return dataset.code("tf.data").splitlines()


def test_training_may_depend_on_the_batch() -> None:
    text = X.batch(2).code("tf.data", train=per_sample(0.1))
    assert "time.sleep(train(tf.nest.map_structure(plain, element)))" in text


def test_a_program_for_tf_data_ends_and_copies_as_benchmark_does() -> None:
    text = X.batch(2).code(
        "tf.data", max_elements=3, load=0.004, ahead=True, machine=Machine(2)
    )
    assert "elements = (element for epoch in range(2) for element in dataset)" in text
    assert (
        "for element in islice(elements, 3):\n    time.sleep(0.004)  # the copy to the accelerator"
        in text
    )
    assert "# ahead= is left out: a copy takes its turn with training." in text
    assert "# machine= is left out: the program has the cores of its computer." in text
    files = X.interleave(lambda number: X).code("tf.data", machine=Machine(2))
    assert "cycle_length=2" in files


def test_what_cannot_be_written_is_refused() -> None:
    with pytest.raises(TypeError, match=r"tf\.data has no elements of type object"):
        Dataset.from_list([object()]).code("tf.data")
    with pytest.raises(TypeError, match=r"tf\.string\): in tf\.data all have one type"):
        Dataset.from_list([1, "a"]).code("tf.data")
    with pytest.raises(ValueError, match="language='jax': must be one of lessonkit"):
        X.code("jax")
