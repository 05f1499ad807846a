"""A pipeline as a short program: for this package, for tf.data and for PyTorch."""

import ast
import inspect
import math
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from support.random_pipelines import loaded, pipeline, seeds
from support.rewritable_pipelines import rewritable

from evidence.record import cases
from lessonkit import (
    AUTOTUNE,
    ArtificialDataset,
    DataLoader,
    Dataset,
    Storage,
    benchmark,
    per_sample,
    work,
)
from lessonkit.code import FUSED, OF_LOADERS, OF_PIPELINES, PROGRAMS, Program
from lessonkit.engine.node import METHODS

X = Dataset.range(4)


def scaled(x: int) -> int:
    return 3 * x


def read_file(samples: int) -> Iterator[int]:
    for sample in range(samples):
        work(0.015, stage="Read")
        yield sample


def built(dataset: Dataset) -> Dataset:
    """The data set that our program makes, run where what it names as missing is defined."""
    program = Program()
    text = program.text(dataset.node)
    names = dict(program.missing)
    exec(text, names)
    assert isinstance(names["dataset"], Dataset)
    return names["dataset"]


def missing(text: str) -> list[str]:
    """The names that a program says are missing."""
    comment = re.search(r"# To define: (.*)\.", text)
    return comment[1].split(", ") if comment else []


# ---- for this package ----


@pytest.mark.parametrize("drawn", [pipeline, loaded])
def test_with_what_is_missing_the_program_builds_the_same_pipeline(
    drawn: Callable[[int], Dataset],
) -> None:
    for seed in seeds(75):
        dataset = drawn(seed)
        again = built(dataset)
        # What is used twice is written twice, and has a cache of its own each time.
        if "zip" not in repr(dataset) and "concatenate" not in repr(dataset):
            ours = benchmark(dataset, train=0)
            theirs = benchmark(again, train=0)
            assert ours.duration == theirs.duration, dataset.code()
            assert [epoch.elements for epoch in ours.epochs] == [
                epoch.elements for epoch in theirs.epochs
            ]


def test_where_nothing_is_missing_the_program_stands_alone() -> None:
    dataset = Dataset.from_list(["b", "a"]).map(ord).batch(2).map(len, cost=per_sample(0.5))
    assert dataset.code() == (
        "from lessonkit import Dataset, per_sample\n"
        "\n"
        "dataset = (\n"
        "    Dataset.from_list(['b', 'a'])\n"
        "    .map(ord)\n"
        "    .batch(2)\n"
        "    .map(len, cost=per_sample(seconds=0.5, per_call=0))\n"
        ")"
    )
    names: dict[str, Any] = {}
    exec(dataset.code(), names)
    assert list(names["dataset"]) == [2]


@pytest.mark.parametrize("language", PROGRAMS)
def test_a_comment_names_each_function_once(language: str) -> None:
    def scaled(x: int) -> int:  # another one of this name
        return -x

    numbers = Dataset.range(5).map(globals()["scaled"]).map(scaled).filter(lambda x: x > 1)
    dataset = numbers.map(globals()["scaled"]).map(math.sqrt)
    if language == "torch":
        dataset = DataLoader(numbers, collate_fn=scaled, worker_init_fn=scaled)
    text = dataset.code(language)
    names = missing(text)
    expected = ["scaled", "scaled_2", "predicate", "sqrt"]
    assert names == (["samples", "scaled"] if language == "torch" else expected)
    for name in names:
        assert re.search(rf"[(=]{name}\b", text)


VALUES: list[tuple[Any, list[str]]] = [
    ([1, 2], []),
    ([*range(20)], []),
    ([*range(21)], ["values"]),
    ([(1, "a"), {"b": [2.5, None]}], []),
    ([math.nan], ["values"]),
    ([object()], ["values"]),
    ([np.arange(3)], ["values"]),
    # NumPy 1 writes its numbers as Python writes its own
    (np.array([1, 2]), [] if repr(np.int64(1)) == "1" else ["values"]),
]


@pytest.mark.parametrize(("values", "expected"), VALUES)
def test_data_that_are_short_and_plain_stand_in_the_program(
    values: Any, expected: list[str]
) -> None:
    dataset = Dataset.from_list(values)
    assert missing(dataset.code()) == expected
    assert str([*built(dataset)]) == str([*dataset])


