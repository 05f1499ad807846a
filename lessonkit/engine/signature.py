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
        specs = _joined(types, shapes)
    elif types is not None or shapes is not None:
        raise TypeError("output_types: must come with output_shapes, and not beside output_signature")
    return None if specs is None else leaves(_checked, specs)


def _joined(types: Any, shapes: Any) -> Any:
    if not isinstance(types, (tuple, dict)):
        return TensorSpec(shapes, types)
    if shapes is not None and not fits(shapes, types):
        raise TypeError(f"output_shapes={shapes!r}: must have the structure of output_types={types!r}")
    return like(types, (_joined(types[name], shapes and shapes[name]) for name in names(types)))


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
        raise TypeError(f"output_types={dtype!r}: must be types, such as 'int64'; {hint}") from None


def fitted(value: Any, specs: Any) -> Any:
    """Return *value* with a list or tuple at a leaf made one array; TypeError if it does not fit."""
    if not isinstance(specs, (tuple, dict)):
        return _leaf(value, specs)
    if not fits(value, specs):
        expected = leaves(lambda spec: spec.dtype, specs)
        raise TypeError(
            "`generator` yielded an element that did not match the expected structure. "
            f"The expected structure was {expected}, but the yielded element was {value}."
        )
    return like(specs, (fitted(value[name], specs[name]) for name in names(specs)))


def _leaf(value: Any, spec: Any) -> Any:
    import numpy

    dtype, shape = _type(spec.dtype), spec.shape
    name = getattr(spec.dtype, "name", dtype)
    try:
        array = numpy.asarray(value, object if dtype.kind in "SU" else dtype)
        if array.dtype == object and not all(isinstance(part, (str, bytes)) for part in array.flat):
            raise TypeError
    except (TypeError, ValueError):
        raise TypeError(
            "`generator` yielded an element that could not be converted to the expected type. "
            f"The expected type was {name}, but the yielded element was {value}."
        ) from None
    is_known = shape is not None and getattr(shape, "rank", 0) is not None
    pairs = zip(shape, array.shape, strict=False) if is_known else ()
    if any(size not in (None, real) for size, real in pairs) or (is_known and len(shape) != array.ndim):
        raise TypeError(
            f"`generator` yielded an element of shape {array.shape} "
            f"where an element of shape {tuple(shape)} was expected."
        )
    return array if array.ndim else array.item()
