"""What a generator yields is made what the types say that were said of it, in TensorFlow's words."""

from collections import namedtuple
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from lessonkit import Dataset, benchmark

Pair = namedtuple("Pair", "one two")


def spec(shape: Any, dtype: Any) -> Any:
    """Anything with these two is one, as `tf.TensorSpec` is."""
    return SimpleNamespace(shape=shape, dtype=dtype)


INT = spec((), np.int64)
TEXT = spec((), np.dtype("str"))


def yielded(*values: Any, **options: Any) -> Any:
    return Dataset.from_generator(lambda: iter(values), **options)


def plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


# As measured with real TensorFlow, which tells a number by its dtype where we give Python's own.
FITS: list[tuple[Any, Any, Any]] = [
    (spec((1,), np.int64), (0,), [0]),
    (spec([None, 2], np.int64), [(3, 4), (5, 6)], [[3, 4], [5, 6]]),
    (spec(None, np.int64), [3], [3]),
    (spec(SimpleNamespace(rank=None), np.int64), 3, 3),
    (INT, 1.5, 1),
    (INT, "3", 3),
    (spec((), np.float64), 3, 3.0),
    (TEXT, "a", "a"),
    (spec((2, 1), object), [("Open",), ("Read",)], [["Open"], ["Read"]]),
    ({"a": INT}, {"a": np.int32(1)}, {"a": 1}),
    (Pair(INT, INT), Pair(1, 2), Pair(1, 2)),
    ((INT, TEXT), Pair(1, b"x"), (1, b"x")),
]


@pytest.mark.parametrize(("signature", "value", "expected"), FITS)
def test_an_element_that_fits_is_given_as_its_types_say(
    signature: Any, value: Any, expected: Any
) -> None:
    (element,) = yielded(value, output_signature=signature)
    assert plain(element) == expected
    assert type(plain(element)) is type(expected)


PARTS = "from_generator: .* must have the parts"
UNFIT: list[tuple[Any, Any, str]] = [  # the second sentences are NumPy's
    ((INT, INT), [1, 2], PARTS),
    ((INT, INT), (1, 2, 3), PARTS),
    ((INT, INT), 1, PARTS),
    ({"a": INT}, {"b": 1}, PARTS),
    ({"a": INT}, {"a": 1, "b": 1}, PARTS),
    (Pair(INT, INT), (1, 2), PARTS),
    (INT, "a", "invalid literal for int.* 'a'"),
    (INT, None, "not 'NoneType'"),
    (spec((2, None), np.int64), [[1], [2, 3]], "inhomogeneous shape"),
]


@pytest.mark.parametrize(("signature", "value", "sentence"), UNFIT)
def test_an_element_that_does_not_fit_is_an_error_in_its_place(
    signature: Any, value: Any, sentence: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=sentence):
        list(yielded(value, output_signature=signature))


def test_after_an_element_that_does_not_fit_comes_the_next_one() -> None:
    iterator = iter(yielded(1, "a", 3, output_signature=INT).prefetch(2))
    assert next(iterator) == 1
    with pytest.raises(ValueError, match="invalid literal"):
        next(iterator)
    assert list(iterator) == [3]


def test_types_and_shapes_say_the_same_by_position() -> None:
    def count(stop: int) -> Iterator[Any]:
        for number in range(stop):
            yield (number,), "x"

    dataset = Dataset.from_generator(count, (np.int64, str), ((1,), None), (2,))
    assert [(plain(number), text) for number, text in dataset] == [
        ([0], "x"),
        ([1], "x"),
    ]
    assert benchmark(dataset, 1).samples == 2
    assert list(Dataset.from_generator(count, "int64", args=[0])) == []


def test_one_tensor_is_one_argument_and_computes() -> None:
    dataset = yielded((1,), (2,), output_types=np.int64, output_shapes=(1,)).map(
        lambda sample: sample + 1
    )
    assert [batch.tolist() for batch in dataset.batch(2)] == [[[2], [3]]]


TWICE = "output_signature: must not be given together with output_types and output_shapes"
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"output_types": int, "output_signature": INT}, TWICE),
    ({"output_shapes": (), "output_signature": INT}, TWICE),
    ({"args": 3}, "args=3: must be a tuple"),
]


@pytest.mark.parametrize(("options", "sentence"), REFUSED)
def test_what_is_said_twice_is_refused_at_once(options: Any, sentence: str) -> None:
    with pytest.raises(TypeError, match=sentence):
        yielded(1, **options)


SHAPES: list[tuple[Any, Any, bool]] = [
    (7, (), True),
    (7, None, True),
    ([1, 2], (2,), True),
    ([1, 2], (None,), True),
    ([1, 2], None, True),
    ([[1, 2]], (None, 2), True),
    (7, (1,), False),
    ([1, 2], (), False),
    ([1, 2], (3,), False),
    ([1, 2], (None, 2), False),
    ([[1, 2]], (None, 3), False),
]


@pytest.mark.parametrize(("value", "shape", "fits"), SHAPES)
def test_an_element_of_another_shape_is_an_error_in_its_place(
    value: Any, shape: Any, fits: bool
) -> None:
    said = {"output_signature": spec(shape, np.int64)}
    for options in (said, {"output_types": np.int64, "output_shapes": shape}):
        elements = iter(Dataset.from_generator(lambda: iter([value]), **options))
        if fits:
            assert np.array_equal(next(elements), value)
        else:
            with pytest.raises(TypeError, match="must have the shape"):
                next(elements)


def test_shapes_without_types_say_nothing_and_are_refused() -> None:
    with pytest.raises(TypeError, match="output_shapes: must be given together with"):
        Dataset.from_generator(lambda: iter([1]), output_shapes=())