def test_a_number_of_numpy_prints_as_pythons() -> None:
    numbers = Dataset.from_list([np.float64(0.5), np.int64(1)])
    assert repr(numbers) == "Dataset.from_list([0.5, 1])"


def test_a_tuple_of_one_stays_a_tuple() -> None:
    dataset = Dataset.from_generator(read_file, args=(3,))
    assert "args=(3,)" in repr(dataset)
    assert list(built(dataset)) == [0, 1, 2]


def test_a_name_that_python_or_the_program_needs_is_not_taken() -> None:
    def Dataset(x: int) -> int:  # noqa: N802
        return x

    def tf(x: int) -> int:
        return x

    def len(x: int) -> int:  # noqa: A001
        return x

    def nameless(x: int) -> int:
        return x

    nameless.__name__ = "class"
    dataset = X.map(Dataset).map(tf).map(len).map(nameless)
    assert missing(dataset.code()) == ["Dataset_2", "tf_2", "len", "map_func"]


# ---- for tf.data ----


TFDATA: list[tuple[Dataset, str]] = [
    (ArtificialDataset(), "tf.data.TFRecordDataset(files)"),
    (
        ArtificialDataset(20).map(cost=0.03, num_parallel_calls=AUTOTUNE).prefetch(-1),
        "tf.data.TFRecordDataset(files)"
        ".map(mapped_function, num_parallel_calls=tf.data.AUTOTUNE)"
        ".prefetch(tf.data.AUTOTUNE)",
    ),
    (
        X.map(scaled, cost=0.1, kind="native", stage="Scale", nbytes=4).batch(2),
        "tf.data.Dataset.range(4).map(scaled).batch(2)",
    ),
    (X.map(cost=0.1, stage="Decode"), "tf.data.Dataset.range(4).map(decode)"),
    (X.map(cost=0.1, stage="to see"), "tf.data.Dataset.range(4).map(mapped_function)"),
    (X.map(nbytes=5).take(2), "tf.data.Dataset.range(4).take(2)"),
    (
        X.interleave(read_file, cycle_length=2),
        "tf.data.Dataset.range(4).interleave(read_file, cycle_length=2)",
    ),
    (Dataset.from_list(["a", "b"]), "tf.data.Dataset.from_tensor_slices(['a', 'b'])"),
    (
        Dataset.from_list([(1, "a"), (2, "b")]),
        "tf.data.Dataset.from_generator(lambda: [(1, 'a'), (2, 'b')], output_signature=signature)",
    ),
    (
        Dataset.from_generator(read_file, args=(3,)),
        "tf.data.Dataset.from_generator(lambda: read_file(3), output_signature=signature)",
    ),
    (
        Dataset.zip(X, ArtificialDataset()),
        "tf.data.Dataset.zip(tf.data.Dataset.range(4), tf.data.TFRecordDataset(files))",
    ),
]


@pytest.mark.parametrize(("dataset", "expected"), TFDATA)
def test_a_program_for_tf_data_reads_like_tf_data(dataset: Dataset, expected: str) -> None:
    text = dataset.code("tf.data")
    assert text.startswith("import tensorflow as tf\n\n")
    *_, whole = re.split(r"\n(?=dataset = )", text)
    assert re.sub(r"\n\s*|^dataset = |^dataset = \(", "", whole).strip(
        "()"
    ) == expected.strip("()")


class Call(NamedTuple):
    """A call by which a program makes its pipeline, with the texts of its arguments."""

    method: str
    by_place: list[str]
    by_name: dict[str, str]


