"""What a generator promises to yield: tuples and dicts of values of known types and shapes."""

from dataclasses import dataclass
from typing import Any

from lessonkit.engine.element import fits, leaves, like, names


@dataclass(frozen=True)
class TensorSpec:
    """What is known of one value. TensorFlow's own does as well, or anything with a shape and a dtype."""

    shape: Any
    dtype: Any


def signature(types: Any, shapes: Any, specs: Any) -> Any:
    """Check what is said of elements, and return it as a structure of specs; None if nothing is said."""
    if types is not None and specs is None:
        specs = _paired(types, shapes)
    elif types is not None or shapes is not None:
        raise TypeError("output_types: must come with output_shapes, and not beside output_signature")
    return None if specs is None else leaves(_checked, specs)


def _paired(types: Any, shapes: Any) -> Any:
    if not isinstance(types, (tuple, dict)):
        return TensorSpec(shapes, types)
    if shapes is not None and not fits(shapes, types):
        raise TypeError(f"output_shapes={shapes!r}: must have the structure of output_types={types!r}")
    return like(types, (_paired(types[name], shapes and shapes[name]) for name in names(types)))


def _checked(spec: Any) -> Any:
    if not (hasattr(spec, "shape") and hasattr(spec, "dtype")):
        raise TypeError(f"output_signature={spec!r}: must have a shape and a dtype, as tf.TensorSpec has")
    _type(spec.dtype)
    return spec


def _type(dtype: Any) -> Any:
    import numpy  # whoever speaks of types and shapes has arrays

    try:
        return numpy.dtype(getattr(dtype, "as_numpy_dtype", dtype))
    except TypeError:
        hint = f"arguments of the generator go into args=({dtype!r},)"
        raise TypeError(f"output_types={dtype!r}: must be types; {hint}") from None


def conforming(value: Any, specs: Any) -> Any:
    """Return *value* with a list or tuple at a leaf made one array; TypeError if it does not fit."""
    if not isinstance(specs, (tuple, dict)):
        return _leaf(value, specs)
    if not fits(value, specs):
        types = leaves(lambda spec: spec.dtype, specs)
        raise TypeError(f"from_generator: {value!r}: must have the parts {types}, as output_signature says")
    return like(specs, (conforming(value[name], specs[name]) for name in names(specs)))


def _leaf(value: Any, spec: Any) -> Any:
    import numpy

    dtype, shape = _type(spec.dtype), spec.shape
    try:
        array = numpy.asarray(value, object if dtype.kind in "SU" else dtype)
        if array.dtype == object and not all(isinstance(part, (str, bytes)) for part in array.flat):
            raise TypeError
    except (TypeError, ValueError):
        name = getattr(spec.dtype, "name", dtype)
        raise TypeError(f"from_generator: {value!r}: must be of type {name}, as its signature says") from None
    if shape is not None and getattr(shape, "rank", 0) is not None:
        sizes = [real if size is None else size for size, real in zip(shape, array.shape, strict=False)]
        if (len(shape), *sizes) != (array.ndim, *array.shape):
            raise TypeError(f"from_generator: shape {array.shape} of {value!r}: must be {tuple(shape)}")
    return array if array.ndim else array.item()
