"""What a generator says that it yields: tuples and dicts of values of known types and shapes."""

from dataclasses import dataclass
from typing import Any

from lessonkit.engine.element import fits, leaves, like, names


@dataclass(frozen=True)
class TensorSpec:
    """What is known of one value. TensorFlow's own does as well, or anything with a shape and a dtype."""

    shape: Any
    dtype: Any


def signature(types: Any, shapes: Any, specs: Any) -> Any:
    """Return what is said of elements as one structure of *specs*; None if nothing is said.

    Raises TypeError if it is said twice.
    """
    if specs is not None and (types is not None or shapes is not None):
        raise TypeError(
            "output_signature: must not be given beside output_types and output_shapes"
        )
    if specs is not None or types is None:
        return specs
    if isinstance(types, (tuple, dict)):
        return like(
            types,
            (
                signature(types[name], shapes and shapes[name], None)
                for name in names(types)
            ),
        )
    return TensorSpec(shapes, types)


def as_told(value: Any, specs: Any) -> Any:
    """Return *value* with what is one tensor by its *specs* made one array, or Python's own number.

    Raises TypeError for other parts, and what NumPy raises for what has no such type.
    """
    if isinstance(specs, (tuple, dict)):
        if not fits(value, specs):
            types = leaves(lambda spec: spec.dtype, specs)
            raise TypeError(
                f"from_generator: {value!r}: must have the parts {types}, as it was told"
            )
        return like(specs, (as_told(value[name], specs[name]) for name in names(specs)))
    import numpy  # whoever speaks of types and shapes has arrays

    dtype = numpy.dtype(getattr(specs.dtype, "as_numpy_dtype", specs.dtype))
    array = numpy.asarray(value, object if dtype.kind in "SU" else dtype)
    return array if array.ndim else array.item()