def calls_of_tf_data(program: str) -> Iterator[Call]:
    """Give the calls of methods of tf.data's datasets in a *program*."""
    for node in ast.walk(ast.parse(program)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            by_name = {one.arg: ast.unparse(one.value) for one in node.keywords if one.arg}
            yield Call(node.func.attr, [*map(ast.unparse, node.args)], by_name)


SIGNATURES = {
    case["method"]: inspect.Signature(
        [
            inspect.Parameter(
                one["name"],
                getattr(inspect.Parameter, one["kind"]),
                default=one.get("default", inspect.Parameter.empty),
            )
            for one in case["parameters"]
        ]
    )
    for case in cases("tfdata_signatures")
}


def test_what_is_written_for_tf_data_exists_there_with_these_arguments() -> None:
    written = set[str]()
    for draw in (pipeline, rewritable):
        for seed in seeds(300):
            for call in calls_of_tf_data(draw(seed).code("tf.data")):
                written.add(call.method)
                if call.method != "TFRecordDataset":  # stands for an `ArtificialDataset`
                    SIGNATURES[call.method].bind(*call.by_place, **call.by_name)
    assert written == {"TFRecordDataset", *SIGNATURES} - {*FUSED}


@pytest.mark.parametrize("method", sorted(SIGNATURES.keys() - {*FUSED}))
def test_all_that_tf_data_lacks_is_left_out(method: str) -> None:
    ours = {*inspect.signature(METHODS[method]).parameters} - {"self", *OF_PIPELINES}
    assert ours <= {*SIGNATURES[method].parameters}


# ---- for PyTorch ----


def test_a_loader_is_pytorch_s_own() -> None:
    loader = DataLoader(
        X.map(scaled, cost=0.1),
        batch_size=2,
        shuffle=True,
        generator=7,
        num_workers=2,
        prefetch_factor=4,
        start=(0.1, 0.2),
        collate=0.01,
        pin_memory=True,
    )
    assert loader.map(scaled).prefetch(1).code("torch") == (
        "import torch\n"
        "from torch.utils.data import DataLoader\n"
        "\n"
        "# To define: samples.\n"
        "loader = DataLoader(samples, batch_size=2, shuffle=True, num_workers=2, pin_memory=True,"
        " prefetch_factor=4, generator=torch.Generator().manual_seed(7))\n"
        "# Write in the training loop what comes after: map, prefetch."
    )


def test_several_loaders_have_a_name_each() -> None:
    text = Dataset.zip(DataLoader(X, 2), DataLoader(X, None)).code("torch")
    assert missing(text) == ["samples", "batches"]
    assert "\nloader = DataLoader(samples, batch_size=2)\n" in text
    assert "\nloader_2 = DataLoader(batches, batch_size=None)\n" in text


def test_a_loader_is_given_what_pytorch_knows_and_nothing_else() -> None:
    """The arguments of PyTorch 2: those of ours that are left out are not among them."""
    known = {"dataset", "batch_size", "shuffle", "sampler", "batch_sampler", "num_workers",
             "collate_fn", "pin_memory", "drop_last", "timeout", "worker_init_fn",
             "multiprocessing_context", "generator", "prefetch_factor", "persistent_workers",
             "pin_memory_device", "in_order"}  # fmt: skip
    ours = {*inspect.signature(METHODS["DataLoader"]).parameters} - {"self"}
    assert ours - {*OF_LOADERS} <= known
    assert not known & {*OF_LOADERS}


# ---- for all ----


@pytest.mark.parametrize("language", PROGRAMS)
@pytest.mark.parametrize("failing", [False, True])
def test_programs_compile_and_are_always_the_same(language: str, failing: bool) -> None:
    for seed in seeds(40):
        drawn = loaded if language == "torch" else pipeline
        text = drawn(seed, failing=failing).code(language)
        compile(text, "program", "exec")
        assert " at 0x" not in text
        assert (language == "lessonkit") == ("lessonkit" in text)
        assert text == drawn(seed, failing=failing).code(language)


def test_what_a_language_cannot_say_is_refused() -> None:
    with pytest.raises(ValueError, match=r"tf\.data has no DataLoader"):
        DataLoader(X).code("tf.data")
    with pytest.raises(ValueError, match="there is no DataLoader"):
        X.code("torch")
    with pytest.raises(ValueError, match="language='jax': must be one of lessonkit"):
        X.code("jax")


def test_what_is_left_out_are_arguments_of_ours() -> None:
    ours = {
        name for method in METHODS.values() for name in inspect.signature(method).parameters
    }
    assert ours >= {*OF_PIPELINES, *OF_LOADERS}


def test_a_storage_and_its_cost_stand_in_our_program() -> None:
    files = Dataset.range(3).map(cost=Storage(2.0, streams=1).read(4)).prefetch(1)
    assert benchmark(built(files), 1, 0).duration == benchmark(files, 1, 0).duration
    assert missing(files.code()) == []


def size_of_file(number: int) -> int:
    """The bytes of a file."""
    return 4 + number


def test_a_function_of_sizes_is_named() -> None:
    files = Dataset.range(3).map(cost=Storage(2.0).read(size_of_file))
    assert "cap=None).read(size_of_file)" in files.code()
    compile(
        Dataset.range(3).map(cost=Storage(2.0).read(lambda _: 4)).code(), "code", "exec"
    )
